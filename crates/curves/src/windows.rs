//! Sums of multiples of points by complete formulas: Σ kᵢ·Pᵢ for scalars and points at run time, for any group.
//!
//! Scalars go in digits from −8 to 7 to the base 16. Doublings serve all points, and words choose the addition of each digit (Straus 1964). Formulas are complete, so
//! any points may meet, and the identity is one of them.

use residue_formula::Fe;
use residue_formula::scope::enter;
use residue_ir::{Bundle, Machine, SequenceStep, WordOp};
use ruint::aliases::U256;

/// A group with formulas that hold for all its points.
pub trait Group<F: Fe> {
    /// A point.
    type Point: Copy + Bundle<F>;

    /// (P, Q) ↦ P + Q.
    fn add(&self, first: Self::Point, second: Self::Point) -> Self::Point;

    /// P ↦ 2P.
    fn double(&self, point: Self::Point) -> Self::Point;

    /// P ↦ −P.
    fn negated(&self, point: Self::Point) -> Self::Point;
}

/// Places of digits of scalars of 256 bits.
pub const PLACES: usize = 64;
/// Digits, each with 8 added.
const DIGITS: usize = 16;
const ZERO_DIGIT: usize = 8;
/// Multiples of each point.
const MULTIPLES: usize = ZERO_DIGIT;
/// Points whose digits choose among the parts of one sequence.
pub const POINTS_MAX: usize = 4;
/// Scalars must be below this times 2²⁴⁰: their digits are read with 8 added to each.
pub const SCALAR_LIMIT: u32 = 0x7777;

/// The words that choose parts by the digits of a scalar, as [`sum`] takes it, whose parts begin with number `first`.
pub(crate) fn digits<M: Machine>(machine: &M, scalar: M::Word, first: usize) -> [M::Word; 4] {
    let keep = |word| machine.bind(word);
    digits_of(machine, PLACES, scalar, first, keep).map(keep)
}

/// The same for so many places, not kept; `keep` keeps what all of them are made of.
fn digits_of<M: Machine>(
    machine: &M,
    places: usize,
    scalar: M::Word,
    first: usize,
    keep: impl Fn(M::Word) -> M::Word,
) -> [M::Word; 4] {
    let op = |op, a, b| machine.word_op(op, a, b);
    let eights = (0..places).fold(U256::ZERO, |sum, _| sum << 4usize | U256::from(ZERO_DIGIT as u64)); // usize to u64 widens
    let moved = keep(op(WordOp::Add, scalar, machine.word(eights)));
    let mask = machine.word(SequenceStep::<M::Word>::CELLS.each(0xf));
    let after = machine.word(SequenceStep::<M::Word>::CELLS.each(first as u64)); // the same
    [0, 4, 8, 12].map(|bits| {
        let shifted = if bits == 0 { moved } else { op(WordOp::Shr, moved, machine.small(bits)) };
        let cells = op(WordOp::And, shifted, mask);
        if first == 0 { cells } else { op(WordOp::Or, cells, after) }
    })
}

/// Σ kᵢ·Pᵢ for scalars that so many digits reach: with [`PLACES`] of them those below [`SCALAR_LIMIT`]·2²⁴⁰, with `places` all from −8/15·16ᵖ to 7/15·16ᵖ, where
/// negative ones are words modulo 2²⁵⁶.
pub fn sum<M: Machine, G: Group<M::Fe>, const N: usize>(
    machine: &M,
    group: &G,
    identity: G::Point,
    places: usize,
    products: [(M::Word, G::Point); N],
) -> G::Point {
    const { assert!(N <= POINTS_MAX, "a sequence has 64 parts that words may choose") };
    let multiples = products.map(|(_, point)| {
        machine.function("multiples", point, |_, point| {
            let _scope = enter("multiples");
            let mut all = [point; MULTIPLES];
            for at in 1..MULTIPLES {
                all[at] = if at % 2 == 1 { group.double(all[at / 2]) } else { group.add(all[at - 1], point) };
            }
            all
        })
    });
    let mut first = 0;
    let op = |op, a, b| machine.word_op(op, a, b);
    let (is_half, half_bits) = (places <= PLACES / 2, machine.small(128));
    // The stack has room for those of two scalars.
    let keep = |word| match N {
        0..=2 => machine.bind(word),
        _ => machine.get(machine.variable("digits", word)),
    };
    let words = products.map(|(scalar, _)| {
        let words = digits_of(machine, places, scalar, first, keep);
        first += DIGITS;
        // Digits of half the places fill the lower halves of four words, and so two words.
        match is_half {
            true => [0, 1]
                .map(|number| keep(op(WordOp::Or, words[number], op(WordOp::Shl, words[number + 2], half_bits))))
                .to_vec(),
            false => words.map(keep).to_vec(),
        }
    });
    let doublings = N * DIGITS;
    let mut order = Vec::new();
    for at in (0..places).rev() {
        let (word, half) = if is_half { (at % 2, at % 4 / 2) } else { (at % 4, 0) };
        let first_bit = u32::try_from(at / 4 * 16 + 128 * half).expect("a word has 256 bits");
        order.extend(words.iter().map(|words| SequenceStep::chosen(words[word], first_bit)));
        if at > 0 {
            order.push(SequenceStep::Part(doublings));
        }
    }
    machine.sequence_of(&order, &vec![None; doublings + 1], identity, |_, part, sum| {
        if part == doublings {
            return (0..4).fold(sum, |sum, _| group.double(sum));
        }
        match part % DIGITS {
            ZERO_DIGIT => sum,
            above if above > ZERO_DIGIT => group.add(sum, multiples[part / DIGITS][above - ZERO_DIGIT - 1]),
            below => group.add(sum, group.negated(multiples[part / DIGITS][ZERO_DIGIT - below - 1])),
        }
    })
}
