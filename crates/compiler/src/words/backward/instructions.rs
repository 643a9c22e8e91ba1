//! The instructions of a plan, with slots for the words that have no room on the stack.

use super::MODULUS;
use super::state::{Item, Step};
use crate::words::emit::{Emitted, Instruction, Operation};
use crate::words::prices::Prices;
use crate::words::terms::Terms;
use residue_passes::Slot;
use std::collections::BTreeSet;

/// Instructions of the steps, with slots of `own` for spills; `None` if there are too few.
pub fn instructions(
    terms: &Terms,
    prices: &Prices,
    (steps, slots): (&[Step], &[Slot]),
    own: &BTreeSet<Slot>,
) -> Option<Emitted> {
    let kept = kept_slots(steps, slots, own)?;
    let slot_of = |item: Item| kept.iter().find(|(kept, ..)| *kept == item).map(|&(_, slot)| slot);
    let named = |slot: Slot| slots[slot as usize]; // u32 to usize widens
    let mut emitted = Emitted::default();
    for &step in steps {
        let instruction = match step {
            Step::Push(MODULUS) => Instruction::PushModulus,
            Step::Push(item) => Instruction::Push(item.into()),
            Step::Dup(depth) => Instruction::Dup(u8::try_from(depth).ok()?),
            Step::Swap(below) => Instruction::Swap(u8::try_from(below).ok()?),
            Step::Pop => Instruction::Pop,
            Step::Load(slot) => Instruction::Load(named(slot)),
            Step::Store(slot) => Instruction::Store(named(slot)),
            Step::Fetch(item) => Instruction::Load(slot_of(item)?),
            Step::Keep(item) => Instruction::Store(slot_of(item)?),
            Step::Make(item) => Instruction::Operation(Operation::of(&terms.nodes[usize::from(item)])),
        };
        emitted.add(instruction, prices.instruction(terms, &instruction));
    }
    Some(emitted)
}

/// Slots of `own` for the words that have no room on the stack; `slots` are those that the block names.
fn kept_slots(steps: &[Step], slots: &[Slot], own: &BTreeSet<Slot>) -> Option<Vec<(Item, Slot)>> {
    if !steps.iter().any(|step| matches!(step, Step::Keep(_))) {
        return Some(Vec::new());
    }
    let last = |wanted: Step| steps.iter().rposition(|&step| step == wanted);
    // Slots, and from when to when they are not free: until what was there before is read last, and from their store on.
    let mut taken: Vec<(Slot, usize, usize)> = Vec::new();
    for (name, &slot) in (0..).zip(slots) {
        let stored = steps.iter().position(|&step| step == Step::Store(name)).unwrap_or(steps.len());
        let read = steps[..stored].iter().rposition(|&step| step == Step::Load(name));
        taken.extend(read.map(|read| (slot, 0, read)));
        taken.push((slot, stored, steps.len()));
    }
    let mut kept = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let &Step::Keep(item) = step else { continue };
        let end = last(Step::Fetch(item)).unwrap_or(at);
        let is_free = |slot: &Slot| taken.iter().all(|&(other, from, to)| other != *slot || to < at || from > end);
        let slot = own.iter().copied().find(is_free)?;
        taken.push((slot, at, end));
        kept.push((item, slot));
    }
    Some(kept)
}
