//! Poseidon over the scalar field of BN254 with circomlib's parameters: the hash of t − 1 elements, once, of many inputs, and along a
//! Merkle path.
//!
//! Grassi, Khovratovich, Rechberger, Roy and Schofnegger 2019 (2019/458); circomlib, `circuits/poseidon.circom`: x⁵, eight full rounds and a number of
//! partial ones that depends on t, the state's width; the capacity element comes first and is the result.

pub mod constants;
pub mod grain;
pub mod matrix;
pub mod merkle;
pub mod permutation;

use crate::Contract;
use crate::encoding::encoded;
use constants::{FromCode, InSlots};
use permutation::Hash;
use residue_formula::Number;
use residue_ir::{Machine, WordOp};
use residue_modular::fields::Bn254Fr;

/// Bytes of an element.
pub(crate) const ELEMENT_BYTES: u32 = 32;

/// States of the contracts for many.
const MANY: usize = 32;

/// Constants that are loaded together.
pub(crate) const LOADED: usize = 20;

/// Partial rounds for t = 2, 3, …: circomlib, `N_ROUNDS_P`.
const PARTIAL_ROUNDS: [usize; 5] = [56, 57, 56, 60, 60];

macro_rules! contracts {
    ($($once:ident, $width:literal, $bytes:literal;)*) => {
        $(
            #[doc = concat!("`poseidon/t", $width, "`.")]
            pub const $once: Contract = Contract {
                name: concat!("poseidon/t", $width),
                summary: concat!("Poseidon over BN254's scalar field with circomlib's parameters, t = ", $width),
                interface: concat!($bytes, " bytes: t − 1 elements; returns 32: their hash"),
                field: Bn254Fr::modulus,
                text: |machine| once(machine, $width),
                precompile: None,
                example: || numbers($width - 1),
            };
        )*
    };
}

contracts! {
    T2, 2, 32;
    T3, 3, 64;
    T4, 4, 96;
    T5, 5, 128;
    T6, 6, 160;
}

/// `poseidon/t3_many`.
pub const T3_MANY: Contract = Contract {
    name: "poseidon/t3_many",
    summary: "32 hashes by Poseidon over BN254's scalar field with circomlib's parameters, t = 3",
    interface: "2048 bytes: 32 times two elements; returns 1024: their hashes",
    field: Bn254Fr::modulus,
    text: |machine| pairs(machine),
    precompile: None,
    example: || numbers(MANY * 2),
};

/// The hash for states of this width.
pub(crate) fn hash_of(width: usize) -> Hash<Bn254Fr> {
    Hash::new(width, PARTIAL_ROUNDS[width - 2])
}

/// Parses `count` elements, those that are `first` elements after the start of calldata.
pub(crate) fn elements<M: Machine>(machine: &M, first: usize, count: usize) -> Vec<M::Fe> {
    let offset = |number: usize| machine.small(u64::from(ELEMENT_BYTES) * number as u64); // usize to u64 widens
    (first..first + count).map(|number| machine.parse(offset(number), ELEMENT_BYTES)).collect()
}

/// Requires calldata of so many elements.
pub(crate) fn require_elements<M: Machine>(machine: &M, count: usize) {
    let size = machine.small(u64::from(ELEMENT_BYTES) * count as u64); // usize to u64 widens
    machine.require(machine.word_op(WordOp::Eq, machine.calldata_size(), size));
}

fn once<M: Machine>(machine: &M, width: usize) {
    require_elements(machine, width - 1);
    let hash = hash_of(width);
    let inputs = elements(machine, 0, width - 1);
    let mut constants = FromCode::<M, LOADED>::new(machine, "added", &hash.sequence());
    machine.return_elements(hash.hash(machine, &inputs, &mut constants), ELEMENT_BYTES);
}

fn pairs<M: Machine>(machine: &M) {
    require_elements(machine, 2 * MANY);
    let hash = hash_of(3);
    let hashes = std::array::from_fn::<M::Fe, MANY, _>(|number| {
        let inputs = elements(machine, 2 * number, 2);
        called(machine, &hash, [inputs[0], inputs[1]])
    });
    machine.return_elements(hashes, ELEMENT_BYTES);
}

/// The hash of two elements as a function, with all constants in slots.
pub(crate) fn called<M: Machine>(machine: &M, hash: &Hash<Bn254Fr>, inputs: [M::Fe; 2]) -> M::Fe {
    machine.function("hash", inputs, |machine, inputs| hash.hash(machine, &inputs, &mut InSlots))
}

/// 1, 2, … in calldata.
pub(crate) fn numbers(count: usize) -> Vec<u8> {
    (1..=count).flat_map(|number| encoded(&number.into())).collect()
}
