//! First step of planning: slots become values, each defined once, and unused values are dropped.

use alloc::vec;
use alloc::vec::Vec;

use crate::block::{FieldOp, SlotBlock};

/// Number of a value: its place in a list of definitions.
pub(super) type ValueId = u32;
/// No value.
pub(super) const NONE: ValueId = ValueId::MAX;

/// Definition of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Definition {
    /// Value of a slot at entry.
    Input(u16),
    /// An operation on two earlier values.
    Op(FieldOp, ValueId, ValueId),
}

/// The values of a block.
pub(super) struct Values {
    pub definitions: Vec<Definition>,
    /// By value: does an output need it?
    pub is_needed: Vec<bool>,
    /// The live slots that are written, with the values they end with, in order of slots.
    pub outputs: Vec<(u16, ValueId)>,
}

impl Values {
    /// The values of `block`.
    pub fn of(block: &SlotBlock) -> Self {
        let slots = block.place_count();
        let mut held = vec![NONE; slots];
        let mut is_written = vec![false; slots];
        let mut definitions = Vec::with_capacity(block.ops.len() + slots.min(block.ops.len()));
        let mut groups = block.groups.iter().peekable();
        let mut results = Vec::new();
        let mut at = 0;
        while at < block.ops.len() {
            let end = groups.next_if(|group| group.first == at).map_or(at + 1, |group| group.end);
            results.clear();
            for op in &block.ops[at..end] {
                let x = read(op.x, block.place(op.x), &mut held, &mut definitions);
                let y = read(op.y, block.place(op.y), &mut held, &mut definitions);
                results.push(next_id(&definitions));
                definitions.push(Definition::Op(op.kind, x, y));
            }
            for (op, result) in block.ops[at..end].iter().zip(&results) {
                held[block.place(op.out)] = *result;
                is_written[block.place(op.out)] = true;
            }
            at = end;
        }
        for dead in &block.dead {
            is_written[usize::from(*dead)] = false;
        }
        let written = (0..block.slot_count()).filter(|slot| is_written[usize::from(*slot)]);
        let outputs: Vec<_> = written.map(|slot| (slot, held[usize::from(slot)])).collect();
        let is_needed = needed(&definitions, &outputs);
        Self { definitions, is_needed, outputs }
    }
}

/// The value a slot or temporary holds, which has this place; its value at entry becomes one at the first read.
fn read(slot: u16, place: usize, held: &mut [ValueId], definitions: &mut Vec<Definition>) -> ValueId {
    let value = &mut held[place];
    if *value == NONE {
        *value = next_id(definitions);
        definitions.push(Definition::Input(slot));
    }
    *value
}

/// The number the next definition gets. `Plan::new` limits blocks, so that it fits.
fn next_id(definitions: &[Definition]) -> ValueId {
    definitions.len() as ValueId
}

/// Backwards: a value is needed if it is an output or an operand of a needed value.
fn needed(definitions: &[Definition], outputs: &[(u16, ValueId)]) -> Vec<bool> {
    let mut is_needed = vec![false; definitions.len()];
    for (_, value) in outputs {
        is_needed[*value as usize] = true;
    }
    for (id, definition) in definitions.iter().enumerate().rev() {
        let Definition::Op(_, x, y) = *definition else { continue };
        if is_needed[id] {
            is_needed[x as usize] = true;
            is_needed[y as usize] = true;
        }
    }
    is_needed
}
