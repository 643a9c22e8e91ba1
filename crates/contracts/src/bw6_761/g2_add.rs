//! The addition of EIP-3026 in G2 (G2ADD) as a contract.

use super::{G2, encoded_point};
use crate::Contract;
use crate::points;
use residue_curves::bw6_761::{g2_generator, modulus};
use residue_ir::Machine;

/// `bw6_761/g2_add`.
pub const CONTRACT: Contract = Contract {
    name: "bw6_761/g2_add",
    summary: "the sum of two points of BW6-761's G2 curve (EIP-3026 G2ADD)",
    interface: "384 bytes: two points of 192; returns 192: their sum",
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
    encoded_point(&g2_generator()).repeat(2)
}
