//! Slot blocks: straight-line operations on numbered slots, as they stand in bytecode. What the planner starts from.
//!
//! Operations take effect in order and slots may be overwritten. The lanes of one instruction all read before any of them writes.

use crate::plan::PlanError;

/// What an operation does to its two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpKind {
    /// (x, y) ↦ x + y mod m.
    Add,
    /// (x, y) ↦ x − y mod m.
    Sub,
    /// (x, y) ↦ x·y mod m as values; in Montgomery form of any R, the Montgomery product.
    Mul,
}

/// An operation on slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// The slot it writes.
    pub out: u16,
    /// The slot of its first operand.
    pub x: u16,
    /// The slot of its second operand.
    pub y: u16,
}

/// A straight-line block on the slots 0 … `slot_count` − 1.
#[derive(Clone, Debug)]
pub struct SlotBlock {
    slot_count: u16,
    pub(crate) ops: Vec<Op>,
    /// Where each instruction of several lanes ends in `ops`, by its first operation; single operations are not listed.
    pub(crate) groups: Vec<Group>,
    pub(crate) dead: Vec<u16>,
}

/// The operations of one instruction with several lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub first: usize,
    pub end: usize,
}

impl SlotBlock {
    /// An empty block on this many slots.
    pub fn new(slot_count: u16) -> Self {
        Self { slot_count, ops: Vec::new(), groups: Vec::new(), dead: Vec::new() }
    }

    /// Appends an operation.
    pub fn push(&mut self, op: Op) -> Result<(), PlanError> {
        self.push_lanes(op.kind, [(op.out, op.x, op.y)])
    }

    /// Appends an instruction: one operation a lane, (out, x, y), all read before any is written; of two lanes that write one
    /// slot the later wins. On error the block is as before.
    pub fn push_lanes(
        &mut self,
        kind: OpKind,
        lanes: impl IntoIterator<Item = (u16, u16, u16)>,
    ) -> Result<(), PlanError> {
        let first = self.ops.len();
        for (out, x, y) in lanes {
            if let Some(slot) = [out, x, y].into_iter().find(|slot| *slot >= self.slot_count) {
                self.ops.truncate(first);
                return Err(PlanError::SlotOutOfRange { slot, slot_count: self.slot_count });
            }
            self.ops.push(Op { kind, out, x, y });
        }
        let end = self.ops.len();
        if end - first > 1 {
            self.groups.push(Group { first, end });
        }
        Ok(())
    }

    /// States that nothing reads `slot` after the block: its row holds any value then. A slot is live unless this is said.
    pub fn mark_dead(&mut self, slot: u16) -> Result<(), PlanError> {
        if slot >= self.slot_count {
            return Err(PlanError::SlotOutOfRange { slot, slot_count: self.slot_count });
        }
        self.dead.push(slot);
        Ok(())
    }

    /// Number of slots.
    pub fn slot_count(&self) -> u16 {
        self.slot_count
    }

    /// The operations, in order.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }
}
