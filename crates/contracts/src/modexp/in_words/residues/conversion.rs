//! Numbers of bytes become residues, and residues digits.

use super::bases::{self, BITS, First, Row, SECOND, Second};
use super::products::{Sums, modulus};
use super::{DIGIT_BYTES, DIGITS, LONGEST_BYTES, cell};
use crate::modexp::expressions::Expressions;
use crate::words::Words;
use num_bigint::{BigInt, BigUint};
use num_traits::One;
use residue_ir::Machine;
use ruint::aliases::U256;

/// Bits of a word that a digit does not have.
const SPARE_BITS: u64 = 256 - BITS;

/// The digits, to the base T, of the number whose bytes end at `end`, the lowest first: words on the stack.
fn digits<M: Machine>(machine: &M, end: u64) -> Vec<M::Word> {
    let w = Words(machine);
    (1..=DIGITS).map(|digit| machine.bind(w.high(machine.at(end - DIGIT_BYTES * digit), SPARE_BITS))).collect()
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

/// Writes what n is modulo the moduli of the first base at [`cell::OF_FIRST`], its inverse modulo T, and what the second base needs of it at
/// [`cell::OF_SECOND`].
pub(super) fn read_modulus<M: Machine>(machine: &M) {
    let w = Words(machine);
    let digits = digits(machine, cell::MODULUS_END);
    for (number, k) in (1..).zip(bases::first().into_iter().skip(1)) {
        let sum = times(machine, &digits, &BigUint::one(), k);
        machine.put(cell::OF_FIRST + 32 * number, w.modulo(sum, modulus(machine, k)));
    }
    for (number, k) in (0..).zip(bases::second()) {
        machine.put(cell::OF_SECOND + 32 * number, times(machine, &digits, &Second::new(k).of_quotient(), k));
    }
}

/// Makes what is at [`cell::OF_FIRST`] the factors of σ, and writes those by which n, shifted to the top, is taken off.
pub(super) fn factors<M: Machine>(machine: &M) {
    let w = Words(machine);
    machine.put(cell::FREE[0], machine.at(cell::MODULUS_END - 32));
    inverse_of_odd(machine);
    let of_squares = |k: i64| machine.word(bases::word(&First::new(k).of_squares()));
    machine.put(cell::OF_FIRST, w.and(w.mul(of_squares(0), machine.at(cell::FREE[1])), machine.ones(BITS as usize))); // u64 to usize
    for (number, k) in (1..).zip(bases::first().into_iter().skip(1)) {
        let at = cell::OF_FIRST + 32 * number;
        machine.put(at, machine.mulmod(machine.at(at), of_squares(k), modulus(machine, k)));
    }
    let missing = w.sub(w.number(LONGEST_BYTES), machine.at(cell::BYTES));
    let shift = machine.bind(w.shl(w.number(1), w.mul(w.number(8), missing)));
    for (number, k) in (0..).zip(bases::second()) {
        let shifted = machine.mulmod(shift, machine.at(cell::OF_SECOND + 32 * number), modulus(machine, k));
        let factor = machine.word(bases::word(&Second::new(k).minus_one_of_quotient()));
        machine.put(cell::TAKEN_OFF + 32 * number, machine.mulmod(shifted, factor, modulus(machine, k)));
    }
}

/// Makes the word at the second free cell the inverse of the odd one at the first, modulo 2²⁵⁶.
fn inverse_of_odd<M: Machine>(machine: &M) {
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

/// Writes y of the base.
pub(super) fn read_base<M: Machine>(machine: &M) {
    let w = Words(machine);
    let digits = digits(machine, cell::BASE_END);
    for (number, k) in (0..).zip(bases::second()) {
        let sum = times(machine, &digits, &Second::new(k).one(), k);
        machine.put(cell::NUMBER + 32 * number, w.modulo(sum, modulus(machine, k)));
    }
}

/// y ← y of x·M modulo n shifted to the top, n′, but for less than six times that. One modulus of M after the other is a factor, and a multiple of n′ is
/// taken off; the number is n′ at least after that, so that estimates are never below zero.
pub(super) fn enter<M: Machine>(machine: &M) {
    machine.function("times M", (), |machine, ()| {
        reciprocal(machine);
        let taken_off = |number: u64| machine.at(cell::TAKEN_OFF + 32 * number);
        let w = Words(machine);
        for (number, k) in (0..).zip(bases::second()) {
            let minus_three = machine.word(bases::word(&(bases::modulus(k) - 3u8)));
            let more = machine.mulmod(taken_off(number), minus_three, modulus(machine, k));
            let at = cell::NUMBER + 32 * number;
            machine.put(at, w.add(more, machine.at(at)));
        }
        bases::first().into_iter().for_each(|first| enter_by(machine, first));
    });
}

/// The same for one modulus.
fn enter_by<M: Machine>(machine: &M, first: i64) {
    let w = Words(machine);
    let factor = |k: i64| machine.word(bases::word(&bases::residue(&BigInt::from(bases::modulus(first)), k)));
    let product = |(number, k): (u64, i64)| {
        machine.bind(machine.mulmod(machine.at(cell::NUMBER + 32 * number), factor(k), modulus(machine, k)))
    };
    let products: Vec<M::Word> = (0..).zip(bases::second()).map(product).collect();
    // The number over M′ is what is below T of the sum of y·T/m′, with T/m′ = 1 − ρ·k/T: here with 24 more bits.
    let sum = |of: &dyn Fn(usize) -> M::Word| (0..SECOND.len()).map(of).reduce(|sum, each| w.add(each, sum));
    let differences = sum(&|pair| w.sub(products[2 * pair + 1], products[2 * pair])).expect("there are pairs");
    let multiples = sum(&|pair| {
        let both = w.add(products[2 * pair], products[2 * pair + 1]);
        w.mul(w.number(SECOND[pair].unsigned_abs()), both)
    });
    let correction = w.mul(w.number(bases::STEP), w.high(multiples.expect("there are pairs"), SPARE_BITS));
    let correction = w.high(correction, BITS - 2 * SPARE_BITS);
    let number = machine.bind(w.add(correction, w.shl(differences, w.number(SPARE_BITS))));
    let reciprocal = || machine.at(cell::RECIPROCAL);
    let low = machine.bind(w.mul(number, reciprocal()));
    let odd = machine.bind(machine.mulmod(number, reciprocal(), machine.word(U256::MAX)));
    // The upper word of the product, less two: as much as the estimate may be above the quotient, and one more.
    let quotient = w.sub(w.sub(w.sub(odd, low), w.is_below(odd, low)), w.number(2));
    machine.put(cell::FREE[0], quotient);
    for (number, k) in (0..).zip(bases::second()) {
        let taken_off = machine.at(cell::TAKEN_OFF + 32 * number);
        let multiple = machine.mulmod(machine.at(cell::FREE[0]), taken_off, modulus(machine, k));
        machine.put(cell::NUMBER + 32 * number, w.add(multiple, products[number as usize])); // u64 to usize
    }
}

/// Makes [`cell::RECIPROCAL`] ⌊2⁴⁹⁵/D⌋ for an odd D a little above half of the first word of n.
fn reciprocal<M: Machine>(machine: &M) {
    let w = Words(machine);
    let [odd, inverse, ..] = cell::FREE;
    let first = machine.scratch_word(w.sub(w.number(cell::MODULUS_END), machine.at(cell::BYTES)));
    machine.put(odd, w.or(w.number(1), w.add(w.number(1), w.high(first, 1))));
    inverse_of_odd(machine);
    let power = |bits: usize| machine.word(U256::ONE << bits);
    // The quotient is exact without what is left over.
    let rest = machine.mulmod(power(248), power(247), machine.at(odd));
    machine.put(cell::RECIPROCAL, w.mul(w.sub(w.number(0), rest), machine.at(inverse)));
}

/// Writes the digits of a number that has less than ten.
pub(super) fn write_digits<M: Machine>(machine: &M) {
    let at = |turn: M::Word| {
        let w = Words(machine);
        w.add(w.number(cell::RESULT), w.mul(w.number(32), turn))
    };
    machine.repeat(machine.small(DIGITS - 1), (), |machine, turn, ()| {
        lowest_digit(machine);
        let w = Words(machine);
        machine.set_scratch(at(turn), machine.at(cell::FREE[0]));
        for (number, k) in (0..).zip(bases::second()) {
            let constants = Second::new(k);
            let [inverse, minus] = [constants.inverse_of_t(), constants.minus_inverse_of_t()];
            let product = |word: M::Word, factor: &BigUint| {
                machine.mulmod(word, machine.word(bases::word(factor)), modulus(machine, k))
            };
            let at = cell::NUMBER + 32 * number;
            machine.put(at, w.add(product(machine.at(at), &inverse), product(machine.at(cell::FREE[0]), &minus)));
        }
    });
    lowest_digit(machine);
    machine.put(cell::RESULT + 32 * (DIGITS - 1), machine.at(cell::FREE[0]));
}

/// Makes the first free cell the number modulo T.
fn lowest_digit<M: Machine>(machine: &M) {
    machine.function("lowest digit", (), |machine, ()| {
        let w = Words(machine);
        let row: Row = bases::row_of_first(0);
        let [sum, _] = Sums::of_second(machine, cell::NUMBER).row(machine, &row);
        let of_sum = machine.word(bases::word(&First::new(0).of_sum()));
        machine.put(cell::FREE[0], w.and(w.mul(of_sum, sum), machine.ones(BITS as usize))); // u64 to usize
    });
}
