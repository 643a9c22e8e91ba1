//! Moduli of one word where base or exponent have more, or where the modulus has zeros in front of it.

use super::State;
use super::calldata::Calldata;
use super::power::{long_base, more_words, power_in_less_code};
use super::two_adic;
use crate::words::Words;
use residue_ir::Machine;

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
            windows(machine, state, odd);
        },
        |_| (),
    );
    machine.branch(
        w.is_below(w.number(1), power_of_two),
        |machine| {
            let exponent = Calldata::read(machine).exponent;
            let is_large = machine.bind(exponent.above(machine, state.exponent, 1));
            machine.set(state.exponent, exponent.word(machine, 0));
            machine.set(state.mask[1], is_large);
            even_part(machine, state, [odd, power_of_two]);
        },
        |_| (),
    );
}

/// Makes the power modulo the odd part in [`State::result`] that modulo the modulus, for words as [`two_adic::factor`] takes them.
pub(super) fn even_part<M: Machine>(machine: &M, state: State, [odd, power_of_two]: [M::Word; 2]) {
    two_adic::factor(machine, state, [odd, power_of_two]);
    let w = Words(machine);
    machine.set(state.result[0], w.add(machine.get(state.result[0]), w.mul(odd, machine.get(state.base))));
}

/// The power modulo an odd number, which the first word of [`State::odd`] has, into [`State::result`].
pub(super) fn windows<M: Machine>(machine: &M, state: State, odd: M::Word) {
    machine.over_given("odd modulus of a word", LIMBS, &[odd], |machine| {
        let x = base(machine, state);
        let y = power_in_less_code(machine, state, x);
        let y = more_words(machine, state, y, x);
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
