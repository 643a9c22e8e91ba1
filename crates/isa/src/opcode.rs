//! Description of an opcode without its price: byte, name, one sentence, stack effect, immediate.
//!
//! Every revision file holds one table of [`OpcodeRow`]s for the opcodes it adds; [`mod@evm`] holds the EVM's own. Decoder,
//! disassembler, jump analysis and documentation are derived from these rows, and nothing else states the same facts.

pub mod evm;
pub mod subroutine;

use crate::fork::Fork;

/// One line of an opcode table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OpcodeRow {
    /// The byte. Bytes collide between revisions, so the key is revision and byte.
    pub byte: u8,
    /// The name in assembly text and in gas schedules.
    pub mnemonic: &'static str,
    /// Semantics, in one sentence.
    pub sentence: &'static str,
    /// Bytes that follow the opcode and belong to it.
    pub immediate_bytes: u8,
    /// Words taken from the stack.
    pub pops: u8,
    /// Words put on the stack.
    pub pushes: u8,
    /// The first fork that has it; for a revision's own the first of all.
    pub since: Fork,
}

impl OpcodeRow {
    /// Bytes of the opcode with its immediate.
    pub fn instruction_bytes(&self) -> usize {
        1 + usize::from(self.immediate_bytes)
    }
}

/// Declares a table as a constant `OPCODES`, and a byte constant for each mnemonic.
///
/// A row reads `byte MNEMONIC "sentence" pops -> pushes [immediate bytes] [since fork];`.
macro_rules! opcodes {
    ($($byte:literal $mnemonic:ident $sentence:literal $pops:literal -> $pushes:literal $(immediate $immediate:literal)? $(since $fork:ident)?;)*) => {
        $(
            #[doc = $sentence]
            pub const $mnemonic: u8 = $byte;
        )*

        /// The rows above, by ascending byte.
        pub const OPCODES: &[$crate::opcode::OpcodeRow] = &[$($crate::opcode::OpcodeRow {
            byte: $byte,
            mnemonic: stringify!($mnemonic),
            sentence: $sentence,
            immediate_bytes: 0 $(+ $immediate)?,
            pops: $pops,
            pushes: $pushes,
            since: {
                let named = [$crate::fork::Fork::Frontier $(, $crate::fork::Fork::$fork)?];
                named[named.len() - 1]
            },
        }),*];
    };
}
pub(crate) use opcodes;

/// The EVM's own opcodes through Osaka, by ascending byte.
pub fn evm() -> &'static [OpcodeRow] {
    evm::OPCODES
}

/// Immediate bytes of each of the 256 opcodes when `rows` are added to the EVM's own; a row of `rows` replaces the EVM's.
pub(crate) const fn immediate_table(rows: &[OpcodeRow]) -> [u8; 256] {
    let mut table = [0; 256];
    fill_immediates(&mut table, evm::OPCODES);
    fill_immediates(&mut table, rows);
    table
}

const fn fill_immediates(table: &mut [u8; 256], rows: &[OpcodeRow]) {
    let mut i = 0;
    while i < rows.len() {
        table[rows[i].byte as usize] = rows[i].immediate_bytes; // u8 to usize widens; `From` is not const.
        i += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evm_rows_ascend_and_have_one_mnemonic_each() {
        assert!(evm().is_sorted_by(|a, b| a.byte < b.byte));
        let names: std::collections::BTreeSet<_> = evm().iter().map(|row| row.mnemonic).collect();
        assert_eq!(names.len(), evm().len());
    }

    #[test]
    fn only_push_has_immediates_in_the_evm() {
        for row in evm() {
            let expected = if (0x60..=0x7f).contains(&row.byte) { row.byte - 0x5f } else { 0 };
            assert_eq!(row.immediate_bytes, expected, "{}", row.mnemonic);
        }
    }

    #[test]
    fn stack_effects_of_the_numbered_families() {
        for row in evm() {
            match row.byte {
                evm::PUSH0..=evm::PUSH32 => assert_eq!((row.pops, row.pushes), (0, 1)),
                evm::DUP1..=evm::DUP16 => assert_eq!((row.pops, row.pushes), (row.byte - 0x7f, row.byte - 0x7e)),
                evm::SWAP1..=evm::SWAP16 => assert_eq!((row.pops, row.pushes), (row.byte - 0x8e, row.byte - 0x8e)),
                evm::LOG0..=evm::LOG4 => assert_eq!((row.pops, row.pushes), (row.byte - 0x9e, 0)),
                _ => {}
            }
        }
    }
}
