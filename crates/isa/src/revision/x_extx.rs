//! An experiment: EIP-6690 of 2024 with each of its opcodes after the byte EXTENSION.
//!
//! Source: EIP-8163 for the byte, which it reserves so that chains other than the mainnet may extend the EVM. The EIP
//! leaves the next bytes open; here it is an opcode of EIP-6690 with its immediate. Neither an opcode without the byte
//! nor the byte without an opcode is an instruction. Jump analysis skips all of it, contrary to the EIP
//! (`docs/revisions/x-extx.md`).

use alloc::vec::Vec;

use super::rules::{Addition, SlotRules};
use super::{EncodeError, Interface, Semantics, codec};
use crate::field_instruction::FieldInstruction;
use crate::opcode::immediate_table;

pub use super::eip6690_2024::OPCODES;

/// The byte before each opcode (EIP-8163, `EXTENSION`).
pub const EXTENSION: u8 = 0xae;

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "x-extx",
    summary: "experiment: EIP-6690 of 2024 with each opcode after the byte that EIP-8163 reserves for extensions",
    semantics: Semantics::Slots(&RULES),
    opcodes: OPCODES,
    immediates: immediate_table(&[]),
    default_schedule: "next",
    encode,
    decode,
    ..super::eip6690_2024::INTERFACE
};

/// Rules, as differences to `eip6690-2024`: the prefix alone.
pub const RULES: SlotRules =
    SlotRules { prefix: Some(EXTENSION), additions: &[Addition::Prefix], ..SlotRules::EIP6690_2024 };

fn encode(instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    codec::encode_strided(&INTERFACE, instruction, code)
}

fn decode(code: &[u8]) -> Option<(FieldInstruction, usize)> {
    codec::decode_strided(&INTERFACE, code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revision::Revision;
    use crate::revision::eip6690_2024::{MULMODX, SETMODX};

    const REVISION: Revision = Revision::XExtx;

    #[test]
    fn an_instruction_is_that_of_the_eip_after_the_prefix() {
        let bare = [MULMODX, 1, 2, 3, 0, 255, 4, 8];
        let (instruction, length) = Revision::Eip6690_2024.decode(&bare).unwrap();
        let prefixed = [&[EXTENSION][..], &bare].concat();
        let mut code = Vec::new();
        encode(&instruction, &mut code).unwrap();
        assert_eq!(code, prefixed);
        assert_eq!(decode(&prefixed), Some((instruction, length + 1)));
        for other in [&bare[..], &prefixed[..8], &[EXTENSION], &[EXTENSION, EXTENSION, MULMODX]] {
            assert_eq!(decode(other), None);
        }
    }

    #[test]
    fn the_byte_after_the_prefix_says_which_instruction_it_is() {
        assert_eq!(REVISION.opcode_at(&[EXTENSION, SETMODX]), SETMODX);
        assert_eq!(REVISION.bytes_at(&[EXTENSION, SETMODX]), 2);
        assert_eq!(REVISION.bytes_at(&[EXTENSION, MULMODX]), 9);
        // Two bytes whatever the second is, of which no row is found.
        for other in [&[EXTENSION][..], &[EXTENSION, 0x7f], &[EXTENSION, 0x5b], &[EXTENSION, EXTENSION]] {
            assert_eq!((REVISION.opcode_at(other), REVISION.row_at(other)), (EXTENSION, None));
            assert_eq!(REVISION.bytes_at(other), 2);
        }
        for row in OPCODES {
            assert_eq!(REVISION.row_at(&[row.byte]), None);
            assert_eq!(REVISION.bytes_at(&[row.byte]), 1);
        }
        assert_eq!(REVISION.first_bytes().collect::<Vec<_>>(), [EXTENSION]);
        assert_eq!(REVISION.opcode_bytes(0x01).collect::<Vec<_>>(), [0x01]);
    }
}
