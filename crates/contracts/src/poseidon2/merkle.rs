//! Is a leaf in a binary tree whose nodes are the first element of Poseidon2's permutation of (left, right, 0)?

use super::permutation::Permutation;
use super::{BN254_3, called};
use crate::Contract;
use crate::encoding::encoded;
use crate::poseidon::constants::InSlots;
use crate::poseidon::merkle;
use residue_formula::Number;
use residue_ir::{Machine, Numbers};
use residue_modular::fields::Bn254Fr;

/// `poseidon2/merkle`.
pub const CONTRACT: Contract = Contract {
    name: "poseidon2/merkle",
    summary: "does a leaf belong to the root of a binary tree with Poseidon2 over BN254's scalar field, t = 3?",
    interface: merkle::INTERFACE,
    field: Bn254Fr::modulus,
    text: |machine| {
        let permutation = Permutation::<Bn254Fr>::new(BN254_3);
        merkle::text(machine, |machine, left, right| called(machine, &permutation, [left, right, machine.zero()])[0]);
    },
    precompile: None,
    example,
};

/// The leaf 1 at index 2 beside 2, and 3 above: the root of these.
fn example() -> Vec<u8> {
    let machine = Numbers::<Bn254Fr>::new(Vec::new());
    let permutation = Permutation::<Bn254Fr>::new(BN254_3);
    let node = |left, right| permutation.permute(&machine, vec![left, right, Bn254Fr::ZERO], &mut InSlots)[0];
    merkle::example_with(node).iter().flat_map(|value| encoded(&value.to_canonical())).collect()
}
