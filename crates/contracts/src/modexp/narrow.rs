//! Moduli of one word.

use super::State;
use super::calldata::{Calldata, numbers_in_place};
use super::power::{long_base, more_words, power};
use crate::words::Words;
use num_bigint::BigUint;
use residue_ir::{Feature, Machine, Variable, WordOp};

/// Limbs of a word.
const LIMBS: u32 = 4;

/// The result for a modulus of one word, which [`State::odd`] has, into [`State::result`], which is 0 before.
pub(super) fn text<M: Machine>(machine: &M, state: State) {
    let w = Words(machine);
    let modulus = machine.bind(machine.get(state.odd[0]));
    let power_of_two = machine.bind(w.and(modulus, w.sub(w.number(0), modulus)));
    let odd = machine.bind(w.div(modulus, power_of_two));
    machine.branch(
        w.is_below(w.number(1), odd),
        |machine| {
            machine.set(state.odd[0], odd);
            machine.set(state.result[0], Words(machine).modulo(machine.get(state.base), odd));
            windows(machine, state, odd);
        },
        |_| (),
    );
    machine.branch(
        w.is_below(w.number(1), power_of_two),
        |machine| {
            even_part(machine, state, power_of_two);
            garner(machine, state, odd, power_of_two);
        },
        |_| (),
    );
}

/// Returns the power modulo an odd number that `power` makes, where numbers are words of calldata.
pub(super) fn in_place<M: Machine>(
    machine: &M,
    state: State,
    odd: M::Word,
    name: &'static str,
    power: impl FnOnce(&M, Variable, M::Fe) -> M::Fe,
) {
    machine.over_given(name, LIMBS, &[odd], |machine| {
        let [base, exponent, modulus] = numbers_in_place(machine);
        machine.set(state.exponent, exponent);
        let x = machine.element_of(&[Words(machine).modulo(base, modulus)]);
        machine.return_elements(power(machine, state.exponent, x), 32);
    });
}

/// The power modulo an odd number, for any exponent, into [`State::result`].
fn windows<M: Machine>(machine: &M, state: State, odd: M::Word) {
    machine.over_given("odd modulus of a word", LIMBS, &[odd], |machine| {
        let x = machine.branch(
            state.is_long(machine),
            |machine| base(machine, state),
            |machine| machine.element_of(&[machine.get(state.result[0])]),
        );
        let y = power(machine, state.exponent, x);
        let y = machine.branch(state.is_long(machine), |machine| more_words(machine, state, y, x), |_| y);
        machine.set(state.result[0], machine.word_of(y, 0));
    });
}

/// The base, of any number of words, modulo the odd part.
fn base<M: Machine>(machine: &M, state: State) -> M::Fe {
    let w = Words(machine);
    let odd = machine.bind(machine.get(state.odd[0]));
    let ones = w.sub(w.number(0), w.number(1));
    let two_256 = machine.element_of(&[w.modulo(w.add(w.modulo(ones, odd), w.number(1)), odd)]);
    long_base(machine, two_256, |machine, word| machine.element_of(&[Words(machine).modulo(word, odd)]))
}

/// Puts the power modulo 2²⁵⁵ into [`State::base`], right modulo `power_of_two` = 2ᵗ.
///
/// The exponent is shortened: odd numbers have an order that divides 2ᵗ⁻¹, even ones to a power of 255 or more are 0.
fn even_part<M: Machine>(machine: &M, state: State, power_of_two: M::Word) {
    let w = Words(machine);
    machine.branch(
        state.is_long(machine),
        |machine| {
            let exponent = Calldata::read(machine).exponent;
            let is_large = exponent.above(machine, state.exponent, 1);
            let w = Words(machine);
            let last = exponent.word(machine, 0);
            // Above 255 in any case, and right modulo the order.
            let large = w.mul(machine.not(machine.not(is_large)), w.shl(w.number(1), w.number(255)));
            machine.set(state.exponent, w.or(last, large));
        },
        |_| (),
    );
    let last = machine.bind(machine.get(state.exponent));
    let is_odd = machine.bind(w.and(machine.get(state.base), w.number(1)));
    let order = w.sub(w.high(power_of_two, 1), w.number(1));
    let is_large = machine.not(machine.not(w.high(last, 8)));
    let of_even = w.or(last, w.mul(is_large, w.number(255)));
    let shortened = w.or(w.mul(is_odd, w.and(last, order)), w.mul(machine.not(is_odd), w.and(of_even, w.number(255))));
    machine.set(state.exponent, shortened);
    machine.branch(
        machine.has(Feature::PowersOfTwo),
        |machine| power_in_ring(machine, state),
        |machine| power_of_words(machine, state),
    );
}

/// [`State::base`] to the power of [`State::exponent`], into the former, right modulo 2²⁵⁵.
fn power_in_ring<M: Machine>(machine: &M, state: State) {
    machine.over("2²⁵⁵", &(BigUint::from(1u8) << 255), |machine| {
        let w = Words(machine);
        let x = machine.element_of(&[w.high(w.shl(machine.get(state.base), w.number(1)), 1)]);
        machine.set(state.base, machine.word_of(power(machine, state.exponent, x), 0));
    });
}

/// The same by products of words, bit by bit.
fn power_of_words<M: Machine>(machine: &M, state: State) {
    let power = state.mask[0];
    machine.set(power, machine.small(1));
    machine.repeat(machine.small(256), (), |machine, bit, ()| {
        let w = Words(machine);
        let is_one = w.high(w.shl(machine.get(state.exponent), bit), 255);
        let factor = w.add(w.mul(is_one, w.sub(machine.get(state.base), w.number(1))), w.number(1));
        let y = machine.get(power);
        machine.set(power, w.mul(w.mul(y, y), factor));
    });
    machine.set(state.base, machine.get(power));
}

/// Garner: the number below `odd` · `power_of_two` that is [`State::result`] modulo the one and [`State::base`] modulo the other.
fn garner<M: Machine>(machine: &M, state: State, odd: M::Word, power_of_two: M::Word) {
    let w = Words(machine);
    let result = machine.bind(machine.get(state.result[0]));
    let difference = w.sub(machine.get(state.base), result);
    let factor = w.and(w.mul(difference, inverse(machine, odd)), w.sub(power_of_two, w.number(1)));
    machine.set(state.result[0], w.add(result, w.mul(odd, factor)));
}

/// The inverse of an odd number modulo 2²⁵⁶, by Newton's steps from five bits.
fn inverse<M: Machine>(machine: &M, odd: M::Word) -> M::Word {
    let w = Words(machine);
    let first = machine.word_op(WordOp::Xor, w.mul(odd, w.number(3)), w.number(2));
    (0..6).fold(machine.bind(first), |inverse, _| machine.bind(w.mul(inverse, w.sub(w.number(2), w.mul(odd, inverse)))))
}
