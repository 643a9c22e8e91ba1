//! An experiment: EIP-6690 of 2024 with a price of its own for squares: multiplications with the same slots as both
//! factors.
//!
//! Source: none outside. Opcodes and semantics are those of EIP-6690. An instruction is a square by its immediate:
//! x_index = y_index and x_stride = y_stride, independent of the values.

use super::rules::{Addition, SlotRules};
use super::{EncodeError, Interface, Semantics, codec};
use crate::field_instruction::FieldInstruction;
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xc0 SETMODX "Activates a field context, created if new: id, modulus offset, modulus size, slot count." 4 -> 0;
    0xc1 LOADX   "Copies slots into memory: memory offset, first slot, count." 3 -> 0;
    0xc2 STOREX  "Copies memory into slots: first slot, memory offset, count." 3 -> 0;
    0xc3 ADDMODX "out = x + y mod m in each lane." 0 -> 0 immediate 7;
    0xc4 SUBMODX "out = x - y mod m in each lane." 0 -> 0 immediate 7;
    0xc5 MULMODX "out = x * y mod m in each lane." 0 -> 0 immediate 7;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "x-squarex",
    summary: "experiment: EIP-6690 of 2024 with a price for squares",
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
pub const RULES: SlotRules =
    SlotRules { prices_squares: true, additions: &[Addition::Squares], ..SlotRules::EIP6690_2024 };

fn encode(instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    codec::encode_strided(&INTERFACE, instruction, code)
}

fn decode(code: &[u8]) -> Option<(FieldInstruction, usize)> {
    codec::decode_strided(&INTERFACE, code)
}
