//! Inverses modulo the moduli of the first base.
//!
//! Euclid's algorithm with one factor: the remainder stands above the factor of it in one word, and MOD takes both to the next ones, as what
//! is below changes quotients only where they are barely whole. What a word has room for are the upper bits of a remainder and a factor of half as
//! many, so that each stage has as many steps as seldom make more of them, and what it gives is a remainder with its factor, which are exact. The
//! last one goes on till the remainder is 1. Inverses are judged by their products with what they are inverses of.

use super::bases::{self, BITS, FIRST};
use super::cell;
use crate::modexp::expressions::Expressions;
use crate::words::Words;
use residue_ir::Machine;
use ruint::aliases::U256;

/// A part of the algorithm.
struct Stage {
    /// Divisions: an even number, so that the second factor is positive.
    steps: usize,
    /// Bits of a factor.
    factor_bits: u64,
    /// Lowest bits of remainders that it does not look at.
    dropped_bits: u64,
}

/// By experiment: of 60 000 random numbers 8 are left without an inverse.
const STAGES: [Stage; 3] = [
    Stage { steps: 28, factor_bits: 86, dropped_bits: 62 },
    Stage { steps: 24, factor_bits: 86, dropped_bits: 40 },
    Stage { steps: 28, factor_bits: 84, dropped_bits: 0 },
];
/// Bits of a factor in the last part.
const LAST_BITS: u64 = 128;
/// Half of what the remainder 1 is there.
const HALF: U256 = U256::from_limbs([0, 1 << 63, 0, 0]);
const _: () = assert!(LAST_BITS == 128);
/// Divisions of the last part that are made without asking whether it is done.
const LAST_STEPS: usize = 8;
/// How often that is asked.
const LAST_TURNS: usize = 12;

/// Replaces what n is modulo the moduli of the first base, from the second on, at [`cell::OF_FIRST`] by the inverses; what is left at [`cell::WRONG`]
/// is 0 if all of them are.
pub(super) fn inverses<M: Machine>(machine: &M) {
    machine.put(cell::WRONG, machine.small(0));
    machine.repeat(machine.small(2 * FIRST.len() as u64), (), |machine, turn, ()| {
        let w = Words(machine);
        // k is 1, −1, 3, −3 and so on: the bit 0 of the turn is the sign.
        let is_negative = || w.and(turn, w.number(1));
        let sign = w.sub(w.number(1), w.mul(w.number(2), is_negative()));
        let k = w.mul(sign, w.sub(w.add(turn, w.number(1)), is_negative()));
        let t = machine.word(U256::ONE << BITS as usize); // u64 to usize
        machine.put(cell::MODULUS, w.add(w.mul(w.number(bases::STEP), k), t));
        let at = machine.bind(w.add(w.mul(w.number(32), turn), w.number(cell::OF_FIRST + 32)));
        machine.put(cell::REMAINDER, machine.scratch_word(at));
        machine.put(cell::INVERSE, w.number(1));
        machine.function("inverse modulo a residue's modulus", (), |machine, ()| {
            STAGES.iter().for_each(|stage| remainders(machine, stage));
            last_remainders(machine);
        });
        let w = Words(machine);
        let product = machine.mulmod(machine.at(cell::INVERSE), machine.scratch_word(at), machine.at(cell::MODULUS));
        machine.put(cell::WRONG, w.or(machine.at(cell::WRONG), w.xor(product, w.number(1))));
        machine.set_scratch(at, machine.at(cell::INVERSE));
    });
}

/// The remainder r becomes a shorter one, ∓g·r modulo the modulus, and the factor is multiplied by g. The remainders go on from r and what is left
/// of the modulus, −q·r.
fn remainders<M: Machine>(machine: &M, stage: &Stage) {
    let w = Words(machine);
    let [first, second, last, ..] = cell::FREE;
    let r = || machine.at(cell::REMAINDER);
    machine.put(first, w.high(r(), stage.dropped_bits));
    machine.put(second, w.high(w.modulo(machine.at(cell::MODULUS), r()), stage.dropped_bits));
    let shifted = |at: u64| w.shl(machine.at(at), w.number(stage.factor_bits));
    machine.put(last, steps(machine, [shifted(first), w.add(w.number(1), shifted(second))], stage.steps, None)[1]);
    let factor = w.and(machine.at(last), machine.ones(stage.factor_bits as usize)); // u64 to usize
    combine(machine, factor, w.high(machine.at(last), stage.factor_bits), [first, second]);
    let product = machine.mulmod(machine.at(cell::FACTOR), r(), machine.at(cell::MODULUS));
    machine.put(cell::REMAINDER, w.sub(machine.at(cell::MODULUS), product));
}

/// So many divisions. With `less` a remainder is one of 1 to the divisor, and not of 0 to the divisor less one: both are held less `less`,
/// half of what 1 is, and remainders of 1 stay.
fn steps<M: Machine>(machine: &M, words: [M::Word; 2], count: usize, less: Option<U256>) -> [M::Word; 2] {
    let w = Words(machine);
    (0..count).fold(words.map(|word| machine.bind(word)), |[before, last], _| {
        let divisor = less.map_or(last, |less| w.add(machine.word(less), last));
        [last, machine.bind(w.modulo(before, divisor))]
    })
}

/// Makes [`cell::FACTOR`] g and multiplies the inverse by it, if the remainder is `factor` times the second number less a multiple of the first.
fn combine<M: Machine>(machine: &M, factor: M::Word, remainder: M::Word, [first, second]: [u64; 2]) {
    let w = Words(machine);
    let multiple = w.div(w.sub(w.mul(factor, machine.at(second)), remainder), machine.at(first));
    let quotient = w.div(machine.at(cell::MODULUS), machine.at(cell::REMAINDER));
    machine.put(cell::FACTOR, w.add(w.mul(factor, quotient), multiple));
    let inverse = machine.mulmod(machine.at(cell::FACTOR), machine.at(cell::INVERSE), machine.at(cell::MODULUS));
    machine.put(cell::INVERSE, inverse);
}

/// Multiplies the factor by that with which the remainder becomes 1. The signs of four stages are +.
fn last_remainders<M: Machine>(machine: &M) {
    let w = Words(machine);
    let [first, second, last, ..] = cell::FREE;
    let held = |at: u64, factor: u64| {
        let number = w.shl(machine.at(at), w.number(LAST_BITS));
        w.sub(number, machine.word(HALF - U256::from(factor)))
    };
    machine.put(first, machine.at(cell::REMAINDER));
    machine.put(second, w.modulo(machine.at(cell::MODULUS), machine.at(cell::REMAINDER)));
    turns(machine, [held(first, 0), held(second, 1)], LAST_TURNS);
    let word = || w.add(machine.word(HALF), machine.at(last));
    let factor = w.and(word(), machine.ones(LAST_BITS as usize)); // u64 to usize
    combine(machine, factor, w.number(1), [first, second]);
}

/// Writes the last remainder, less half of what 1 is, after at most so many turns.
fn turns<M: Machine>(machine: &M, words: [M::Word; 2], count: usize) {
    let w = Words(machine);
    let [before, last] = words.map(|word| machine.bind(word));
    let write = |machine: &M| machine.put(cell::FREE[2], last);
    if count == 0 {
        return write(machine);
    }
    let remainder = w.high(w.add(machine.word(HALF), last), LAST_BITS);
    let is_one = w.is_equal(remainder, w.number(1));
    machine.branch(is_one, write, |machine| {
        let words = steps(machine, [before, last], LAST_STEPS, Some(HALF));
        turns(machine, words, count - 1);
    });
}
