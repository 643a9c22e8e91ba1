//! Blocks that were fused before: a program has most of them in common with itself for another revision.

use super::{fuse, fuse_well};
use foldhash::HashMap;
use residue_isa::FieldInstruction;
use residue_passes::{Slot, SlotOp};
use std::sync::{Mutex, PoisonError};

/// Results by their inputs: the bound of strides, and the operations.
type Known<T> = Mutex<HashMap<Slot, HashMap<Vec<SlotOp>, T>>>;

/// Blocks that were fused before. Threads may share them; none waits while another one fuses.
#[derive(Debug, Default)]
pub struct Fusions {
    counts: Known<u64>,
    fused: Known<Vec<FieldInstruction>>,
}

impl Fusions {
    /// The number of instructions of [`fuse`].
    pub fn count(&self, ops: &[SlotOp], end: Slot) -> u64 {
        remembered(&self.counts, (ops, end), || fuse(ops, end).len() as u64) // usize to u64 widens
    }

    /// [`fuse_well`].
    pub fn well(&self, ops: &[SlotOp], end: Slot) -> Vec<FieldInstruction> {
        remembered(&self.fused, (ops, end), || fuse_well(ops, end))
    }
}

fn remembered<T: Clone>(known: &Known<T>, (ops, end): (&[SlotOp], Slot), find: impl FnOnce() -> T) -> T {
    // No entry is half made if a thread ends while it has the lock.
    let lock = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = lock().get(&end).and_then(|known| known.get(ops)) {
        return found.clone();
    }
    let found = find();
    lock().entry(end).or_default().insert(ops.to_vec(), found.clone());
    found
}
