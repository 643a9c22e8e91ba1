//! The addition of EIP-2537 in G2 (G2ADD, address 0x0d) as a contract.

use super::{Sums, encoded_point};
use crate::Contract;
use crate::points;
use residue_curves::bls12_381::G2;
use residue_curves::bls12_381::constants::{g2_generator, modulus};
use residue_ir::Machine;
use residue_isa::precompile::BLS12_G2ADD;

/// `bls12_381/g2_add`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/g2_add",
    summary: "the sum of two points of G2's curve (EIP-2537 G2ADD)",
    interface: "512 bytes: two points of 256; returns 256: their sum",
    field: modulus,
    text: |machine| text(machine),
    precompile: Some(BLS12_G2ADD),
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    points::sum::<M, Sums<G2>>(machine);
}

/// The generator twice.
fn example() -> Vec<u8> {
    encoded_point(&g2_generator()).repeat(2)
}
