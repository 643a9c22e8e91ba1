//! EVM384 version 8: as version 7 with every value and r_inv in big-endian.
//!
//! Source: evmone branch `evm384-v8`, 6c29724. The 48 bytes of a value and the 8 bytes of r_inv are reversed as a whole;
//! operands, growth and arithmetic are those of version 7.

use super::evm384::{ByteOrder, Evm384, Modulus, Operands, VALUE_BITS};
use super::evm384_v7::{decode, encode};
use super::{Interface, Semantics};
use crate::opcode::{evm::PUSH16, immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xc0 ADDMOD384     "out = x + y in memory, less m once if the sum is at least m." 1 -> 0;
    0xc1 SUBMOD384     "out = x - y in memory, plus m once if the difference is negative." 1 -> 0;
    0xc2 MULMODMONT384 "out = Montgomery product of x and y in memory, R = 2^384." 1 -> 0;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "evm384-v8",
    summary: "EVM384 version 8: version 7 with big-endian values (evmone branch evm384-v8)",
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
    operands: Operands::Packed { push: PUSH16 },
    modulus: Modulus::Operand,
    byte_order: ByteOrder::Big,
    unit_bytes: 1,
    operand_max: u32::MAX,
    grows: true,
    modulus_bits_max: VALUE_BITS,
};
