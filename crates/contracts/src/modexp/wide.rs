//! Moduli of two and three words.

use super::calldata::Calldata;
use super::long;
use super::power::{LAST_WORD_ONLY, has_long_exponent, long_base, long_power_of_words, more_words, power, short_power};
use super::{State, WORDS_MAX};
use crate::words::Words;
use num_bigint::BigUint;
use residue_ir::{Feature, Machine, Variable};

/// Limbs of one and a half words, of two, and of three.
const LIMBS: [u32; 3] = [6, 8, 12];

/// The result for a modulus of more than one word, which [`State::odd`] has, into [`State::result`], which is 0 before.
pub(super) fn text<M: Machine>(machine: &M, state: State) {
    split(machine, state);
    let w = Words(machine);
    let [lowest, middle, highest] = state.odd.map(|word| machine.bind(machine.get(word)));
    let is_one = w.is_equal(w.or(w.or(middle, highest), w.sub(lowest, w.number(1))), w.number(0));
    machine.branch(
        is_one,
        |_| (),
        |machine| {
            let odd = [highest, middle, lowest];
            machine.branch(
                highest,
                |machine| {
                    machine.over_given("odd modulus of three words", LIMBS[2], &odd, |machine| {
                        odd_part(machine, state, 3, any_power)
                    })
                },
                |machine| {
                    machine.branch(
                        Words(machine).high(middle, 128),
                        |machine| {
                            machine.over_given("odd modulus of two words", LIMBS[1], &odd[1..], |machine| {
                                odd_part(machine, state, 2, any_power)
                            });
                        },
                        |machine| {
                            one_and_a_half_words(machine, state, &odd[1..]);
                        },
                    );
                },
            );
        },
    );
    machine.branch(
        machine.has(Feature::PowersOfTwo),
        |machine| machine.branch(machine.get(state.mask[0]), |machine| even_part(machine, state), |_| ()),
        |_| (),
    );
}

/// Sets the result modulo the odd part, of at most 384 bits. Code for digits of six bits is long, and its addresses have to fit 16 bits: no
/// other width has it.
fn one_and_a_half_words<M: Machine>(machine: &M, state: State, odd: &[M::Word]) {
    machine.branch(
        has_long_exponent(machine, state),
        |machine| {
            machine.over_given("odd modulus of 384 bits, long exponent", LIMBS[0], odd, |machine| {
                odd_part(machine, state, 2, long_power_of_words);
            });
        },
        |machine| {
            machine.over_given("odd modulus of 384 bits", LIMBS[0], odd, |machine| {
                odd_part(machine, state, 2, |machine, state, x| short_power(machine, state.exponent, x));
            });
        },
    );
}

/// x to the power of all words of the exponent.
fn any_power<M: Machine>(machine: &M, state: State, x: M::Fe) -> M::Fe {
    let y = power(machine, state.exponent, x);
    more_words(machine, state, y, x)
}

/// Returns the result for an even modulus where there is no ring for its power of two.
pub(super) fn even_in_limbs<M: Machine>(machine: &M, state: State) {
    let w = Words(machine);
    machine.branch(
        w.and(machine.get(state.odd[0]), w.number(1)),
        |_| (),
        |machine| {
            long::bits(machine, state);
            long::text(machine, state);
        },
    );
}

/// Makes the modulus in [`State::odd`] its odd part, and [`State::mask`] what is left of it.
fn split<M: Machine>(machine: &M, state: State) {
    let ones = |machine: &M| Words(machine).sub(machine.small(0), machine.small(1));
    for number in 0..WORDS_MAX - 1 {
        machine.branch(
            machine.get(state.odd[0]),
            |_| (),
            |machine| {
                for place in 1..WORDS_MAX {
                    machine.set(state.odd[place - 1], machine.get(state.odd[place]));
                }
                machine.set(state.odd[WORDS_MAX - 1], machine.small(0));
                machine.set(state.mask[number], ones(machine));
            },
        );
    }
    let w = Words(machine);
    let words = state.odd.map(|word| machine.bind(machine.get(word)));
    let power_of_two = machine.bind(w.and(words[0], w.sub(w.number(0), words[0])));
    let mask = w.sub(power_of_two, w.number(1));
    // The word after those of ones has what is left of the power.
    let has = state.mask.map(|word| machine.bind(machine.not(machine.not(machine.get(word)))));
    machine.set(state.mask[2], w.mul(has[1], mask));
    machine.set(state.mask[1], w.or(machine.get(state.mask[1]), w.mul(w.mul(has[0], machine.not(has[1])), mask)));
    machine.set(state.mask[0], w.or(machine.get(state.mask[0]), w.mul(machine.not(has[0]), mask)));
    // 2²⁵⁶ / 2ᵗ, and 0 for t = 0.
    let up = machine.bind(w.add(w.div(w.sub(w.number(0), power_of_two), power_of_two), w.number(1)));
    for place in 0..WORDS_MAX {
        let above = words.get(place + 1).map_or(w.number(0), |&above| w.mul(above, up));
        machine.set(state.odd[place], w.or(w.div(words[place], power_of_two), above));
    }
}

