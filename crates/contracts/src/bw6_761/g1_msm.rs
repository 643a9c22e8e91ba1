//! The sum of products of EIP-3026 in G1 (G1MULTIEXP) as a contract.

use super::{G1, encoded_point};
use crate::Contract;
use crate::points;
use residue_curves::bw6_761::{g1_generator, modulus};
use residue_ir::Machine;

/// `bw6_761/g1_msm`.
pub const CONTRACT: Contract = Contract {
    name: "bw6_761/g1_msm",
    summary: "the sum of products of scalars and points of BW6-761's G1 curve (EIP-3026 G1MULTIEXP)",
    interface: "256 bytes a product: a point (192), a scalar (64); returns 192: the sum of the products",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    points::sum_of_products::<M, G1>(machine);
}

/// The generator four times, with large scalars.
fn example() -> Vec<u8> {
    points::example(&encoded_point(&g1_generator()), 64)
}
