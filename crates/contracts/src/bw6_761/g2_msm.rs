//! The sum of products of EIP-3026 in G2 (G2MULTIEXP) as a contract. Scalars have 64 bytes, as its section on scalars has it for all multiplications and
//! multiexponentiations and as G1MULTIEXP has them; the section on G2MULTIEXP says 48.

use super::{G2, encoded_point};
use crate::Contract;
use crate::points;
use residue_curves::bw6_761::{g2_generator, modulus};
use residue_ir::Machine;

/// `bw6_761/g2_msm`.
pub const CONTRACT: Contract = Contract {
    name: "bw6_761/g2_msm",
    summary: "the sum of products of scalars and points of BW6-761's G2 curve (EIP-3026 G2MULTIEXP)",
    interface: "256 bytes a product: a point (192), a scalar (64); returns 192: the sum of the products",
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
    points::example(&encoded_point(&g2_generator()), 64)
}
