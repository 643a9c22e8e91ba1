//! A point of the curve of G1 from its compressed form. Whether it is in G1 is not asked, nor is it by EIP-2537's addition.

use super::FP_BYTES;
use super::compressed::{self, Compressed, compressed};
use crate::Contract;
use residue_curves::Affine;
use residue_curves::bls12_381::constants::{g1_generator, modulus};
use residue_ir::{Machine, WordOp};

/// `bls12_381/decompress_g1`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/decompress_g1",
    summary: "a point of the curve of G1 from its 48 compressed bytes",
    interface: "48 bytes: a compressed point; returns 128 bytes: the point as EIP-2537 has it",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let size = machine.small(compressed::FP_BYTES.into());
    machine.require(machine.word_op(WordOp::Eq, machine.calldata_size(), size));
    let point = Compressed::new(machine, machine.small(0));
    machine.require(point.is_compressed(machine));
    let identity = |machine: &M| {
        machine.require(point.is_empty(machine, compressed::FP_BYTES));
        machine.return_elements(Affine::new(machine.zero(), machine.zero()), FP_BYTES);
    };
    let finite = |machine: &M| machine.return_elements(point.g1(machine, M::require), FP_BYTES);
    machine.branch(point.is_identity(machine), identity, finite);
}

/// The generator of G1, whose y is the smaller one.
fn example() -> Vec<u8> {
    compressed(&[&g1_generator().x], false)
}
