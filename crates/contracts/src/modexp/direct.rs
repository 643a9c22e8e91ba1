//! Odd moduli of more than three words, on interfaces whose own moduli may be as wide: the field of a subprogram.

use super::State;
use super::calldata::{Calldata, Operand};
use super::power::{F4, long_base, more_words, power, power_by_bits};
use crate::words::Words;
use residue_curves::chain::pow_constant;
use residue_ir::{Feature, Machine, Variable};

/// The widest modulus of those interfaces in 64-bit limbs.
pub(super) const LIMBS_MAX: u32 = 64;

/// A range of widths that has a subprogram.
struct Width {
    name: &'static str,
    /// Words of the widest modulus.
    words: u64,
}

impl Width {
    /// Words that are below every modulus of more bits than the range before has.
    const fn chunk_words(&self) -> u64 {
        self.words / 2
    }
}

/// By width. What operations cost depends on the width that the modulus is declared with.
const WIDTHS: [Width; 4] = [
    Width { name: "odd modulus of 1024 bits", words: 4 },
    Width { name: "odd modulus of 2048 bits", words: 8 },
    Width { name: "odd modulus of 3072 bits", words: 12 },
    Width { name: "odd modulus of 4096 bits", words: 16 },
];

/// Names of the subprograms for what RSA asks, in the order of [`WIDTHS`].
const USUAL: [&str; 4] = ["RSA of 1024 bits", "RSA of 2048 bits", "RSA of 3072 bits", "RSA of 4096 bits"];

/// Returns the power by 65537 for an odd modulus whose highest bit is 1 and a base of the same length, whose first word is below the
/// modulus', if their length is one of [`WIDTHS`].
pub(super) fn usual<M: Machine>(machine: &M, calldata: Calldata<M::Word>) {
    let w = Words(machine);
    let Calldata { base, exponent, modulus } = calldata;
    let is_other = w.or(w.xor(base.bytes, modulus.bytes), w.xor(exponent.bytes, w.number(3)));
    machine.branch(
        is_other,
        |_| (),
        |machine| {
            let w = Words(machine);
            let [e, first] = [machine.calldata_word(exponent.at), machine.calldata_word(modulus.at)];
            let last = machine.calldata_word(w.sub(w.add(modulus.at, modulus.bytes), w.number(32)));
            let is_whole = w.and(w.is_equal(w.high(e, 232), w.number(F4)), w.and(w.high(first, 255), last));
            machine.branch(
                w.and(is_whole, w.is_below(machine.calldata_word(base.at), first)),
                |machine| {
                    for (name, width) in USUAL.into_iter().zip(&WIDTHS) {
                        machine.branch(
                            Words(machine).is_equal(modulus.bytes, machine.small(32 * width.words)),
                            |machine| usual_of(machine, name, width),
                            |_| (),
                        );
                    }
                },
                |_| (),
            );
        },
    );
}

/// The same for one width.
fn usual_of<M: Machine>(machine: &M, name: &'static str, width: &Width) {
    let limbs = u32::try_from(4 * width.words).expect("there are few");
    let bytes = 32 * width.words;
    let words = |machine: &M, first: u64| -> Vec<M::Word> {
        (0..width.words).map(|word| machine.calldata_word(machine.small(first + 32 * word))).collect()
    };
    machine.over_given(name, limbs, &words(machine, 96 + bytes + 3), |machine| {
        let x = machine.element_of(&words(machine, 96));
        machine.return_elements(pow_constant(x, &F4.into()), u32::try_from(bytes).expect("it is short"));
    });
}

/// Returns the result for an odd modulus of 769 to 4096 bits, as many as `bits` says.
pub(super) fn text<M: Machine>(machine: &M, state: State, bits: Variable) {
    let w = Words(machine);
    let modulus = Calldata::read(machine).modulus;
    let is_odd = w.and(modulus.nth_last(machine, w.number(1)), w.number(1));
    let fits = w.is_below(machine.get(bits), w.number(u64::from(64 * LIMBS_MAX + 1)));
    machine.branch(w.and(is_odd, fits), |machine| of_width(machine, state, bits, &WIDTHS), |_| ());
}

fn of_width<M: Machine>(machine: &M, state: State, bits: Variable, widths: &'static [Width]) {
    let [width, wider @ ..] = widths else { return };
    if wider.is_empty() {
        return enter(machine, state, width);
    }
    machine.branch(
        Words(machine).is_below(machine.small(256 * width.words), machine.get(bits)),
        |machine| of_width(machine, state, bits, wider),
        |machine| enter(machine, state, width),
    );
}

