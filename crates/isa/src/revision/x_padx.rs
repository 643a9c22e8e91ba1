//! An experiment: EIP-6690 of 2024 with LOADPX and STOREPX, which are LOADX and STOREX for values that take more bytes of memory than the
//! modulus, as those of EIP-2537 do: 64 for 48.
//!
//! Source: none outside. The immediate byte is the number of bytes of a value, at least that of LOADX and STOREX. A
//! loaded value is preceded by zeros; all stored bytes are one number, which must be below the modulus.

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
    0xcf LOADPX  "Copies slots into memory, each in so many bytes: memory offset, first slot, count." 3 -> 0 immediate 1;
    0xd0 STOREPX "Copies memory into slots, each from so many bytes: first slot, memory offset, count." 3 -> 0 immediate 1;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "x-padx",
    summary: "experiment: EIP-6690 of 2024 with LOADPX and STOREPX, values with zeros in front of them",
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
    load_padded: Some(LOADPX),
    store_padded: Some(STOREPX),
    additions: &[Addition::Padding],
    ..SlotRules::EIP6690_2024
};

fn encode(instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    codec::encode_added((&INTERFACE, &RULES), instruction, code)
}

fn decode(code: &[u8]) -> Option<(FieldInstruction, usize)> {
    codec::decode_added((&INTERFACE, &RULES), code)
}
