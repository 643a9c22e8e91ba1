//! The addition of EIP-2539 in G1 (G1ADD) as a contract.

use super::{G1, encoded};
use crate::Contract;
use crate::points;
use residue_curves::Affine;
use residue_curves::bls12_377::{g1_generator, modulus};
use residue_ir::Machine;

/// `bls12_377/g1_add`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_377/g1_add",
    summary: "the sum of two points of BLS12-377's G1 curve (EIP-2539 G1ADD)",
    interface: "256 bytes: two points of 128; returns 128: their sum",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    points::sum::<M, G1>(machine);
}

/// The generator twice.
fn example() -> Vec<u8> {
    let Affine { x, y } = g1_generator();
    encoded([&x, &y]).repeat(2)
}
