//! Sequences whose state stays on the stack from part to part, on a target whose slots are words of memory: [`crate::words::held`].
//!
//! A part finds, from below, the address of the next part, unless one always comes after it, and the state; if it takes a row, whose address
//! lies between both, the row is taken first. It leaves the state with that address on top, and jumps there.

use super::Lowering;
use crate::target::words::{Planned, Words};
use crate::target::push;
use crate::words::held::{Ends, Form, PartOps, Place};
use residue_ir::Effect;
use residue_ir::program::{Arm, Block, Operand, Order, Value};
use residue_ir::SequenceStep;
use residue_isa::opcode::evm;
use residue_passes::rows::Nest;
use residue_passes::{Row, Slot, SlotOp};
use residue_ir::FieldOp;
use std::collections::BTreeSet;

/// A word on the stack where a block begins or ends, for the checker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldWord {
    /// Where control goes next.
    Next,
    /// p.
    Modulus,
    /// A value in this form.
    Value(Operand, Form),
}

/// What lies on the stack where a block begins and ends, the lowest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldEnds {
    /// Where it begins.
    pub entry: Vec<HeldWord>,
    /// Where it ends.
    pub exit: Vec<HeldWord>,
}

/// A sequence whose state stays on the stack.
pub(super) struct HeldSequence {
    /// Brings the state and the first address to the top. [address] → [state, address]
    pub start: Planned,
    /// Stores the state. [state] → []
    pub end: Planned,
    /// The parts.
    pub parts: Vec<HeldPart>,
}

/// One of its parts.
pub(super) struct HeldPart {
    /// What is on the stack before and after it.
    pub ends: HeldEnds,
    /// Its arithmetic.
    pub planned: Planned,
}

/// A part with its operations.
struct Found<'a> {
    arm: &'a Arm,
    ops: Vec<SlotOp>,
    takes_row: bool,
    is_last: bool,
    before: Vec<Slot>,
    after: Vec<Slot>,
    weight: u64,
}

/// What an arm's rows are: the row that it takes, and its arithmetic; none if they are anything else.
fn simple<'a>(rows: &'a [Row<'a>]) -> Option<(Option<&'a Effect>, Option<&'a Block>)> {
    match rows {
        [] => Some((None, None)),
        [Row::Block(block)] => Some((None, Some(block))),
        [Row::Effect(take @ (Effect::TakeRow { .. } | Effect::TakeElement { .. }))] => Some((Some(take), None)),
        [Row::Effect(take @ (Effect::TakeRow { .. } | Effect::TakeElement { .. })), Row::Block(block)] => {
            Some((Some(take), Some(block)))
        }
        _ => None,
    }
}

/// How often each part comes, about, in units of a 64th.
fn weights(order: &Order, parts: usize) -> Vec<u64> {
    let groups = order.groups(parts);
    let mut weights = vec![0; parts];
    for step in &order.steps {
        match *step {
            SequenceStep::Part(number) => weights[number] += 64,
            SequenceStep::Chosen { first_part, .. } => {
                let group = groups.iter().find(|group| group.start == first_part).cloned().unwrap_or(0..0);
                let share = 64 / group.len().max(1) as u64; // usize to u64 widens
                weights[group].iter_mut().for_each(|weight| *weight += share);
            }
            SequenceStep::Carry { .. } | SequenceStep::CarryNumber(_) => {}
        }
    }
    for number in 0..parts {
        if let Some(next) = order.then[number] {
            weights[next] += weights[number];
        }
    }
    weights
}

/// The most values of a state that stays on the stack.
const STATE_MAX: usize = 6;

impl<'a> Lowering<'a> {
    /// How a sequence keeps its state on the stack; none if it does not, or if that is no cheaper.
    pub(super) fn held(&self, sequence: &'a Nest<'a>, order: &Order) -> Option<HeldSequence> {
        let words = self.target.words()?;
        let found = self.simple_parts(sequence, order)?;
        let parts: Vec<PartOps<'_>> = found
            .iter()
            .map(|part| PartOps { ops: &part.ops, before: &part.before, after: &part.after, weight: part.weight })
            .collect();
        let forms = words.forms(&parts)?;
        let state: Vec<usize> = (0..forms.len()).collect();
        let held = self.held_in(words, sequence, &found, &forms, &state)?;
        let in_memory: u64 = found.iter().map(|part| Some(part.weight * self.weight_in_memory(words, part)?)).sum::<Option<_>>()?;
        let on_stack: u64 = found.iter().zip(&held.parts).map(|(part, held)| part.weight * words.weight(&held.planned)).sum();
        if std::env::var("SHAPES").is_ok() {
            eprintln!("HELD forms {forms:?} memory {} stack {}", in_memory / 64000, on_stack / 64000);
        }
        (on_stack < in_memory).then_some(held)
    }

