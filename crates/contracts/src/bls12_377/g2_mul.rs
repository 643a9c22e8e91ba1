//! The multiplication of EIP-2539 in G2 (G2MUL) as a contract.

use super::{G2, encoded};
use crate::Contract;
use crate::points;
use residue_curves::bls12_377::{g2_generator, modulus};
use residue_ir::Machine;

/// `bls12_377/g2_mul`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_377/g2_mul",
    summary: "a multiple of a point of BLS12-377's G2 curve (EIP-2539 G2MUL)",
    interface: "288 bytes: a point (256), a scalar (32); returns 256: the product",
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
    [encoded(g2_generator().iter().flatten()), vec![0xff; 32]].concat()
}
