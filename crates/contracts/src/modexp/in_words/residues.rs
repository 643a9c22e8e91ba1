//! Odd moduli of 116 to 144 and of 232 to 260 bytes, as RSA of 1024 and 2048 bits has them: numbers as residues modulo eleven and nineteen words, and
//! Montgomery products of them.
//!
//! A product is one of each residue; what makes its reduction is two extensions from one base to the other. There a product has no modulus, as
//! coefficients are short: see [`bases`].

mod bases;
mod conversion;
pub(super) mod in_loops;
mod inverse;
mod products;

use super::limbs::LIMB_BYTES;
use super::wide::least;
use crate::modexp::calldata::Calldata;
use crate::modexp::expressions::Expressions;
use crate::modexp::power::F4;
use crate::words::Words;
use bases::{BITS, Bases, Names};
use residue_ir::Machine;

/// Bytes of a digit: those of a limb.
const DIGIT_BYTES: u64 = BITS / 8;
const _: () = assert!(DIGIT_BYTES == LIMB_BYTES);
/// Exponents of more bits than these are worth what is made once.
const SHORT_EXPONENT_BITS: u64 = 4;

/// Bases for numbers of so many digits.
macro_rules! bases {
    ($digits:literal, $first:expr, $second:expr) => {
        Bases {
            first: &$first,
            second: &$second,
            names: Names {
                read: concat!("residues of a modulus, ", $digits),
                factors: concat!("factors of residues, ", $digits),
                enter: concat!("residues times M, ", $digits),
                square: concat!("square of residues, ", $digits),
                multiply: concat!("product of residues, ", $digits),
                extend: concat!("extension of residues, ", $digits),
                by_digits: concat!("power of residues, ", $digits),
            },
            cells: cell::OF_PRODUCTS,
            moduli: None,
        }
    };
}

/// RSA has 1024 and 2048 bits.
const ALL: [Bases; 2] = [bases!(5, [1, 3], [5, 7, 9]), bases!(9, [1, 3, 5, 7], [9, 11, 13, 15, 17])];
/// Moduli of the larger first base.
const FIRST_MAX: usize = 9;
/// Moduli of the larger second base.
const SECOND_MAX: usize = 10;

/// The shortest modulus: all digits but the highest are there, and a shift to the top is by less than a word.
fn shortest_bytes(bases: Bases) -> u64 {
    DIGIT_BYTES * (bases.digits() as u64 - 1) // usize to u64 widens
}

/// The longest number: 2⁸ of them are below the product of the first base.
fn longest_bytes(bases: Bases) -> u64 {
    DIGIT_BYTES * bases.digits() as u64 - 1 // usize to u64 widens
}

/// Words of scratch memory that have names. None of those up to [`cell::NUMBER`] is where [`super::limbs::Width`] of as many limbs wants zeros, of five
/// or more.
mod cell {
    use super::bases::Cells;
    use super::{DIGIT_BYTES, FIRST_MAX, SECOND_MAX};

    /// Free for a few statements.
    pub const FREE: [u64; 4] = [0, 32, 64, 96];
    /// One of the moduli.
    pub const MODULUS: u64 = 128;
    /// Bytes of n.
    pub use crate::modexp::in_words::limbs::cell::BYTES;
    /// A remainder of Euclid's algorithm.
    pub const REMAINDER: u64 = 192;
    /// The factor of n with which that is a remainder.
    pub const INVERSE: u64 = 224;
    /// Not 0 if there are no inverses.
    pub const WRONG: u64 = 256;
    /// ⌊2⁴⁹⁵/D⌋ for D a little above half of the first word of n.
    pub const RECIPROCAL: u64 = 288;
    /// State of a loop.
    pub const STATE: u64 = 320;
    /// Factors of σ, one for each modulus of the first base.
    pub const OF_FIRST: u64 = 352;
    /// Factors of sums of the second base.
    pub const OF_SECOND: u64 = after(OF_FIRST, FIRST_MAX);
    /// End address of n, with zeros before it.
    pub const MODULUS_END: u64 = after(OF_SECOND, SECOND_MAX + FIRST_MAX);
    /// The same of the base.
    pub const BASE_END: u64 = after(MODULUS_END, 1 + FIRST_MAX);
    const _: () = assert!(BASE_END + 32 <= 2080, "there five limbs want zeros");
    /// y of the number that all is done to.
    pub const NUMBER: u64 = after(BASE_END, 1);
    /// y of the other factor.
    pub const OTHER: u64 = after(NUMBER, SECOND_MAX);
    /// S of it.
    pub const OTHER_SUMS: u64 = after(OTHER, SECOND_MAX);
    /// σ of a quotient: modulo T, then of each pair the sum and the difference.
    pub const QUOTIENT: u64 = after(OTHER_SUMS, FIRST_MAX);
    /// y of minus n shifted to the top.
    pub const TAKEN_OFF: u64 = after(QUOTIENT, FIRST_MAX);
    /// Digits of the result.
    pub const RESULT: u64 = after(TAKEN_OFF, SECOND_MAX);
    /// The same less n.
    pub const LESS: u64 = after(RESULT, FIRST_MAX);
    /// End address of the output, with zeros before it.
    pub const OUTPUT_END: u64 = after(LESS, FIRST_MAX) + 1024 + DIGIT_BYTES;
    /// Powers of the base: y and S of each.
    pub const TABLE: u64 = OUTPUT_END.next_multiple_of(32);

