//! Products of a power: steps of some squares and a product each, derived from the exponent.
//!
//! Short exponents, below 2³², take a product for each bit that is 1; others go in digits of four bits, with a table of powers, whose own
//! products are steps before. The last step of all multiplies by 2ˢ.

use super::reduction::Products;
use super::{bit_length, word_bits};
use crate::modexp::calldata::Calldata;
use crate::modexp::expressions::Expressions;
use crate::modexp::power::digit_of;
use crate::words::Words;
use residue_ir::{Feature, Machine, Variable};

/// Bits of a digit.
const DIGIT_BITS: u64 = 4;
/// Bits of a short exponent.
const SHORT_BITS: u64 = 32;
/// Powers that digits choose from, 1 not counted.
const POWERS: u64 = 15;
/// The most numbers after the first N: powers and 2ˢ.
pub(super) const NUMBERS: usize = POWERS as usize + 1;
/// Addresses of a step's number and of the number of limbs, in short code.
const STEP: u64 = 0;
const FIRST: u64 = 32;

/// The state of the steps. Numbers are in an array: from N on the powers of the base, then 2ˢ.
#[derive(Clone, Copy)]
pub(super) struct Steps {
    /// Products that make the table: 0 for short exponents.
    pub mode: Variable,
    /// Steps that take the exponent.
    pub count: Variable,
    /// Rest of a short exponent.
    pub exponent: Variable,
    /// Bits or digits that are left.
    pub place: Variable,
    /// Squares of a step.
    pub squares: Variable,
    /// The number that a step begins with; 0 is what there is.
    pub from: Variable,
    /// The number that it multiplies by; 0 is none.
    pub factor: Variable,
    /// The place that its result is put to; 0 is none.
    pub to: Variable,
    /// The last number: 2ˢ.
    pub last: Variable,
}

impl Steps {
    /// Reads the exponent's length.
    pub(super) fn prepare<M: Machine>(self, machine: &M) {
        let exponent = Calldata::read(machine).exponent;
        bit_length(machine, exponent, self.place, [self.squares, self.from]);
        let w = Words(machine);
        machine.branch(
            w.is_below(w.number(SHORT_BITS), machine.get(self.place)),
            |machine| {
                let w = Words(machine);
                let digits = w.high(w.add(machine.get(self.place), w.number(DIGIT_BITS - 1)), 2);
                machine.set(self.mode, w.number(POWERS - 1));
                machine.set(self.count, digits);
                machine.set(self.place, machine.get(self.count));
            },
            |machine| {
                let w = Words(machine);
                let exponent = machine.bind(exponent.word(machine, 0));
                machine.set(self.mode, w.number(0));
                machine.set(self.count, ones(machine, exponent));
                // Without its highest bit.
                let is_any = w.is_below(w.number(0), exponent);
                let place = machine.bind(w.sub(machine.get(self.place), is_any));
                machine.set(self.exponent, w.sub(exponent, w.shl(is_any, place)));
                machine.set(self.place, place);
            },
        );
    }

    /// Says which number is the last one.
    pub(super) fn begin<M: Machine, const N: usize>(self, machine: &M) {
        let w = Words(machine);
        let more = w.mul(w.is_below(w.number(0), machine.get(self.mode)), w.number(POWERS - 1));
        machine.set(self.last, w.add(more, w.number(N as u64 + 1))); // usize to u64 widens
    }

    /// The power of `base`, times 2ˢ.
    pub(super) fn power<M: Machine, const N: usize>(
        self,
        machine: &M,
        products: &impl Products<M, N>,
        base: [M::Fe; N],
    ) -> [M::Fe; N] {
        let w = Words(machine);
        let first = machine.branch(
            w.add(machine.get(self.mode), machine.get(self.count)),
            |_| base,
            |machine| std::array::from_fn(|place| if place == 0 { machine.one() } else { machine.zero() }),
        );
        let steps = machine.bind(w.add(w.add(machine.get(self.mode), machine.get(self.count)), w.number(1)));
        machine.repeat(steps, first, |machine, step, power| {
            self.next::<M, N>(machine, step);
            let power = machine.branch(
                machine.get(self.from),
                |machine| machine.load(products.numbers(), machine.get(self.from)),
                |_| power,
            );
            let squares = machine.bind(machine.get(self.squares));
            let factor = |machine: &M| machine.load(products.numbers(), machine.get(self.factor));
            let power = machine.branch(
                machine.has(Feature::ShortCode),
                |machine| {
                    let has_factor = machine.not(machine.not(machine.get(self.factor)));
                    let count = machine.bind(Words(machine).add(squares, has_factor));
                    machine.repeat(count, power, |machine, turn, power| {
                        let is_square = Words(machine).is_below(turn, squares);
                        products.square_or_product(machine, is_square, power, factor)
                    })
                },
                |machine| {
                    let power = machine.repeat(squares, power, |machine, _, power| products.square(machine, power));
                    machine.branch(
                        machine.get(self.factor),
                        |machine| products.product(machine, power, factor(machine)),
                        |_| power,
                    )
                },
            );
            machine.branch(
                machine.get(self.to),
                |machine| machine.store(products.numbers(), machine.get(self.to), power),
                |_| (),
            );
            power
        })
    }

