//! The sum of products of EIP-2539 in G1 (G1MULTIEXP) as a contract.

use super::{G1, encoded};
use crate::Contract;
use crate::points;
use residue_curves::Affine;
use residue_curves::bls12_377::{g1_generator, modulus};
use residue_ir::Machine;

/// `bls12_377/g1_msm`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_377/g1_msm",
    summary: "the sum of products of scalars and points of BLS12-377's G1 curve (EIP-2539 G1MULTIEXP)",
    interface: "160 bytes a product: a point (128), a scalar (32); returns 128: the sum of the products",
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
    let Affine { x, y } = g1_generator();
    points::example(&encoded([&x, &y]), 32)
}
