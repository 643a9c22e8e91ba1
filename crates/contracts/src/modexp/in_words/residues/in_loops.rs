//! The same of nine digits in short code: moduli and constants stand in scratch memory, and what is done for each of them is a loop. Numbers and
//! their powers are where [`loops`] has limbs: a number has nine y, as many as limbs.

use super::bases::{self, BITS, Bases, Cells, Names, STEP};
use super::conversion::{inverse_of_odd, lowest_digit, quotient, reciprocal};
use super::inverse::inverse;
use super::products::{self, place};
use super::{ALL, SHORT_EXPONENT_BITS, cell, longest_bytes, shortest_bytes};
use crate::modexp::calldata::Calldata;
use crate::modexp::expressions::Expressions;
use crate::modexp::in_words::limbs::cell::{SHIFT, STATE};
use crate::modexp::in_words::loops::{self, A, B, PRODUCT, copy_between, own, set_word, word};
use crate::modexp::in_words::wide::least;
use crate::words::Words;
use num_bigint::{BigInt, BigUint};
use num_traits::One;
use residue_ir::Machine;
use ruint::aliases::U256;

/// RSA of 2048 bits.
const BASES: Bases = Bases {
    names: Names {
        square: "square of residues, in short code",
        multiply: "product of residues, in short code",
        extend: "extension of residues, in short code",
        ..ALL[1].names
    },
    cells: Cells {
        of_first: array::OF_FIRST,
        of_second: array::OF_SECOND,
        number: A,
        other: B,
        other_sums: array::SUMS,
        quotient: array::QUOTIENT,
    },
    ..ALL[1]
};
/// Digits of a number, and moduli of each base.
const DIGITS: u64 = 9;
/// Moduli of the second base where numbers become Montgomery's.
const ENTERING: u64 = DIGITS + 1;

/// Addresses of arrays.
mod array {
    use super::{DIGITS, ENTERING};
    use crate::modexp::in_words::loops::POWERS;

    /// The moduli of the first base: T, and of each pair that of k and that of −k. Powers of the base stand before them.
    pub const FIRST: u64 = after(POWERS, DIGITS * (DIGITS + 16));
    /// The moduli of the second base, of each pair that of −k and that of k.
    pub const SECOND: u64 = after(FIRST, DIGITS);
    /// Factors of σ.
    pub const OF_FIRST: u64 = after(SECOND, ENTERING);
    /// Factors of sums of the second base.
    pub const OF_SECOND: u64 = after(OF_FIRST, DIGITS);
    /// y of minus n shifted to the top.
    pub const TAKEN_OFF: u64 = after(OF_SECOND, ENTERING);
    /// y of a number on its way to Montgomery's.
    pub const NUMBER: u64 = after(TAKEN_OFF, ENTERING);
    /// y of the base.
    pub const PLAIN: u64 = after(NUMBER, ENTERING);
    /// S of B.
    pub const SUMS: u64 = after(PLAIN, ENTERING);
    /// σ: modulo T, then of each pair the sum and the difference.
    pub const QUOTIENT: u64 = after(SUMS, DIGITS);
    /// Constants of factors of σ.
    pub const SQUARES_OF_FIRST: u64 = after(QUOTIENT, DIGITS);
    /// Constants of factors of sums.
    pub const QUOTIENTS: u64 = after(SQUARES_OF_FIRST, DIGITS);
    /// y of 1.
    pub const ONE: u64 = after(QUOTIENTS, ENTERING);
    /// y of 1 in the base with one more modulus.
    pub const ENTERING_ONE: u64 = after(ONE, DIGITS);
    /// 1/T modulo the moduli of the second base.
    pub const OVER_T: u64 = after(ENTERING_ONE, ENTERING);
    /// Address after the last one.
    pub const END: u64 = after(OVER_T, DIGITS);

    const fn after(at: u64, words: u64) -> u64 {
        at + 32 * words
    }
}
const _: () =
    assert!(array::END <= crate::modexp::in_words::wide::SCRATCH_BYTES as u64, "there is room for all of them");

/// The bytes that a modulus may have.
fn has_length<M: Machine>(machine: &M) -> M::Word {
    let w = Words(machine);
    let bytes = machine.at(cell::BYTES);
    w.and(w.is_below(w.number(shortest_bytes(BASES) - 1), bytes), w.is_below(bytes, w.number(longest_bytes(BASES) + 1)))
}

/// Makes all that products need of the modulus, and B the base times M, if the modulus is odd, the base is no longer than the longest modulus, the
/// exponent is not short and there are inverses; [`own::HAS_RESIDUES`] is 1 then.
pub(in crate::modexp::in_words) fn begin<M: Machine>(machine: &M) {
    let w = Words(machine);
    let Calldata { base, exponent, modulus } = Calldata::read(machine);
    let is_odd = machine.calldata_word(w.sub(w.add(modulus.at, modulus.bytes), w.number(32)));
    let is_below = w.is_below(base.bytes, w.number(longest_bytes(BASES) + 1));
    let is_long = w.is_below(w.number(0), w.high(least(machine, exponent), SHORT_EXPONENT_BITS));
    machine.branch(
        w.and(w.and(has_length(machine), is_odd), w.and(is_below, is_long)),
        |machine| {
            machine.put(SHIFT, machine.small(0));
            loops::read_modulus(machine);
            write_constants(machine);
            inverses(machine);
            machine.branch(
                machine.at(cell::WRONG),
                |_| (),
                |machine| {
                    loops::base(machine);
                    residues(machine);
                    enter(machine);
                    machine.put(own::HAS_RESIDUES, machine.small(1));
                },
            );
        },
        |_| (),
    );
}

