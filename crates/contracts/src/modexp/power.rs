//! Powers by an exponent that is known at run time: windows of four bits, or of six for long exponents, whose digits
//! select the next part. Handbook of Applied Cryptography 1996, algorithm 14.82, with the table of odd powers that
//! 14.83 has.

use super::State;
use super::calldata::Calldata;
use crate::words::Words;
use residue_curves::pow_constant;
use residue_formula::{Bundle, Fe};
use residue_ir::{Capacity, Feature, FirstSteps, Machine, SequenceStep, Variable};
use ruint::aliases::U256;
use std::collections::BTreeMap;

/// [`State::kind`] if the exponent has nothing but zeros in front of its last word: 1 more than if it has.
pub(super) const LAST_WORD_ONLY: u64 = 3;
/// A prime of Fermat, which RSA has for its exponent.
pub(super) const F4: u64 = 65_537;
/// Bits of a digit.
const DIGIT_BITS: u32 = 4;
/// Digits of a word that are counted as one: each such count is a gas more.
const DIGITS_EACH: u32 = 4;
/// Bits of a digit of a long exponent. The table of 32 powers costs more than that of 8, so it has a subprogram of its own.
const LONG_DIGIT_BITS: u32 = 6;
/// Bits of a digit of an exponent modulo a word, and where code is short.
const BYTE_BITS: u32 = 8;
const SEPTET_BITS: u32 = 7;
/// Bits of a factor, where a digit may take more than one: the table is shorter.
const FACTOR_BITS: u32 = 4;
const SHORT_FACTOR_BITS: u32 = 2;
/// Bits of a word of the exponent.
const WORD_BITS: u32 = 256;

/// x to the power that [`State::exponent`] holds, which may change.
pub(super) fn power<M: Machine>(machine: &M, state: State, x: M::Fe) -> M::Fe {
    machine.branch(
        Words(machine).high(machine.get(state.exponent), 32),
        |machine| first_word(machine, state, x),
        |machine| short_power(machine, state.exponent, x),
    )
}

/// The same in less code, for more gas where the exponent is short.
pub(super) fn power_in_less_code<M: Machine>(machine: &M, state: State, x: M::Fe) -> M::Fe {
    machine.branch(
        Words(machine).high(machine.get(state.exponent), DIGIT_BITS.into()),
        |machine| first_word(machine, state, x),
        |machine| {
            let e = machine.bind(machine.get(state.exponent));
            one_digit(machine, e, x)
        },
    )
}

/// The same for an exponent that is not 0, by [`word`] from its first digits on.
fn first_word<M: Machine>(machine: &M, state: State, x: M::Fe) -> M::Fe {
    let e = machine.bind(machine.get(state.exponent));
    from_the_top(machine, e, DIGIT_BITS * DIGITS_EACH, |machine, [e, count]| {
        machine.set(state.digits, count);
        machine.set(state.exponent, e);
    });
    word(machine, state, machine.one(), x)
}

/// Does `text` with e, which is bound and not 0, moved up so that its first digit is the highest of the word, and with the number of its digits: of
/// so many bits each, a power of two and at most 32.
fn from_the_top<M: Machine, S: Bundle<M::Fe>>(
    machine: &M,
    e: M::Word,
    digit_bits: u32,
    text: impl Fn(&M, [M::Word; 2]) -> S,
) -> S {
    let bits = u64::from(digit_bits);
    machine.branch(
        machine.has(Feature::LeadingZeros),
        |machine| {
            let w = Words(machine);
            let zeros = machine.bind(w.and(machine.leading_zeros(e), w.number(256 - bits)));
            text(machine, [w.shl(e, zeros), w.sub(w.number(256 / bits), w.high(zeros, bits.ilog2().into()))])
        },
        |machine| {
            // 32 bits, or as many as the next of 64, 128 and 256 that is not too few.
            let w = Words(machine);
            let times = [32, 64, 128].into_iter().fold(w.number(1), |times, bits| {
                let is_longer = machine.not(machine.not(w.high(e, bits)));
                w.add(times, w.mul(is_longer, w.number(bits / 32)))
            });
            let times = machine.bind(times);
            let zeros = w.sub(w.number(256), w.mul(times, w.number(32)));
            text(machine, [w.shl(e, zeros), w.mul(times, w.number(32 / bits))])
        },
    )
}

