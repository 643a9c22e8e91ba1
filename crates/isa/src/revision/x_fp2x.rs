//! An experiment: EIP-6690 of 2024 with FP2MULX, a fused product in Fp2 = Fp[u] with u² = −1, as two sums of two products with one reduction each.
//!
//! Source: none outside. Immediate bytes are out₀, out₁, out_stride, x₀, x₁, x_stride, y₀, y₁, y_stride, count: the coefficients of an element are in any two
//! slots, and lanes go on from each by a common stride. All lanes are read before the first is written; of two results in one slot the later stays, out₀
//! before out₁ and lanes in their order. A square has x = y. Other u² have no operand: the coefficient of 1 would need a product more, or additions, that most
//! towers do not.

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
    0xd3 FP2MULX "out = x * y in Fp2 with u * u = -1 in each lane, an element in two slots." 0 -> 0 immediate 10;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "x-fp2x",
    summary: "experiment: EIP-6690 of 2024 with FP2MULX, fused products in Fp2",
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
    SlotRules { mul_fp2: Some(FP2MULX), additions: &[Addition::Fp2], ..SlotRules::EIP6690_2024 };

fn encode(instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    codec::encode_added((&INTERFACE, &RULES), instruction, code)
}

fn decode(code: &[u8]) -> Option<(FieldInstruction, usize)> {
    codec::decode_added((&INTERFACE, &RULES), code)
}
