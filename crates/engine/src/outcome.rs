//! What a frame leaves behind.

use crate::halt::Halt;

/// How a frame ended, what it returned and what it used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How the frame ended.
    pub halt: Halt,
    /// What RETURN or REVERT gave back; empty otherwise.
    pub output: Vec<u8>,
    /// Gas of execution, all of it after an exceptional halt. Refunds are not subtracted.
    pub gas_used: u64,
    /// Gas left to the caller: what was given, less `gas_used`.
    pub gas_left: u64,
    /// The frame's memory at its end, a multiple of 32 bytes.
    pub memory: Vec<u8>,
}

impl Outcome {
    /// Whether the frame ended well: stop or return.
    pub fn is_success(&self) -> bool {
        self.halt.is_success()
    }
}