    /// Says what step `step` does. Short code has this once for all numbers of limbs.
    fn next<M: Machine, const N: usize>(self, machine: &M, step: M::Word) {
        let first = machine.small(N as u64); // usize to u64 widens
        machine.branch(
            machine.has(Feature::ShortCode),
            |machine| {
                machine.put(STEP, step);
                machine.put(FIRST, first);
                machine.function("next step", (), |machine, ()| {
                    let [step, first] = [STEP, FIRST].map(|cell| machine.bind(machine.at(cell)));
                    self.choose(machine, step, first);
                });
            },
            |machine| self.choose(machine, step, first),
        );
    }

    /// The same, where `first` is the number of the base.
    fn choose<M: Machine>(self, machine: &M, step: M::Word, first: M::Word) {
        let w = Words(machine);
        machine.set(self.from, w.number(0));
        machine.set(self.squares, w.number(0));
        machine.set(self.to, w.number(0));
        let table = machine.get(self.mode);
        let exponent_end = machine.get(self.count);
        let after_table = machine.bind(w.sub(step, table));
        machine.branch(
            w.is_below(step, table),
            |machine| {
                let w = Words(machine);
                machine.set(self.factor, first);
                machine.set(self.to, w.add(step, w.add(first, w.number(1))));
            },
            |machine| {
                machine.branch(
                    Words(machine).is_below(after_table, exponent_end),
                    |machine| {
                        machine.branch(
                            machine.get(self.mode),
                            |machine| self.digit(machine, first, after_table),
                            |machine| self.bit(machine, first),
                        );
                    },
                    |machine| machine.set(self.factor, machine.get(self.last)),
                );
            },
        );
    }

    /// The next digit.
    fn digit<M: Machine>(self, machine: &M, first: M::Word, number: M::Word) {
        let w = Words(machine);
        let place = machine.bind(w.sub(machine.get(self.place), w.number(1)));
        machine.set(self.place, place);
        let exponent = Calldata::read(machine).exponent;
        let digit = machine.bind(digit_of(machine, w.add(exponent.at, exponent.bytes), place));
        let power = machine.bind(w.mul(w.is_below(w.number(0), digit), w.add(digit, w.sub(first, w.number(1)))));
        machine.branch(
            number,
            |machine| {
                machine.set(self.squares, Words(machine).number(DIGIT_BITS));
                machine.set(self.factor, power);
            },
            |machine| {
                machine.set(self.from, power);
                machine.set(self.factor, Words(machine).number(0));
            },
        );
    }

    /// The next bit that is 1, or the zeros after the last one.
    fn bit<M: Machine>(self, machine: &M, first: M::Word) {
        let w = Words(machine);
        let left = machine.bind(machine.get(self.exponent));
        word_bits(machine, left, SHORT_BITS / 2, self.factor, self.squares);
        let is_any = machine.bind(w.is_below(w.number(0), left));
        let next = machine.bind(w.sub(machine.get(self.factor), is_any));
        machine.set(self.squares, w.sub(machine.get(self.place), next));
        machine.set(self.factor, w.mul(is_any, first));
        machine.set(self.place, next);
        machine.set(self.exponent, w.sub(left, w.shl(is_any, next)));
    }
}

/// Number of ones among the bits of a word below 2³².
fn ones<M: Machine>(machine: &M, word: M::Word) -> M::Word {
    let w = Words(machine);
    let pairs = [(1, 0x5555_5555u64), (2, 0x3333_3333), (4, 0x0f0f_0f0f), (8, 0x00ff_00ff), (16, 0x0000_ffff)];
    pairs.into_iter().fold(word, |word, (bits, mask)| {
        let (word, mask) = (machine.bind(word), w.number(mask));
        w.add(w.and(word, mask), w.and(w.high(word, bits), mask))
    })
}
