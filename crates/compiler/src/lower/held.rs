//! Sequences whose state stays on the stack from part to part, on a target whose slots are words of memory: [`crate::words::held`].
//!
//! A part finds, from below, the address of the next part, unless one part always comes after it, and the state; rows that it
//! takes, whose addresses lie between both, are taken first. It leaves the state with that address on top,
//! and jumps there. For short code, p and the most frequent long constants lie below the state, so that parts copy
//! them.

use super::{LoweredBlock, Lowering};
use crate::target::words::{Planned, Weighed, Words};
use crate::words::backward::Effort;
use crate::words::held::{Around, Choice, Kind, PartOps, best_order};
use crate::words::places::{Ends, Form, Place};
use num_bigint::BigUint;
use residue_ir::program::{Arm, Block, Operand, Order, RowsOf, Take, Value};
use residue_ir::{Effect, FieldOp, SequenceStep};
use residue_isa::opcode::evm;
use residue_passes::rows::Nest;
use residue_passes::{Row, Slot, SlotOp};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A word on the stack where a block begins or ends, for the checker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeldWord {
    /// Address of the next code.
    Next,
    /// p.
    Modulus,
    /// A number.
    Number(BigUint),
    /// The value of the state that has this number, in this form.
    Value(usize, Form),
}

/// Stack at the start and end of a block, lowest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeldEnds {
    /// Stack at the start.
    pub entry: Vec<HeldWord>,
    /// Stack at the end.
    pub exit: Vec<HeldWord>,
    /// The values of the state where it begins.
    pub before: Vec<Operand>,
    /// The same where it ends.
    pub after: Vec<Operand>,
}

/// Code that moves the state of a sequence without computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// Into the sequence whose first part finds this value first.
    Into(Value),
    /// Through the part that finds it first.
    Through(Value),
    /// Out of the sequence whose first part finds it first.
    OutOf(Value),
}

/// Position of the items of such code in the assembly, for the checker.
#[derive(Debug, Clone)]
pub struct HeldWay {
    /// The function.
    pub function: usize,
    /// Kind of move.
    pub way: Way,
    /// Its items.
    pub items: Range<usize>,
    /// Stack before and after it.
    pub ends: HeldEnds,
}

/// A sequence whose state stays on the stack.
pub(super) struct HeldSequence {
    /// Brings the state below the first address. [address] → [state, address]
    pub start: HeldCode,
    /// Stores the state. [state] → []
    pub end: HeldCode,
    /// The parts.
    pub parts: Vec<HeldPart>,
}

impl HeldSequence {
    /// Words of the stack that the state takes, with the numbers below it.
    pub(super) fn state_words(&self) -> usize {
        self.end.ends.entry.len()
    }
}

/// Planned code for a move of a state.
pub(super) struct HeldCode {
    way: Way,
    ends: HeldEnds,
    planned: Planned,
}

/// A part of such a sequence.
pub(super) struct HeldPart {
    /// Words between the address of the next row that it takes and the top.
    above_row: u8,
    /// Its arithmetic, or the way through it if it has none.
    code: HeldCode,
}

/// A part with its operations.
struct Found<'a> {
    arm: &'a Arm,
    ops: Vec<SlotOp>,
    before: Vec<Slot>,
    after: Vec<Slot>,
    around: Around,
}

impl<'a> Found<'a> {
    const fn ops(&'a self) -> PartOps<'a> {
        PartOps {
            ops: self.ops.as_slice(),
            before: self.before.as_slice(),
            after: self.after.as_slice(),
            around: self.around,
        }
    }
}

/// Stack between two parts.
struct State<'a> {
    /// Form of each value of the state.
    forms: &'a [Form],
    /// The values by their numbers, the lowest first.
    order: &'a [usize],
    /// Words below them.
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

