//! The multiplication of EIP-2539 in G1 (G1MUL) as a contract.

use super::{G1, encoded};
use crate::Contract;
use crate::points;
use residue_curves::Affine;
use residue_curves::bls12_377::{g1_generator, modulus};
use residue_ir::Machine;

/// `bls12_377/g1_mul`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_377/g1_mul",
    summary: "a multiple of a point of BLS12-377's G1 curve (EIP-2539 G1MUL)",
    interface: "160 bytes: a point (128), a scalar (32); returns 128: the product",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    points::product::<M, G1>(machine);
}

/// The generator and the scalar with all bits set.
fn example() -> Vec<u8> {
    let Affine { x, y } = g1_generator();
    [encoded([&x, &y]), vec![0xff; 32]].concat()
}
