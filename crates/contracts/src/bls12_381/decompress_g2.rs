//! A point of the twist from its compressed form. Whether it is in G2 is not asked, nor is it by EIP-2537's addition.

use super::FP_BYTES;
use super::compressed::{self, Compressed, compressed};
use crate::Contract;
use residue_curves::Affine;
use residue_curves::bls12_381::Fp2;
use residue_curves::bls12_381::constants::{g2_generator, modulus};
use residue_ir::{Machine, WordOp};

/// `bls12_381/decompress_g2`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/decompress_g2",
    summary: "a point of the twist, where G2 is, from its 96 compressed bytes",
    interface: "96 bytes: a compressed point; returns 256 bytes: the point as EIP-2537 has it",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

const POINT_BYTES: u32 = 2 * compressed::FP_BYTES;

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let size = machine.small(POINT_BYTES.into());
    machine.require(machine.word_op(WordOp::Eq, machine.calldata_size(), size));
    let point = Compressed::new(machine, machine.small(0));
    machine.require(point.is_compressed(machine));
    let identity = |machine: &M| {
        machine.require(point.is_empty(machine, POINT_BYTES));
        let zero = Fp2::new(machine.zero(), machine.zero());
        machine.return_elements(Affine::new(zero, zero), FP_BYTES);
    };
    let finite = |machine: &M| machine.return_elements(point.g2(machine, M::require), FP_BYTES);
    machine.branch(point.is_identity(machine), identity, finite);
}

/// The generator of G2, whose y is the smaller one.
fn example() -> Vec<u8> {
    let x = g2_generator().x;
    compressed(&[&x.c1, &x.c0], false)
}
