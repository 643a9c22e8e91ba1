//! The same contract in words alone: MULMOD for moduli of one word, limbs of words for longer ones. It asks for no field instruction, so it is
//! the same program for every interface, and for an EVM without one.

mod expressions;
mod limbs;
mod power;
mod wide;

use super::calldata::{Calldata, Operand, numbers_in_place};
use crate::Contract;
use crate::words::Words;
use expressions::Expressions;
use num_bigint::BigUint;
use power::{ACCUMULATOR, return_power};
use residue_ir::Machine;

/// `modexp/words`.
pub const CONTRACT: Contract = Contract {
    name: "modexp/words",
    summary: "the same without field instructions: MULMOD, and limbs of words",
    interface: super::CONTRACT.interface,
    field: || BigUint::from(3u8),
    text: |machine| text(machine),
    precompile: None,
    example: super::example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    machine.scratch(wide::SCRATCH_BYTES);
    machine.branch(
        super::word_sized::lengths_differ(machine),
        |_| (),
        |machine| {
            let [base, exponent, modulus] = numbers_in_place(machine);
            let modulus = machine.bind(modulus);
            let base = machine.bind(Words(machine).modulo(base, modulus));
            let exponent = machine.bind(exponent);
            return_power(machine, [base, exponent, modulus], machine.small(32));
        },
    );
    let Calldata { base, exponent, modulus } = Calldata::any(machine);
    let w = Words(machine);
    machine.branch(
        w.is_below(w.number(32), modulus.bytes),
        |machine| wide::text(machine),
        |machine| of_one_word(machine, base, exponent, modulus),
    );
}

/// Returns the result for a modulus of at most 32 bytes.
fn of_one_word<M: Machine>(machine: &M, base: Operand<M::Word>, exponent: Operand<M::Word>, modulus: Operand<M::Word>) {
    let m = machine.bind(modulus.short(machine));
    let is_long = |operand: Operand<M::Word>| Words(machine).is_below(machine.small(32), operand.bytes);
    let cell = machine.small(ACCUMULATOR);
    machine.set_scratch(cell, Words(machine).modulo(base.first(machine), m));
    machine.branch(
        is_long(base),
        |machine| {
            let rest = machine.bind(base.rest(machine));
            machine.repeat(rest, (), |machine, turn, ()| {
                let word = base.nth_last(machine, Words(machine).sub(rest, turn));
                let radix = machine.addmod(machine.word(ruint::aliases::U256::MAX), machine.small(1), m);
                let shifted = machine.mulmod(machine.scratch_word(cell), radix, m);
                machine.set_scratch(cell, machine.addmod(shifted, word, m));
            });
        },
        |_| (),
    );
    let x = machine.bind(machine.scratch_word(cell));
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
            power::return_word(machine, machine.scratch_word(cell), modulus.bytes);
        },
        |machine| {
            let e = machine.bind(exponent.short(machine));
            return_power(machine, [x, e, m], modulus.bytes);
        },
    );
}
