//! Powers modulo a word. Each is one expression: the compiler puts copies of the modulus and entries of the table on the stack in the order in
//! which products take them, and then does the products, so a squaring is DUP, DUP, MULMOD.
//!
//! Handbook of Applied Cryptography 1996, algorithm 14.82 (fixed windows, from the left).

use crate::modexp::calldata::Operand;
use crate::modexp::expressions::Expressions;
use crate::modexp::short::{power_below_32_bits, return_word};
use crate::words::Words;
use residue_ir::Machine;

/// Address of the powers 0 to 15 of the base, 32 bytes each: a digit of the exponent that is moved to bit 5 is an
/// offset.
const TABLE: u64 = 0;
/// Addresses of the exponent, shifted so that its digits in even places, and in odd ones, begin at bit 5 of a byte.
/// Reads begin up to 31 bytes before it.
const EVEN: u64 = 544;
const ODD: u64 = 608;
const WHOLE: u64 = 640;
/// Value carried from one word of a number to the next.
pub(super) const ACCUMULATOR: u64 = 672;

/// Digits of four bits in a word.
const DIGITS: u64 = 64;
/// Digits of a turn in short code, and their bits.
const TURN_DIGITS: u64 = 16;
const TURN_BITS: u64 = 4 * TURN_DIGITS;
const TURN_BYTES: u64 = TURN_BITS / 8;

/// Returns xᵉ mod m in `bytes` bytes, at most 32, or in 32, for words [x, e, m] that are bound, x below m.
pub(super) fn return_power<M: Machine>(machine: &M, [x, e, m]: [M::Word; 3], bytes: Option<M::Word>) {
    let w = Words(machine);
    machine.branch(
        w.high(e, 32),
        |machine| {
            begin_table(machine, x, m);
            finish_table(machine, x, m);
            place_exponent(machine, e);
            machine.branch(
                Words(machine).high(e, 128),
                |machine| return_word(machine, digits(machine, None, DIGITS, m), bytes),
                |machine| {
                    machine.branch(
                        Words(machine).high(e, 64),
                        |machine| return_word(machine, digits(machine, None, DIGITS / 2, m), bytes),
                        |machine| return_word(machine, digits(machine, None, DIGITS / 4, m), bytes),
                    );
                },
            );
        },
        |machine| power_below_32_bits(machine, [x, e, m], |machine, power| return_word(machine, power, bytes)),
    );
}

/// The same in fewer bytes of code: the digits are done in turns of as many bits.
pub(super) fn return_power_in_short_code<M: Machine>(machine: &M, [x, e, m]: [M::Word; 3], bytes: M::Word) {
    let w = Words(machine);
    machine.branch(
        w.high(e, 32),
        |machine| {
            begin_table(machine, x, m);
            finish_table(machine, x, m);
            machine.put(ACCUMULATOR, machine.at(TABLE));
            let w = Words(machine);
            let is_there = |turn: u64| w.is_below(w.number(0), w.high(e, TURN_BITS * turn));
            let turns = (1..DIGITS / TURN_DIGITS).fold(w.number(1), |turns, turn| w.add(turns, is_there(turn)));
            let turns = machine.bind(turns);
            machine.repeat(turns, (), |machine, turn, ()| {
                let w = Words(machine);
                let below = w.mul(w.sub(w.sub(turns, w.number(1)), turn), w.number(TURN_BITS));
                place_exponent(machine, machine.bind(w.shr(e, below)));
                machine.put(ACCUMULATOR, digits(machine, Some(machine.at(ACCUMULATOR)), TURN_DIGITS, m));
            });
            return_word(machine, machine.at(ACCUMULATOR), Some(bytes));
        },
        |machine| power_below_32_bits(machine, [x, e, m], |machine, power| return_word(machine, power, Some(bytes))),
    );
}

