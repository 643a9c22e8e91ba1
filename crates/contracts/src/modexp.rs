//! The modular exponentiation of EIP-198 (MODEXP, address 0x05) as a contract, with the limits of EIP-7823.
//!
//! The modulus is known at run time only: m = 2ᵗ·n with n odd. Powers modulo n are those of a subprogram whose modulus is given; powers modulo 2ᵗ
//! are computed modulo a larger power of two, and Garner's formula makes one number of both (Handbook of Applied Cryptography 1996, algorithm 14.71).

mod calldata;
mod direct;
pub mod in_words;
mod long;
mod narrow;
mod power;
mod wide;
mod word_sized;

use crate::Contract;
use crate::words::Words;
use calldata::{Calldata, Operand};
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

/// What the parts of the program share.
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
    /// 0 if all numbers are words of calldata, 1 if they have a word each at most, else 2, or 3 ([`LAST_WORD_ONLY`]).
    kind: Variable,
}

impl State {
    fn new<M: Machine>(machine: &M) -> Self {
        let variable = |name| machine.variable(name, machine.small(0));
        Self {
            kind: variable("kind"),
            base: variable("base"),
            exponent: variable("exponent"),
            result: ["result", "result, middle word", "result, highest word"].map(variable),
            odd: ["odd part", "odd part, middle word", "odd part, highest word"].map(variable),
            mask: ["mask", "mask, middle word", "mask, highest word"].map(variable),
        }
    }

    /// Whether base or exponent have more than a word.
    fn is_long<M: Machine>(self, machine: &M) -> M::Word {
        Words(machine).high(machine.get(self.kind), 1)
    }
}

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let state = State::new(machine);
    machine.branch(
        machine.has(Feature::Given),
        |machine| over_given(machine, state),
        |machine| {
            // Numbers of limbs need no modulus but the ring's.
            let Calldata { modulus, .. } = Calldata::any(machine);
            long::bits(machine, state);
            machine.branch(
                machine.get(state.result[2]),
                |machine| long::text(machine, state),
                |machine| machine.return_words(&[machine.small(0)], modulus.bytes),
            );
        },
    );
}

/// The text where moduli may be given at run time.
fn over_given<M: Machine>(machine: &M, state: State) {
    machine.branch(word_sized::lengths_differ(machine), |_| (), |machine| word_sized::text(machine, state));

    let calldata = Calldata::any(machine);
    let Calldata { base, exponent, modulus } = calldata;
    machine.branch(
        calldata.is_short(machine),
        |machine| {
            machine.set(state.kind, machine.small(1));
            machine.set(state.base, base.short(machine));
            machine.set(state.exponent, exponent.short(machine));
            machine.set(state.odd[0], modulus.short(machine));
        },
        |machine| {
            wide::in_place(machine, state);
            machine.branch(
                machine.has(Feature::Limbs(direct::LIMBS_MAX)),
                |machine| direct::usual(machine, calldata),
                |_| (),
            );
            exponent_words(machine, state, exponent);
            let w = Words(machine);
            machine.branch(
                w.is_below(w.number(32 * WORDS_MAX as u64), modulus.bytes), // usize to u64 widens
                |machine| {
                    machine.branch(
                        modulus.above(machine, state.mask[0], WORDS_MAX as u64), // usize to u64 widens
                        |machine| more_words(machine, state),
                        |_| (),
                    );
                },
                |_| (),
            );
            machine.set(state.base, base.word(machine, 0));
            for (number, &word) in (0..).zip(&state.odd) {
                machine.set(word, modulus.word(machine, number));
            }
        },
    );
    let [_, middle, highest] = state.odd.map(|word| machine.get(word));
    machine.branch(
        Words(machine).or(middle, highest),
        |machine| {
            machine.branch(machine.has(Feature::PowersOfTwo), |_| (), |machine| wide::even_in_limbs(machine, state));
            wide::text(machine, state);
            machine.return_words(&[2, 1, 0].map(|word| machine.get(state.result[word])), modulus.bytes);
        },
        |machine| {
            narrow::text(machine, state);
            machine.return_words(&[machine.get(state.result[0])], modulus.bytes);
        },
    );
}

/// Sets [`State::kind`] and the first word of the exponent that is not in front of its last one as a zero.
fn exponent_words<M: Machine>(machine: &M, state: State, exponent: Operand<M::Word>) {
    let w = Words(machine);
    machine.set(state.kind, w.number(LAST_WORD_ONLY - 1));
    machine.set(state.exponent, exponent.first(machine));
    machine.branch(
        w.mul(exponent.rest(machine), machine.not(machine.get(state.exponent))),
        |machine| {
            machine.branch(
                exponent.above(machine, state.mask[0], 1),
                |_| (),
                |machine| {
                    machine.set(state.kind, machine.small(LAST_WORD_ONLY));
                    machine.set(state.exponent, exponent.word(machine, 0));
                },
            );
        },
        |_| (),
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
