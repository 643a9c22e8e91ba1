//! The pairing check of EIP-2537 with a residue witness after the pairs, which spares a true check the final exponentiation.
//!
//! The answer is that of `bls12_381/pairing` whatever the witness is, see [`residue_curves::pairing::residue_witness`]: a
//! wrong one, or none, costs the final exponentiation. [`witness`] makes one.

use super::compressed;
use super::pairing;
use crate::Contract;
use crate::bls12::pairing::{PAIR_BYTES, answer};
use residue_curves::bls12_381::constants::modulus;
use residue_curves::bls12_381::{Bls12_381, Fp6};
use residue_curves::pairing::residue_witness::{self, is_in_fp6};
use residue_curves::pairing::{Witness, is_final_exponentiation_one};
use residue_formula::Number;
use residue_ir::{Bundle, Machine, Numbers, WordOp};
use residue_modular::fields::Bls12_381Fp;
use std::cell::RefCell;

/// `bls12_381/pairing_witness`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/pairing_witness",
    summary: "the pairing check of EIP-2537, cheaper for a true check with a residue witness (Novakovic and Eagen 2024)",
    interface: "384 bytes a pair: a point of G1 (128 bytes), a point of G2 (256); then nothing or the witness, 288 bytes: the \
                coefficients of 1, v and v² of an element of Fp6, each c0, c1 in 48 bytes; returns 32 bytes, 1 or 0, which do \
                not depend on the witness",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// Bytes of a witness: six elements without padding.
const WITNESS_BYTES: u32 = 6 * compressed::FP_BYTES;

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let pair_bytes = machine.small(u64::from(PAIR_BYTES));
    let size = machine.calldata_size();
    let rest = machine.bind(machine.word_op(WordOp::Mod, size, pair_bytes));
    let is_given = machine.word_op(WordOp::Eq, rest, machine.small(u64::from(WITNESS_BYTES)));
    machine.require(machine.word_op(WordOp::Or, is_given, machine.not(rest)));
    let pairs_given = machine.bind(machine.word_op(WordOp::Div, size, pair_bytes));
    machine.require(pairs_given);

    // Without a witness these are zeros after the end of calldata.
    let start = machine.bind(machine.word_op(WordOp::Mul, pairs_given, pair_bytes));
    let element = |number| {
        let at = machine.word_op(WordOp::Add, start, machine.small(u64::from(number * compressed::FP_BYTES)));
        machine.parse(at, compressed::FP_BYTES)
    };
    let witness = Witness::new(machine, is_given, Fp6::from_list((0..6).map(element).collect()));
    answer(machine, pairs_given, Some(&witness), |machine, product| {
        let f = witness.finish(machine, product);
        let is_one = |machine: &M| machine.return_word(machine.small(1));
        let undecided = |machine: &M| machine.return_word(is_final_exponentiation_one(machine, f));
        machine.branch(is_in_fp6(machine, f), is_one, undecided);
    });
}

/// The witness for these pairs, encoded; `None` if the check is not true, or refused, or true for pairs with the identity alone,
/// which need none.
pub fn witness(pairs: &[u8]) -> Option<Vec<u8>> {
    let machine = Numbers::<Bls12_381Fp>::new(pairs.to_vec());
    let found = RefCell::new(None);
    let count = machine.word_op(WordOp::Div, machine.calldata_size(), machine.small(u64::from(PAIR_BYTES)));
    answer::<_, Bls12_381>(&machine, count, None, |_, inverse| {
        *found.borrow_mut() = residue_witness::witness(inverse.conjugate());
    });
    if machine.outcome() != residue_ir::Outcome::Ended {
        return None;
    }
    let elements = found.into_inner()?.to_list();
    let encoded = |element: Bls12_381Fp| {
        let digits = element.to_canonical().to_bytes_be();
        [vec![0; compressed::FP_BYTES as usize - digits.len()], digits].concat()
    };
    Some(elements.into_iter().flat_map(encoded).collect())
}

/// The signature check that is the example of the pairing check, with its witness.
fn example() -> Vec<u8> {
    let mut bytes = pairing::example();
    let witness = witness(&bytes).expect("the check is true");
    bytes.extend(witness);
    bytes
}