    pub const OF_PRODUCTS: Cells = Cells {
        of_first: OF_FIRST,
        of_second: OF_SECOND,
        number: NUMBER,
        other: OTHER,
        other_sums: OTHER_SUMS,
        quotient: QUOTIENT,
    };

    const fn after(at: u64, words: usize) -> u64 {
        at + 32 * words as u64 // usize to u64 widens
    }
}

/// Words of y and S of a number.
const ENTRY_WORDS: u64 = (FIRST_MAX + SECOND_MAX) as u64;

/// Returns the result if the modulus, which fits so many limbs, is odd, there are bases for its length and that of the base, the exponent is not short,
/// and there are inverses.
pub(super) fn text<M: Machine>(machine: &M, limbs: u64) {
    let bases = ALL.into_iter().find(|bases| bases.digits() as u64 == limbs); // usize to u64 widens
    bases.into_iter().for_each(|bases| with(machine, bases));
}

fn with<M: Machine>(machine: &M, bases: Bases) {
    machine.branch(is_meant(machine, bases), |machine| if_inverses(machine, bases, power), |_| ());
}

/// 1 if there are bases for the lengths of modulus and base, the modulus is odd and the exponent not short.
fn is_meant<M: Machine>(machine: &M, bases: Bases) -> M::Word {
    let w = Words(machine);
    let Calldata { base, exponent, modulus } = Calldata::read(machine);
    let has_length = w.is_below(w.number(shortest_bytes(bases) - 1), machine.at(cell::BYTES));
    let is_odd = machine.calldata_word(w.sub(w.add(modulus.at, modulus.bytes), w.number(32)));
    let is_below = w.is_below(base.bytes, w.number(longest_bytes(bases) + 1));
    let is_long = w.is_below(w.number(0), w.high(least(machine, exponent), SHORT_EXPONENT_BITS));
    w.and(w.and(has_length, is_odd), w.and(is_below, is_long))
}

/// Makes all that products need of the modulus, and goes on with `power` if there are inverses.
fn if_inverses<M: Machine>(machine: &M, bases: Bases, power: impl FnOnce(&M, Bases)) {
    machine.function(bases.names.read, (), |machine, ()| read(machine, bases));
    inverse::inverses(machine, bases);
    machine.branch(machine.at(cell::WRONG), |_| (), |machine| power(machine, bases));
}

/// Exponents that a stage is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Exponents {
    /// 65537.
    F4,
    /// All others.
    Others,
    /// Any.
    All,
}

/// 1 if [`in_stage`] is for the numbers in calldata, of a modulus that fits so many limbs.
pub(super) fn is_for_stage<M: Machine>(machine: &M, limbs: u64) -> M::Word {
    is_meant(machine, of_limbs(limbs))
}

/// Returns the result where [`is_for_stage`], if there are inverses.
pub(super) fn in_stage<M: Machine>(machine: &M, limbs: u64, exponents: Exponents) {
    // Powers of the base are there if the exponent is another.
    let powers = if exponents == Exponents::F4 { 0 } else { 16 * ENTRY_WORDS };
    let bases = Bases { moduli: Some(cell::TABLE + 32 * powers), ..of_limbs(limbs) };
    if_inverses(machine, bases, |machine, bases| match exponents {
        Exponents::All => power(machine, bases),
        Exponents::F4 => power_with(machine, bases, |machine, _| by_f4(machine, bases)),
        Exponents::Others => power_with(machine, bases, |machine, e| by_other(machine, bases, e)),
    });
}

fn of_limbs(limbs: u64) -> Bases {
    let bases = ALL.into_iter().find(|bases| bases.digits() as u64 == limbs); // usize to u64 widens
    bases.expect("there are bases for five and for nine")
}