/// The power modulo the odd part, of at most `count` words, to [`State::result`].
fn odd_part<M: Machine>(machine: &M, state: State, count: usize, power: impl FnOnce(&M, State, M::Fe) -> M::Fe) {
    let x = base(machine, state);
    let y = power(machine, state, x);
    for (place, &word) in (0..).zip(&state.result[..count]) {
        machine.set(word, machine.word_of(y, 256 * place));
    }
}

/// The base modulo the odd part, which a word need not be below if that is shorter than the modulus.
fn base<M: Machine>(machine: &M, state: State) -> M::Fe {
    let odd = machine.bind(machine.get(state.odd[0]));
    let is_wide = machine.bind(Words(machine).or(machine.get(state.odd[1]), machine.get(state.odd[2])));
    let element = |machine: &M, word: M::Word| {
        let word = machine.bind(word);
        machine.branch(
            is_wide,
            |machine| machine.element_of(&[word]),
            |machine| machine.element_of(&[Words(machine).modulo(word, odd)]),
        )
    };
    let w = Words(machine);
    let two_255 = element(machine, w.shl(w.number(1), w.number(255)));
    long_base(machine, two_255 + two_255, element)
}

/// Makes the power modulo the modulus of that modulo its odd part: with k below 2ᵗ by Garner, x + n·k. The field has 2⁷⁶⁷ elements, which
/// n·⌊k/2⌋ is below; the sum is made in words.
fn even_part<M: Machine>(machine: &M, state: State) {
    machine.over("2⁷⁶⁷", &(BigUint::from(1u8) << (256 * WORDS_MAX - 1)), |machine| {
        let w = Words(machine);
        let element = |machine: &M, word| machine.element_of(&[word]);
        let two_128 = element(machine, w.shl(w.number(1), w.number(128)));
        let x = long_base(machine, two_128 * two_128, element);
        // The first word of the exponent anew: the odd part has changed it.
        let exponent = Calldata::read(machine).exponent;
        machine.branch(
            w.xor(machine.get(state.kind), w.number(LAST_WORD_ONLY)),
            |machine| machine.set(state.exponent, exponent.first(machine)),
            |machine| machine.set(state.exponent, exponent.word(machine, 0)),
        );
        let y = any_power(machine, state, x);

        let n = number(machine, state.odd);
        let factor = (y - number(machine, state.result)) * inverse(machine, n);
        for (variable, place) in state.mask.into_iter().zip(0..) {
            machine.set(variable, w.and(machine.word_of(factor, 256 * place), machine.get(variable)));
        }
        for variable in state.odd {
            machine.set(variable, w.mul(machine.get(variable), w.and(machine.get(state.mask[0]), w.number(1))));
        }
        add(machine, state);
        let [lowest, middle, highest] = state.mask;
        let half = |word, above| {
            let above = w.shl(machine.get(above), w.number(255));
            w.or(w.high(machine.get(word), 1), above)
        };
        let half = [w.high(machine.get(highest), 1), half(middle, highest), half(lowest, middle)];
        let product = n * machine.element_of(&half);
        for (variable, place) in state.odd.into_iter().zip(0..) {
            let double = w.shl(machine.word_of(product, 256 * place), w.number(1));
            let below = place.checked_sub(1).map(|below| w.high(machine.word_of(product, 256 * below), 255));
            machine.set(variable, below.map_or(double, |below| w.or(double, below)));
        }
        add(machine, state);
    });
}

/// The number in these words.
fn number<M: Machine>(machine: &M, words: [Variable; WORDS_MAX]) -> M::Fe {
    machine.element_of(&[2, 1, 0].map(|place| machine.get(words[place])))
}

/// Adds [`State::odd`] to [`State::result`], as a function.
fn add<M: Machine>(machine: &M, state: State) {
    machine.function("sum", (), |machine, ()| {
        let w = Words(machine);
        let mut carry = w.number(0);
        for (sum, addend) in state.result.into_iter().zip(state.odd) {
            let addend = machine.bind(machine.get(addend));
            let without = machine.bind(w.add(machine.get(sum), addend));
            let with = machine.bind(w.add(without, carry));
            carry = machine.bind(w.or(w.is_below(without, addend), w.is_below(with, without)));
            machine.set(sum, with);
        }
    });
}

/// The inverse of an odd number modulo 2⁷⁶⁷, by Newton's steps: odd numbers are their own inverses modulo 8.
fn inverse<M: Machine>(machine: &M, odd: M::Fe) -> M::Fe {
    let two = machine.one() + machine.one();
    (0..8).fold(odd, |inverse, _| inverse * (two - odd * inverse))
}
