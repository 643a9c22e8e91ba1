//! Odd moduli of 48, 64 and 96 bytes where the base has as many: where the numbers stand is known, but for the length of the exponent.

use super::super::State;
use super::super::calldata::{Calldata, HEADER_BYTES, OPERAND_BYTES_MAX, Operand};
use super::super::direct;
use super::super::expressions::Expressions;
use super::super::power::{F4, LAST_WORD_ONLY, power_by_digits, power_by_pairs, power_of_384_bits};
use super::{BASE, BYTES_MAX, LIMBS, MODULUS, enter_of_width};
use crate::words::Words;
use residue_curves::pow_constant;
use residue_ir::{Feature, Machine};
use ruint::aliases::U256;

/// Address of a short exponent.
const EXPONENT: u64 = 0;
/// Pairs of bits, after the first bit or the first two, of an exponent that is done bit by bit, in the order of [`LIMBS`]: more of them cost more than
/// a table and digits moved apart.
const PAIRS_MAX: [usize; 3] = [4, 12, 12];
/// Bits of an exponent of 384 bits that is done by digits here.
const DIGITS_BITS: u64 = 32;
/// Names of the subprograms for 65537, in the order of [`LIMBS`].
const USUAL: [&str; 3] = ["384 bits, 65537", "512 bits, 65537", "768 bits, 65537"];
/// The same for short exponents.
const SHORT: [&str; 3] = ["384 bits, short exponent", "512 bits, short exponent", "768 bits, short exponent"];

/// Returns the result for such numbers if the first word of the base is below that of the modulus.
pub(in super::super) fn in_place<M: Machine>(machine: &M, state: State, calldata: Calldata<M::Word>) {
    let w = Words(machine);
    let Calldata { base, exponent, modulus } = calldata;
    // None of these bits is in 48, 64 and 96; most other lengths have one.
    let other_bits = w.number(0xff8f);
    let differs = w.or(w.xor(base.bytes, modulus.bytes), w.and(base.bytes, other_bits));
    let last = modulus.nth_last(machine, w.number(1));
    machine.branch(
        w.and(machine.not(differs), last),
        |machine| {
            for (width, limbs) in LIMBS.into_iter().enumerate() {
                machine.branch(
                    machine.not(Words(machine).xor(base.bytes, machine.small(8 * u64::from(limbs)))),
                    |machine| of_width(machine, state, width, exponent.bytes),
                    |_| (),
                );
            }
        },
        |_| (),
    );
}

fn of_width<M: Machine>(machine: &M, state: State, width: usize, exponent_bytes: M::Word) {
    let w = Words(machine);
    let bytes = 8 * u64::from(LIMBS[width]);
    let exponent = Operand { at: w.number(HEADER_BYTES + bytes), bytes: exponent_bytes };
    let at = machine.bind(w.add(exponent.at, exponent_bytes));
    let modulus: Vec<M::Word> = words(machine, width, |offset| w.add(at, w.number(offset)));
    machine.branch(
        w.is_below(first_word(machine, width, w.number(HEADER_BYTES)), modulus[0]),
        |machine| {
            by_exponent(machine, state, width, (exponent, &modulus));
            for (cell, from) in [(MODULUS, at), (BASE, machine.small(HEADER_BYTES))] {
                machine.copy_calldata(machine.small(cell + BYTES_MAX - bytes), from, machine.small(bytes));
            }
            enter_of_width(machine, state, width, &modulus);
        },
        |_| (),
    );
}

/// Returns the result for exponents that have code here, for others puts the first word into [`State::exponent`] and sets [`State::kind`].
fn by_exponent<M: Machine>(
    machine: &M,
    state: State,
    width: usize,
    (exponent, modulus): (Operand<M::Word>, &[M::Word]),
) {
    machine.branch(
        Words(machine).is_below(exponent.bytes, machine.small(33)),
        |machine| {
            let e = machine.bind(exponent.short(machine));
            machine.branch(
                machine.not(Words(machine).xor(e, machine.small(F4))),
                |machine| by_f4(machine, width, modulus),
                |_| (),
            );
            machine.branch(
                machine.has(Feature::LeadingZeros),
                |machine| short_exponent(machine, width, modulus, e),
                |_| (),
            );
            machine.set(state.kind, machine.small(LAST_WORD_ONLY));
            machine.set(state.exponent, e);
        },
        |machine| {
            if width == 0 {
                machine.branch(
                    machine.not(Words(machine).xor(exponent.bytes, machine.small(8 * u64::from(LIMBS[width])))),
                    |machine| by_48_bytes(machine, state, modulus),
                    |_| (),
                );
            }
            machine.require(Words(machine).is_below(exponent.bytes, machine.small(OPERAND_BYTES_MAX + 1)));
            // The last word, if the exponent has two and the first is 0.
            let w = Words(machine);
            let first = machine.bind(exponent.first(machine));
            let has_more_words = w.high(w.sub(exponent.bytes, w.number(1)), 6);
            let is_last = machine.bind(machine.not(w.or(first, has_more_words)));
            machine.set(state.kind, w.add(w.number(LAST_WORD_ONLY - 1), is_last));
            machine.set(state.exponent, w.or(first, w.mul(is_last, exponent.nth_last(machine, w.number(1)))));
        },
    );
}

