//! An experiment: EIP-6690 of 2024 with SETMODCX and STORECX, which are SETMODX and STOREX with their input in code
//! instead of memory.
//!
//! Source: none outside. A modulus and the constants of a program stand in its code; without these they go through
//! memory. Offsets are in the running code, as for CODECOPY, and the range must lie inside it.

use super::rules::{Addition, SlotRules};
use super::{EncodeError, Interface, Semantics, codec};
use crate::field_instruction::FieldInstruction;
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xc0 SETMODX  "Activates a field context, created if new: id, modulus offset, modulus size, slot count." 4 -> 0;
    0xc1 LOADX    "Copies slots into memory: memory offset, first slot, count." 3 -> 0;
    0xc2 STOREX   "Copies memory into slots: first slot, memory offset, count." 3 -> 0;
    0xc3 ADDMODX  "out = x + y mod m in each lane." 0 -> 0 immediate 7;
    0xc4 SUBMODX  "out = x - y mod m in each lane." 0 -> 0 immediate 7;
    0xc5 MULMODX  "out = x * y mod m in each lane." 0 -> 0 immediate 7;
    0xd1 SETMODCX "Activates a field context, created if new: id, modulus offset in code, modulus size, slot count." 4 -> 0;
    0xd2 STORECX  "Copies code into slots: first slot, code offset, count." 3 -> 0;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "x-codex",
    summary: "experiment: EIP-6690 of 2024 with SETMODCX and STORECX, a modulus and values that stand in code",
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
pub const RULES: SlotRules = SlotRules {
    set_modulus_in_code: Some(SETMODCX),
    store_from_code: Some(STORECX),
    additions: &[Addition::Code],
    ..SlotRules::EIP6690_2024
};

fn encode(instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    codec::encode_strided(&INTERFACE, instruction, code)
}

fn decode(code: &[u8]) -> Option<(FieldInstruction, usize)> {
    codec::decode_strided(&INTERFACE, code)
}