/// x to the power of two numbers of 192 bits, the higher one first, which are 64 digits of six bits.
pub(super) fn power_of_384_bits<M: Machine>(machine: &M, exponent: Variable, halves: [M::Word; 2], x: M::Fe) -> M::Fe {
    let [high, low] = halves;
    let powers = odd_powers(machine, x, FACTOR_BITS);
    machine.set(exponent, high);
    machine.repeat(machine.small(2), machine.one(), |machine, _, y| {
        let y = steps::<_, LONG_DIGIT_BITS>(machine, machine.get(exponent), (192, None), y, &powers);
        machine.set(exponent, low);
        y
    })
}

/// The same for an exponent below 2³².
fn short_power<M: Machine>(machine: &M, exponent: Variable, x: M::Fe) -> M::Fe {
    let e = machine.bind(machine.get(exponent));
    machine.branch(
        Words(machine).high(e, 16),
        |machine| {
            machine.branch(
                Words(machine).xor(e, machine.small(F4)),
                |machine| spread_windows(machine, e, (32, None), machine.one(), &odd_powers(machine, x, DIGIT_BITS)),
                |_| pow_constant(x, &F4.into()),
            )
        },
        |machine| {
            machine.branch(
                Words(machine).high(e, DIGIT_BITS.into()),
                |machine| spread_windows(machine, e, (16, None), machine.one(), &odd_powers(machine, x, DIGIT_BITS)),
                |machine| one_digit(machine, e, x),
            )
        },
    )
}

/// xᵉ for e that is bound, not 0 and below 2³², given 1: a digit of four bits for each that it has.
pub(super) fn power_by_digits<M: Machine>(machine: &M, e: M::Word, one: M::Fe, x: M::Fe) -> M::Fe {
    from_the_top(machine, e, DIGIT_BITS, |machine, [e, count]| {
        let first = Some(FirstSteps { count, each: 1 });
        let powers = odd_powers(machine, x, SHORT_FACTOR_BITS);
        spread_windows(machine, Words(machine).high(e, 224), (32, first), one, &powers)
    })
}

/// Hands xᵉ to `give`, which ends the program, for e that is bound, not 0 and of at most 2·`pairs_max` + 1 bits, bit by bit. Needs
/// [`Feature::LeadingZeros`].
pub(super) fn power_by_pairs<M: Machine>(
    machine: &M,
    pairs_max: usize,
    e: M::Word,
    x: M::Fe,
    give: impl Fn(&M, M::Fe),
) {
    // One bit that is 1, or two.
    let begin = |machine: &M, bits: M::Word| {
        machine.branch(
            Words(machine).high(bits, 1),
            |machine| {
                let square = x.square();
                machine.branch(Words(machine).and(bits, machine.small(1)), |_| square * x, |_| square)
            },
            |_| x,
        )
    };
    machine.branch(
        Words(machine).high(e, 2),
        |machine| {
            let w = Words(machine);
            let pairs = machine.bind(w.high(w.sub(w.number(255), machine.leading_zeros(e)), 1));
            let first = machine.bind(w.shr(e, w.add(pairs, pairs)));
            let y = machine.countdown(pairs, pairs_max, begin(machine, first), |machine, turn, y| {
                [2 * turn + 1, 2 * turn].into_iter().fold(y, |y, bit| {
                    let square = y.square();
                    let is_one = Words(machine).and(e, machine.small(1 << bit));
                    machine.branch(is_one, |_| square * x, |_| square)
                })
            });
            give(machine, y);
        },
        |machine| give(machine, begin(machine, e)),
    );
}

/// x to the power that `exponent` holds, which is not 0: a digit of eight bits for each of its bytes, as many as it has.
pub(super) fn power_by_bytes<M: Machine>(machine: &M, exponent: Variable, x: M::Fe) -> M::Fe {
    let e = machine.bind(machine.get(exponent));
    from_the_top(machine, e, BYTE_BITS, |machine, [e, count]| {
        // A constant would be copied from code.
        let one = machine.element_of(&[machine.small(1)]);
        steps::<_, BYTE_BITS>(
            machine,
            e,
            (WORD_BITS, Some(FirstSteps { count, each: 1 })),
            one,
            &odd_powers(machine, x, FACTOR_BITS),
        )
    })
}

