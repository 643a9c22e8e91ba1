//! An experiment: EIP-6690 of 2024 with GETX and PUTX, which copy between slots and an array that each field context has beside them, at
//! an index from the stack.
//!
//! Source: none outside. Immediate bytes are the first slot and the number of values; the lowest 16 bits of the word on
//! the stack are the index of the first element, so that cells of packed digits need no mask. An array is empty at
//! first and grows to the named elements, with zeros, as memory does; its elements count as memory like slots. So an
//! operand that is known only at run time costs a copy, and the slots of arithmetic stay constants, as blocks and plans
//! require.

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
    0xcd GETX    "Copies elements of the array to slots: index of the first." 1 -> 0 immediate 2;
    0xce PUTX    "Copies slots to elements of the array: index of the first." 1 -> 0 immediate 2;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "x-arrayx",
    summary: "experiment: EIP-6690 of 2024 with GETX and PUTX, elements by an index from the stack",
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
    SlotRules { get: Some(GETX), put: Some(PUTX), additions: &[Addition::Arrays], ..SlotRules::EIP6690_2024 };

fn encode(instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    codec::encode_added((&INTERFACE, &RULES), instruction, code)
}

fn decode(code: &[u8]) -> Option<(FieldInstruction, usize)> {
    codec::decode_added((&INTERFACE, &RULES), code)
}
