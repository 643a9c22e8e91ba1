//! An experiment: EIP-6690 of 2024 with SUM2X to SUM6X, sums and differences of two to six products with one reduction.
//!
//! Source: none outside. Immediate bytes are out, signs, then the two slots of each product; bit i of signs is set if
//! product i is subtracted, the bits after the products mean nothing. All slots are read before the result is written.
//! Lanes with strides do not fit sums: few formulas have corresponding operands of their sums at equal distances.

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
    0xc8 SUM2X   "out = 2 products of slots, each added or subtracted, mod m." 0 -> 0 immediate 6;
    0xc9 SUM3X   "out = 3 products of slots, each added or subtracted, mod m." 0 -> 0 immediate 8;
    0xca SUM4X   "out = 4 products of slots, each added or subtracted, mod m." 0 -> 0 immediate 10;
    0xcb SUM5X   "out = 5 products of slots, each added or subtracted, mod m." 0 -> 0 immediate 12;
    0xcc SUM6X   "out = 6 products of slots, each added or subtracted, mod m." 0 -> 0 immediate 14;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "x-sumx",
    summary: "experiment: EIP-6690 of 2024 with SUM2X to SUM6X, sums of products with one reduction",
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
pub const RULES: SlotRules = SlotRules { sums: Some(SUM2X), additions: &[Addition::Sums], ..SlotRules::EIP6690_2024 };

fn encode(instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    codec::encode_added((&INTERFACE, &RULES), instruction, code)
}

fn decode(code: &[u8]) -> Option<(FieldInstruction, usize)> {
    codec::decode_added((&INTERFACE, &RULES), code)
}
