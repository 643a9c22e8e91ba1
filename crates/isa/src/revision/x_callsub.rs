//! An experiment: EIP-6690 of 2024 with the subroutines of EIP-7979, which go on a return stack of their own.
//!
//! Source: EIP-7979 for the additions, without its validated code (`crates/isa/src/opcode/subroutine.rs`).

use alloc::vec::Vec;

use super::rules::{Addition, SlotRules};
use super::{EncodeError, Interface, Semantics, codec};
use crate::field_instruction::FieldInstruction;
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xb0 CALLSUB   "Continues at an ENTERSUB; the return stack gets the offset after this instruction (EIP-7979)." 1 -> 0;
    0xb1 ENTERSUB  "Marks a valid target of CALLSUB (EIP-7979)." 0 -> 0;
    0xb2 RETURNSUB "Continues at the offset that it takes from the return stack (EIP-7979)." 0 -> 0;
    0xc0 SETMODX   "Activates a field context, created if new: id, modulus offset, modulus size, slot count." 4 -> 0;
    0xc1 LOADX     "Copies slots into memory: memory offset, first slot, count." 3 -> 0;
    0xc2 STOREX    "Copies memory into slots: first slot, memory offset, count." 3 -> 0;
    0xc3 ADDMODX   "out = x + y mod m in each lane." 0 -> 0 immediate 7;
    0xc4 SUBMODX   "out = x - y mod m in each lane." 0 -> 0 immediate 7;
    0xc5 MULMODX   "out = x * y mod m in each lane." 0 -> 0 immediate 7;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "x-callsub",
    summary: "experiment: EIP-6690 of 2024 with the subroutines of EIP-7979",
    semantics: Semantics::Slots(&RULES),
    opcodes: OPCODES,
    immediates: immediate_table(OPCODES),
    arithmetic: PerOp([ADDMODX, SUBMODX, MULMODX]),
    width_limbs_max: super::eip6690_2024::MODULUS_BYTES_MAX / 8,
    default_schedule: "next",
    encode,
    decode,
};

/// Rules, as differences to `eip6690-2024`.
pub const RULES: SlotRules = SlotRules { additions: &[Addition::Subroutines], ..SlotRules::EIP6690_2024 };

fn encode(instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    codec::encode_strided(&INTERFACE, instruction, code)
}

fn decode(code: &[u8]) -> Option<(FieldInstruction, usize)> {
    codec::decode_strided(&INTERFACE, code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opcode::subroutine;

    #[test]
    fn the_opcodes_are_those_of_the_two_it_is_made_of() {
        let parts = [subroutine::OPCODES, crate::revision::eip6690_2024::OPCODES].concat();
        let key = |rows: &[crate::opcode::OpcodeRow]| -> Vec<_> {
            rows.iter().map(|row| (row.byte, row.mnemonic, row.immediate_bytes, row.pops, row.pushes)).collect()
        };
        assert_eq!(key(OPCODES), key(&parts));
        assert_eq!(&OPCODES[..3], subroutine::OPCODES);
    }
}