/// Writes the moduli, and constants of each.
fn write_constants<M: Machine>(machine: &M) {
    machine.put(array::FIRST, machine.word(U256::ONE << (BITS as usize))); // u64 to usize
    let pairs = BASES.first.len() + BASES.second.len();
    machine.repeat(machine.small(pairs as u64), (), |machine, turn, ()| {
        // usize to u64 widens
        let w = Words(machine);
        let k = w.add(w.shl(turn, w.number(1)), w.number(1));
        let is_first = w.is_below(turn, w.number(BASES.first.len() as u64)); // usize to u64 widens
        let sign = w.sub(w.shl(is_first, w.number(1)), w.number(1));
        let multiple = machine.bind(w.mul(w.mul(k, sign), w.number(STEP)));
        let to = machine.bind(w.shl(turn, w.number(6)));
        let t = || machine.at(array::FIRST);
        set_word(machine, array::FIRST + 32, to, w.add(t(), multiple));
        set_word(machine, array::FIRST + 64, to, w.sub(t(), multiple));
    });
    let put = |to: u64, constants: Vec<BigUint>| {
        for (number, constant) in constants.iter().enumerate() {
            machine.put(place(to, number), machine.word(bases::word(constant)));
        }
    };
    put(array::SQUARES_OF_FIRST, BASES.all_first().into_iter().map(|k| BASES.of_first(k).of_squares()).collect());
    let second = BASES.all_second();
    let of_second = |of: &dyn Fn(i64) -> BigUint| second.iter().map(|&k| of(k)).collect();
    put(array::QUOTIENTS, of_second(&|k| BASES.of_second(k).of_quotient()));
    put(array::ONE, of_second(&|k| BASES.of_second(k).one()));
    let count = second.len() + 1;
    put(array::ENTERING_ONE, BASES.second_of(count).into_iter().map(|k| BASES.of_second_in(k, count).one()).collect());
    put(array::OVER_T, of_second(&|k| bases::residue(&bases::inverse(&(BigInt::one() << BITS), k), k)));
}

/// Makes [`cell::REMAINDER`] the number of nine digits at `from` modulo [`cell::MODULUS`].
fn remainder<M: Machine>(machine: &M, from: u64) {
    machine.put(own::COPY[0], machine.small(from));
    machine.function("residue of digits", (), |machine, ()| {
        let w = Words(machine);
        let modulus = machine.bind(machine.at(cell::MODULUS));
        let t = machine.bind(machine.at(array::FIRST));
        let from = machine.bind(machine.at(own::COPY[0]));
        let digit = |number: u64| machine.scratch_word(w.add(from, w.number(32 * number)));
        let sum = (0..DIGITS - 1)
            .rev()
            .fold(digit(DIGITS - 1), |sum, number| machine.bind(w.add(machine.mulmod(sum, t, modulus), digit(number))));
        machine.put(cell::REMAINDER, w.modulo(sum, modulus));
    });
}

/// Does something for each of `count` moduli: the offset of its word.
fn each<M: Machine>(machine: &M, count: u64, body: impl Fn(&M, M::Word)) {
    machine.repeat(machine.small(count), (), |machine, turn, ()| {
        let offset = machine.bind(Words(machine).shl(turn, machine.small(5)));
        body(machine, offset);
    });
}

/// Writes the factors of σ, of the digits of n in A. [`cell::WRONG`] is 0 if there are inverses.
fn inverses<M: Machine>(machine: &M) {
    machine.put(cell::WRONG, machine.small(0));
    each(machine, DIGITS - 1, |machine, offset| {
        let w = Words(machine);
        machine.put(cell::MODULUS, word(machine, array::FIRST + 32, offset));
        remainder(machine, A);
        set_word(machine, array::OF_FIRST + 32, offset, machine.at(cell::REMAINDER));
        inverse(machine);
        let inverse = || machine.at(cell::INVERSE);
        let product = machine.mulmod(inverse(), word(machine, array::OF_FIRST + 32, offset), machine.at(cell::MODULUS));
        machine.put(cell::WRONG, w.or(machine.at(cell::WRONG), w.xor(product, w.number(1))));
        let constant = word(machine, array::SQUARES_OF_FIRST + 32, offset);
        let factor = machine.mulmod(inverse(), constant, machine.at(cell::MODULUS));
        set_word(machine, array::OF_FIRST + 32, offset, factor);
    });
    let w = Words(machine);
    machine.put(cell::FREE[0], machine.at(A));
    inverse_of_odd(machine);
    let factor = w.mul(machine.at(array::SQUARES_OF_FIRST), machine.at(cell::FREE[1]));
    machine.put(array::OF_FIRST, w.and(factor, machine.ones(BITS as usize))); // u64 to usize
}