    /// Stack before and after a part, without its row.
    fn held(&self, part: &Found<'_>) -> HeldEnds {
        let mut entry = self.words();
        for _ in 0..part.around.takes {
            entry.rotate_right(1); // A row's address was brought to the top by an exchange.
        }
        let next = if part.around.has_next { &[HeldWord::Next][..] } else { &[] };
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

/// Rows taken by a part and its arithmetic, each optional; `None` if the part has other rows.
fn simple<'a>(rows: &'a [Row<'a>]) -> Option<(Vec<Take<'a>>, Option<&'a Block>)> {
    let (before, block) = match rows {
        [before @ .., Row::Block(block)] => (before, Some(&**block)),
        all => (all, None),
    };
    let take = |row: &'a Row<'a>| match row {
        Row::Effect(Effect::TakeRow { table, results }) => Some(Take { of: RowsOf::Table(*table), results }),
        Row::Effect(Effect::TakeElement { array, results }) => Some(Take { of: RowsOf::Array(*array), results }),
        _ => None,
    };
    Some((before.iter().map(take).collect::<Option<_>>()?, block))
}

/// Values that a part finds in memory: the operands of its arithmetic and its results, except the state and values
/// computed in the part.
fn from_memory(arm: &Arm, block: Option<&Block>) -> BTreeSet<Value> {
    let given = arm.gives.iter().filter_map(|operand| operand.value());
    let mut found: BTreeSet<Value> = block.map(Block::inputs).into_iter().flatten().chain(given).collect();
    block.into_iter().flat_map(|block| &block.ops).map(|(value, _)| value).chain(&arm.params).for_each(|value| {
        found.remove(value);
    });
    found
}

/// Weight of a step with a constant part.
const STEP_WEIGHT: u64 = 64;

/// Estimated frequency of each part.
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

/// Best form of the state for parts of these kinds; `None` if memory is best.
fn choice(words: &Words, found: &[Found<'_>], kinds: &[Kind]) -> Option<Choice> {
    let none = BTreeSet::new();
    let mut heaviest = kinds.to_vec();
    heaviest.sort_by_key(|kind| std::cmp::Reverse(kind.weight * found[kind.part].ops.len() as u64)); // usize to u64 widens
    heaviest.truncate(KINDS_MAX);
    let weight_below = |state: &State<'_>, limit: u64| {
        let on_stack = |kind: &Kind| {
            let part = &found[kind.part];
            Weighed { times: kind.weight, ops: &part.ops, kept: BTreeSet::new(), ends: Some(state.ends(part)) }
        };
        words.weight_below(heaviest.iter().map(on_stack), limit)
    };
    let ordered = |forms: &[Form], below: &[Place]| {
        best_order(forms.len(), |order, limit| weight_below(&State { forms, order, below }, limit))
    };
    let parts: Vec<PartOps<'_>> = found.iter().map(Found::ops).collect();
    let mut ranked = words.forms(&parts, &heaviest)?;
    let order = ordered(&ranked[0], &[])?;
    let (mut best, mut least) = (0, u64::MAX);
    for (place, forms) in ranked.iter().enumerate() {
        if let Some(weight) = weight_below(&State { forms, order: &order, below: &[] }, least) {
            (best, least) = (place, weight);
        }
    }
    let forms = ranked.swap_remove(best);
    let order = if best == 0 { order } else { ordered(&forms, &[])? };
    let state = State { forms: &forms, order: &order, below: &[] };
    if words.is_first() {
        let in_memory = |kind: &Kind| {
            let part = &found[kind.part];
            let kept = part.after.iter().copied().filter(|slot| part.ops.iter().any(|op| op.out == *slot)).collect();
            Weighed { times: kind.weight, ops: &part.ops, kept, ends: None }
        };
        let limit = weight_below(&state, u64::MAX).map_or(u64::MAX, |on_stack| on_stack + 1);
        if words.weight_below(heaviest.iter().map(in_memory), limit).is_some() {
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
    /// Code of a sequence with its state on the stack; `None` if that is impossible or not cheaper.
    pub(super) fn held(&self, sequence: &'a Nest<'a>, order: &Order) -> Option<HeldSequence> {
        let words = self.target.words()?;
        let found = self.simple_parts(sequence, order)?;
        let parts: Vec<PartOps<'_>> = found.iter().map(Found::ops).collect();
        let choose = || choice(words, &found, &words.kinds(&parts));
        let Choice { forms, order, below } = words.chosen(&parts, choose)?;
        let state = State { forms: &forms, order: &order, below: &below };
        self.held_as(words, (sequence, &found), &state)
    }

    /// The parts, if there is a state, and each is arithmetic on values that all have, after the rows that it takes.
    fn simple_parts(&self, sequence: &'a Nest<'a>, order: &Order) -> Option<Vec<Found<'a>>> {
        let arms = sequence.arms();
        let weights = weights(order, arms.len());
        let mut is_after = vec![false; arms.len()];
        order.then.iter().flatten().for_each(|&next| is_after[next] = true);
        let mut found = Vec::new();
        for (number, &(arm, rows)) in arms.iter().enumerate() {
            let (takes, block) = simple(rows)?;
            let before: Vec<Slot> = arm.params.iter().map(|&value| self.placement.slot(value)).collect();
            let slots: BTreeSet<Slot> = before.iter().copied().collect();
            // A value of the state that is not read leaves its slot to a row.
            let in_memory = from_memory(arm, block);
            let is_each_once = slots.len() == before.len()
                && !in_memory.into_iter().any(|value| slots.contains(&self.placement.slot(value)));
            // A row that a later part takes lies above the next address.
            let takes_later_row = !takes.is_empty() && is_after[number];
            if !(1..=STATE_MAX).contains(&before.len()) || !is_each_once || takes_later_row {
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
                before,
                after: arm.gives.iter().map(|&operand| self.slot(operand)).collect(),
                around: Around { weight: weights[number], takes: takes.len(), has_next: order.then[number].is_none() },
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
        let params: Vec<Operand> = found[0].arm.params.iter().map(|&value| Operand::Value(value)).collect();
        let of_sequence = *found[0].arm.params.first()?;
        let code = |way, ops: &[SlotOp], kept: &BTreeSet<Slot>, ends: HeldEnds, placed: &Ends| {
            let planned = words.plan(ops, kept, Some(placed), Effort::Whole)?;
            Some(HeldCode { way, ends, planned })
        };
        let initial: Vec<Slot> = sequence.control.initial.iter().map(|&operand| self.slot(operand)).collect();
        let start = HeldEnds {
            entry: vec![HeldWord::Next],
            exit: [state.words(), vec![HeldWord::Next]].concat(),
            before: Vec::new(),
            after: sequence.control.initial.clone(),
        };
        let from_start = Ends { entry: vec![Place::Next], exit: placed(&start.exit, &initial) };
        let slots = &found[0].before;
        let end = HeldEnds { entry: state.words(), exit: Vec::new(), before: params, after: Vec::new() };
        let to_end = Ends { entry: placed(&end.entry, slots), exit: Vec::new() };
        let store = |&slot: &Slot| SlotOp { operation: FieldOp::Add, out: slot, x: slot, y: words.zero() };
        let stores: Vec<SlotOp> = slots.iter().map(store).collect();
        let mut parts = Vec::new();
        for part in found {
            let way = Way::Through(*part.arm.params.first()?);
            parts.push(HeldPart {
                above_row: u8::try_from(state.below.len() + state.order.len()).ok()?,
                code: code(way, &part.ops, &none, state.held(part), &state.ends(part))?,
            });
        }
        Some(HeldSequence {
            start: code(Way::Into(of_sequence), &[], &none, start, &from_start)?,
            end: code(Way::OutOf(of_sequence), &stores, &slots.iter().copied().collect(), end, &to_end)?,
            parts,
        })
    }

    /// Writes planned code; returns its items.
    fn held_items(&mut self, planned: &Planned) -> Range<usize> {
        let start = self.code.items().len();
        let words = self.target.words().expect("only they hold a state");
        words.planned(self.code, planned);
        start..self.code.items().len()
    }

    /// Writes the move of a state.
    pub(super) fn held_way(&mut self, HeldCode { way, ends, planned }: &HeldCode) {
        let items = self.held_items(planned);
        self.ways.push(HeldWay { function: self.number, way: *way, items, ends: ends.clone() });
    }

    /// A part but for the way to the next one. [next address, rows' addresses, state] → [state, next address]
    pub(super) fn held_part(&mut self, rows: &'a [Row<'a>], part: &HeldPart) -> Result<(), crate::CompileError> {
        let (takes, block) = simple(rows).expect("it was looked at before");
        for take in takes {
            self.code.op(evm::SWAP1 - 1 + part.above_row);
            self.take(take)?;
        }
        let Some(&(first, _)) = block.and_then(|block| block.ops.first()) else {
            self.held_way(&part.code);
            return Ok(());
        };
        let items = self.held_items(&part.code.planned);
        let held = Some(part.code.ends.clone());
        self.blocks.push(LoweredBlock { function: self.number, first, items, held });
        Ok(())
    }
}