/// Copies modulus and base, and makes residues of the modulus.
fn read<M: Machine>(machine: &M, bases: Bases) {
    let w = Words(machine);
    let Calldata { base, modulus, .. } = Calldata::read(machine);
    let bytes = machine.bind(machine.at(cell::BYTES));
    let from = w.sub(w.add(modulus.at, modulus.bytes), bytes);
    machine.copy_calldata(w.sub(w.number(cell::MODULUS_END), bytes), from, bytes);
    machine.copy_calldata(w.sub(w.number(cell::BASE_END), base.bytes), base.at, base.bytes);
    conversion::read_modulus(machine, bases);
}

/// Returns the power.
fn power<M: Machine>(machine: &M, bases: Bases) {
    power_with(machine, bases, |machine, e| {
        machine.branch(
            Words(machine).is_equal(e, machine.small(F4)),
            |machine| by_f4(machine, bases),
            |machine| by_other(machine, bases, e),
        );
    });
}

/// Returns what `raise` makes of the number by the exponent, as it is if it has a word.
fn power_with<M: Machine>(machine: &M, bases: Bases, raise: impl FnOnce(&M, M::Word)) {
    machine.function(bases.names.factors, (), |machine, ()| {
        conversion::factors(machine, bases);
        conversion::read_base(machine, bases);
    });
    let Calldata { exponent, modulus, .. } = Calldata::read(machine);
    let e = machine.bind(least(machine, exponent));
    let bytes = machine.bind(modulus.bytes);
    raise(machine, e);
    finish(machine, bases, bytes);
}

/// The number ← its power by `e`, or by the exponent if that is longer.
fn by_other<M: Machine>(machine: &M, bases: Bases, e: M::Word) {
    conversion::enter(machine, bases);
    number_is_other(machine, bases);
    machine.branch(
        Words(machine).high(e, 32),
        |machine| machine.function(bases.names.by_digits, (), |machine, ()| by_digits(machine, bases)),
        |machine| by_bits(machine, bases, e),
    );
}

/// The number ← its power by 65537. The last product, of x·M and x, takes M off.
fn by_f4<M: Machine>(machine: &M, bases: Bases) {
    for (number, k) in (0..).zip(bases.all_second()) {
        let y = conversion::without_last(machine, bases, machine.at(cell::NUMBER + 32 * number), (number, k));
        machine.put(cell::OTHER + 32 * number, y);
    }
    products::extend_other(machine, bases);
    conversion::enter(machine, bases);
    machine.repeat(machine.small(4), (), |machine, _, ()| (0..4).for_each(|_| products::square(machine, bases)));
    products::multiply(machine, bases);
}

/// The other factor ← the number.
fn number_is_other<M: Machine>(machine: &M, bases: Bases) {
    copy(machine, cell::NUMBER, cell::OTHER, ys(bases));
    products::extend_other(machine, bases);
}

/// Number of y of a number.
fn ys(bases: Bases) -> u64 {
    bases.second_count() as u64 // usize to u64 widens
}

/// Words of an entry that bases of this length have.
fn entry_words(bases: Bases) -> impl Iterator<Item = u64> {
    let sums = SECOND_MAX as u64; // usize to u64 widens
    (0..ys(bases)).chain(sums..sums + bases.digits() as u64)
}

fn copy<M: Machine>(machine: &M, from: u64, to: u64, words: u64) {
    (0..words).for_each(|word| machine.put(to + 32 * word, machine.at(from + 32 * word)));
}

/// The number ← the number to the power of `e`, from 1 to 2³² − 1, without M, where the other factor is the number.
fn by_bits<M: Machine>(machine: &M, bases: Bases, e: M::Word) {
    let free = [cell::FREE[0], cell::STATE];
    let [square, multiply] =
        [products::square, products::multiply].map(|product| move |machine: &M| product(machine, bases));
    super::wide::by_bits(machine, e, free, square, multiply);
    products::other_is_one(machine, bases);
    products::multiply(machine, bases);
}