fn enter<M: Machine>(machine: &M, state: State, width: &'static Width) {
    let limbs = u32::try_from(4 * width.words).expect("there are few");
    let modulus = Calldata::read(machine).modulus;
    either(machine, modulus, width.words, |machine, word| {
        let words: Vec<M::Word> = (0..width.words).rev().map(|number| word(machine, machine.small(number))).collect();
        machine.over_given(width.name, limbs, &words, |machine| {
            let x = base(machine, width);
            let w = Words(machine);
            let exponent = Calldata::read(machine).exponent;
            let last = w.xor(machine.get(state.exponent), w.number(F4));
            machine.branch(
                w.or(last, w.is_below(w.number(32), exponent.bytes)),
                |machine| {
                    // Where even moduli have code of their own, no room is left for windows, whose addresses have to be low.
                    machine.branch(
                        machine.has(Feature::PowersOfTwo),
                        |machine| result(machine, power_by_bits(machine, state, x), width),
                        |machine| {
                            let y = power(machine, state, x);
                            result(machine, more_words(machine, state, y, x), width);
                        },
                    );
                },
                |machine| result(machine, pow_constant(x, &F4.into()), width),
            );
        });
    });
}

fn result<M: Machine>(machine: &M, y: M::Fe, width: &Width) {
    let element_bytes = u32::try_from(32 * width.words).expect("there are few");
    machine.return_last(y, element_bytes, Calldata::read(machine).modulus.bytes, 1024);
}

/// Does `text` with the words of an operand, the lowest first: as they stand in calldata, if it has just so many, or with zeros above it.
fn either<M: Machine>(
    machine: &M,
    operand: Operand<M::Word>,
    words: u64,
    text: impl Fn(&M, &dyn Fn(&M, M::Word) -> M::Word),
) {
    let w = Words(machine);
    machine.branch(
        w.xor(operand.bytes, w.number(32 * words)),
        |machine| text(machine, &|machine, number| operand.word_at(machine, number)),
        |machine| text(machine, &whole_words(machine, operand)),
    );
}

/// The words of an operand that has whole ones, the lowest first.
fn whole_words<M: Machine>(machine: &M, operand: Operand<M::Word>) -> impl Fn(&M, M::Word) -> M::Word {
    let w = Words(machine);
    let last = machine.bind(w.sub(w.add(operand.at, operand.bytes), w.number(32)));
    move |machine, number| {
        let w = Words(machine);
        machine.calldata_word(w.sub(last, w.mul(number, w.number(32))))
    }
}

/// The base modulo the modulus, by Horner: in chunks of words that are below it, or word by word.
fn base<M: Machine>(machine: &M, width: &Width) -> M::Fe {
    let w = Words(machine);
    let operand = Calldata::read(machine).base;
    let chunk_bytes = w.number(32 * width.chunk_words());
    machine.branch(
        w.or(w.modulo(operand.bytes, chunk_bytes), machine.not(operand.bytes)),
        |machine| {
            let two_256 = machine.element_of(&[machine.small(1), machine.small(0)]);
            long_base(machine, two_256, |machine, word| machine.element_of(&[word]))
        },
        |machine| by_chunks(machine, width, operand),
    )
}

/// The same of a number that has whole chunks, at least one.
fn by_chunks<M: Machine>(machine: &M, width: &Width, operand: Operand<M::Word>) -> M::Fe {
    let word = whole_words(machine, operand);
    let chunk = |machine: &M, number: M::Word| {
        let w = Words(machine);
        let first = machine.bind(w.mul(number, w.number(width.chunk_words())));
        let places = (0..width.chunk_words()).rev();
        let words: Vec<M::Word> = places.map(|place| word(machine, w.add(first, w.number(place)))).collect();
        machine.element_of(&words)
    };
    let w = Words(machine);
    let chunk_bytes = w.number(32 * width.chunk_words());
    let rest = machine.bind(w.div(w.sub(operand.bytes, w.number(1)), chunk_bytes));
    let highest = chunk(machine, rest);
    machine.branch(
        rest,
        |machine| {
            let mut radix = vec![machine.small(1)];
            radix.extend((0..width.chunk_words()).map(|_| machine.small(0)));
            let radix = machine.element_of(&radix);
            machine.repeat(rest, highest, |machine, turn, sum| {
                let w = Words(machine);
                sum * radix + chunk(machine, w.sub(w.sub(rest, turn), w.number(1)))
            })
        },
        |_| highest,
    )
}
