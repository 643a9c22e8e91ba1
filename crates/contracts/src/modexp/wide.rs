//! Moduli of two and three words.
//!
//! Modulus and base are copied to scratch memory so that they end where words do.

mod in_place;

use super::calldata::{Calldata, Operand};
use super::expressions::Expressions;
use super::long;
use super::narrow;
use super::power::{LAST_WORD_ONLY, long_base, more_words, power, power_in_turns};
use super::short::base_modulo;
use super::two_adic;
use super::word_sized;
use super::{State, WORDS_MAX};
use crate::words::Words;
pub(super) use in_place::in_place;
use num_bigint::BigUint;
use residue_ir::{Feature, Machine, Variable};
use ruint::aliases::U256;

/// Limbs of one and a half words, of two, and of three.
const LIMBS: [u32; 3] = [6, 8, 12];
/// Bytes of the widest modulus.
pub(super) const BYTES_MAX: u64 = 32 * WORDS_MAX as u64; // usize to u64 widens
/// Address of the modulus, or its odd part, and of a base that is as short.
const MODULUS: u64 = 0;
const BASE: u64 = BYTES_MAX;
/// Scratch memory of these.
pub(super) const SCRATCH_BYTES: u32 = 2 * BYTES_MAX as u32; // it is small

/// Puts the modulus, of three words after what `longer` does where it has more bytes, where [`text`] finds it: words, the highest first. Sets
/// [`State::keeps`] where it has more bytes.
pub(super) fn place_modulus<M: Machine>(
    machine: &M,
    state: State,
    modulus: Operand<M::Word>,
    longer: impl FnOnce(&M),
) -> [M::Word; WORDS_MAX] {
    let w = Words(machine);
    machine.branch(
        w.is_below(w.number(BYTES_MAX), modulus.bytes),
        |machine| {
            longer(machine);
            machine.set(state.keeps, machine.small(1));
            let w = Words(machine);
            let from = w.sub(w.add(modulus.at, modulus.bytes), w.number(BYTES_MAX));
            machine.copy_calldata(w.number(MODULUS), from, w.number(BYTES_MAX));
        },
        |machine| place(machine, modulus, MODULUS),
    );
    words_at(machine, MODULUS)
}

/// Copies an operand of at most three words to the end of those at `cell`.
fn place<M: Machine>(machine: &M, operand: Operand<M::Word>, cell: u64) {
    let to = Words(machine).sub(machine.small(cell + BYTES_MAX), operand.bytes);
    machine.copy_calldata(to, operand.at, operand.bytes);
}

fn words_at<M: Machine>(machine: &M, cell: u64) -> [M::Word; WORDS_MAX] {
    [0, 32, 64].map(|at| machine.bind(machine.at(cell + at)))
}

/// Returns the result for a modulus of more than one word, which is in place and has the words `words`, the highest first.
pub(super) fn text<M: Machine>(machine: &M, state: State, calldata: Calldata<M::Word>, words: [M::Word; WORDS_MAX]) {
    place_base(machine, calldata.base);
    let [highest, middle, lowest] = words;
    machine.branch(
        Words(machine).and(lowest, machine.small(1)),
        |machine| enter(machine, state, words),
        |machine| {
            machine.set(state.keeps, machine.small(1));
            machine.branch(
                lowest,
                |machine| even(machine, state, calldata, words),
                |machine| {
                    machine.branch(machine.has(Feature::PowersOfTwo), |_| (), |machine| in_limbs(machine, state));
                    for (variable, word) in state.odd.into_iter().zip([lowest, middle, highest]) {
                        machine.set(variable, word);
                    }
                    even_in_ring(machine, state);
                },
            );
        },
    );
    give(machine, state, calldata.modulus);
}

/// The same for an odd modulus in short code: as if it had three words. [`State::digits`] has the bits of the exponent.
pub(super) fn odd_in_short_code<M: Machine>(
    machine: &M,
    state: State,
    modulus: Operand<M::Word>,
    words: [M::Word; WORDS_MAX],
) {
    machine.over_given("odd modulus in short code", LIMBS[2], &words, |machine| {
        // The modulus has more than one word.
        let two_256 = machine.element_of(&[machine.small(1), machine.small(0)]);
        let x = long_base(machine, two_256, |machine, word| machine.element_of(&[word]));
        let y = power_in_turns(machine, machine.get(state.digits), x);
        return_or_keep(machine, state, 2, y);
    });
    give(machine, state, modulus);
}

/// Puts a base of at most three words where [`base`] finds it.
fn place_base<M: Machine>(machine: &M, base: Operand<M::Word>) {
    machine.branch(
        Words(machine).is_below(machine.small(BYTES_MAX), base.bytes),
        |_| (),
        |machine| place(machine, base, BASE),
    );
}

