//! u·B + v·P along the digits of both scalars together, to the base 8: code for 64 parts, each with three doublings and at most one addition.
//!
//! A digit is (i, j), i of v and j of u, both from −4 to 3, and stands for i·P + j·B. If 2 or 4 divides both, a half or a quarter of that is added before
//! the last doublings, so multiples are kept of pairs that are not both even: with opposites, of 28 of them.

use super::{Addend, Extended, addend, base_multiples, double, extended, identity, twice_d};
use crate::group::{Affine, Projective};
use residue_formula::Fe;
use residue_formula::scope::enter;
use residue_ir::{Machine, SequenceStep, WordOp};
use ruint::aliases::U256;

/// Bits of a digit of one scalar, and doublings from one place to the next.
const BITS: u32 = 3;
/// Places of digits: scalars have 253 bits, and their highest digit is 0 or 1.
const PLACES: u32 = 85;
/// Offset of i and of j.
const OFFSET: i64 = 4;
/// Digits: the number of one is i + 4 + 8·(j + 4).
const DIGITS: usize = 1 << (2 * BITS);

/// i and j of a digit by its number.
fn pair_of(digit: usize) -> [i64; 2] {
    [digit % 8, digit / 8].map(|part| part as i64 - OFFSET) // both are below 8
}

/// i·P + j·B for pairs that are not both even, as right operands.
struct Multiples<F> {
    /// By i from 0 to 4, the point of j = 0 and pairs with j and −j.
    of: [OfPoint<F>; 5],
}

/// i·P + j·B for one i.
struct OfPoint<F> {
    alone: Option<Addend<F>>,
    /// For j from 1 on, that with j and that with −j. For i = 0 both are that with j: opposites are taken of it, and the second is not read.
    pairs: [Option<[Addend<F>; 2]>; 4],
}

impl<F: Fe> Multiples<F> {
    fn new(of_base: &[Addend<F>], point: Extended<F>, once: Addend<F>, twice_d: F) -> Self {
        let _scope = enter("multiple_table");
        let second = double(point.projective()).extended();
        let third = second.add(once, false).extended();
        let fourth = double(second.projective()).extended();
        let of = |i: usize, alone: Option<Addend<F>>, multiple: Extended<F>| {
            let is_kept = |j: usize| i % 2 == 1 || j % 2 == 1;
            let pair = |j: usize| multiple.with_both(of_base[j - 1], twice_d);
            OfPoint { alone, pairs: [1, 2, 3, 4].map(|j| is_kept(j).then(|| pair(j))) }
        };
        let of_base = OfPoint { alone: None, pairs: [1, 2, 3, 4].map(|j| (j % 2 == 1).then(|| [of_base[j - 1]; 2])) };
        Self {
            of: [
                of_base,
                of(1, Some(once), point),
                of(2, None, second),
                of(3, Some(third.addend(twice_d)), third),
                of(4, None, fourth),
            ],
        }
    }

    /// The sum with i·P + j·B, not both even.
    fn add(&self, sum: Extended<F>, [i, j]: [i64; 2]) -> super::Factors<F> {
        let is_negated = i < 0 || (i == 0 && j < 0);
        let j = if is_negated { -j } else { j };
        let of = &self.of[usize::try_from(i.unsigned_abs()).expect("it is at most 4")];
        let addend = match usize::try_from(j.unsigned_abs()).expect("it is at most 4") {
            0 => of.alone,
            above => of.pairs[above - 1].map(|[plus, minus]| if j < 0 { minus } else { plus }),
        };
        sum.add(addend.expect("not both are even"), is_negated)
    }
}

impl<F: Fe> Extended<F> {
    /// (P, Q) ↦ P + Q and P − Q as right operands, given 2d, for an affine Q. They have C and D in common, and so Z.
    fn with_both(self, other: Addend<F>, twice_d: F) -> [Addend<F>; 2] {
        let (plus, minus) = (self.add(other, false), self.add(other, true));
        let z = plus.f * plus.g;
        let twice_z = z + z;
        [plus, minus].map(|factors| {
            let (x, y, t) = (factors.e * factors.f, factors.g * factors.h, factors.e * factors.h);
            Addend { minus: y - x, plus: y + x, t: t * twice_d, z: Some(twice_z) }
        })
    }
}

