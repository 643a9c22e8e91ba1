//! Hashers of lean incremental Merkle trees (zk-kit, "LeanIMT"): a node of two elements, called as `hash(uint256[2])`.
//!
//! zk-kit's trees call `PoseidonT3.hash` of the package poseidon-solidity as a linked library. These contracts can be linked in its place: they
//! take the same call, reduce both numbers modulo the field's order as it does, and fail on less calldata or another selector.

use crate::Contract;
use crate::encoding::encoded;
use crate::keyed::{require_selector, selector};
use crate::poseidon::constants::FromCode;
use crate::poseidon::{ELEMENT_BYTES, LOADED, hash_of};
use crate::poseidon2::BN254_3;
use crate::poseidon2::permutation::Permutation;
use residue_formula::Number;
use residue_ir::{Machine, WordOp};
use residue_modular::fields::Bn254Fr;

/// The function that a tree calls.
pub(crate) const SIGNATURE: &str = "hash(uint256[2])";
const SELECTOR_BYTES: u64 = 4;
const INTERFACE: &str = "68 bytes: a call of hash(uint256[2]); returns 32: the hash of both numbers mod r; fails on less calldata or another selector";

/// `lean_imt/poseidon`.
pub const POSEIDON: Contract = Contract {
    name: "lean_imt/poseidon",
    summary: "Poseidon of two numbers as Merkle trees of zk-kit call it: PoseidonT3 of poseidon-solidity",
    interface: INTERFACE,
    field: Bn254Fr::modulus,
    text: |machine| {
        let inputs = inputs(machine);
        let hash = hash_of(3);
        let mut constants = FromCode::<_, LOADED>::new(machine, "added", &hash.sequence());
        machine.return_elements(hash.hash(machine, &inputs, &mut constants), ELEMENT_BYTES);
    },
    precompile: None,
    example,
};

/// `lean_imt/poseidon2`.
pub const POSEIDON2: Contract = Contract {
    name: "lean_imt/poseidon2",
    summary: "the node of poseidon2/merkle as Merkle trees of zk-kit call it: the first element of Poseidon2 of (left, right, 0)",
    interface: INTERFACE,
    field: Bn254Fr::modulus,
    text: |machine| {
        let [left, right] = inputs(machine);
        let permutation = Permutation::<Bn254Fr>::new(BN254_3);
        let mut constants = FromCode::<_, LOADED>::new(machine, "added", &permutation.sequence());
        let state = permutation.permute(machine, vec![left, right, machine.zero()], &mut constants);
        machine.return_elements([state[0]], ELEMENT_BYTES);
    },
    precompile: None,
    example,
};

/// Requires the selector and two words after it, and reduces them.
fn inputs<M: Machine>(machine: &M) -> [M::Fe; 2] {
    require_selector(machine, selector(SIGNATURE));
    let bytes = machine.small(SELECTOR_BYTES + 2 * u64::from(ELEMENT_BYTES));
    machine.require(machine.not(machine.word_op(WordOp::Lt, machine.calldata_size(), bytes)));
    [0, 1].map(|place| {
        let offset = SELECTOR_BYTES + place * u64::from(ELEMENT_BYTES);
        machine.reduce(machine.calldata_word(machine.small(offset)))
    })
}

/// A call with 1 and 2.
fn example() -> Vec<u8> {
    let numbers = [1u64, 2].into_iter().flat_map(|number| encoded(&number.into()));
    selector(SIGNATURE).to_be_bytes().into_iter().chain(numbers).collect()
}
