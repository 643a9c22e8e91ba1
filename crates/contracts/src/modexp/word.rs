//! The same contract for numbers of a word each: small enough for any account, on any EVM.

use super::calldata::{Calldata, where_words_stand};
use super::{one_word, short};
use crate::Contract;
use num_bigint::BigUint;
use residue_ir::{Feature, Machine};

/// `modexp/word`.
pub const CONTRACT: Contract = Contract {
    name: "modexp/word",
    summary: "the same for numbers of at most 32 bytes: MULMOD",
    interface: "the lengths of base, exponent and modulus (32 bytes each), at most 32, and the three; returns baseᵉ mod m in the length of \
                the modulus; fails if a length is above 32",
    field: || BigUint::from(3u8),
    text: |machine| text(machine),
    precompile: None,
    example: super::example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    machine.scratch(one_word::SCRATCH_BYTES);
    machine.branch(
        machine.has(Feature::ShortCode),
        |_| (),
        |machine| where_words_stand(machine, |machine| one_word::in_place(machine), short::in_place),
    );
    let calldata = Calldata::of_words(machine);
    one_word::of_words(machine, calldata);
}