/// (u, v, P) ↦ u·B + v·P for scalars below 2²⁵³ and a point of the curve.
pub(super) fn sum<M: Machine>(machine: &M, u: M::Word, v: M::Word, point: Affine<M::Fe>) -> Projective<M::Fe> {
    let of_base = base_multiples(machine, 4);
    let multiples = Multiples::new(&of_base, extended(machine, point), addend(machine, point), twice_d(machine));
    let digits = digits(machine, u, v);
    let order: Vec<_> = (0..PLACES).rev().map(|at| step(&digits, at)).collect();
    let start = identity(machine).projective();
    machine.sequence_of(&order, &[None; DIGITS], start, |_, digit, sum| {
        let doubled = |sum: Projective<M::Fe>, count: u32| (0..count).fold(sum, |sum, _| double(sum).projective());
        let parts = pair_of(digit);
        let after = parts.map(i64::trailing_zeros).into_iter().min().expect("there are two");
        if parts == [0, 0] {
            return doubled(sum, BITS);
        }
        let before = double(doubled(sum, BITS - after - 1)).extended();
        doubled(multiples.add(before, parts.map(|part| part >> after)).projective(), after)
    })
}

/// Bits of a digit's number.
const NUMBER_BITS: u32 = 2 * BITS;
/// Bits from one digit to the next in a word: four digits.
const CELL_BITS: u32 = 4 * NUMBER_BITS;

/// The words that choose parts by the digits of v and u: four have those at even places in turns, four those at odd ones.
fn digits<M: Machine>(machine: &M, u: M::Word, v: M::Word) -> [M::Word; 8] {
    let op = |op, a, b| machine.word_op(op, a, b);
    let sum_at = |places: &mut dyn Iterator<Item = u32>, value: u64| {
        places.fold(U256::ZERO, |sum, at| sum | U256::from(value) << (BITS * at) as usize) // widens
    };
    let offsets = machine.word(sum_at(&mut (0..PLACES), OFFSET.unsigned_abs()));
    let [u, v] = [u, v].map(|scalar| machine.bind(op(WordOp::Add, scalar, offsets)));
    // u's digit at the last place would be shifted out of the word beside v's.
    let last = machine.small((BITS * (PLACES - 1)).into());
    let last =
        op(WordOp::Or, op(WordOp::Shl, op(WordOp::Shr, u, last), machine.small(BITS.into())), op(WordOp::Shr, v, last));
    let (last_word, last_cell) = cell(PLACES - 1);
    let last = op(WordOp::Shl, last, machine.small(last_cell.into()));
    let lower = sum_at(&mut (0..PLACES - 1).step_by(2), 7);
    let both = |lower_part, upper_part| {
        let (lower_part, upper_part) = (
            op(WordOp::And, lower_part, machine.word(lower)),
            op(WordOp::And, upper_part, machine.word(lower << BITS as usize)),
        ); // widens
        machine.bind(op(WordOp::Or, lower_part, upper_part))
    };
    let width = machine.small(BITS.into());
    let pairs = [both(v, op(WordOp::Shl, u, width)), both(op(WordOp::Shr, v, width), u)];
    let mask = machine.word(SequenceStep::<M::Word>::CELLS.each_at(CELL_BITS, DIGITS as u64 - 1)); // usize to u64 widens
    std::array::from_fn(|number| {
        let shifted = match number % 4 {
            0 => pairs[number / 4],
            place => op(WordOp::Shr, pairs[number / 4], machine.small(place as u64 * u64::from(NUMBER_BITS))), // usize to u64 widens
        };
        let digits = op(WordOp::And, shifted, mask);
        machine.bind(if number == last_word { op(WordOp::Or, digits, last) } else { digits })
    })
}

/// Index of the word with the digit at place `at`, and the digit's first bit there.
const fn cell(at: u32) -> (usize, u32) {
    let pair = at / 2;
    ((at % 2 * 4 + pair % 4) as usize, pair / 4 * CELL_BITS) // u32 to usize widens
}

fn step<W: Copy>(digits: &[W; 8], at: u32) -> SequenceStep<W> {
    let (word, first_bit) = cell(at);
    SequenceStep::chosen(digits[word], first_bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_its_cell() {
        let cells: std::collections::BTreeSet<_> = (0..PLACES).map(cell).collect();
        assert_eq!(cells.len(), PLACES as usize);
        assert!(cells.iter().all(|(word, first_bit)| *word < 8 && *first_bit <= 240));
    }

    #[test]
    fn digits_are_every_pair_modulo_eight() {
        let residues: std::collections::BTreeSet<_> =
            (0..DIGITS).map(|digit| pair_of(digit).map(|part| part.rem_euclid(8))).collect();
        assert_eq!(residues.len(), DIGITS);
    }
}
