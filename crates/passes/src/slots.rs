//! Slots, and operations on them: the form of blocks once their values have places.

use residue_ir::FieldOp;

/// A numbered place for one field value.
pub type Slot = u32;

/// One operation on slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SlotOp {
    /// Operation.
    pub operation: FieldOp,
    /// Slot written.
    pub out: Slot,
    /// First operand.
    pub x: Slot,
    /// Second operand.
    pub y: Slot,
}