/// The same by all digits of seven bits that a word has: half as many parts.
pub(super) fn power_by_septets<M: Machine>(machine: &M, exponent: Variable, x: M::Fe) -> M::Fe {
    // A constant would be copied from code.
    let one = machine.element_of(&[machine.small(1)]);
    steps::<_, SEPTET_BITS>(
        machine,
        machine.get(exponent),
        (WORD_BITS, None),
        one,
        &odd_powers(machine, x, FACTOR_BITS),
    )
}

/// x to the power of the exponent in calldata, of which `bits` is the length: four bits in a turn of a loop.
pub(super) fn power_in_turns<M: Machine>(machine: &M, bits: M::Word, x: M::Fe) -> M::Fe {
    const POWERS: u64 = 1 << DIGIT_BITS;
    let w = Words(machine);
    let powers = machine.array("powers", Capacity::Fixed(POWERS as u32)); // it is small
    machine.repeat(machine.small(POWERS), machine.one(), |machine, number, power| {
        machine.store(powers, number, power);
        power * x
    });
    let count = machine.bind(w.high(w.add(bits, w.number(u64::from(DIGIT_BITS - 1))), 2));
    let exponent = Calldata::read(machine).exponent;
    let end = machine.bind(w.add(exponent.at, exponent.bytes));
    machine.repeat(count, machine.one(), |machine, turn, y| {
        let w = Words(machine);
        let place = machine.bind(w.sub(w.sub(count, turn), w.number(1)));
        let digit = digit_of(machine, end, place);
        (0..DIGIT_BITS).fold(y, |y, _| y.square()) * machine.load(powers, digit)
    })
}

/// The digit of four bits that has `place` after it, of the number whose bytes end at `end` in calldata.
pub(super) fn digit_of<M: Machine>(machine: &M, end: M::Word, place: M::Word) -> M::Word {
    let w = Words(machine);
    // The byte of the digit is the last of the word that is read.
    let end = w.sub(end, w.high(place, 1));
    let word = machine.calldata_word(w.sub(end, w.number(32)));
    let bits = w.mul(w.and(place, w.number(1)), w.number(DIGIT_BITS.into()));
    w.and(w.shr(word, bits), w.number((1 << DIGIT_BITS) - 1))
}

/// y ↦ the power by all words of the exponent, for that by the first.
pub(super) fn more_words<M: Machine>(machine: &M, state: State, y: M::Fe, x: M::Fe) -> M::Fe {
    words_after_the_first(machine, state, y, |machine, y| {
        machine.set(state.digits, machine.small(u64::from(WORD_BITS / DIGIT_BITS / DIGITS_EACH)));
        word(machine, state, y, x)
    })
}

/// y ↦ what `each` makes of it with each word of the exponent after the first, which the variable for it holds.
fn words_after_the_first<M: Machine>(
    machine: &M,
    State { exponent, kind, .. }: State,
    y: M::Fe,
    each: impl Fn(&M, M::Fe) -> M::Fe,
) -> M::Fe {
    let w = Words(machine);
    machine.branch(
        w.xor(machine.get(kind), w.number(LAST_WORD_ONLY)),
        |machine| {
            let operand = Calldata::read(machine).exponent;
            let rest = machine.bind(operand.rest(machine));
            machine.repeat(rest, y, |machine, turn, y| {
                machine.set(exponent, operand.nth_last(machine, Words(machine).sub(rest, turn)));
                each(machine, y)
            })
        },
        |_| y,
    )
}

/// x to the power of the whole exponent, bit by bit: a fifth of the code that windows take, for a third more products.
pub(super) fn power_by_bits<M: Machine>(machine: &M, state: State, x: M::Fe) -> M::Fe {
    let w = Words(machine);
    let e = machine.bind(machine.get(state.exponent));
    // 16 bits, or as many as the next of 32, 64, 128 and 256 that is not too few.
    let count = [16, 32, 64, 128].into_iter().fold(w.number(16), |count, bits| {
        let is_longer = machine.not(machine.not(w.high(e, bits)));
        w.add(count, w.mul(is_longer, w.number(bits)))
    });
    let y = bits(machine, state.exponent, machine.bind(count), machine.one(), x);
    words_after_the_first(machine, state, y, |machine, y| bits(machine, state.exponent, machine.small(256), y, x))
}

