//! The pairing check of EIP-2537 with a residue witness after the pairs, which spares a true check the final exponentiation.
//!
//! The answer is that of `bls12_381/pairing` whatever the witness is, see [`residue_curves::pairing::residue_witness`]: a
//! wrong one, or none, costs the final exponentiation. [`witness`] makes one.

use super::compressed;
use super::pairing;
use crate::Contract;
use crate::bls12::pairing::{PAIR_BYTES, answer};
use num_bigint::BigUint;
use residue_curves::bls12_381::constants::modulus;
use residue_curves::bls12_381::{Bls12_381, Fp6};
use residue_curves::pairing::residue_witness::{self, is_in_fp6};
use residue_curves::pairing::{Witness, is_final_exponentiation_one};
use residue_formula::Number;
use residue_ir::{Bundle, Machine, Numbers, WordOp};
use residue_modular::fields::Bls12_381Fp;
use ruint::aliases::U256;
use std::cell::RefCell;

/// `bls12_381/pairing_witness`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/pairing_witness",
    summary: "the pairing check of EIP-2537, cheaper for a true check with a residue witness (Novakovic and Eagen 2024)",
    interface: "384 bytes a pair: a point of G1 (128 bytes), a point of G2 (256); then nothing or the witness, 288 bytes: the \
                coefficients of 1, v and v² of an element of Fp6, each c0, c1 in 48 bytes; returns 32 bytes, 1 or 0, which do \
                not depend on the 288 bytes",
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
    let witness_bytes = machine.small(u64::from(WITNESS_BYTES));
    let is_there = machine.word_op(WordOp::Eq, rest, witness_bytes);
    machine.require(machine.word_op(WordOp::Or, is_there, machine.not(rest)));
    let pairs_given = machine.bind(machine.word_op(WordOp::Div, size, pair_bytes));
    machine.require(pairs_given);

    // Six elements below p are a witness, right or wrong; others are as good as none, and read as the zeros after the end of calldata.
    let after_pairs = machine.bind(machine.word_op(WordOp::Sub, size, rest));
    let is_given = machine.bind(machine.word_op(WordOp::And, is_there, are_below(machine, after_pairs)));
    let start = machine.word_op(WordOp::Sub, size, machine.word_op(WordOp::Mul, is_given, witness_bytes));
    let start = machine.bind(start);
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

/// 1 if the elements of a witness from this byte of calldata on are below p, else 0.
fn are_below<M: Machine>(machine: &M, first: M::Word) -> M::Word {
    let p = modulus();
    let word = |number: BigUint| machine.bind(machine.word(U256::from_be_slice(&number.to_bytes_be())));
    let (high, low) = (word(&p >> 256u32), word(&p % (BigUint::from(1u32) << 256u32)));
    let op = |op, a, b| machine.word_op(op, a, b);
    let is_below = |number: u32| {
        let at = |byte: u32| {
            let byte = u64::from(number * compressed::FP_BYTES + byte);
            machine.calldata_word(op(WordOp::Add, first, machine.small(byte)))
        };
        // 48 bytes are 16 and a word.
        let found_high = machine.bind(op(WordOp::Shr, at(0), machine.small(128)));
        let is_low_below = op(WordOp::Lt, at(16), low);
        let is_below = op(WordOp::And, op(WordOp::Eq, found_high, high), is_low_below);
        op(WordOp::Or, op(WordOp::Lt, found_high, high), is_below)
    };
    let none_above = machine.small(1);
    (0..6).fold(none_above, |all, number| machine.bind(op(WordOp::And, all, is_below(number))))
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
