//! Sequences whose state stays on the stack from part to part, on a target whose slots are words of memory: [`crate::words::held`].
//!
//! A part finds, from below, the address of the next part, unless one part always comes after it, and the state; if it takes a row, whose address
//! lies between both, the row is taken first. It leaves the state with that address on top, and jumps there. Where code is to be short, p and
//! the long constants that are read most lie below the state, so that parts copy them.

use super::{LoweredBlock, Lowering};
use crate::target::push;
use crate::target::words::{Planned, Words};
use crate::words::backward::Effort;
use crate::words::held::{Choice, Kind, PartOps, best_order};
use crate::words::places::{Ends, Form, Place};
use num_bigint::BigUint;
use residue_ir::program::{Arm, Block, Operand, Order, Value};
use residue_ir::{Effect, FieldOp, SequenceStep};
use residue_isa::opcode::evm;
use residue_passes::rows::Nest;
use residue_passes::{Row, Slot, SlotOp};
use std::collections::{BTreeMap, BTreeSet};

/// A word on the stack where a block begins or ends, for the checker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeldWord {
    /// Where control goes next.
    Next,
    /// p.
    Modulus,
    /// A number.
    Number(BigUint),
    /// The value of the state that has this number, in this form.
    Value(usize, Form),
}

/// What lies on the stack where a block begins and ends, the lowest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeldEnds {
    /// Where it begins.
    pub entry: Vec<HeldWord>,
    /// Where it ends.
    pub exit: Vec<HeldWord>,
    /// The values of the state where it begins.
    pub before: Vec<Operand>,
    /// The same where it ends.
    pub after: Vec<Operand>,
}

/// A sequence whose state stays on the stack.
pub(super) struct HeldSequence {
    /// Brings the state below the first address. [address] → [state, address]
    pub start: Planned,
    /// Stores the state. [state] → []
    pub end: Planned,
    /// The parts.
    pub parts: Vec<HeldPart>,
}

/// One of its parts.
pub(super) struct HeldPart {
    /// What is on the stack before and after its arithmetic.
    ends: HeldEnds,
    /// Words between the address of its row and the top.
    above_row: u8,
    arithmetic: Planned,
}

/// A part with its operations.
struct Found<'a> {
    arm: &'a Arm,
    ops: Vec<SlotOp>,
    takes_row: bool,
    /// Whether the next part is one whose address lies on the stack.
    has_next: bool,
    before: Vec<Slot>,
    after: Vec<Slot>,
    weight: u64,
}

impl<'a> Found<'a> {
    const fn ops(&'a self) -> PartOps<'a> {
        PartOps {
            ops: self.ops.as_slice(),
            before: self.before.as_slice(),
            after: self.after.as_slice(),
            weight: self.weight,
        }
    }
}

/// What lies on the stack between two parts.
struct State<'a> {
    /// How each value of the state is held.
    forms: &'a [Form],
    /// The values by their numbers, the lowest first.
    order: &'a [usize],
    /// What lies below them.
    below: &'a [Place],
}

impl State<'_> {
    /// The words.
    fn words(&self) -> Vec<HeldWord> {
        let below = self.below.iter().map(|place| match place {
            Place::Number(number) => HeldWord::Number(number.clone()),
            Place::Modulus | Place::Next | Place::Value(..) => HeldWord::Modulus,
        });
        below.chain(self.order.iter().map(|&at| HeldWord::Value(at, self.forms[at]))).collect()
    }

    /// What a part finds and leaves, its row apart.
    fn held(&self, part: &Found<'_>) -> HeldEnds {
        let mut entry = self.words();
        if part.takes_row {
            entry.rotate_right(1); // The row's address was brought to the top by an exchange.
        }
        let next = if part.has_next { &[HeldWord::Next][..] } else { &[] };
        HeldEnds {
            entry: [next, &entry].concat(),
            exit: [&self.words(), next].concat(),
            before: part.arm.params.iter().map(|&value| Operand::Value(value)).collect(),
            after: part.arm.gives.clone(),
        }
    }

    /// The same in slots.
    fn ends(&self, part: &Found<'_>) -> Ends {
        let held = self.held(part);
        Ends { entry: placed(&held.entry, &part.before), exit: placed(&held.exit, &part.after) }
    }
}

