//! Common parts of contracts that are made of a key: readers of keys, and selectors of functions.

pub mod by_precompiles;
pub(crate) mod json;
pub(crate) mod points;
pub(crate) mod relations;
pub(crate) mod unique;

use residue_ir::{Machine, Numbers, Piece, WordOp};
use residue_modular::fields::Bn254Fp;
use ruint::aliases::U256;

/// Requires a call of the function with this selector.
pub(crate) fn require_selector<M: Machine>(machine: &M, selector: u32) {
    let found = machine.word_op(WordOp::Shr, machine.calldata_word(machine.small(0)), machine.small(224));
    machine.require(machine.word_op(WordOp::Eq, found, machine.small(selector.into())));
}

/// The first four bytes of the Keccak-256 hash of a signature: how a call names a function.
pub(crate) fn selector(signature: &str) -> u32 {
    let machine = Numbers::<Bn254Fp>::new(signature.as_bytes().to_vec());
    let hash = machine.keccak256(&[Piece::Calldata { offset: U256::ZERO, size_bytes: U256::from(signature.len()) }]);
    u32::try_from(hash >> 224usize).expect("32 bits are left")
}
