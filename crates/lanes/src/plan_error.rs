//! Why a block has no plan.

use thiserror::Error;

/// Most operations of one block.
pub const OPERATIONS_MAX: usize = 1 << 24;

/// Why a block has no plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum PlanError {
    /// An operation names a slot beyond the block's.
    #[error("slot {slot} is not among the {slot_count} slots of the block")]
    SlotOutOfRange {
        /// The slot.
        slot: u16,
        /// Number of slots.
        slot_count: u16,
    },
    /// The block is longer than [`OPERATIONS_MAX`].
    #[error("a block of {count} operations exceeds the {OPERATIONS_MAX} that a plan may have")]
    TooManyOperations {
        /// Operations of the block.
        count: usize,
    },
    /// More values are alive together than rows can be numbered.
    #[error("the block keeps more than 65,535 values alive")]
    TooManyRows,
}
