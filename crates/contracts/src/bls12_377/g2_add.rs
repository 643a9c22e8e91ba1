//! The addition of EIP-2539 in G2 (G2ADD) as a contract.

use super::{G2, encoded};
use crate::Contract;
use crate::points;
use residue_curves::bls12_377::{g2_generator, modulus};
use residue_ir::Machine;

/// `bls12_377/g2_add`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_377/g2_add",
    summary: "the sum of two points of BLS12-377's G2 curve (EIP-2539 G2ADD)",
    interface: "512 bytes: two points of 256; returns 256: their sum",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    points::sum::<M, G2>(machine);
}

/// The generator twice.
fn example() -> Vec<u8> {
    encoded(g2_generator().iter().flatten()).repeat(2)
}
