//! The opcode of a field instruction, as a revision has it.

/// One field opcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldOpcode {
    /// The opcode.
    pub byte: u8,
    /// Its name.
    pub mnemonic: &'static str,
    /// Bytes after the opcode that belong to the instruction.
    pub immediate_bytes: usize,
    /// Words it takes from the stack. None puts any but those of `evm384-v0`, which put two.
    pub pops: usize,
}
