//! Moduli of at most 32 bytes in words alone: MULMOD.

mod power;

use super::calldata::{Calldata, Operand, numbers_in_place};
use super::short::{base_modulo, return_word};
use crate::words::Words;
use power::{ACCUMULATOR, return_power, return_power_in_short_code};
use residue_ir::{Feature, Machine};

/// Scratch memory that it takes.
pub(super) const SCRATCH_BYTES: u32 = ACCUMULATOR as u32 + 32; // it is small

/// Returns the result where base, exponent and modulus have 32 bytes each.
pub(super) fn in_place<M: Machine>(machine: &M) {
    let [base, exponent, modulus] = numbers_in_place(machine);
    let modulus = machine.bind(modulus);
    let base = machine.bind(Words(machine).modulo(base, modulus));
    let exponent = machine.bind(exponent);
    return_power(machine, [base, exponent, modulus], None);
}

/// Returns the result where base, exponent and modulus have at most 32 bytes each.
pub(super) fn of_words<M: Machine>(machine: &M, calldata: Calldata<M::Word>) {
    let Calldata { base, exponent, modulus } = calldata;
    let m = machine.bind(modulus.short(machine));
    let x = machine.bind(Words(machine).modulo(base.short(machine), m));
    let e = machine.bind(exponent.short(machine));
    machine.branch(
        machine.has(Feature::ShortCode),
        |machine| return_power_in_short_code(machine, [x, e, m], modulus.bytes),
        |machine| return_power(machine, [x, e, m], Some(modulus.bytes)),
    );
}

/// Returns the result for a modulus of at most 32 bytes.
pub(super) fn text<M: Machine>(machine: &M, calldata: Calldata<M::Word>) {
    let Calldata { base, exponent, modulus } = calldata;
    let m = machine.bind(modulus.short(machine));
    let is_long = |operand: Operand<M::Word>| Words(machine).is_below(machine.small(32), operand.bytes);
    let cell = machine.small(ACCUMULATOR);
    base_modulo(machine, base, m, ACCUMULATOR);
    let x = machine.bind(machine.scratch_word(cell));
    machine.branch(
        machine.has(Feature::ShortCode),
        |machine| power::return_power_in_turns(machine, [x, m], exponent, modulus.bytes),
        |_| (),
    );
    machine.branch(
        is_long(exponent),
        |machine| {
            power::begin_table(machine, x, m);
            power::finish_table(machine, x, m);
            machine.set_scratch(cell, Words(machine).modulo(machine.small(1), m));
            let first = machine.bind(exponent.first(machine));
            power::next_word(machine, first, m);
            let rest = machine.bind(exponent.rest(machine));
            machine.repeat(rest, (), |machine, turn, ()| {
                let word = machine.bind(exponent.nth_last(machine, Words(machine).sub(rest, turn)));
                power::next_word(machine, word, m);
            });
            return_word(machine, machine.scratch_word(cell), Some(modulus.bytes));
        },
        |machine| {
            let e = machine.bind(exponent.short(machine));
            return_power(machine, [x, e, m], Some(modulus.bytes));
        },
    );
}
