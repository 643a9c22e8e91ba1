//! The multiplication of EIP-196 (ECMUL, address 0x07) as a contract.

use super::encoded_point;
use crate::Contract;
use crate::glv;
use residue_curves::bn254::{Bn254, g1_generator, modulus};
use residue_ir::Machine;
use residue_isa::precompile::BN254_MUL;

/// `bn254/mul`.
pub const CONTRACT: Contract = Contract {
    name: "bn254/mul",
    summary: "the product of a scalar and a point of BN254's G1 (EIP-196 ECMUL)",
    interface: "96 bytes: a point (64), a scalar (32); what is missing is zero, what follows is ignored; returns 64: the product",
    field: modulus,
    text: |machine| text(machine),
    precompile: Some(BN254_MUL),
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    glv::product(machine, &Bn254);
}

/// The generator and the scalar with all bits set.
fn example() -> Vec<u8> {
    [encoded_point(&g1_generator()), vec![0xff; 32]].concat()
}
