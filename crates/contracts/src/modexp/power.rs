//! Powers by an exponent that is known at run time: windows of four bits, whose digits choose what is executed next.
//! Handbook of Applied Cryptography 1996, algorithm 14.82.

use super::State;
use super::calldata::Calldata;
use super::words::Words;
use residue_curves::pow_constant;
use residue_formula::Fe;
use residue_ir::{Machine, SequenceStep, Variable};

/// [`State::kind`] if the exponent has zeros in front of its last word: 1 more than if it has not.
pub(super) const LAST_WORD_ONLY: u64 = 3;
/// A prime of Fermat, which RSA has for its exponent.
pub(super) const F4: u64 = 65_537;
/// Bits of a digit.
const DIGIT_BITS: u32 = 4;
/// Digits that a word has.
const WORD_DIGITS: u32 = 64;

/// x to the power that `exponent` holds.
pub(super) fn power<M: Machine>(machine: &M, exponent: Variable, x: M::Fe) -> M::Fe {
    let w = Words(machine);
    let e = machine.bind(machine.get(exponent));
    let digits = |digits| move |machine: &M| windows(machine, machine.get(exponent), digits, machine.one(), x);
    let short = |machine: &M| {
        let w = Words(machine);
        machine.branch(w.high(e, 32), digits(16), |machine| {
            machine.branch(
                Words(machine).high(e, DIGIT_BITS.into()),
                |machine| {
                    machine.branch(Words(machine).xor(e, machine.small(F4)), digits(8), |_| pow_constant(x, &F4.into()))
                },
                |machine| one_digit(machine, e, x),
            )
        })
    };
    machine.branch(
        w.high(e, 128),
        |machine| word(machine, exponent, machine.one(), x),
        |machine| machine.branch(Words(machine).high(e, 64), digits(32), short),
    )
}

/// y ↦ the power by all words of the exponent, for that by the first.
pub(super) fn more_words<M: Machine>(machine: &M, State { exponent, kind, .. }: State, y: M::Fe, x: M::Fe) -> M::Fe {
    let operand = Calldata::read(machine).exponent;
    let w = Words(machine);
    let rest = machine.bind(w.mul(operand.rest(machine), w.xor(machine.get(kind), w.number(LAST_WORD_ONLY))));
    machine.repeat(rest, y, |machine, turn, y| {
        machine.set(exponent, operand.nth_last(machine, Words(machine).sub(rest, turn)));
        word(machine, exponent, y, x)
    })
}

/// The base in words, by Horner: `two_256` is 2²⁵⁶, `element` takes a word to the field.
pub(super) fn long_base<M: Machine>(machine: &M, two_256: M::Fe, element: impl Fn(&M, M::Word) -> M::Fe) -> M::Fe {
    let operand = Calldata::read(machine).base;
    let rest = machine.bind(operand.rest(machine));
    let first = element(machine, operand.first(machine));
    machine.repeat(rest, first, |machine, turn, sum| {
        let word = operand.nth_last(machine, Words(machine).sub(rest, turn));
        sum * two_256 + element(machine, word)
    })
}

/// y ↦ y^(2²⁵⁶) · xᵉ for the word e that `exponent` holds, as a function.
pub(super) fn word<M: Machine>(machine: &M, exponent: Variable, y: M::Fe, x: M::Fe) -> M::Fe {
    machine.function("word of exponent", (y, x), |machine, (y, x)| {
        windows(machine, machine.get(exponent), WORD_DIGITS, y, x)
    })
}

/// xᵉ for e below 16.
pub(super) fn one_digit<M: Machine>(machine: &M, e: M::Word, x: M::Fe) -> M::Fe {
    machine.sequence_of(&[step(e, 0)], &[None; CHOICES], x, |machine, digit, x| match digit {
        0 => machine.one(),
        digit => pow_constant(x, &digit.into()),
    })
}

const CHOICES: usize = 1 << DIGIT_BITS;

fn step<W>(word: W, first_bit: u32) -> SequenceStep<W> {
    SequenceStep::Chosen { word, first_bit }
}

/// y^(16ⁿ) · xᵉ for the n = `digits` lowest digits e of `exponent`.
fn windows<M: Machine>(machine: &M, exponent: M::Word, digits: u32, y: M::Fe, x: M::Fe) -> M::Fe {
    let w = Words(machine);
    let exponent = machine.bind(exponent);
    let cells = machine.word(SequenceStep::<M::Word>::CELLS.each(0xf));
    // Digit 4k + i stands in the cell k of word i.
    let places = SequenceStep::<M::Word>::CELLS.bits / DIGIT_BITS;
    let words: Vec<M::Word> =
        (0..places).map(|place| w.and(w.high(exponent, (DIGIT_BITS * place).into()), cells)).collect();
    let order: Vec<_> = (0..digits)
        .rev()
        .map(|digit| {
            step(words[(digit % places) as usize], digit / places * SequenceStep::<M::Word>::CELLS.bits) // widens
        })
        .collect();
    let mut powers = vec![machine.one(), x];
    for exponent in 2..CHOICES {
        powers.push(if exponent % 2 == 0 { powers[exponent / 2].square() } else { powers[exponent - 1] * x });
    }
    machine.sequence_of(&order, &[None; CHOICES], y, |_, digit, y| {
        let y = (0..DIGIT_BITS).fold(y, |y, _| y.square());
        if digit == 0 { y } else { y * powers[digit] }
    })
}
