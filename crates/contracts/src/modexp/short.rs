//! Powers of words by short exponents: products of words modulo a third, for any modulus.
//!
//! Each power is one expression: the compiler puts copies of the modulus and entries of the table on the stack in the order in which products
//! take them, and then does the products, so a squaring is DUP, DUP, MULMOD.

use super::calldata::{EXPONENT_AT, Operand, numbers_in_place};
use super::expressions::Expressions;
use super::power::F4;
use crate::words::Words;
use residue_ir::Machine;

/// Address of the powers 0 to 3 of the base, 32 bytes each: a digit of the exponent that is moved to bit 5 is an
/// offset.
const TABLE: u64 = 0;
/// Address of the exponent.
const EXPONENT: u64 = 128;
/// Scratch memory that powers and results take.
pub(super) const SCRATCH_BYTES: u32 = 160;
/// Bits of a digit.
const DIGIT_BITS: u64 = 2;
/// Bits of an exponent that are factors rather than digits.
const FACTORS_MAX: u64 = 4;

/// Bytes that 65537 has.
const F4_BYTES: u64 = 3;

/// Returns the result where base and modulus have 32 bytes each, if the exponent has a byte at most, or is 65537 in three.
pub(super) fn in_place<M: Machine>(machine: &M) {
    let w = Words(machine);
    let bytes = machine.bind(machine.calldata_word(w.number(32)));
    let give = |machine: &M, word: M::Word| return_word(machine, word, None);
    let numbers = |machine: &M| {
        let w = Words(machine);
        let [base, exponent, _] = numbers_in_place(machine);
        let m = machine.bind(machine.calldata_word(w.add(w.number(EXPONENT_AT), bytes)));
        (machine.bind(w.modulo(base, m)), exponent, m)
    };
    machine.branch(
        w.high(bytes, 1),
        |machine| {
            let w = Words(machine);
            let [_, exponent, _] = numbers_in_place(machine);
            let is_f4 = w.is_equal(w.high(exponent, 256 - 8 * F4_BYTES), w.number(F4));
            machine.branch(
                w.and(is_f4, w.is_equal(bytes, w.number(F4_BYTES))),
                |machine| {
                    let (x, _, m) = numbers(machine);
                    power_by_f4(machine, x, m, give);
                },
                |_| (),
            );
        },
        |machine| {
            let (x, exponent, m) = numbers(machine);
            // Without a byte the exponent is 0.
            let e = machine.bind(Words(machine).mul(bytes, Words(machine).high(exponent, 248)));
            power_below_8_bits(machine, [x, e, m], give);
        },
    );
}

/// Hands xᵉ mod m to `give`, for words [x, e, m] that are bound, x below m and e below 2³².
pub(super) fn power_below_32_bits<M: Machine>(machine: &M, [x, e, m]: [M::Word; 3], give: impl Fn(&M, M::Word) + Copy) {
    let w = Words(machine);
    machine.branch(
        w.high(e, 16),
        |machine| {
            let w = Words(machine);
            machine.branch(
                w.is_equal(e, w.number(F4)),
                |machine| power_by_f4(machine, x, m, give),
                |machine| by_digits(machine, [x, e, m], 32, give),
            );
        },
        |machine| power_below_16_bits(machine, [x, e, m], give),
    );
}

/// The same for e = 65537.
pub(super) fn power_by_f4<M: Machine>(machine: &M, x: M::Word, m: M::Word, give: impl Fn(&M, M::Word)) {
    // Where so many copies of the modulus are on the stack, the base is out of reach.
    machine.put(TABLE, x);
    let power = (0..16).fold(machine.at(TABLE), |power, _| machine.mulmod(power, power, m));
    give(machine, machine.mulmod(power, x, m));
}

/// The same for e below 2¹⁶.
pub(super) fn power_below_16_bits<M: Machine>(machine: &M, [x, e, m]: [M::Word; 3], give: impl Fn(&M, M::Word) + Copy) {
    let digits = |bits| move |machine: &M| by_digits(machine, [x, e, m], bits, give);
    machine.branch(
        Words(machine).high(e, FACTORS_MAX),
        |machine| machine.branch(Words(machine).high(e, 8), digits(16), digits(8)),
        |machine| power_below_4_bits(machine, [x, e, m], give),
    );
}

/// The same for e below 2¹⁶, at best 2⁸ or more.
pub(super) fn power_of_16_bits<M: Machine>(machine: &M, numbers: [M::Word; 3], give: impl Fn(&M, M::Word)) {
    by_digits(machine, numbers, 16, give);
}

