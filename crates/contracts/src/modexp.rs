//! The modular exponentiation of EIP-198 (MODEXP, address 0x05) as a contract, with the limits of EIP-7823.
//!
//! The modulus is known at run time only: m = 2ᵗ·n with n odd. Powers modulo n are those of a subprogram whose modulus is given; powers modulo 2ᵗ
//! are computed modulo a larger power of two, and Garner's formula makes one number of both (Handbook of Applied Cryptography 1996, algorithm 14.71).

mod calldata;
mod direct;
mod expressions;
pub mod in_words;
mod long;
mod narrow;
mod one_word;
mod power;
mod short;
mod two_adic;
mod wide;
pub mod word;
mod word_sized;

use crate::Contract;
use crate::words::Words;
use calldata::{Calldata, Operand, in_words, where_words_stand};
use num_bigint::BigUint;
use power::LAST_WORD_ONLY;
use residue_formula::Number;
use residue_ir::{Feature, Machine, Variable};
use residue_isa::precompile::MODEXP;
use residue_modular::fields::Bn254Fp;

/// `modexp`.
pub const CONTRACT: Contract = Contract {
    name: "modexp",
    summary: "a power modulo a number (EIP-198 MODEXP)",
    interface: "the lengths of base, exponent and modulus (32 bytes each), at most 1024, and the three; returns baseᵉ mod m in the length of \
                the modulus; fails if a length is above 1024",
    field: || BigUint::from(3u8),
    text: |machine| text(machine),
    precompile: Some(MODEXP),
    example,
};

/// Words of the widest modulus.
const WORDS_MAX: usize = 3;

/// Variables shared by the parts of the program.
#[derive(Clone, Copy)]
struct State {
    /// The lowest word of the base.
    base: Variable,
    /// The exponent, or a word of it.
    exponent: Variable,
    /// The odd part of the modulus, the lowest word first.
    odd: [Variable; WORDS_MAX],
    /// 2ᵗ − 1 for the largest power of two 2ᵗ that divides the modulus, the lowest word first.
    mask: [Variable; WORDS_MAX],
    /// The result, the lowest word first.
    result: [Variable; WORDS_MAX],
    /// [`LAST_WORD_ONLY`] if the exponent is below 2²⁵⁶, else 1 less.
    kind: Variable,
    /// Number of groups of four digits of [`State::exponent`] that are left: a variable that has no other use until the
    /// power is there.
    digits: Variable,
    /// 0 if a subprogram for an odd modulus is to return the result, else it keeps it.
    keeps: Variable,
}

impl State {
    fn new<M: Machine>(machine: &M) -> Self {
        let variable = |name| machine.variable(name, machine.small(0));
        let result = ["result", "result, middle word", "result, highest word"].map(variable);
        Self {
            kind: variable("kind"),
            keeps: variable("keeps"),
            base: variable("base"),
            exponent: variable("exponent"),
            digits: result[0],
            result,
            odd: ["odd part", "odd part, middle word", "odd part, highest word"].map(variable),
            mask: ["mask", "mask, middle word", "mask, highest word"].map(variable),
        }
    }
}

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let state = State::new(machine);
    machine.branch(
        machine.has(Feature::Given),
        |machine| {
            machine.branch(
                machine.has(Feature::ShortCode),
                |machine| in_short_code(machine, state),
                |machine| over_given(machine, state),
            );
        },
        |machine| {
            machine.scratch(one_word::SCRATCH_BYTES);
            where_words_stand(machine, |machine| one_word::in_place(machine), short::in_place);
            let calldata = Calldata::any(machine);
            let modulus = calldata.modulus;
            machine.branch(
                Words(machine).is_below(machine.small(32), modulus.bytes),
                |_| (),
                |machine| one_word::text(machine, calldata),
            );
            // Numbers of limbs need no modulus but the ring's.
            long::bits(machine, state);
            machine.branch(
                machine.get(state.result[2]),
                |machine| long::text(machine, state),
                |machine| machine.return_words(&[machine.small(0)], modulus.bytes),
            );
        },
    );
}

/// More slots than code may name that is portable.
const SLOTS: u32 = 240;

/// The text where moduli may be given at run time and code is short: field instructions for odd moduli of up to three words, words for even ones of a
/// word, limbs for all others.
fn in_short_code<M: Machine>(machine: &M, state: State) {
    machine.scratch(one_word::SCRATCH_BYTES.max(wide::SCRATCH_BYTES));
    in_words(machine, |machine| word_sized::in_place_in_short_code(machine, state));
    let calldata = Calldata::any(machine);
    let modulus = calldata.modulus;
    machine.branch(
        Words(machine).is_below(machine.small(32), modulus.bytes),
        |_| (),
        |machine| word_sized::in_short_code(machine, state, calldata),
    );
    long::exponent_bits(machine, state);
    let has_more_words = state.mask[1];
    let words = wide::place_modulus(machine, state, modulus, |machine| {
        let above = modulus.above(machine, state.mask[0], WORDS_MAX as u64); // usize to u64 widens
        machine.set(has_more_words, above);
    });
    let w = Words(machine);
    let has_words = w.mul(w.or(words[0], words[1]), machine.not(machine.get(has_more_words)));
    machine.branch(
        w.mul(w.and(words[2], w.number(1)), has_words),
        |machine| wide::odd_in_short_code(machine, state, modulus, words),
        |_| (),
    );
    long::bits(machine, state);
    machine.branch(
        machine.get(state.result[2]),
        |machine| long::text(machine, state),
        |machine| machine.return_words(&[machine.small(0)], modulus.bytes),
    );
}

