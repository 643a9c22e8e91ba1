//! Outcome of a frame.

use alloc::vec::Vec;

use crate::halt::Halt;

/// Outcome of a frame: its halt, output and resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// End of the frame.
    pub halt: Halt,
    /// Output of RETURN or REVERT; empty otherwise.
    pub output: Vec<u8>,
    /// Gas of execution, all of it after an exceptional halt. Refunds are not subtracted.
    pub gas_used: u64,
    /// Gas left to the caller: the gas limit less `gas_used`.
    pub gas_left: u64,
    /// The frame's memory at its end, a multiple of 32 bytes.
    pub memory: Vec<u8>,
}

impl Outcome {
    /// True if the frame ended by stop or return.
    pub fn is_success(&self) -> bool {
        self.halt.is_success()
    }
}
