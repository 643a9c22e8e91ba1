//! An experiment: EIP-6690 of 2024 with an instruction's lanes priced as a vector, by a start and a price each, and values in memory that have as
//! many bytes as the modulus is declared with, not whole limbs.
//!
//! Source: none outside. Opcodes and semantics are those of EIP-6690; a value of ⌈14 / 8⌉ bytes takes two where LOADX
//! and STOREX take eight there. Slots are as wide as before, also in the cost of memory.

use alloc::vec::Vec;

use super::rules::{Addition, SlotRules};
use super::{EncodeError, Interface, Semantics, codec};
use crate::field_instruction::FieldInstruction;
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xc0 SETMODX "Activates a field context, created if new: id, modulus offset, modulus size, slot count." 4 -> 0;
    0xc1 LOADX   "Copies slots into memory, as long as the modulus: memory offset, first slot, count." 3 -> 0;
    0xc2 STOREX  "Copies memory into slots, as long as the modulus: first slot, memory offset, count." 3 -> 0;
    0xc3 ADDMODX "out = x + y mod m in each lane." 0 -> 0 immediate 7;
    0xc4 SUBMODX "out = x - y mod m in each lane." 0 -> 0 immediate 7;
    0xc5 MULMODX "out = x * y mod m in each lane." 0 -> 0 immediate 7;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "x-vectorx",
    summary: "experiment: EIP-6690 of 2024 with lanes priced as vectors and short values in memory",
    semantics: Semantics::Slots(&RULES),
    opcodes: OPCODES,
    immediates: immediate_table(OPCODES),
    arithmetic: PerOp([ADDMODX, SUBMODX, MULMODX]),
    width_limbs_max: super::eip6690_2024::MODULUS_BYTES_MAX / 8,
    default_schedule: "vector",
    encode,
    decode,
};

/// Rules, as differences to `eip6690-2024`.
pub const RULES: SlotRules = SlotRules { is_packed: true, additions: &[Addition::Vectors], ..SlotRules::EIP6690_2024 };

fn encode(instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    codec::encode_strided(&INTERFACE, instruction, code)
}

fn decode(code: &[u8]) -> Option<(FieldInstruction, usize)> {
    codec::decode_strided(&INTERFACE, code)
}
