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

/// What tells blocks apart: their operations in order, and which of them are lanes of one instruction. Equal blocks have equal digests;
/// two blocks that differ have the same one by accident only (one in 2⁶⁴), as no input is chosen against it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Digest(u64);

impl Digest {
    /// An odd number without pattern: the fraction of the golden ratio.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

    /// Adds an instruction of any number of lanes.
    #[inline]
    pub fn push(&mut self, kind: OpKind, lanes: impl IntoIterator<Item = (u16, u16, u16)>) {
        let mut count = 0u64;
        for (out, x, y) in lanes {
            self.mix(u64::from(out) << 32 | u64::from(x) << 16 | u64::from(y) | (kind as u64) << 48);
            count += 1;
        }
        self.mix(1 << 63 | count);
    }

    fn mix(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(Self::FACTOR);
        self.0 = mixed ^ mixed >> 29;
    }
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
    #[inline]
    pub fn push(&mut self, op: Op) -> Result<(), PlanError> {
        let slot = op.out.max(op.x).max(op.y);
        if slot >= self.slot_count {
            return Err(PlanError::SlotOutOfRange { slot, slot_count: self.slot_count });
        }
        self.ops.push(op);
        Ok(())
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

    /// The same operations on another number of slots; an error if one of them names a slot that is not among these.
    pub fn with_slot_count(&self, slot_count: u16) -> Result<Self, PlanError> {
        let named = self.ops.iter().flat_map(|op| [op.out, op.x, op.y]).chain(self.dead.iter().copied());
        match named.max().filter(|slot| *slot >= slot_count) {
            Some(slot) => Err(PlanError::SlotOutOfRange { slot, slot_count }),
            None => Ok(Self { slot_count, ..self.clone() }),
        }
    }

    /// What tells its operations apart from those of other blocks.
    pub fn digest(&self) -> Digest {
        let mut digest = Digest::default();
        for lanes in self.instructions() {
            digest.push(lanes[0].kind, lanes.iter().map(|op| (op.out, op.x, op.y)));
        }
        digest
    }

    /// Gives back room that it does not use.
    pub fn shrink(&mut self) {
        self.ops.shrink_to_fit();
        self.groups.shrink_to_fit();
    }

    /// Bytes that it has allocated.
    pub fn bytes(&self) -> usize {
        self.ops.capacity() * size_of::<Op>() + self.groups.capacity() * size_of::<Group>() + self.dead.capacity() * 2
    }

    /// Its instructions in order, each as its lanes.
    pub fn instructions(&self) -> impl Iterator<Item = &[Op]> {
        let mut groups = self.groups.iter().peekable();
        let mut at = 0;
        std::iter::from_fn(move || {
            let end = groups.next_if(|group| group.first == at).map_or(at + 1, |group| group.end);
            let lanes = self.ops.get(at..end)?;
            at = end;
            Some(lanes)
        })
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
