//! An experiment: EVM384 version 9 with moduli of at most 383 bits. An instruction under a modulus whose top bit is set halts.
//!
//! Source: none outside for the rule; the first notes on EVM384 hoped that a bit that is never set saves carries. Opcodes, bytes and results
//! are those of version 9, whose contracts are the cheapest of all versions whose modulus is an operand in memory.

use super::evm384::{Evm384, VALUE_BITS};
use super::evm384_v9::{self, decode, encode};
use super::{Interface, Semantics};
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xc0 ADDMOD384     "out = x + y in memory, less m once if the sum is at least m; m < 2^383." 0 -> 0 immediate 16;
    0xc1 SUBMOD384     "out = x - y in memory, plus m once if the difference is negative; m < 2^383." 0 -> 0 immediate 16;
    0xc2 MULMODMONT384 "out = Montgomery product of x and y in memory, R = 2^384; m < 2^383." 0 -> 0 immediate 16;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "x-383",
    summary: "experiment: EVM384 version 9 with moduli of at most 383 bits",
    semantics: Semantics::Memory384(&EVM384),
    opcodes: OPCODES,
    immediates: immediate_table(OPCODES),
    arithmetic: PerOp([ADDMOD384, SUBMOD384, MULMODMONT384]),
    width_limbs_max: 6,
    default_schedule: "evmone",
    encode,
    decode,
};

/// Parameters, as differences to `evm384-v9`.
pub const EVM384: Evm384 = Evm384 { modulus_bits_max: VALUE_BITS - 1, ..evm384_v9::EVM384 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_modulus_is_refused_for_its_top_bit_and_in_this_revision_only() {
        let refuses = |interface: Evm384, top: u8| {
            let mut memory = [0xff; 96];
            memory[2 + 47] = top;
            interface.refuses(&memory, 2)
        };
        assert_eq!([0, 0x1a, 0x7f, 0x80, 0xff].map(|top| refuses(EVM384, top)), [false, false, false, true, true]);
        assert!(!refuses(evm384_v9::EVM384, 0xff));
    }
}
