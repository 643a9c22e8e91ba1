//! An experiment: EIP-6690 of 2024 with EQX and LTX, which compare the values of two slots and put the answer on the stack.
//!
//! Source: none outside. Immediate bytes are the slots x and y, which may be the same. Values are compared as integers in 0, …, m − 1.

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
    0xd8 EQX     "Whether two slots are equal." 0 -> 1 immediate 2;
    0xd9 LTX     "Whether the integer in slot x is less than that in slot y." 0 -> 1 immediate 2;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "x-cmpx",
    summary: "experiment: EIP-6690 of 2024 with EQX and LTX, comparison of slots",
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
    SlotRules { equal: Some(EQX), less: Some(LTX), additions: &[Addition::Comparison], ..SlotRules::EIP6690_2024 };

fn encode(instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    codec::encode_added((&INTERFACE, &RULES), instruction, code)
}

fn decode(code: &[u8]) -> Option<(FieldInstruction, usize)> {
    codec::decode_added((&INTERFACE, &RULES), code)
}
