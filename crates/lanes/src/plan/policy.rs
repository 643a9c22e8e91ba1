//! Parameters of the planner.

use crate::kernel::Kernel;
use crate::tables::BATCH_LANES;

/// Most companions of a batch.
pub const COMPANIONS_MAX: usize = 1 << 12;

/// Choices of the planner that change speed and nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    /// Linear steps run until this many products are ready, 1 to 8.
    pub batch_fill: usize,
    /// Most linear steps that a batch takes along, to run while its products do; [`COMPANIONS_MAX`] at most.
    pub companions: usize,
    /// True if products may be executed in fours when few are ready at a time.
    pub fours: bool,
}

impl Default for Policy {
    /// The fastest policy with [`Kernel::best`].
    fn default() -> Self {
        Self { batch_fill: BATCH_LANES, companions: 32, fours: Kernel::best().has_fours() }
    }
}
