//! The MSM of EIP-2537 in G1 (G1MSM, address 0x0c) as a contract.

use super::encoded_point;
use super::msm::{self, Policy};
use crate::Contract;
use residue_curves::bls12_381::constants::{g1_generator, modulus};
use residue_curves::bls12_381::{G1, Layout, Window};
use residue_ir::Machine;
use residue_isa::precompile::BLS12_G1MSM;

/// `bls12_381/g1_msm`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/g1_msm",
    summary: "the sum of products of scalars and points of G1 (EIP-2537 G1MSM)",
    interface: "160 bytes a product: a point (128), a scalar (32); returns 128: the sum of the products",
    field: modulus,
    text: |machine| text(machine),
    precompile: Some(BLS12_G1MSM),
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    msm::text::<M, G1>(machine, &Policy { layout: Layout::written_out(Window::Byte), many: 13 });
}

/// The generator and the scalar with all bits set.
fn example() -> Vec<u8> {
    [encoded_point(&g1_generator()), vec![0xff; 32]].concat()
}
