//! One product in Fp2: the smallest contract, to see the whole way from a formula to bytecode.

use super::ENCODING;
use crate::Contract;
use residue_curves::bls12_381::Bls12_381;
use residue_curves::bls12_381::constants::modulus;
use residue_ir::Machine;

/// `bls12_381/fp2_mul`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/fp2_mul",
    summary: "one product in Fp2 of BLS12-381",
    interface: "256 bytes: a.c0 a.c1 b.c0 b.c1 of 64 bytes each; returns 128 bytes: c0 c1 of a·b",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let size = machine.calldata_size();
    machine.require(machine.word_op(residue_ir::WordOp::Eq, size, machine.small(256)));
    let start = machine.small(0);
    let [a, b] = [0, 2].map(|number| ENCODING.fp2::<M, Bls12_381>(machine, start, number));
    machine.return_elements(a * b, super::FP_BYTES);
}

/// (1 + 2u)·(3 + 4u) = −5 + 10u.
fn example() -> Vec<u8> {
    (1..=4u8).flat_map(|digit| [vec![0; 63], vec![digit]].concat()).collect()
}
