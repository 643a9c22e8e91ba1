//! Numbers of bytes become residues, and residues digits.

use super::bases::{self, BITS, Bases};
use super::products::{correction, modulus, place};
use super::{DIGIT_BYTES, cell, longest_bytes};
use crate::modexp::expressions::Expressions;
use crate::words::Words;
use num_bigint::{BigInt, BigUint};
use num_traits::One;
use residue_ir::Machine;
use ruint::aliases::U256;

/// Bits of a word that a digit does not have.
const SPARE_BITS: u64 = 256 - BITS;

/// The digits, to the base T, of the number whose bytes end at `end`, the lowest first: words on the stack.
fn digits<M: Machine>(machine: &M, bases: Bases, end: u64) -> Vec<M::Word> {
    let w = Words(machine);
    (1..=bases.digits() as u64)
        .map(|digit| machine.bind(w.high(machine.at(end - DIGIT_BYTES * digit), SPARE_BITS)))
        .collect()
}

/// `factor` times the number modulo T + ρ·k, but for a few times that.
fn times<M: Machine>(machine: &M, digits: &[M::Word], factor: &BigUint, k: i64) -> M::Word {
    let term = |(number, &digit): (usize, &M::Word)| {
        let power = bases::residue(&BigInt::from(factor << (BITS as usize * number)), k); // u64 to usize
        if power.is_one() {
            digit
        } else {
            machine.mulmod(digit, machine.word(bases::word(&power)), modulus(machine, k))
        }
    };
    let terms = digits.iter().enumerate().map(term);
    terms.reduce(|sum, term| Words(machine).add(term, sum)).expect("there are digits")
}

/// `factor` times the number modulo one of the moduli `k` of the first base, or with a number of the second one. Where an account is to hold the code it is
/// by Horner's rule, in which no power is a constant, and reduced; else as [`times`] has it.
fn residue_of<M: Machine>(
    machine: &M,
    bases: Bases,
    digits: &[M::Word],
    factor: &BigUint,
    (k, second): (i64, Option<u64>),
) -> M::Word {
    let Some(moduli) = bases.moduli else { return times(machine, digits, factor, k) };
    let w = Words(machine);
    let t = machine.bind(machine.at(moduli));
    let multiple = || w.number(k.unsigned_abs() * bases::STEP);
    let m = machine.bind(match second {
        Some(number) => bases.second_modulus(machine, number as usize),
        None if k < 0 => w.sub(t, multiple()),
        None => w.add(multiple(), t),
    });
    let step = |sum: M::Word, &digit: &M::Word| w.add(digit, machine.mulmod(t, sum, m));
    let (lower, upper) = digits.split_at(digits.len() / 2);
    let (&highest, upper) = upper.split_last().expect("there are digits");
    let sum = machine.bind(upper.iter().rev().fold(highest, step));
    let sum = lower.iter().rev().fold(sum, step);
    if factor.is_one() { w.modulo(sum, m) } else { machine.mulmod(sum, machine.word(bases::word(factor)), m) }
}

/// The same, reduced.
fn reduced<M: Machine>(
    machine: &M,
    bases: Bases,
    digits: &[M::Word],
    factor: &BigUint,
    (k, second): (i64, Option<u64>),
) -> M::Word {
    let residue = residue_of(machine, bases, digits, factor, (k, second));
    if bases.moduli.is_some() { residue } else { Words(machine).modulo(residue, modulus(machine, k)) }
}

/// Writes T and the moduli of the second base, where they are no constants.
fn write_moduli<M: Machine>(machine: &M, bases: Bases) {
    let all = [0].into_iter().chain(bases.second_of(bases.second_count() + 1));
    for (at, (number, k)) in bases.moduli.into_iter().flat_map(|at| (0..).zip(all.clone()).map(move |each| (at, each)))
    {
        machine.put(at + 32 * number, modulus(machine, k));
    }
}