/// Returns [`State::result`] in as many bytes as the modulus has.
fn give<M: Machine>(machine: &M, state: State, modulus: Operand<M::Word>) {
    machine.branch(
        Words(machine).is_below(machine.small(BYTES_MAX), modulus.bytes),
        |machine| machine.return_words(&[2, 1, 0].map(|word| machine.get(state.result[word])), modulus.bytes),
        |machine| {
            for (at, word) in [64, 32, 0].into_iter().zip(state.result) {
                machine.put(MODULUS + at, machine.get(word));
            }
            let first = Words(machine).sub(machine.small(MODULUS + BYTES_MAX), modulus.bytes);
            machine.return_scratch(first, modulus.bytes);
        },
    );
}

/// Makes the power modulo the odd number in place, whose words are `words`, the highest first: returns it if [`State::keeps`] is 0, else puts
/// it into [`State::result`], which is 0 before.
fn enter<M: Machine>(machine: &M, state: State, [highest, middle, lowest]: [M::Word; WORDS_MAX]) {
    machine.branch(
        highest,
        |machine| enter_of_width(machine, state, 2, &[highest, middle, lowest]),
        |machine| {
            machine.branch(
                Words(machine).high(middle, 128),
                |machine| enter_of_width(machine, state, 1, &[middle, lowest]),
                |machine| enter_of_width(machine, state, 0, &[middle, lowest]),
            );
        },
    );
}

/// The same for one of [`LIMBS`], given as many words as it has.
fn enter_of_width<M: Machine>(machine: &M, state: State, width: usize, words: &[M::Word]) {
    let names = ["odd modulus of 384 bits", "odd modulus of two words", "odd modulus of three words"];
    machine.over_given(names[width], LIMBS[width], words, |machine| odd_part(machine, state, width));
}

/// The power modulo the odd part, of [`LIMBS`] `width`.
fn odd_part<M: Machine>(machine: &M, state: State, width: usize) {
    let x = base(machine, words_of(width));
    let y = power(machine, state, x);
    let y = more_words(machine, state, y, x);
    return_or_keep(machine, state, width, y);
}

/// Words of one of [`LIMBS`].
const fn words_of(width: usize) -> usize {
    if width < 2 { 2 } else { WORDS_MAX }
}

/// Returns y, of [`LIMBS`] `width`, if [`State::keeps`] is 0, else puts it into [`State::result`].
fn return_or_keep<M: Machine>(machine: &M, state: State, width: usize, y: M::Fe) {
    let words = words_of(width);
    machine.branch(
        machine.not(machine.get(state.keeps)),
        |machine| {
            let modulus_bytes = machine.calldata_word(machine.small(64));
            machine.return_last(y, 8 * LIMBS[width], modulus_bytes, SCRATCH_BYTES / 2);
        },
        |machine| {
            for (place, &word) in (0..).zip(&state.result[..words]) {
                machine.set(word, machine.word_of(y, 256 * place));
            }
        },
    );
}

/// The base modulo the odd part, of so many words.
fn base<M: Machine>(machine: &M, words: usize) -> M::Fe {
    let w = Words(machine);
    let bytes = machine.calldata_word(w.number(0));
    let first = BYTES_MAX - 32 * words as u64; // usize to u64 widens
    machine.branch(
        w.is_below(w.number(BYTES_MAX), bytes),
        |machine| {
            // Every word is below the odd part.
            let two_256 = machine.element_of(&[machine.small(1), machine.small(0)]);
            long_base(machine, two_256, |machine, word| machine.element_of(&[word]))
        },
        |machine| {
            let words = |first: u64| -> Vec<M::Word> {
                (first..BYTES_MAX).step_by(32).map(|at| machine.at(BASE + at)).collect()
            };
            let w = Words(machine);
            let top = w.is_below(machine.at(BASE + first), machine.at(MODULUS + first));
            let is_below = if first > 0 { w.mul(machine.not(machine.at(BASE)), top) } else { top };
            machine.branch(
                is_below,
                |machine| machine.element_of(&words(first)),
                |machine| {
                    let two_256 = machine.element_of(&[machine.small(1), machine.small(0)]);
                    let top = [0, 32].map(|at| machine.element_of(&[machine.at(BASE + at)]));
                    // The last words are below the odd part where that has one more.
                    let last = words(if first > 0 { BYTES_MAX - 32 } else { 32 });
                    let rest = machine.element_of(&last);
                    if first > 0 {
                        (top[0] * two_256 + top[1]) * two_256 + rest
                    } else {
                        top[0] * (two_256 * two_256) + rest
                    }
                },
            )
        },
    )
}