/// The text where moduli may be given at run time.
fn over_given<M: Machine>(machine: &M, state: State) {
    machine.scratch(short::SCRATCH_BYTES.max(wide::SCRATCH_BYTES));
    where_words_stand(
        machine,
        |machine| word_sized::in_place(machine, state),
        |machine| {
            short::in_place(machine);
            machine.branch(
                machine.has(Feature::Limbs(direct::LIMBS_MAX)),
                |_| (), // Code for wide moduli leaves no room for this one, in front of parts that are chosen.
                |machine| word_sized::between_words(machine, state),
            );
        },
    );
    let calldata = Calldata::read(machine);
    machine.branch(
        Words(machine).is_below(machine.small(32), calldata.base.bytes),
        |machine| {
            machine.branch(
                machine.has(Feature::Slots(SLOTS)),
                |machine| wide::in_place(machine, state, calldata),
                |_| (), // With so few there is no room for those of other moduli.
            );
        },
        |machine| {
            machine.branch(
                calldata.is_short_but_for_base(machine),
                |machine| word_sized::of_short_numbers(machine, state, calldata),
                |_| (),
            );
        },
    );
    calldata.check(machine);
    let Calldata { base, exponent, modulus } = calldata;
    machine.branch(machine.has(Feature::Limbs(direct::LIMBS_MAX)), |machine| direct::usual(machine, calldata), |_| ());
    exponent_words(machine, state, exponent);
    let w = Words(machine);
    let words = wide::place_modulus(machine, state, modulus, |machine| {
        machine.branch(
            modulus.above(machine, state.mask[0], WORDS_MAX as u64), // usize to u64 widens
            |machine| more_words(machine, state),
            |_| (),
        );
    });
    machine.branch(
        w.or(words[0], words[1]),
        |machine| wide::text(machine, state, calldata, words),
        |machine| {
            short_modulus(machine, state, calldata, words[2]);
            machine.set(state.odd[0], words[2]);
            machine.set(state.base, base.word(machine, 0));
            narrow::text(machine, state);
            machine.return_words(&[machine.get(state.result[0])], modulus.bytes);
        },
    );
}

/// Returns the result for a modulus m of at most 32 bytes and an exponent below 2²⁵⁶.
fn short_modulus<M: Machine>(machine: &M, state: State, calldata: Calldata<M::Word>, m: M::Word) {
    let Calldata { base, modulus, .. } = calldata;
    let w = Words(machine);
    let is_word = w.is_equal(machine.get(state.kind), w.number(LAST_WORD_ONLY));
    machine.branch(
        w.and(is_word, w.is_below(modulus.bytes, w.number(33))),
        |machine| {
            let e = machine.bind(machine.get(state.exponent));
            word_sized::of_any_base(machine, state, base, [e, m], modulus.bytes);
        },
        |_| (),
    );
}

/// Sets [`State::kind`], and [`State::exponent`] to the first word of the exponent that is not in front of its last one as a zero; returns the
/// result where that needs neither.
fn exponent_words<M: Machine>(machine: &M, state: State, exponent: Operand<M::Word>) {
    let last_only = |machine: &M, word: M::Word| {
        machine.set(state.kind, machine.small(LAST_WORD_ONLY));
        machine.set(state.exponent, word);
    };
    machine.branch(
        Words(machine).is_below(machine.small(32), exponent.bytes),
        |machine| {
            machine.set(state.kind, machine.small(LAST_WORD_ONLY - 1));
            machine.set(state.exponent, exponent.first(machine));
            machine.branch(
                machine.get(state.exponent),
                |_| (),
                |machine| {
                    machine.branch(
                        exponent.above(machine, state.mask[0], 1),
                        |_| (),
                        |machine| last_only(machine, exponent.nth_last(machine, machine.small(1))),
                    );
                },
            );
        },
        |machine| last_only(machine, exponent.short(machine)),
    );
}

/// Returns the result for a modulus of more words.
fn more_words<M: Machine>(machine: &M, state: State) {
    long::bits(machine, state);
    machine.branch(
        machine.has(Feature::Limbs(direct::LIMBS_MAX)),
        |machine| direct::text(machine, state, state.result[2]),
        |_| (),
    );
    long::text(machine, state);
}

/// The inverse of 3 in the base field of BN254: 3 to the power of p − 2.
fn example() -> Vec<u8> {
    let modulus = Bn254Fp::modulus();
    let words = [32u8.into(), 32u8.into(), 32u8.into(), BigUint::from(3u8), &modulus - 2u8, modulus];
    words
        .iter()
        .flat_map(|word: &BigUint| [vec![0; 32 - word.to_bytes_be().len()], word.to_bytes_be()].concat())
        .collect()
}
