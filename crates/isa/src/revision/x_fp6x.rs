//! An experiment: EIP-6690 of 2024 with FP6MULX, a fused product in Fp6 = Fp2[v] with v³ = ξ over Fp2 = Fp[u] with u² = −1: six sums of six products with one
//! reduction each.
//!
//! Source: none outside. Immediate bytes are the six slots of the result, of x and of y, in the order of 1, u, v, uv, v², uv², then a and b of ξ = a + b·u, any two
//! bytes. The coefficients of an element are in any six slots. All operands are read before a result is written; of two results in one slot the one later in
//! order stays. A square has x = y. It has no lanes: twenty bytes are many as they are, and a product of such size leaves nothing to share.

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
    0xd7 FP6MULX "out = x * y in Fp6 with u * u = -1 and v * v * v = a + b * u, an element in six slots." 0 -> 0 immediate 20;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "x-fp6x",
    summary: "experiment: EIP-6690 of 2024 with FP6MULX, fused products in Fp6",
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
    SlotRules { mul_fp6: Some(FP6MULX), additions: &[Addition::Fp6], ..SlotRules::EIP6690_2024 };

fn encode(instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    codec::encode_added((&INTERFACE, &RULES), instruction, code)
}

fn decode(code: &[u8]) -> Option<(FieldInstruction, usize)> {
    codec::decode_added((&INTERFACE, &RULES), code)
}
