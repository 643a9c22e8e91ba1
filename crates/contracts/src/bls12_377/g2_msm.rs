//! The sum of products of EIP-2539 in G2 (G2MULTIEXP) as a contract.

use super::{G2, encoded};
use crate::Contract;
use crate::points;
use residue_curves::bls12_377::{g2_generator, modulus};
use residue_ir::Machine;

/// `bls12_377/g2_msm`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_377/g2_msm",
    summary: "the sum of products of scalars and points of BLS12-377's G2 curve (EIP-2539 G2MULTIEXP)",
    interface: "288 bytes a product: a point (256), a scalar (32); returns 256: the sum of the products",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    points::sum_of_products::<M, G2>(machine);
}

/// The generator four times, with large scalars.
fn example() -> Vec<u8> {
    points::example(&encoded(g2_generator().iter().flatten()), 32)
}
