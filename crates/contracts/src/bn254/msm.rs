//! A sum of multiples on BN254's G1 as a contract; no precompile computes it.

use super::{G1_BYTES, encoded_point};
use crate::Contract;
use crate::glv;
use residue_curves::bn254::{Bn254, g1_generator, modulus};
use residue_ir::{Feature, Machine, WordOp};
use residue_isa::precompile::{BN254_ADD, BN254_MUL};

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

/// Bytes of a point and its scalar.
const PRODUCT_BYTES: u32 = G1_BYTES + 32;

/// The text.
pub fn text<M: Machine>(machine: &M) {
    machine
        .branch(machine.has(Feature::Precompile(BN254_MUL)), by_precompiles, |machine| glv::sum(machine, &Bn254, true));
}

/// Product by product: the sum stands at the beginning of scratch memory, and after it the point with its scalar.
fn by_precompiles<M: Machine>(machine: &M) {
    let small = |value: u32| machine.small(value.into());
    machine.require(machine.not(machine.word_op(WordOp::Mod, machine.calldata_size(), small(PRODUCT_BYTES))));
    machine.scratch(G1_BYTES + PRODUCT_BYTES);
    let count = machine.word_op(WordOp::Div, machine.calldata_size(), small(PRODUCT_BYTES));
    machine.repeat(machine.bind(count), (), |machine, number, ()| {
        let small = |value: u32| machine.small(value.into());
        let offset = machine.word_op(WordOp::Mul, number, small(PRODUCT_BYTES));
        machine.copy_calldata(small(G1_BYTES), offset, small(PRODUCT_BYTES));
        let [start, product] = [small(0), small(G1_BYTES)];
        machine.require(machine.precompile(BN254_MUL, (product, small(PRODUCT_BYTES)), (product, G1_BYTES)));
        machine.require(machine.precompile(BN254_ADD, (start, small(2 * G1_BYTES)), (start, G1_BYTES)));
    });
    machine.return_scratch(small(0), small(G1_BYTES));
}

/// The generator twice, with the scalars 1 and that with all bits set.
fn example() -> Vec<u8> {
    let mut one = vec![0; 32];
    one[31] = 1;
    let generator = encoded_point(&g1_generator());
    [generator.clone(), one, generator, vec![0xff; 32]].concat()
}