/// Writes what n is modulo the moduli of the first base but T at [`cell::OF_FIRST`], and what the second base needs of it at
/// [`cell::OF_SECOND`].
pub(super) fn read_modulus<M: Machine>(machine: &M, bases: Bases) {
    write_moduli(machine, bases);
    let digits = digits(machine, bases, cell::MODULUS_END);
    for (number, k) in (1..).zip(bases.all_first().into_iter().skip(1)) {
        machine.put(cell::OF_FIRST + 32 * number, reduced(machine, bases, &digits, &BigUint::one(), (k, None)));
    }
    for (number, k) in (0..).zip(bases.all_second()) {
        let factor = bases.of_second(k).of_quotient();
        machine.put(cell::OF_SECOND + 32 * number, residue_of(machine, bases, &digits, &factor, (k, Some(number))));
    }
    let (last, one) = one_of_last(bases);
    let number = bases.second_count() as u64; // usize to u64 widens
    let residue = residue_of(machine, bases, &digits, &one, (last, Some(number)));
    machine.put(cell::OF_SECOND + 32 * number, residue);
}

/// The modulus that the second base has only where numbers become Montgomery's, and y of 1 there.
fn one_of_last(bases: Bases) -> (i64, BigUint) {
    let last = bases.second[bases.second.len() - 1];
    (last, bases.of_second_in(last, bases.second_count() + 1).one())
}

/// Writes the first factor of σ, modulo T, and those by which n, shifted to the top, is taken off.
pub(super) fn factors<M: Machine>(machine: &M, bases: Bases) {
    let w = Words(machine);
    machine.put(cell::FREE[0], machine.at(cell::MODULUS_END - 32));
    inverse_of_odd(machine);
    let of_squares = machine.word(bases::word(&bases.of_first(0).of_squares()));
    machine.put(cell::OF_FIRST, w.and(w.mul(of_squares, machine.at(cell::FREE[1])), machine.ones(BITS as usize))); // u64 to usize
    let missing = w.sub(w.number(longest_bytes(bases)), machine.at(cell::BYTES));
    let shift = machine.bind(w.shl(w.number(1), w.mul(w.number(8), missing)));
    let m = |number: u64| bases.second_modulus(machine, number as usize); // u64 to usize
    let shifted = |number: u64| machine.mulmod(shift, machine.at(cell::OF_SECOND + 32 * number), m(number));
    let count = bases.second_count();
    for (number, k) in (0..).zip(bases.all_second()) {
        let of_quotient = bases::inverse(&BigInt::from(bases.of_second(k).of_quotient()), k);
        let factor = bases::residue(&-(BigInt::from(bases.of_second_in(k, count + 1).one()) * of_quotient), k);
        let taken_off = machine.mulmod(shifted(number), machine.word(bases::word(&factor)), m(number));
        machine.put(cell::TAKEN_OFF + 32 * number, taken_off);
    }
    let number = count as u64; // usize to u64 widens
    machine.put(cell::TAKEN_OFF + 32 * number, w.sub(m(number), shifted(number)));
}

/// Makes the word at the second free cell the inverse of the odd one at the first, modulo 2²⁵⁶.
pub(super) fn inverse_of_odd<M: Machine>(machine: &M) {
    machine.function("inverse of an odd word", (), |machine, ()| {
        let w = Words(machine);
        let [odd, inverse, ..] = cell::FREE;
        // Five bits of it, then twice as many each time.
        machine.put(inverse, w.xor(w.mul(machine.at(odd), w.number(3)), w.number(2)));
        for _ in 0..6 {
            let rest = w.sub(w.number(2), w.mul(machine.at(odd), machine.at(inverse)));
            machine.put(inverse, w.mul(machine.at(inverse), rest));
        }
    });
}

/// Writes y of the base, in the second base with the modulus that it has not else.
pub(super) fn read_base<M: Machine>(machine: &M, bases: Bases) {
    let digits = digits(machine, bases, cell::BASE_END);
    let count = bases.second_count() + 1;
    for (number, k) in (0..).zip(bases.second_of(count)) {
        let factor = bases.of_second_in(k, count).one();
        machine.put(cell::NUMBER + 32 * number, reduced(machine, bases, &digits, &factor, (k, Some(number))));
    }
}