/// The same for an exponent of any length: each eight bytes of it are a turn.
pub(super) fn return_power_in_turns<M: Machine>(
    machine: &M,
    [x, m]: [M::Word; 2],
    exponent: Operand<M::Word>,
    bytes: M::Word,
) {
    let w = Words(machine);
    let e = machine.bind(exponent.short(machine));
    let is_long = w.or(w.is_below(w.number(32), exponent.bytes), w.high(e, 32));
    machine.branch(
        is_long,
        |machine| {
            begin_table(machine, x, m);
            finish_table(machine, x, m);
            machine.put(ACCUMULATOR, machine.at(TABLE));
            let w = Words(machine);
            let turns =
                machine.bind(w.high(w.add(exponent.bytes, w.number(TURN_BYTES - 1)), TURN_BYTES.ilog2().into()));
            machine.repeat(turns, (), |machine, turn, ()| {
                let w = Words(machine);
                // Bytes of the exponent up to the end of this turn.
                let after = w.mul(w.sub(w.sub(turns, turn), w.number(1)), w.number(TURN_BYTES));
                let end = machine.bind(w.sub(exponent.bytes, after));
                let read = machine.calldata_word(w.sub(w.add(exponent.at, end), w.number(32)));
                let before = w.sub(w.shl(w.number(1), w.mul(end, w.number(8))), w.number(1));
                let word = machine.bind(w.and(w.and(read, before), machine.ones(TURN_BITS as usize))); // u64 to usize
                next_digits(machine, word, TURN_DIGITS, m);
            });
            return_word(machine, machine.at(ACCUMULATOR), Some(bytes));
        },
        |machine| power_below_32_bits(machine, [x, e, m], |machine, power| return_word(machine, power, Some(bytes))),
    );
}

/// Writes 1 and x below m.
pub(super) fn begin_table<M: Machine>(machine: &M, x: M::Word, m: M::Word) {
    machine.put(TABLE, Words(machine).modulo(machine.small(1), m));
    machine.put(TABLE + 32, x);
}

/// Writes the powers of x after those.
pub(super) fn finish_table<M: Machine>(machine: &M, x: M::Word, m: M::Word) {
    for power in 2..16 {
        machine.put(TABLE + 32 * power, machine.mulmod(machine.at(TABLE + 32 * (power - 1)), x, m));
    }
}

/// Makes what stands at [`ACCUMULATOR`] its power by 2²⁵⁶, times that of the base by `word`, which is bound; 1 stays 1 for a word of 0.
pub(super) fn next_word<M: Machine>(machine: &M, word: M::Word, m: M::Word) {
    next_digits(machine, word, DIGITS, m);
}

/// The same for the lowest `count` digits of a word, which are all that it has.
fn next_digits<M: Machine>(machine: &M, word: M::Word, count: u64, m: M::Word) {
    let w = Words(machine);
    let changes = w.or(word, w.xor(machine.at(ACCUMULATOR), machine.at(TABLE)));
    machine.branch(
        changes,
        |machine| {
            place_exponent(machine, word);
            machine.put(ACCUMULATOR, digits(machine, Some(machine.at(ACCUMULATOR)), count, m));
        },
        |_| (),
    );
}

/// Puts the exponent where [`digits`] finds it.
fn place_exponent<M: Machine>(machine: &M, e: M::Word) {
    let w = Words(machine);
    machine.put(EVEN, w.high(e, 3));
    machine.put(ODD, w.high(e, 7));
    // For the lowest digit of each kind, which those have lost.
    machine.put(WHOLE, e);
}

/// The power by the lowest `count` digits of the exponent, after `before` where there were digits in front of them.
fn digits<M: Machine>(machine: &M, before: Option<M::Word>, count: u64, m: M::Word) -> M::Word {
    let w = Words(machine);
    let entry = |digit: u64| {
        let word = match digit {
            0 => w.shl(machine.at(WHOLE), w.number(5)),
            1 => w.shl(machine.at(WHOLE), w.number(1)),
            _ => machine.at(if digit.is_multiple_of(2) { EVEN } else { ODD } + 1 - digit / 2),
        };
        machine.scratch_word(w.and(word, w.number(0x1e0)))
    };
    (0..count)
        .rev()
        .fold(before, |power, digit| {
            Some(match power {
                None => entry(digit),
                Some(power) => {
                    let power = (0..4).fold(power, |power, _| machine.mulmod(power, power, m));
                    machine.mulmod(power, entry(digit), m)
                }
            })
        })
        .unwrap_or_else(|| machine.small(1))
}