/// y^(2ⁿ) · xᵉ for the n = `count` lowest bits e of `exponent`.
fn bits<M: Machine>(machine: &M, exponent: Variable, count: M::Word, y: M::Fe, x: M::Fe) -> M::Fe {
    machine.repeat(count, y, |machine, turn, y| {
        let w = Words(machine);
        let left = w.sub(w.sub(count, turn), w.number(1));
        let square = y.square();
        machine.branch(machine.bit(machine.get(exponent), left), |_| square * x, |_| square)
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

/// y ↦ y^(16ⁿ) · xᵉ for the number e in the first n digits of the word that [`State::exponent`] holds, n four times that of [`State::digits`], as a
/// function.
fn word<M: Machine>(machine: &M, State { exponent, digits, .. }: State, y: M::Fe, x: M::Fe) -> M::Fe {
    machine.function("word of exponent", (y, x), |machine, (y, x)| {
        let powers = odd_powers(machine, x, DIGIT_BITS);
        let count = machine.bind(machine.get(digits));
        steps::<_, DIGIT_BITS>(
            machine,
            machine.get(exponent),
            (WORD_BITS, Some(FirstSteps { count, each: DIGITS_EACH as usize })),
            y,
            &powers,
        ) // widens
    })
}

/// xᵉ for e below 16, bit by bit: that is cheaper than to prepare a choice among sixteen.
fn one_digit<M: Machine>(machine: &M, e: M::Word, x: M::Fe) -> M::Fe {
    let bits = |count: u64| {
        move |machine: &M| {
            (0..count).rev().fold(machine.one(), |y, bit| {
                let square = if bit + 1 == count { y } else { y.square() };
                let w = Words(machine);
                machine.branch(
                    w.and(e, w.number(1 << bit)),
                    |_| if bit + 1 == count { x } else { square * x },
                    |_| square,
                )
            })
        }
    };
    machine.branch(Words(machine).high(e, 2), bits(4), bits(2))
}

fn step<W>(word: W, first_bit: u32) -> SequenceStep<W> {
    SequenceStep::chosen(word, first_bit)
}

/// x, x³, x⁵ …, as digits of so many bits need them.
fn odd_powers<M: Machine>(_machine: &M, x: M::Fe, digit_bits: u32) -> Vec<M::Fe> {
    let square = x.square();
    std::iter::successors(Some(x), |&power| Some(power * square)).take(1 << (digit_bits - 1)).collect()
}

/// y^(2ⁿ) · xᵉ for the n = `bits` lowest bits e of `exponent`, n rounded up to whole digits of `DIGIT` bits, or for the `first` of these digits,
/// given [`odd_powers`].
fn steps<M: Machine, const DIGIT: u32>(
    machine: &M,
    exponent: M::Word,
    (bits, first): (u32, Option<FirstSteps<M::Word>>),
    y: M::Fe,
    powers: &[M::Fe],
) -> M::Fe {
    let exponent = machine.bind(exponent);
    let places = places::<DIGIT>();
    let digits = bits.div_ceil(DIGIT);
    let words: Vec<M::Word> = (0..places.iter().map(|place| place.0 + 1).max().unwrap_or(0))
        .map(|word| digits_of_word::<_, DIGIT>(machine, exponent, word, &places))
        .collect();
    let order: Vec<_> = (0..digits)
        .rev()
        .map(|digit| {
            let (word, first_bit) = places[digit as usize]; // widens
            step(words[word], first_bit)
        })
        .collect();
    follow::<_, DIGIT>(machine, (&order, first), y, powers)
}

/// The steps of a sequence, and which of them are done if not all.
type Steps<'a, W> = (&'a [SequenceStep<W>], Option<FirstSteps<W>>);

/// y ↦ y^(2ⁿ) · xᵉ for the n bits of an e whose digits, or the `first` of them, choose the steps, given [`odd_powers`], of which there may be
/// fewer than for whole digits.
fn follow<M: Machine, const DIGIT: u32>(
    machine: &M,
    (order, first): Steps<'_, M::Word>,
    y: M::Fe,
    powers: &[M::Fe],
) -> M::Fe {
    let factor_bits = powers.len().ilog2() + 1;
    machine.sequence_of_first(first, order, &vec![None; 1 << DIGIT], y, |_, digit, mut y| {
        let mut left = DIGIT;
        while left > 0 {
            let bits = digit & ((1 << left) - 1);
            if bits >> (left - 1) == 0 {
                y = y.square();
                left -= 1;
                continue;
            }
            // The longest run of bits that begins and ends with a 1 and has a factor.
            let below = left.saturating_sub(factor_bits);
            let last = below + (bits >> below).trailing_zeros();
            y = (last..left).fold(y, |y, _| y.square()) * powers[bits >> last >> 1];
            left = last;
        }
        y
    })
}

/// y ↦ y^(2ⁿ) · xᵉ for the n bits of e, as many as `bits`, or for the `first` of its digits, given [`odd_powers`]: these have room in one word and are
/// moved apart by halves.
fn spread_windows<M: Machine>(
    machine: &M,
    e: M::Word,
    (bits, first): (u32, Option<FirstSteps<M::Word>>),
    y: M::Fe,
    powers: &[M::Fe],
) -> M::Fe {
    let cell = SequenceStep::<U256>::CELLS.bits;
    let digits = bits / DIGIT_BITS;
    let halves = std::iter::successors(Some(digits / 2), |half| Some(half / 2)).take_while(|&half| half > 0);
    let w = Words(machine);
    let word = halves.fold(machine.bind(e), |word, half| {
        let groups =
            (0..digits / half).map(|group| ((U256::ONE << (half * DIGIT_BITS)) - U256::ONE) << (group * half * cell));
        let mask = groups.fold(U256::ZERO, |mask, group| mask | group);
        let moved = w.shl(word, w.number(u64::from(half * (cell - DIGIT_BITS))));
        machine.bind(w.and(w.or(word, moved), machine.word(mask)))
    });
    let order: Vec<_> = (0..digits).rev().map(|digit| step(word, digit * cell)).collect();
    follow::<_, DIGIT_BITS>(machine, (&order, first), y, powers)
}

/// Place of each digit of a word: the index of the word, and its first bit there. Digits that are moved alike are in
/// the same word.
fn places<const DIGIT: u32>() -> Vec<(usize, u32)> {
    let cell = SequenceStep::<U256>::CELLS.bits;
    let digits = WORD_BITS.div_ceil(DIGIT);
    if cell.is_multiple_of(DIGIT) {
        let in_cell = cell / DIGIT;
        return (0..digits).map(|digit| ((digit % in_cell) as usize, digit / in_cell * cell)).collect(); // widens
    }
    match DIGIT {
        // Eight have 56 bits, seven bytes: two or three cells of each word. Words with the same cells are read first one after the other.
        SEPTET_BITS => {
            const PLACES: [(usize, u32); 8] = [(1, 16), (2, 16), (1, 0), (2, 0), (0, 0), (1, 32), (2, 32), (0, 16)];
            let place = |digit: u32| (PLACES[(digit % 8) as usize], digit / 8 * 56); // widens
            (0..digits).map(place).map(|((word, bit), before)| (word, before + bit)).collect()
        }
        // Of six bits, eight fill three cells: three words have three of eight each, and the first digits of the exponent where room is left.
        LONG_DIGIT_BITS => (0..digits)
            .map(|digit| match digit {
                40.. => ((digit - 40) as usize, WORD_BITS - cell), // widens
                _ => ((digit % 8 / 3) as usize, (digit / 8 * 3 + digit % 8 % 3) * cell), // widens
            })
            .collect(),
        _ => unreachable!("digits of {DIGIT} bits have no places"),
    }
}

/// The digits of `exponent` that stand in word `word`, by how far they are moved.
fn digits_of_word<M: Machine, const DIGIT: u32>(
    machine: &M,
    exponent: M::Word,
    word: usize,
    places: &[(usize, u32)],
) -> M::Word {
    let mut masks: BTreeMap<i64, U256> = BTreeMap::new();
    for (digit, &(_, first_bit)) in (0i64..).zip(places).filter(|(_, place)| place.0 == word) {
        let mask = U256::from((1u64 << DIGIT) - 1) << first_bit as usize; // widens
        *masks.entry(i64::from(first_bit) - digit * i64::from(DIGIT)).or_default() |= mask;
    }
    let w = Words(machine);
    let terms = masks.into_iter().map(|(by, mask)| {
        let bits = by.unsigned_abs();
        let moved = match by {
            0 => exponent,
            1.. => w.shl(exponent, w.number(bits)),
            _ => w.high(exponent, bits),
        };
        w.and(moved, machine.word(mask))
    });
    terms.reduce(|sum, term| w.or(sum, term)).unwrap_or_else(|| w.number(0))
}
