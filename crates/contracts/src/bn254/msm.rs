//! A sum of multiples on BN254's G1 as a contract; no precompile computes it.

use super::encoded_point;
use crate::Contract;
use crate::glv;
use residue_curves::bn254::{Bn254, g1_generator, modulus};
use residue_ir::Machine;

/// `bn254/msm`.
pub const CONTRACT: Contract = Contract {
    name: "bn254/msm",
    summary: "the sum of products of scalars and points of BN254's G1",
    interface: "k times 96 bytes: a point of EIP-196 (64), a scalar (32); k may be 0; returns 64: the sum of the products",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    glv::sum(machine, &Bn254, true);
}

/// The generator twice, with the scalars 1 and that with all bits set.
fn example() -> Vec<u8> {
    let mut one = vec![0; 32];
    one[31] = 1;
    let generator = encoded_point(&g1_generator());
    [generator.clone(), one, generator, vec![0xff; 32]].concat()
}