/// Writes what the second base needs of n, whose digits are A, and y of the base, whose digits are B: alone, and with three times n shifted to the top, as
/// estimates are never below zero then.
fn residues<M: Machine>(machine: &M) {
    let w = Words(machine);
    let missing = w.sub(w.number(longest_bytes(BASES)), machine.at(cell::BYTES));
    let shift = machine.bind(w.shl(w.number(1), w.mul(w.number(8), missing)));
    each(machine, ENTERING, |machine, offset| {
        let w = Words(machine);
        machine.put(cell::MODULUS, word(machine, array::SECOND, offset));
        let m = machine.bind(machine.at(cell::MODULUS));
        let one = machine.bind(word(machine, array::ENTERING_ONE, offset));
        remainder(machine, A);
        let n = machine.bind(machine.at(cell::REMAINDER));
        let factor = machine.mulmod(n, word(machine, array::QUOTIENTS, offset), m);
        set_word(machine, array::OF_SECOND, offset, factor);
        set_word(machine, array::TAKEN_OFF, offset, machine.mulmod(machine.mulmod(w.sub(m, n), shift, m), one, m));
        remainder(machine, B);
        let plain = machine.bind(machine.mulmod(machine.at(cell::REMAINDER), one, m));
        set_word(machine, array::PLAIN, offset, plain);
        let three = machine.mulmod(word(machine, array::TAKEN_OFF, offset), w.sub(m, w.number(3)), m);
        set_word(machine, array::NUMBER, offset, w.add(three, plain));
    });
}

/// B ← y of x·M modulo n, as [`super::conversion::enter`] makes it, for the number x in its array.
fn enter<M: Machine>(machine: &M) {
    let Calldata { modulus, .. } = Calldata::read(machine);
    let w = Words(machine);
    let start = w.sub(w.add(modulus.at, modulus.bytes), machine.at(cell::BYTES));
    reciprocal(machine, machine.calldata_word(start));
    each(machine, DIGITS, |machine, offset| {
        let w = Words(machine);
        let by = machine.bind(word(machine, array::FIRST, offset));
        let all = 0..BASES.second_count() + 1;
        let [at, second, taken_off] = [array::NUMBER, array::SECOND, array::TAKEN_OFF]
            .map(|base| move |machine: &M, number: usize| machine.at(place(base, number)));
        for number in all.clone() {
            let product = machine.mulmod(at(machine, number), by, second(machine, number));
            machine.put(place(array::NUMBER, number), product);
        }
        let quotient = quotient(machine, BASES, |number| at(machine, number));
        for number in all {
            let less = machine.mulmod(quotient, taken_off(machine, number), second(machine, number));
            machine.put(place(array::NUMBER, number), w.add(less, at(machine, number)));
        }
    });
    without_last(machine, array::NUMBER);
}

/// B ← y of a number of which `from` has y in the base with one more modulus.
fn without_last<M: Machine>(machine: &M, from: u64) {
    each(machine, DIGITS, |machine, offset| {
        let last = machine.at(array::SECOND + 32 * DIGITS);
        let y = word(machine, from, offset);
        set_word(machine, B, offset, machine.mulmod(y, last, word(machine, array::SECOND, offset)));
    });
}

/// A ← y of A²/M modulo n.
pub(in crate::modexp::in_words) fn square<M: Machine>(machine: &M) {
    products::square(machine, BASES);
}

/// The same of A·B/M.
pub(in crate::modexp::in_words) fn multiply<M: Machine>(machine: &M) {
    products::extend_other(machine, BASES);
    products::multiply(machine, BASES);
}

/// A ← the digits of what A has the y of, times the base if [`own::IS_LEFT`], without M: less than ten times n.
pub(in crate::modexp::in_words) fn leave<M: Machine>(machine: &M) {
    machine.branch(
        machine.at(own::IS_LEFT),
        |machine| without_last(machine, array::PLAIN),
        |machine| copy_between(machine, array::ONE, B),
    );
    // Without a digit that is not 0 the exponent is 0.
    machine.branch(machine.at(STATE), multiply, |machine| copy_between(machine, B, A));
    each(machine, DIGITS, |machine, offset| {
        let w = Words(machine);
        let digit = machine.bind(lowest_digit(machine, BASES, BASES.second_count(), A));
        set_word(machine, PRODUCT, offset, digit);
        for number in 0..BASES.second_count() {
            let at = |base: u64| machine.at(place(base, number));
            let less = machine.mulmod(w.sub(at(array::SECOND), at(array::ONE)), digit, at(array::SECOND));
            let rest = machine.mulmod(w.add(less, at(A)), at(array::OVER_T), at(array::SECOND));
            machine.put(place(A, number), rest);
        }
    });
    machine.put(SHIFT, machine.small(0));
    copy_between(machine, PRODUCT, A);
}
