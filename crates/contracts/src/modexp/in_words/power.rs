//! Powers modulo a word. Each is one expression: the compiler puts copies of the modulus and entries of the table on the stack in the order in
//! which products take them, and then does the products, so a squaring is DUP, DUP, MULMOD.
//!
//! Handbook of Applied Cryptography 1996, algorithm 14.82 (fixed windows, from the left).

use super::Expressions;
use crate::modexp::power::F4;
use crate::words::Words;
use residue_ir::Machine;

/// Where powers 0 to 15 of the base are, 32 bytes each: a digit of the exponent that is moved to bit 5 is an address.
const TABLE: u64 = 0;
/// Where the exponent stands, so moved that its digits in even places, and in odd ones, begin at bit 5 of a byte. What is read begins up to
/// 31 bytes before it.
const EVEN: u64 = 544;
const ODD: u64 = 608;
const WHOLE: u64 = 640;
/// What goes from one word of a number to the next.
pub(super) const ACCUMULATOR: u64 = 672;

/// Digits of four bits in a word.
const DIGITS: u64 = 64;

/// Returns xᵉ mod m in `bytes` bytes, at most 32, for words [x, e, m] that are bound, x below m.
pub(super) fn return_power<M: Machine>(machine: &M, [x, e, m]: [M::Word; 3], bytes: M::Word) {
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
        |machine| return_short_power(machine, [x, e, m], bytes),
    );
}

/// The same for an exponent below 2³².
fn return_short_power<M: Machine>(machine: &M, [x, e, m]: [M::Word; 3], bytes: M::Word) {
    let w = Words(machine);
    machine.branch(
        w.high(e, 4),
        |machine| {
            let w = Words(machine);
            machine.branch(
                w.is_equal(e, w.number(F4)),
                |machine| {
                    // Where so many copies of the modulus are on the stack, the base is out of reach.
                    machine.put(TABLE, x);
                    let base = machine.at(TABLE);
                    let power = (0..16).fold(base, |power, _| machine.mulmod(power, power, m));
                    return_word(machine, machine.mulmod(power, x, m), bytes);
                },
                |machine| {
                    begin_table(machine, x, m);
                    machine.put(EVEN, e);
                    machine.branch(
                        Words(machine).high(e, 16),
                        |machine| {
                            more_powers(machine, x, m, 2..8);
                            return_word(machine, short_digits(machine, 3, 11, m), bytes);
                        },
                        |machine| {
                            more_powers(machine, x, m, 2..4);
                            machine.branch(
                                Words(machine).high(e, 8),
                                |machine| return_word(machine, short_digits(machine, 2, 8, m), bytes),
                                |machine| return_word(machine, short_digits(machine, 2, 4, m), bytes),
                            );
                        },
                    );
                },
            );
        },
        |machine| {
            // A bit b stands for the factor 1 + b·(x − 1).
            let w = Words(machine);
            let less = machine.bind(w.sub(x, w.number(1)));
            let factor = |bit: u64| {
                let w = Words(machine);
                w.add(w.mul(less, w.and(w.high(e, bit), w.number(1))), w.number(1))
            };
            let power = (0..3)
                .rev()
                .fold(factor(3), |power, bit| machine.mulmod(machine.mulmod(power, power, m), factor(bit), m));
            return_word(machine, power, bytes);
        },
    );
}

/// Ends the program with the last `bytes` bytes of `word`, at most 32.
pub(super) fn return_word<M: Machine>(machine: &M, word: M::Word, bytes: M::Word) {
    machine.put(TABLE, word);
    let bytes = machine.bind(bytes);
    machine.return_scratch(Words(machine).sub(machine.small(TABLE + 32), bytes), bytes);
}

/// Writes 1 and x below m.
pub(super) fn begin_table<M: Machine>(machine: &M, x: M::Word, m: M::Word) {
    machine.put(TABLE, Words(machine).modulo(machine.small(1), m));
    machine.put(TABLE + 32, x);
}

/// Writes the powers of x after those.
pub(super) fn finish_table<M: Machine>(machine: &M, x: M::Word, m: M::Word) {
    more_powers(machine, x, m, 2..16);
}

fn more_powers<M: Machine>(machine: &M, x: M::Word, m: M::Word, powers: std::ops::Range<u64>) {
    for power in powers {
        machine.put(TABLE + 32 * power, machine.mulmod(machine.at(TABLE + 32 * (power - 1)), x, m));
    }
}

/// Makes what stands at [`ACCUMULATOR`] its power by 2²⁵⁶, times that of the base by `word`, which is bound; 1 stays 1 for a word of 0.
pub(super) fn next_word<M: Machine>(machine: &M, word: M::Word, m: M::Word) {
    let w = Words(machine);
    let changes = w.or(word, w.xor(machine.at(ACCUMULATOR), machine.at(TABLE)));
    machine.branch(
        changes,
        |machine| {
            place_exponent(machine, word);
            machine.put(ACCUMULATOR, digits(machine, Some(machine.at(ACCUMULATOR)), DIGITS, m));
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

/// The power by `count` digits of so many bits of the exponent at [`EVEN`].
fn short_digits<M: Machine>(machine: &M, bits: u64, count: u64, m: M::Word) -> M::Word {
    let w = Words(machine);
    let entry = |digit: u64| {
        let (e, first_bit) = (machine.at(EVEN), bits * digit);
        let moved = if first_bit < 5 { w.shl(e, w.number(5 - first_bit)) } else { w.high(e, first_bit - 5) };
        machine.scratch_word(w.and(moved, w.number(((1 << bits) - 1) << 5)))
    };
    (0..count - 1).rev().fold(entry(count - 1), |power, digit| {
        let power = (0..bits).fold(power, |power, _| machine.mulmod(power, power, m));
        machine.mulmod(power, entry(digit), m)
    })
}