/// The same for e below 2⁸.
pub(super) fn power_below_8_bits<M: Machine>(machine: &M, [x, e, m]: [M::Word; 3], give: impl Fn(&M, M::Word) + Copy) {
    machine.branch(
        Words(machine).high(e, FACTORS_MAX),
        |machine| by_digits(machine, [x, e, m], 8, give),
        |machine| power_below_4_bits(machine, [x, e, m], give),
    );
}

/// The same for e below 2⁴.
fn power_below_4_bits<M: Machine>(machine: &M, [x, e, m]: [M::Word; 3], give: impl Fn(&M, M::Word) + Copy) {
    let factors = |bits| move |machine: &M| by_factors(machine, [x, e, m], bits, give);
    machine.branch(Words(machine).high(e, 2), factors(FACTORS_MAX), factors(2));
}

/// The power by so many bits, each of which stands for a factor: b for 1 + b·(x − 1).
fn by_factors<M: Machine>(machine: &M, [x, e, m]: [M::Word; 3], bits: u64, give: impl Fn(&M, M::Word)) {
    let w = Words(machine);
    let less = machine.bind(w.sub(x, w.number(1)));
    let factor = |bit: u64| w.add(w.mul(less, w.and(w.high(e, bit), w.number(1))), w.number(1));
    // All bits above the highest one are 0.
    let first = w.add(w.mul(less, w.high(e, bits - 1)), w.number(1));
    let power =
        (0..bits - 1).rev().fold(first, |power, bit| machine.mulmod(machine.mulmod(power, power, m), factor(bit), m));
    give(machine, power);
}

/// The power by so many bits in windows. Handbook of Applied Cryptography 1996, algorithm 14.82.
fn by_digits<M: Machine>(machine: &M, [x, e, m]: [M::Word; 3], bits: u64, give: impl Fn(&M, M::Word)) {
    let w = Words(machine);
    // The power 0 is reduced by the products that it goes into.
    machine.put(TABLE, w.number(1));
    machine.put(TABLE + 32, x);
    let square = machine.bind(machine.mulmod(x, x, m));
    machine.put(TABLE + 64, square);
    machine.put(TABLE + 96, machine.mulmod(square, x, m));
    // Below the copies of the modulus for more digits it would be out of reach.
    let e = if bits > 8 {
        machine.put(EXPONENT, e);
        machine.at(EXPONENT)
    } else {
        e
    };
    let entry = |digit: u64| {
        let first_bit = DIGIT_BITS * digit;
        let moved = if first_bit < 5 { w.shl(e, w.number(5 - first_bit)) } else { w.high(e, first_bit - 5) };
        machine.scratch_word(w.and(moved, w.number(((1 << DIGIT_BITS) - 1) << 5)))
    };
    let highest = bits / DIGIT_BITS - 1;
    let power = (0..highest).rev().fold(entry(highest), |power, digit| {
        let power = (0..DIGIT_BITS).fold(power, |power, _| machine.mulmod(power, power, m));
        machine.mulmod(power, entry(digit), m)
    });
    give(machine, power);
}

/// Makes the word of scratch memory at `cell` the base modulo m.
pub(super) fn base_modulo<M: Machine>(machine: &M, base: Operand<M::Word>, m: M::Word, cell: u64) {
    machine.branch(
        Words(machine).is_below(machine.small(32), base.bytes),
        |machine| {
            machine.put(cell, Words(machine).modulo(base.first(machine), m));
            let rest = machine.bind(base.rest(machine));
            machine.repeat(rest, (), |machine, turn, ()| {
                let word = base.nth_last(machine, Words(machine).sub(rest, turn));
                let radix = machine.addmod(machine.word(ruint::aliases::U256::MAX), machine.small(1), m);
                let shifted = machine.mulmod(machine.at(cell), radix, m);
                machine.put(cell, machine.addmod(shifted, word, m));
            });
        },
        |machine| machine.put(cell, Words(machine).modulo(base.short(machine), m)),
    );
}

/// Ends the program with the last `bytes` bytes of `word`, at most 32, or with all of them.
pub(super) fn return_word<M: Machine>(machine: &M, word: M::Word, bytes: Option<M::Word>) {
    machine.put(TABLE, word);
    let start = |bytes| Words(machine).sub(machine.small(TABLE + 32), bytes);
    let [start, bytes] =
        bytes.map_or_else(|| [TABLE, 32].map(|bytes| machine.small(bytes)), |bytes| [start(bytes), bytes]);
    machine.return_scratch(start, bytes);
}
