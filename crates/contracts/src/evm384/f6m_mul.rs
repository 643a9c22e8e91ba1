//! One product in Fp6: 18 multiplications, 50 additions and 20 subtractions, as update 2 counts them.

use super::{calldata, parse_all};
use crate::Contract;
use num_bigint::BigUint;
use residue_curves::bls12_381::Fp6;
use residue_curves::bls12_381::constants::modulus;
use residue_curves::published::f6m_mul;
use residue_ir::Machine;

/// `evm384/f6m_mul`.
pub const CONTRACT: Contract = Contract {
    name: "evm384/f6m_mul",
    summary: "one product in Fp6 of BLS12-381, operation by operation as EVM384's update 2 has it",
    interface: "576 bytes: a b of 6 values each, 48 bytes little-endian in Montgomery form; returns 288 bytes: a·b",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let (a, b): (Fp6<M::Fe>, Fp6<M::Fe>) = parse_all(machine);
    machine.return_mont_le(f6m_mul(a, b));
}

/// (1 + 2u + (3 + 4u)·v + (5 + 6u)·v²)·(7 + 8u + (9 + 10u)·v + (11 + 12u)·v²).
pub(super) fn example() -> Vec<u8> {
    calldata(&(1..=12u32).map(BigUint::from).collect::<Vec<_>>())
}