/// y of a number in the usual second base, from its y in the base with one more modulus.
pub(super) fn without_last<M: Machine>(machine: &M, bases: Bases, y: M::Word, (number, k): (u64, i64)) -> M::Word {
    let factor = bases::residue(&BigInt::from(bases::modulus(one_of_last(bases).0)), k);
    machine.mulmod(y, machine.word(bases::word(&factor)), bases.second_modulus(machine, number as usize))
}

/// y ← y of x·M modulo n shifted to the top, n′, but for less than six times that. One modulus of M after the other is a factor, and a multiple of n′ is
/// taken off; the number is n′ at least after that, so that estimates are never below zero.
pub(super) fn enter<M: Machine>(machine: &M, bases: Bases) {
    machine.function(bases.names.enter, (), |machine, ()| {
        let w = Words(machine);
        reciprocal(machine, machine.scratch_word(w.sub(w.number(cell::MODULUS_END), machine.at(cell::BYTES))));
        let with_three = |(number, k): (u64, i64)| {
            let minus_three = machine.word(bases::word(&(bases::modulus(k) - 3u8)));
            let three = machine.mulmod(
                machine.at(cell::TAKEN_OFF + 32 * number),
                minus_three,
                bases.second_modulus(machine, number as usize),
            );
            w.add(three, machine.at(cell::NUMBER + 32 * number))
        };
        let all = bases.second_of(bases.second_count() + 1);
        let mut residues: Vec<M::Word> = (0..).zip(all).map(with_three).collect();
        for first in bases.all_first() {
            residues = enter_by(machine, bases, &residues, first);
        }
        let residues = residues.iter().zip((0..).zip(bases.all_second()));
        let residues: Vec<M::Word> =
            residues.map(|(&y, place)| machine.bind(without_last(machine, bases, y, place))).collect();
        // The last one lies on top.
        for (number, residue) in (0..).zip(residues).collect::<Vec<(u64, M::Word)>>().into_iter().rev() {
            machine.put(cell::NUMBER + 32 * number, residue);
        }
    });
}

/// The y of the number times one modulus, less a multiple of n′; each is to be used once.
fn enter_by<M: Machine>(machine: &M, bases: Bases, residues: &[M::Word], first: i64) -> Vec<M::Word> {
    let w = Words(machine);
    let all = || (0..).zip(bases.second_of(bases.second_count() + 1));
    let by = BigInt::from(bases::modulus(first));
    let product = |(&residue, (number, k)): (&M::Word, (u64, i64))| {
        let factor = machine.word(bases::word(&bases::residue(&by, k)));
        machine.bind(machine.mulmod(residue, factor, bases.second_modulus(machine, number as usize)))
    };
    let products: Vec<M::Word> = residues.iter().zip(all()).map(product).collect();
    let quotient = quotient(machine, bases, |number| products[number]);
    let less = |((number, _), product): ((u64, i64), M::Word)| {
        let taken_off = machine.at(cell::TAKEN_OFF + 32 * number);
        w.add(machine.mulmod(quotient, taken_off, bases.second_modulus(machine, number as usize)), product)
    };
    all().zip(products).map(less).collect()
}

/// The multiple of n′ that is taken off a number, by its y in the base with one more modulus.
pub(super) fn quotient<M: Machine>(machine: &M, bases: Bases, y: impl Fn(usize) -> M::Word) -> M::Word {
    let w = Words(machine);
    // The number over M′ is what is below T of the sum of y·T/m′, with T/m′ = 1 − ρ·k/T: here with 24 more bits.
    let sum = |of: &dyn Fn(usize) -> M::Word| (0..bases.second.len()).map(of).reduce(|sum, each| w.add(each, sum));
    let differences = sum(&|pair| w.sub(y(2 * pair), y(2 * pair + 1))).expect("there are pairs");
    let multiples = sum(&|pair| {
        let both = w.add(y(2 * pair), y(2 * pair + 1));
        w.mul(w.number(bases.second[pair].unsigned_abs()), both)
    });
    let correction = w.mul(w.number(bases::STEP), w.high(multiples.expect("there are pairs"), SPARE_BITS));
    let correction = w.high(correction, BITS - 2 * SPARE_BITS);
    machine.put(cell::FREE[0], w.add(correction, w.shl(differences, w.number(SPARE_BITS))));
    let pair = || (machine.at(cell::FREE[0]), machine.at(cell::RECIPROCAL));
    let (a, b) = pair();
    machine.put(cell::FREE[1], w.mul(a, b));
    let (a, b) = pair();
    machine.put(cell::FREE[2], machine.mulmod(a, b, machine.word(U256::MAX)));
    let (low, odd) = (machine.at(cell::FREE[1]), machine.at(cell::FREE[2]));
    // The upper word of the product, less two: as much as the estimate may be above the quotient, and one more.
    let quotient = w.sub(w.sub(w.sub(odd, low), w.is_below(odd, low)), w.number(2));
    machine.bind(quotient)
}