/// The words, bound, of a number whose byte of an offset is where `at` says.
fn words<M: Machine>(machine: &M, width: usize, at: impl Fn(u64) -> M::Word) -> Vec<M::Word> {
    let bytes = 8 * u64::from(LIMBS[width]);
    let first_bytes = (bytes - 1) % 32 + 1;
    let first = first_word(machine, width, at(0));
    let others = (first_bytes..bytes).step_by(32).map(|offset| machine.calldata_word(at(offset)));
    std::iter::once(first).chain(others).map(|word| machine.bind(word)).collect()
}

/// Part of a number above its whole words, or its first one.
fn first_word<M: Machine>(machine: &M, width: usize, at: M::Word) -> M::Word {
    let bits = 64 * u64::from(LIMBS[width]);
    let word = machine.calldata_word(at);
    if bits.is_multiple_of(256) { word } else { Words(machine).high(word, 256 - bits % 256) }
}

/// Returns the power by 65537.
fn by_f4<M: Machine>(machine: &M, width: usize, modulus: &[M::Word]) {
    machine.over_given(USUAL[width], LIMBS[width], modulus, |machine| {
        let y = pow_constant(base(machine, width), &F4.into());
        machine.return_elements(y, 8 * LIMBS[width]);
    });
}

/// Code that returns the power by a word.
type Returning<'a, M> = &'a dyn Fn(&M, <M as Machine>::Word, <M as Machine>::Fe);

/// Returns the power by e if that is short: 1, or bit by bit, or by digits.
fn short_exponent<M: Machine>(machine: &M, width: usize, modulus: &[M::Word], e: M::Word) {
    let bits = 2 * PAIRS_MAX[width] as u64 + 1; // usize to u64 widens
    let up_to = |machine: &M, bits: u64, text: &dyn Fn(&M)| {
        machine.branch(machine.not(Words(machine).high(e, bits)), text, |_| ());
    };
    let in_field = |machine: &M, name, power: Returning<'_, M>| {
        machine.put(EXPONENT, e);
        machine.over_given(name, LIMBS[width], modulus, |machine| {
            let x = base(machine, width);
            power(machine, machine.bind(machine.at(EXPONENT)), x);
        });
    };
    let give = |machine: &M, y| machine.return_elements(y, 8 * LIMBS[width]);
    up_to(machine, bits, &|machine| {
        machine.branch(
            machine.not(e),
            |machine| {
                let w = Words(machine);
                let bytes = 8 * u64::from(LIMBS[width]);
                machine.put(BYTES_MAX - 32, w.number(1));
                machine.return_scratch(w.number(BYTES_MAX - bytes), w.number(bytes));
            },
            |_| (),
        );
        in_field(machine, SHORT[width], &|machine, e, x| power_by_pairs(machine, PAIRS_MAX[width], e, x, give));
    });
    if width > 0 {
        return;
    }
    machine.branch(
        machine.has(Feature::Limbs(direct::LIMBS_MAX)),
        |_| (), // Parts that are chosen would be too many, as wide moduli have code in front of them.
        |machine| {
            up_to(machine, DIGITS_BITS, &|machine| {
                in_field(machine, "384 bits, exponent by digits", &|machine, e, x| {
                    // A constant would be copied from code.
                    let one = machine.element_of(&[machine.small(1)]);
                    give(machine, power_by_digits(machine, e, one, x));
                });
            });
        },
    );
}

fn base<M: Machine>(machine: &M, width: usize) -> M::Fe {
    machine.element_of(&words(machine, width, |offset| machine.small(HEADER_BYTES + offset)))
}

/// Returns the power by an exponent of 48 bytes that is 2¹⁹² or more.
fn by_48_bytes<M: Machine>(machine: &M, state: State, modulus: &[M::Word]) {
    const EXPONENT_AT: u64 = HEADER_BYTES + 48;
    let high = |machine: &M| Words(machine).high(machine.calldata_word(machine.small(EXPONENT_AT)), 64);
    machine.branch(
        // Short exponents that are written so have code for them.
        high(machine),
        |machine| {
            machine.over_given("384 bits in place", LIMBS[0], modulus, |machine| {
                let x = base(machine, 0);
                let lower = machine.word(U256::MAX >> 64usize);
                let low = Words(machine).and(machine.calldata_word(machine.small(EXPONENT_AT + 16)), lower);
                let y = power_of_384_bits(machine, state.exponent, [high(machine), low], x);
                machine.return_elements(y, 48);
            });
        },
        |_| (),
    );
}
