//! The synthetic loop of update 2: as many products in Fp6 as weigh about as much as a pairing check of two pairs.

use super::parse_all;
use crate::Contract;
use residue_curves::bls12_381::Fp6;
use residue_curves::bls12_381::constants::modulus;
use residue_curves::published::f6m_mul;
use residue_ir::Machine;

/// `evm384/synthetic_loop`.
pub const CONTRACT: Contract = Contract {
    name: "evm384/synthetic_loop",
    summary: "1350 products in Fp6 of BLS12-381, the synthetic loop of EVM384's update 2: 118,800 field operations",
    interface: "576 bytes: a b of 6 values each, 48 bytes little-endian in Montgomery form; returns 288 bytes: a·b¹³⁵⁰",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example: super::f6m_mul::example,
};

/// Products in the loop. EVM384, update 2, “Synthetic loop”.
pub const TURNS: u32 = 1350;

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let (a, b): (Fp6<M::Fe>, Fp6<M::Fe>) = parse_all(machine);
    let power = machine.repeat(machine.small(TURNS.into()), a, |_, _, power| f6m_mul(power, b));
    machine.return_mont_le(power);
}