/// The result for an even modulus whose last word is not 0, into [`State::result`].
fn even<M: Machine>(machine: &M, state: State, calldata: Calldata<M::Word>, words: [M::Word; WORDS_MAX]) {
    let w = Words(machine);
    let [highest, middle, lowest] = words;
    let power_of_two = machine.bind(w.and(lowest, w.sub(w.number(0), lowest)));
    let up = machine.bind(w.add(w.div(w.sub(w.number(0), power_of_two), power_of_two), w.number(1)));
    let with = |word, above| w.or(w.div(word, power_of_two), w.mul(above, up));
    let odd =
        [w.div(highest, power_of_two), with(middle, highest), with(lowest, middle)].map(|word| machine.bind(word));
    // The power changes it.
    let e = machine.bind(machine.get(state.exponent));
    enter_part(machine, state, odd);

    let Calldata { base, exponent, .. } = calldata;
    machine.branch(
        Words(machine).is_below(machine.small(BYTES_MAX), base.bytes),
        |machine| machine.set(state.base, base.nth_last(machine, machine.small(1))),
        |machine| machine.set(state.base, machine.at(BASE + BYTES_MAX - 32)),
    );
    machine.branch(
        Words(machine).xor(machine.get(state.kind), machine.small(LAST_WORD_ONLY)),
        |machine| {
            machine.set(state.exponent, exponent.nth_last(machine, machine.small(1)));
            machine.set(state.mask[1], machine.small(1));
        },
        |machine| {
            machine.set(state.exponent, e);
            machine.set(state.mask[1], machine.small(0));
        },
    );
    two_adic::factor(machine, state, [odd[2], power_of_two]);
    add_multiple(machine, state, odd, machine.get(state.base));
}

/// [`enter`] for the odd part, which may be short, or 1.
fn enter_part<M: Machine>(machine: &M, state: State, odd: [M::Word; WORDS_MAX]) {
    let [highest, middle, lowest] = odd;
    for (word, at) in odd.into_iter().zip([0, 32, 64]) {
        machine.put(MODULUS + at, word);
    }
    let w = Words(machine);
    machine.branch(
        w.or(highest, middle),
        |machine| enter(machine, state, odd),
        |machine| {
            machine.branch(
                Words(machine).is_below(machine.small(1), lowest),
                |machine| {
                    machine.branch(
                        Words(machine).is_equal(machine.get(state.kind), machine.small(LAST_WORD_ONLY)),
                        |machine| {
                            base_modulo(machine, Calldata::read(machine).base, lowest, MODULUS);
                            machine.set(state.base, machine.at(MODULUS));
                            word_sized::in_field(machine, state, lowest);
                        },
                        |machine| {
                            machine.set(state.odd[0], lowest);
                            narrow::windows(machine, state, lowest);
                        },
                    );
                },
                |_| (),
            );
        },
    );
}

/// Adds the number of three words, the highest first, times the word to [`State::result`]; the sum has three words.
fn add_multiple<M: Machine>(machine: &M, state: State, number: [M::Word; WORDS_MAX], factor: M::Word) {
    let w = Words(machine);
    let factor = machine.bind(factor);
    let mut above = w.number(0);
    for (variable, word) in state.result.into_iter().zip(number.into_iter().rev()) {
        let low = machine.bind(w.mul(word, factor));
        let with = machine.bind(w.add(low, above));
        let sum = machine.bind(w.add(with, machine.get(variable)));
        machine.set(variable, sum);
        // The product modulo 2²⁵⁶ − 1 is the sum of its words.
        let both = machine.bind(machine.mulmod(word, factor, machine.word(U256::MAX)));
        let high = w.sub(w.sub(both, low), w.is_below(both, low));
        above = machine.bind(w.add(w.add(high, w.is_below(with, low)), w.is_below(sum, with)));
    }
}

/// Returns the result where there is no ring for its power of two.
fn in_limbs<M: Machine>(machine: &M, state: State) {
    long::bits(machine, state);
    long::text(machine, state);
}

/// The result for an even modulus that [`State::odd`] has, the lowest word first, into [`State::result`].
fn even_in_ring<M: Machine>(machine: &M, state: State) {
    split(machine, state);
    let odd = [2, 1, 0].map(|place| machine.bind(machine.get(state.odd[place])));
    enter_part(machine, state, odd);
    for (variable, word) in state.odd.into_iter().rev().zip(odd) {
        machine.set(variable, word);
    }
    machine.branch(machine.has(Feature::PowersOfTwo), |machine| even_part(machine, state), |_| ());
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

/// Makes the power modulo the modulus of that modulo its odd part: with k below 2ᵗ by Garner, x + n·k. The field has 2⁷⁶⁷ elements, which
/// n·⌊k/2⌋ is below; the sum is made in words.
fn even_part<M: Machine>(machine: &M, state: State) {
    // The result is still needed.
    let mut of_power = state;
    of_power.digits = state.base;
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
        let y = power(machine, of_power, x);
        let y = more_words(machine, of_power, y, x);

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
