//! The MSM of EIP-2537 in G2 (G2MSM, address 0x0e) as a contract.

use super::encoded_point;
use super::msm::{self, Policy};
use crate::Contract;
use residue_curves::bls12_381::constants::{g2_generator, modulus};
use residue_curves::bls12_381::{G2, Layout, Window};
use residue_ir::Machine;
use residue_isa::precompile::BLS12_G2MSM;

/// `bls12_381/g2_msm`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/g2_msm",
    summary: "the sum of products of scalars and points of G2 (EIP-2537 G2MSM)",
    interface: "288 bytes a product: a point (256), a scalar (32); returns 256: the sum of the products",
    field: modulus,
    text: |machine| text(machine),
    precompile: Some(BLS12_G2MSM),
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    msm::text::<M, G2>(machine, &Policy { layout: Layout::by_calls(Window::Byte, 64), many: 20 });
}

/// The generator and the scalar with all bits set.
fn example() -> Vec<u8> {
    [encoded_point(&g2_generator()), vec![0xff; 32]].concat()
}
