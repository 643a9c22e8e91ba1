//! EVM384 version 3: as version 2, but memory does not grow, and ranges are not checked.
//!
//! Source: evmone branch `v0.5.0-evm384-v2-unsafe`, c30e1933. Out of bounds it is undefined there; chosen here: a range that
//! ends beyond the current memory halts with `memory_out_of_range`.

use super::evm384::{ByteOrder, Evm384, Modulus, Operands, VALUE_BITS};
use super::evm384_v2::{decode_words, encode_words};
use super::{EncodeError, Interface, Semantics};
use crate::field_instruction::FieldInstruction;
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xc0 ADDMOD384     "out = x + y in memory, less m once if the sum is at least m." 4 -> 0;
    0xc1 SUBMOD384     "out = x - y in memory, plus m once if the difference is negative." 4 -> 0;
    0xc2 MULMODMONT384 "out = Montgomery product of x and y in memory, R = 2^384." 5 -> 0;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "evm384-v3",
    summary: "EVM384 version 3: version 2 without growth of memory (evmone v0.5.0-evm384-v2-unsafe)",
    semantics: Semantics::Memory384(&EVM384),
    opcodes: OPCODES,
    immediates: immediate_table(OPCODES),
    arithmetic: PerOp([ADDMOD384, SUBMOD384, MULMODMONT384]),
    width_limbs_max: 6,
    default_schedule: "evmone",
    encode,
    decode,
};

/// Parameters of the revision.
pub const EVM384: Evm384 = Evm384 {
    operands: Operands::Words { overwrites_x: false },
    modulus: Modulus::OperandAndRInv,
    byte_order: ByteOrder::Little,
    unit_bytes: 1,
    operand_max: u32::MAX,
    grows: false,
    modulus_bits_max: VALUE_BITS,
};

fn encode(instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    encode_words(instruction, code, INTERFACE.name)
}

/// Reads smallest pushes of all operands with the opcode after them.
fn decode(code: &[u8]) -> Option<(FieldInstruction, usize)> {
    decode_words(code)
}
