//! The addition of EIP-2537 in G1 (G1ADD, address 0x0b) as a contract.

use super::{Sums, encoded_point};
use crate::Contract;
use crate::points;
use residue_curves::bls12_381::G1;
use residue_curves::bls12_381::constants::{g1_generator, modulus};
use residue_ir::Machine;
use residue_isa::precompile::BLS12_G1ADD;

/// `bls12_381/g1_add`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/g1_add",
    summary: "the sum of two points of G1's curve (EIP-2537 G1ADD)",
    interface: "256 bytes: two points of 128; returns 128: their sum",
    field: modulus,
    text: |machine| text(machine),
    precompile: Some(BLS12_G1ADD),
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    points::sum::<M, Sums<G1>>(machine);
}

/// The generator twice.
fn example() -> Vec<u8> {
    encoded_point(&g1_generator()).repeat(2)
}