/// The same for any exponent, four bits at a time.
fn by_digits<M: Machine>(machine: &M, bases: Bases) {
    let entry = |machine: &M, digit: M::Word| {
        let w = Words(machine);
        machine.bind(w.add(w.mul(digit, w.number(32 * ENTRY_WORDS)), w.number(cell::TABLE)))
    };
    let copy_entry = |machine: &M, from: u64, to: u64| {
        entry_words(bases).for_each(|word| machine.put(to + 32 * word, machine.at(from + 32 * word)));
    };
    copy_entry(machine, cell::OTHER, cell::TABLE + 32 * ENTRY_WORDS);
    machine.repeat(machine.small(14), (), |machine, turn, ()| {
        products::multiply(machine, bases);
        number_is_other(machine, bases);
        let w = Words(machine);
        let to = entry(machine, w.add(turn, w.number(2)));
        entry_words(bases).for_each(|word| {
            machine.set_scratch(w.add(to, w.number(32 * word)), machine.at(cell::OTHER + 32 * word));
        });
        copy_entry(machine, cell::TABLE + 32 * ENTRY_WORDS, cell::OTHER);
    });
    machine.put(cell::STATE, machine.small(0));
    let exponent = Calldata::read(machine).exponent;
    machine.repeat(exponent.bytes, (), |machine, turn, ()| {
        let w = Words(machine);
        let byte = machine.bind(w.high(machine.calldata_word(w.add(exponent.at, turn)), 248));
        for digit in [w.high(byte, 4), w.and(byte, w.number(15))] {
            machine.branch(
                machine.at(cell::STATE),
                |machine| machine.repeat(machine.small(4), (), |machine, _, ()| products::square(machine, bases)),
                |_| (),
            );
            machine.branch(
                digit,
                |machine| {
                    let from = entry(machine, digit);
                    by_digit(machine, bases, from);
                },
                |_| (),
            );
        }
    });
    products::other_is_one(machine, bases);
    machine.branch(
        machine.at(cell::STATE),
        |machine| products::multiply(machine, bases),
        |machine| copy(machine, cell::OTHER, cell::NUMBER, ys(bases)),
    );
}

/// The number ← the number times the one at `from`, or that one, if it is the first.
fn by_digit<M: Machine>(machine: &M, bases: Bases, from: M::Word) {
    let w = Words(machine);
    let word = |word: u64| machine.scratch_word(w.add(from, w.number(32 * word)));
    entry_words(bases).for_each(|number| machine.put(cell::OTHER + 32 * number, word(number)));
    machine.branch(
        machine.at(cell::STATE),
        |machine| products::multiply(machine, bases),
        |machine| {
            copy(machine, cell::OTHER, cell::NUMBER, ys(bases));
            machine.put(cell::STATE, machine.small(1));
        },
    );
}

/// Returns the number, which is below ten times n, modulo n, in `bytes` bytes.
fn finish<M: Machine>(machine: &M, bases: Bases, bytes: M::Word) {
    let w = Words(machine);
    conversion::write_digits(machine, bases);
    output(machine, bases, |digit| machine.at(cell::RESULT + 32 * digit));
    // The highest 23 bytes, and of the number one more: the quotient is too small by 1 at most.
    let first = |end: u64| {
        let at = w.sub(w.number(end - 1), machine.at(cell::BYTES));
        w.high(machine.scratch_word(at), 64)
    };
    let quotient = w.div(first(cell::OUTPUT_END), w.add(w.number(1), first(cell::MODULUS_END)));
    let [multiple, sum, ..] = cell::FREE;
    machine.put(multiple, quotient);
    let subtract = |times: &dyn Fn(M::Word) -> M::Word, to: u64| {
        for digit in 0..bases.digits() as u64 {
            // usize to u64 widens
            let modulus = w.high(machine.at(cell::MODULUS_END - DIGIT_BYTES * (digit + 1)), 256 - BITS);
            let complement = w.sub(machine.ones(BITS as usize), modulus); // u64 to usize
            let below = if digit == 0 { times(w.number(1)) } else { w.high(machine.at(sum), BITS) };
            let at = 32 * digit;
            machine.put(sum, w.add(w.add(times(complement), below), machine.at(cell::RESULT + at)));
            machine.put(to + at, w.and(machine.ones(BITS as usize), machine.at(sum))); // u64 to usize
        }
    };
    subtract(&|number| w.mul(number, machine.at(multiple)), cell::RESULT);
    subtract(&|number| number, cell::LESS);
    let is_less = w.high(machine.at(sum), BITS);
    let from = machine.bind(w.add(w.mul(is_less, w.number(cell::LESS - cell::RESULT)), w.number(cell::RESULT)));
    output(machine, bases, |digit| machine.scratch_word(w.add(from, w.number(32 * digit))));
    machine.return_scratch(w.sub(w.number(cell::OUTPUT_END), bytes), bytes);
}

/// Writes digits where output ends.
fn output<M: Machine>(machine: &M, bases: Bases, digit: impl Fn(u64) -> M::Word) {
    (0..bases.digits() as u64) // usize to u64 widens
        .for_each(|number| machine.put(cell::OUTPUT_END - 32 - DIGIT_BYTES * number, digit(number)));
}
