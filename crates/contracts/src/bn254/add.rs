//! The addition of EIP-196 (ECADD, address 0x06) as a contract.

use super::{Sums, encoded_point};
use crate::{Contract, points};
use residue_curves::bn254::{g1_generator, modulus};
use residue_ir::Machine;
use residue_isa::precompile::BN254_ADD;

/// `bn254/add`.
pub const CONTRACT: Contract = Contract {
    name: "bn254/add",
    summary: "the sum of two points of BN254's G1 (EIP-196 ECADD)",
    interface: "128 bytes: two points of 64; what is missing is zero, what follows is ignored; returns 64: their sum",
    field: modulus,
    text: |machine| text(machine),
    precompile: Some(BN254_ADD),
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    points::return_sum::<M, Sums>(machine);
}

/// The generator twice.
fn example() -> Vec<u8> {
    encoded_point(&g1_generator()).repeat(2)
}