/// Makes [`cell::RECIPROCAL`] ⌊2⁴⁹⁵/D⌋ for an odd D a little above half of the first word of n.
pub(super) fn reciprocal<M: Machine>(machine: &M, first: M::Word) {
    let w = Words(machine);
    let [odd, inverse, ..] = cell::FREE;
    machine.put(odd, w.or(w.number(1), w.add(w.number(1), w.high(first, 1))));
    inverse_of_odd(machine);
    let power = |bits: usize| machine.word(U256::ONE << bits);
    // The quotient is exact without what is left over.
    let rest = machine.mulmod(power(248), power(247), machine.at(odd));
    machine.put(cell::RECIPROCAL, w.mul(w.sub(w.number(0), rest), machine.at(inverse)));
}

/// Writes the digits of a number that is less than M/25. As many moduli of the second base are left as digits.
pub(super) fn write_digits<M: Machine>(machine: &M, bases: Bases) {
    for digit in 0..bases.digits() {
        let (w, at) = (Words(machine), cell::RESULT + 32 * digit as u64); // usize to u64 widens
        let count = bases.digits() - digit;
        machine.put(at, lowest_digit(machine, bases, count, cell::NUMBER));
        for (number, k) in (0..).zip(bases.second_of(count - 1)) {
            let before = bases.of_second_in(k, count);
            let product = |word: M::Word, factor: &BigUint| {
                machine.mulmod(word, machine.word(bases::word(factor)), bases.second_modulus(machine, number as usize))
            };
            let residue = cell::NUMBER + 32 * number;
            let over_t = product(machine.at(residue), &before.over_t(count - 1));
            machine.put(residue, w.add(product(machine.at(at), &before.minus_one_over_t(count - 1)), over_t));
        }
    }
}

/// The number modulo T, of y of so many moduli at `from`.
pub(super) fn lowest_digit<M: Machine>(machine: &M, bases: Bases, count: usize, from: u64) -> M::Word {
    let w = Words(machine);
    let pairs = count.div_ceil(2);
    let row = bases.row_of_first(0, count);
    let at = |number: usize| machine.at(place(from, number));
    let with_pair = |pair: usize, operation: &dyn Fn(M::Word, M::Word) -> M::Word| match 2 * pair + 1 < count {
        true => operation(at(2 * pair), at(2 * pair + 1)),
        false => at(2 * pair),
    };
    let add = |sum: M::Word, each: M::Word| w.add(each, sum);
    let differences = (0..pairs).map(|pair| with_pair(pair, &|a, b| w.sub(a, b)));
    let more = correction(machine, differences.reduce(add).expect("a modulus is left"), bases.second[pairs - 1]);
    let coefficient = |pair: usize| w.number(row.of_sums[pair]);
    let terms = (0..pairs).map(|pair| w.mul(coefficient(pair), with_pair(pair, &|a, b| w.add(a, b))));
    let sum = terms.fold(w.mul(coefficient(pairs - 1), more), add);
    let of_sum = machine.word(bases::word(&bases.of_first_from(0, count).of_sum()));
    w.and(machine.ones(BITS as usize), w.mul(of_sum, sum)) // u64 to usize
}
