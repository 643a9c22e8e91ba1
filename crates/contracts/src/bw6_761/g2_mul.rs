//! The multiplication of EIP-3026 in G2 (G2MUL) as a contract.

use super::{G2, encoded_point};
use crate::Contract;
use crate::points;
use residue_curves::bw6_761::{g2_generator, modulus};
use residue_ir::Machine;

/// `bw6_761/g2_mul`.
pub const CONTRACT: Contract = Contract {
    name: "bw6_761/g2_mul",
    summary: "a multiple of a point of BW6-761's G2 curve (EIP-3026 G2MUL)",
    interface: "256 bytes: a point (192), a scalar (64); returns 192: the product",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    points::product::<M, G2>(machine);
}

/// The generator and the scalar with all bits set.
fn example() -> Vec<u8> {
    [encoded_point(&g2_generator()), vec![0xff; 64]].concat()
}
