//! Probes: readings of the clock at jump targets.

use std::time::Instant;

/// A jump target that was passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Offset of the JUMPDEST in the code.
    pub pc: usize,
    /// When it was executed.
    pub at: Instant,
}