/// The words where these slots stand for the values of the state.
fn placed(words: &[HeldWord], slots: &[Slot]) -> Vec<Place> {
    let place = |word: &HeldWord| match word {
        HeldWord::Next => Place::Next,
        HeldWord::Modulus => Place::Modulus,
        HeldWord::Number(number) => Place::Number(number.clone()),
        &HeldWord::Value(at, form) => Place::Value(slots[at], form),
    };
    words.iter().map(place).collect()
}

/// What a part's rows are: the row that it takes, and its arithmetic; none if they are anything else.
fn simple<'a>(rows: &'a [Row<'a>]) -> Option<(Option<&'a Effect>, Option<&'a Block>)> {
    let is_take = |effect: &Effect| matches!(effect, Effect::TakeRow { .. } | Effect::TakeElement { .. });
    match rows {
        [] => Some((None, None)),
        [Row::Block(block)] => Some((None, Some(block))),
        [Row::Effect(take)] if is_take(take) => Some((Some(take), None)),
        [Row::Effect(take), Row::Block(block)] if is_take(take) => Some((Some(take), Some(block))),
        _ => None,
    }
}

/// What a step of a part that always comes weighs.
const STEP_WEIGHT: u64 = 64;

/// How often each part comes, about.
fn weights(order: &Order, parts: usize) -> Vec<u64> {
    let groups = order.groups(parts);
    let mut weights = vec![0; parts];
    for step in &order.steps {
        match *step {
            SequenceStep::Part(number) => weights[number] += STEP_WEIGHT,
            SequenceStep::Chosen { first_part, .. } => {
                let group = groups.iter().find(|group| group.start == first_part).cloned().unwrap_or_default();
                let share = STEP_WEIGHT.div_ceil(group.len().max(1) as u64); // usize to u64 widens
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

/// The long numbers that parts push most, the one that they push least of these first, so that it lies lowest.
fn numbers_below(parts: &[Planned]) -> Vec<Place> {
    let mut pushes: BTreeMap<&BigUint, usize> = BTreeMap::new();
    parts.iter().flat_map(Planned::long_numbers).for_each(|number| *pushes.entry(number).or_default() += 1);
    let mut numbers: Vec<(usize, &BigUint)> = pushes.into_iter().map(|(number, pushes)| (pushes, number)).collect();
    numbers.retain(|(pushes, _)| pushes * NUMBER_BYTES >= SPARED_BYTES_MIN);
    numbers.sort_unstable();
    let least = numbers.len().saturating_sub(NUMBERS_MAX);
    numbers[least..].iter().map(|&(_, number)| Place::Number(number.clone())).collect()
}

/// Bytes that a push of a long number takes more than a copy.
const NUMBER_BYTES: usize = 32;

/// The most values of a state that stays on the stack.
const STATE_MAX: usize = 6;
/// The most long numbers below them, beside p.
const NUMBERS_MAX: usize = 3;
/// Kinds of parts for which forms and orders are found.
const KINDS_MAX: usize = 8;
/// Bytes of code that a number below the state has to spare.
const SPARED_BYTES_MIN: usize = 300;

/// What is best for the state of parts of these kinds; none if memory is.
fn choice(words: &Words, found: &[Found<'_>], kinds: &[Kind]) -> Option<Choice> {
    let none = BTreeSet::new();
    let weight = |state: &State<'_>, kind: &Kind| {
        let part = &found[kind.part];
        let planned = words.plan(&part.ops, &none, Some(&state.ends(part)), Effort::Compare)?;
        Some(kind.weight * words.weight(&planned))
    };
    let weight_of =
        |state: &State<'_>, kinds: &[Kind]| kinds.iter().map(|kind| weight(state, kind)).sum::<Option<u64>>();
    let mut heaviest = kinds.to_vec();
    heaviest.sort_by_key(|kind| std::cmp::Reverse(kind.weight * found[kind.part].ops.len() as u64)); // usize to u64 widens
    heaviest.truncate(KINDS_MAX);
    let ordered = |forms: &[Form], below: &[Place]| {
        best_order(forms.len(), |order| weight_of(&State { forms, order, below }, &heaviest))
    };
    let parts: Vec<PartOps<'_>> = found.iter().map(Found::ops).collect();
    let mut ranked = words.forms(&parts, &heaviest)?;
    let order = ordered(&ranked[0], &[])?;
    ranked.sort_by_cached_key(|forms| {
        let state = State { forms, order: &order, below: &[] };
        weight_of(&state, &heaviest).unwrap_or(u64::MAX)
    });
    let forms = ranked.swap_remove(0);
    let order = ordered(&forms, &[])?;
    let state = State { forms: &forms, order: &order, below: &[] };
    if words.is_first() {
        let in_memory = |kind: &Kind| {
            let part = &found[kind.part];
            let kept = part.after.iter().copied().filter(|slot| part.ops.iter().any(|op| op.out == *slot)).collect();
            Some(kind.weight * words.weight(&words.plan(&part.ops, &kept, None, Effort::Compare)?))
        };
        let in_memory = heaviest.iter().map(in_memory).sum::<Option<u64>>();
        if in_memory.is_some_and(|in_memory| weight_of(&state, &heaviest).is_none_or(|stack| in_memory <= stack)) {
            return None;
        }
    }
    if !words.holds_numbers() {
        return Some(Choice { forms, order, below: Vec::new() });
    }
    let below = [Place::Modulus];
    let state = State { below: &below, ..state };
    let planned = |part: &Found<'_>| words.plan(&part.ops, &none, Some(&state.ends(part)), Effort::Compare);
    let planned: Option<Vec<Planned>> = found.iter().map(planned).collect();
    let below = [&numbers_below(&planned?)[..], &below].concat();
    let order = ordered(&forms, &below)?;
    Some(Choice { forms, order, below })
}

impl<'a> Lowering<'a> {
    /// How a sequence keeps its state on the stack; none if it does not, or if that is no cheaper.
    pub(super) fn held(&self, sequence: &'a Nest<'a>, order: &Order) -> Option<HeldSequence> {
        let words = self.target.words()?;
        let found = self.simple_parts(sequence, order)?;
        let parts: Vec<PartOps<'_>> = found.iter().map(Found::ops).collect();
        let kinds = words.kinds(&parts);
        let Choice { forms, order, below } = words.chosen(&parts, &kinds, || choice(words, &found, &kinds))?;
        let state = State { forms: &forms, order: &order, below: &below };
        self.held_as(words, (sequence, &found), &state)
    }

    /// The parts, if each is arithmetic on what all have, after a row at most.
    fn simple_parts(&self, sequence: &'a Nest<'a>, order: &Order) -> Option<Vec<Found<'a>>> {
        let arms = sequence.arms();
        let weights = weights(order, arms.len());
        let mut found = Vec::new();
        for (number, &(arm, rows)) in arms.iter().enumerate() {
            let (take, block) = simple(rows)?;
            let before: Vec<Slot> = arm.params.iter().map(|&value| self.placement.slot(value)).collect();
            let is_each_once = before.iter().collect::<BTreeSet<_>>().len() == before.len();
            // A row that a later part takes lies above the next address.
            let is_after = order.then.contains(&Some(number));
            if arm.params.len() > STATE_MAX || !is_each_once || take.is_some() && is_after {
                return None;
            }
            if let Some((block, (first, _))) = block.and_then(|block| Some((block, block.ops.first()?))) {
                let live = &self.placement.live_out[first];
                let is_given = |value: Value| arm.gives.contains(&Operand::Value(value));
                if block.ops.iter().any(|&(value, _)| live.contains(value.0 as usize) && !is_given(value)) {
                    return None; // u32 to usize widens
                }
            }
            found.push(Found {
                arm,
                ops: block.map_or_else(Vec::new, |block| self.slot_ops(block)),
                takes_row: take.is_some(),
                has_next: order.then[number].is_none(),
                before,
                after: arm.gives.iter().map(|&operand| self.slot(operand)).collect(),
                weight: weights[number],
            });
        }
        (!found.is_empty()).then_some(found)
    }

    fn held_as(
        &self,
        words: &Words,
        (sequence, found): (&'a Nest<'a>, &[Found<'a>]),
        state: &State<'_>,
    ) -> Option<HeldSequence> {
        let none = BTreeSet::new();
        let initial: Vec<Slot> = sequence.control.initial.iter().map(|&operand| self.slot(operand)).collect();
        let mut with_next = placed(&state.words(), &initial);
        with_next.push(Place::Next);
        let start = Ends { entry: vec![Place::Next], exit: with_next };
        let slots = &found[0].before;
        let end = Ends { entry: placed(&state.words(), slots), exit: Vec::new() };
        let store = |&slot: &Slot| SlotOp { operation: FieldOp::Add, out: slot, x: slot, y: words.zero() };
        let stores: Vec<SlotOp> = slots.iter().map(store).collect();
        let mut parts = Vec::new();
        for part in found {
            parts.push(HeldPart {
                above_row: u8::try_from(state.below.len() + state.order.len()).ok()?,
                ends: state.held(part),
                arithmetic: words.plan(&part.ops, &none, Some(&state.ends(part)), Effort::Whole)?,
            });
        }
        Some(HeldSequence {
            start: words.plan(&[], &none, Some(&start), Effort::Whole)?,
            end: words.plan(&stores, &slots.iter().copied().collect(), Some(&end), Effort::Whole)?,
            parts,
        })
    }

    /// Writes what was planned, if anything was.
    pub(super) fn planned(&mut self, planned: Option<&Planned>) {
        if let (Some(words), Some(planned)) = (self.target.words(), planned) {
            words.planned(self.code, planned);
        }
    }

    /// A part but for the way to the next one. [next address, row's address, state] → [state, next address]
    pub(super) fn held_part(&mut self, rows: &'a [Row<'a>], part: &HeldPart) -> Result<(), crate::CompileError> {
        let (take, block) = simple(rows).expect("it was looked at before");
        if let Some(take) = take {
            self.code.op(evm::SWAP1 - 1 + part.above_row);
            self.take_at(take)?;
        }
        let start = self.code.items().len();
        self.planned(Some(&part.arithmetic));
        if let Some(&(first, _)) = block.and_then(|block| block.ops.first()) {
            let items = start..self.code.items().len();
            self.blocks.push(LoweredBlock { function: self.number, first, items, held: Some(part.ends.clone()) });
        }
        Ok(())
    }

    /// Takes a row. [address] → []
    fn take_at(&mut self, take: &Effect) -> Result<(), crate::CompileError> {
        match take {
            Effect::TakeRow { results, .. } => {
                let bytes = self.element_bytes(results.len())?;
                push(self.code, bytes);
                self.code.op(evm::SWAP1);
                self.take_row(results);
            }
            Effect::TakeElement { array, results } => {
                let operands = self.before_take(*array, results);
                if let Some(operands) = u8::try_from(operands).ok().filter(|&operands| operands > 0) {
                    self.code.op(evm::SWAP1 - 1 + operands);
                }
                self.take_element(*array, results);
            }
            _ => unreachable!("nothing else is taken"),
        }
        Ok(())
    }
}