    /// The parts, if each is arithmetic, after a row at most.
    fn simple_parts(&self, sequence: &'a Nest<'a>, order: &Order) -> Option<Vec<Found<'a>>> {
        let arms = sequence.arms();
        let weights = weights(order, arms.len());
        let mut found = Vec::new();
        for (number, &(arm, rows)) in arms.iter().enumerate() {
            let (take, block) = simple(rows)?;
            let is_after = order.then.contains(&Some(number));
            if arm.params.len() > STATE_MAX || take.is_some() && is_after {
                return None;
            }
            let before: Vec<Slot> = arm.params.iter().map(|&value| self.placement.slot(value)).collect();
            if before.iter().collect::<BTreeSet<_>>().len() < before.len() {
                return None;
            }
            found.push(Found {
                arm,
                ops: block.map_or_else(Vec::new, |block| self.slot_ops(block)),
                takes_row: take.is_some(),
                is_last: order.then[number].is_none(),
                before,
                after: arm.gives.iter().map(|&operand| self.slot(operand)).collect(),
                weight: weights[number],
            });
            let is_given = |value: Value| arm.gives.contains(&Operand::Value(value));
            let live = block.and_then(|block| Some((block, &self.placement.live_out[&block.ops.first()?.0])));
            if let Some((block, live)) = live
                && !block.ops.iter().all(|&(value, _)| is_given(value) || !live.contains(value.0 as usize))
            {
                return None;
            }
        }
        (!found.is_empty()).then_some(found)
    }

    /// The state on the stack in this order, the lowest first.
    fn held_in(
        &self,
        words: &Words,
        sequence: &'a Nest<'a>,
        found: &[Found<'a>],
        forms: &[Form],
        state: &[usize],
    ) -> Option<HeldSequence> {
        let first = &found[0];
        let initial: Vec<Slot> = sequence.control.initial.iter().map(|&operand| self.slot(operand)).collect();
        let place = |slots: &[Slot], at: usize| Place::Value(slots[at], forms[at]);
        let places = |slots: &[Slot]| -> Vec<Place> {
            let modulus = words.is_short().then_some(Place::Modulus);
            modulus.into_iter().chain(state.iter().map(|&at| place(slots, at))).collect()
        };
        let none = BTreeSet::new();
        let start = Ends { entry: vec![Place::Next], exit: [places(&initial), vec![Place::Next]].concat() };
        let end = Ends { entry: places(&first.before), exit: Vec::new() };
        let zero = words.zero();
        let stores: Vec<SlotOp> =
            first.before.iter().map(|&slot| SlotOp { operation: FieldOp::Add, out: slot, x: slot, y: zero }).collect();
        let mut parts = Vec::new();
        for part in found {
            let next = if part.is_last { vec![Place::Next] } else { Vec::new() };
            let mut entry = places(&part.before);
            if part.takes_row {
                // The row's address came to the top by an exchange with what was there.
                entry.rotate_right(1);
            }
            let ends = Ends { entry: [next.clone(), entry].concat(), exit: [places(&part.after), next].concat() };
            let planned = words.plan(&part.ops, &none, Some(&ends))?;
            let word = |place: &Place, at: &mut std::slice::Iter<'_, usize>, of: &dyn Fn(usize) -> Operand| match *place {
                Place::Next => HeldWord::Next,
                Place::Modulus => HeldWord::Modulus,
                Place::Value(_, form) => HeldWord::Value(of(*at.next().expect("one for each value")), form),
            };
            let mut entry_state: Vec<usize> = state.to_vec();
            if part.takes_row {
                entry_state.rotate_right(1);
            }
            let (mut before, mut after) = (entry_state.iter(), state.iter());
            parts.push(HeldPart {
                ends: HeldEnds {
                    entry: ends.entry.iter().map(|place| word(place, &mut before, &|at| Operand::Value(part.arm.params[at]))).collect(),
                    exit: ends.exit.iter().map(|place| word(place, &mut after, &|at| part.arm.gives[at])).collect(),
                },
                planned,
            });
        }
        Some(HeldSequence {
            start: words.plan(&[], &none, Some(&start))?,
            end: words.plan(&stores, &first.before.iter().copied().collect(), Some(&end))?,
            parts,
        })
    }

    /// Writes what was planned, if anything was.
    pub(super) fn planned(&mut self, planned: Option<&Planned>) {
        if let (Some(words), Some(planned)) = (self.target.words(), planned) {
            words.planned(self.code, planned);
        }
    }

    /// What a part costs whose state is in memory.
    fn weight_in_memory(&self, words: &Words, part: &Found<'_>) -> Option<u64> {
        let kept = part.after.iter().copied().filter(|slot| part.ops.iter().any(|op| op.out == *slot)).collect();
        Some(words.weight(&words.plan(&part.ops, &kept, None)?))
    }

    /// A part. [address of the next part, row's address if it takes one, state] → [state], goes on at the address
    pub(super) fn held_part(&mut self, rows: &'a [Row<'a>], part: &HeldPart) {
        let Some(words) = self.target.words() else { unreachable!("the state is held in words") };
        let (take, block) = simple(rows).expect("it was looked at before");
        if let Some(take) = take {
            let above = part.ends.entry.iter().filter(|word| **word != HeldWord::Next).count();
            self.code.op(evm::SWAP1 - 1 + u8::try_from(above).expect("a state has few values"));
            match take {
                Effect::TakeRow { results, .. } => {
                    let bytes = self.target.element_bytes() * u32::try_from(results.len()).expect("a row has few values");
                    push(self.code, bytes);
                    self.code.op(evm::SWAP1);
                    self.take_row(results);
                }
                Effect::TakeElement { array, results } => {
                    let operands = self.before_take(*array, results);
                    if operands > 0 {
                        self.code.op(evm::SWAP1 - 1 + u8::try_from(operands).expect("there are few"));
                    }
                    self.take_element(*array, results);
                }
                _ => unreachable!("nothing else is taken"),
            }
        }
        let start = self.code.items().len();
        words.planned(self.code, &part.planned);
        if let Some(&(first, _)) = block.and_then(|block| block.ops.first()) {
            let items = start..self.code.items().len();
            let held = Some(part.ends.clone());
            self.blocks.push(super::LoweredBlock { function: self.number, first, items, held });
        }
    }
}
