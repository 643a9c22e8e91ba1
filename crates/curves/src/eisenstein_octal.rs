//! Digits of Z[ω] to the base 8, as [`crate::eisenstein`] has them to the base 4.
//!
//! A digit is a + b·ω with b from −4 to 3 and, for b = n − 4, eight numbers a from ⌈n/2⌉ − 6 on: 64 numbers about a rectangle in the plane of
//! complex numbers. They are units times one of fifteen. (Where a does not follow b they are units times nineteen.) As shifts of rows are the same
//! at every place, all digits of a number are found at once.

use crate::fixed_base::Sums;
use crate::group::{Affine, Jacobian};
use crate::one_denominator::{self, Sum};
use residue_formula::scope::enter;
use residue_formula::{Fe, Number};
use residue_ir::{Machine, SequenceStep, WordOp};
use ruint::aliases::U256;
use std::sync::LazyLock;

/// Number of digits: a digit's number is m + 8·n for a = m − 6 + ⌈n/2⌉ and b = n − 4.
pub const DIGITS: usize = 64;
/// Places of digits.
pub const PLACES: u32 = 43;
/// Doublings from one place to the next.
pub const DOUBLINGS: u32 = 3;

/// Offsets of m and n: m = a − ⌈n/2⌉ + 6, n = b + 4.
const A_OFFSET: i64 = 6;
const B_OFFSET: i64 = 4;

/// A unit: ωᵗ, or the opposite of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unit {
    turn: usize,
    is_negated: bool,
}

const PLUS: Unit = Unit { turn: 0, is_negated: false };
const MINUS: Unit = Unit { turn: 0, is_negated: true };
const OMEGA: Unit = Unit { turn: 1, is_negated: false };
/// ζ = 1 + ω = −ω².
const ZETA: Unit = Unit { turn: 2, is_negated: true };
const MINUS_ZETA: Unit = Unit { turn: 2, is_negated: false };

/// From 2 on, what each of the numbers that digits are multiples of is more than the one before. The first is 1. A way to all of them with units
/// that seldom turn.
const PATH: [Unit; BASES - 2] =
    [PLUS, PLUS, ZETA, MINUS, MINUS, MINUS, ZETA, ZETA, ZETA, PLUS, MINUS_ZETA, MINUS_ZETA, PLUS];
/// Number of bases.
pub const BASES: usize = 15;
/// The same way to those of them that 2 does not divide; it passes 2, and no other that it divides.
const ODD_PATH: [Unit; ODD_BASES - 1] =
    [PLUS, OMEGA, PLUS, PLUS, OMEGA, OMEGA, OMEGA, MINUS_ZETA, MINUS_ZETA, MINUS_ZETA];
/// Number of odd bases.
const ODD_BASES: usize = 11;

/// Multiples of a point that are kept for the digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Fifteen, of which digits are units times one.
    All,
    /// Eleven, of which digits are units times one, or two or four of them: a part of the doublings comes after the addition then.
    Odd,
}

/// a + b·ω.
pub(crate) type Element = [i64; 2];

impl Unit {
    const ALL: [Self; 6] = [PLUS, MINUS, OMEGA, Self { turn: 1, is_negated: true }, MINUS_ZETA, ZETA];

    fn times(self, element: Element) -> Element {
        let turned = (0..self.turn).fold(element, |[a, b], _| [-b, a - b]); // ω² = −1 − ω
        if self.is_negated { turned.map(|part| -part) } else { turned }
    }
}

impl Kept {
    /// From 2 on, what each number is more than the one before.
    const fn path(self) -> &'static [Unit] {
        match self {
            Kept::All => &PATH,
            Kept::Odd => &ODD_PATH,
        }
    }

    /// The numbers that digits are multiples of.
    fn bases(self) -> Vec<Element> {
        let later = self.path().iter().scan([2, 0], |last: &mut Element, unit| {
            let step = unit.times([1, 0]);
            *last = [last[0] + step[0], last[1] + step[1]];
            Some(*last)
        });
        // 2 is passed by both.
        let twice = (self == Kept::All).then_some([2, 0]);
        [[1, 0]].into_iter().chain(twice).chain(later).collect()
    }

    /// The digits by their numbers, unless they are 0.
    fn digits(self) -> &'static [Option<Digit>; DIGITS] {
        static DIGIT: LazyLock<[[Option<Digit>; DIGITS]; 2]> = LazyLock::new(|| [Kept::All, Kept::Odd].map(Kept::find));
        &DIGIT[self as usize]
    }

    fn find(self) -> [Option<Digit>; DIGITS] {
        let bases = self.bases();
        let doublings = match self {
            Kept::All => 0..=0,
            Kept::Odd => 0..=DOUBLINGS - 1,
        };
        std::array::from_fn(|digit| {
            let wanted = element(digit);
            let is_wanted =
                |base: Element, unit: Unit, doublings: u32| unit.times(base).map(|part| part << doublings) == wanted;
            let of = |base: usize, doublings: u32| {
                let unit = Unit::ALL.into_iter().find(|unit| is_wanted(bases[base], *unit, doublings))?;
                Some(Digit { base, unit, doublings })
            };
            doublings.clone().find_map(|doublings| (0..bases.len()).find_map(|base| of(base, doublings)))
        })
    }
}

/// A digit that is not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Digit {
    /// Index of the base that the digit is a multiple of.
    base: usize,
    /// Times this.
    unit: Unit,
    /// So many times doubled.
    doublings: u32,
}

/// A digit's a and b.
pub(crate) fn element(digit: usize) -> Element {
    let [m, n] = [digit % 8, digit / 8].map(|part| part as i64); // below 8
    [m - A_OFFSET + (n + 1) / 2, n - B_OFFSET]
}

/// The number of the digit 0.
pub fn zero() -> usize {
    Kept::All.digits().iter().position(Option::is_none).expect("it is one of them")
}

/// The multiples of a point that digits add, over one denominator.
#[derive(Debug, Clone)]
pub struct Multiples<F> {
    kept: Kept,
    /// Those by [`Kept::bases`].
    points: Vec<Affine<F>>,
    /// β, β²: x of ω·P is β·x.
    beta: [F; 2],
}

impl<F: Fe> Multiples<F> {
    /// Of P, whose order is a prime above 64, with their Z; β, β² and 3/2.
    pub fn new(kept: Kept, point: Affine<F>, beta: [F; 2], three_halves: F) -> (Self, F) {
        let _scope = enter("multiple_table");
        let turned = |x: F, turns: usize| if turns == 0 { x } else { x * beta[turns - 1] };
        let (twice, once) = one_denominator::double(point, point.x.square() * three_halves);
        let (mut sums, mut factors) = (vec![twice], Vec::new());
        // ωᵗ·P over the denominator of the last sum, with its t.
        let (mut addend, mut turn) = (once, 0);
        for &unit in kept.path() {
            addend.x = turned(addend.x, (unit.turn + 3 - turn) % 3);
            turn = unit.turn;
            let added = one_denominator::add(sums[sums.len() - 1], addend, unit.is_negated);
            let Sum { sum, factor, .. } = added;
            addend = added.addend;
            sums.push(sum);
            factors.push(factor);
        }
        let once = Affine::new(turned(addend.x, (3 - turn) % 3), addend.y);
        let factor = one_denominator::to_last(&mut sums, &factors).expect("there are several sums");
        if kept == Kept::Odd {
            sums.remove(0); // What brought 2 to the denominator is not read by anybody, and so is not made.
        }
        (Self { kept, points: [vec![once], sums].concat(), beta }, factor * point.y)
    }

    /// Of all affine points, on the curve that is isomorphic by the denominator z: [`Multiples::constant`], z² and z³.
    pub fn images(points: [Affine<F>; BASES], beta: [F; 2], zz: F, zzz: F) -> Self {
        let points = points.map(|Affine { x, y }| Affine::new(x * zz, y * zzz));
        Self { kept: Kept::All, points: points.to_vec(), beta }
    }

    /// The sum with the multiple that a digit stands for, if all are [`Kept`].
    #[must_use]
    pub fn add(&self, sum: Jacobian<F>, digit: usize) -> Jacobian<F> {
        match self.kept.digits()[digit] {
            None => sum,
            Some(Digit { base, unit, .. }) => self.add_unit(sum, base, unit),
        }
    }

    fn add_unit(&self, sum: Jacobian<F>, base: usize, unit: Unit) -> Jacobian<F> {
        let point = self.turned(self.points[base], unit);
        if unit.is_negated { sum.subtract_mixed(point) } else { sum.add_mixed(point) }
    }

    /// 8·sum with the multiple that a digit stands for, given what doubles.
    #[must_use]
    pub fn double_and_add(
        &self,
        sum: Jacobian<F>,
        digit: usize,
        double: impl Fn(Jacobian<F>) -> Jacobian<F>,
    ) -> Jacobian<F> {
        let times = |sum: Jacobian<F>, count: u32| (0..count).fold(sum, |sum, _| double(sum));
        match self.kept.digits()[digit] {
            None => times(sum, DOUBLINGS),
            Some(Digit { base, unit, doublings }) => {
                let sum = self.add_unit(times(sum, DOUBLINGS - doublings), base, unit);
                times(sum, doublings)
            }
        }
    }

    /// The multiple that a digit stands for, over the common denominator, or over its own if it is even and those are not [`Kept`]; none for the
    /// digit 0.
    pub fn multiple(&self, digit: usize, one: F, double: impl Fn(Jacobian<F>) -> Jacobian<F>) -> Option<Jacobian<F>> {
        let Digit { base, unit, doublings } = self.kept.digits()[digit]?;
        let Affine { x, y } = self.turned(self.points[base], unit);
        let point = Affine::new(x, if unit.is_negated { -y } else { y }).to_jacobian(one);
        Some((0..doublings).fold(point, |point, _| double(point)))
    }

    /// The multiple that a digit stands for, over the denominator of `sum`, if all are [`Kept`]; none for the digit 0.
    pub fn over_denominator(&self, sum: Jacobian<F>, digit: usize) -> Option<Affine<F>> {
        let Digit { base, unit, .. } = self.kept.digits()[digit]?;
        let Affine { x, y } = self.turned(sum.over_own_denominator(self.points[base]), unit);
        Some(Affine::new(x, if unit.is_negated { -y } else { y }))
    }

    fn turned(&self, Affine { x, y }: Affine<F>, unit: Unit) -> Affine<F> {
        Affine::new(if unit.turn == 0 { x } else { x * self.beta[unit.turn - 1] }, y)
    }
}

impl<F: Number> Multiples<F> {
    /// The affine multiples of a constant P.
    pub fn constant(point: Affine<F>, beta: F) -> [Affine<F>; BASES] {
        let sums = Sums { a: F::ZERO };
        let mut last = sums.add(Some(point), Some(point));
        let mut all = vec![Some(point), last];
        for unit in PATH {
            let x = (0..unit.turn).fold(point.x, |x, _| x * beta);
            last = sums.add(last, Some(Affine::new(x, if unit.is_negated { -point.y } else { point.y })));
            all.push(last);
        }
        std::array::from_fn(|base| all[base].expect("the order is a prime above 64"))
    }
}

/// Words that choose parts by the digits of a number: those at places i with i = 0, 2, 4 … 40, 1, 3, 5 … 41, 42, in turns, in cells of 24 bits.
#[derive(Debug, Clone, Copy)]
pub struct Digits<W>([W; 4]);

/// Σ value·8ⁱ over all places.
fn at_each_place(places: impl Iterator<Item = u32>, value: u64) -> U256 {
    places.fold(U256::ZERO, |sum, place| sum | U256::from(value) << (DOUBLINGS * place) as usize) // widens
}

/// Offsets added to a − b and to b so that [`digits`] are those of a + b·ω. Both are from 0 to 8⁴³ then.
pub fn offsets() -> [U256; 2] {
    [A_OFFSET - B_OFFSET, B_OFFSET].map(|offset| at_each_place(0..PLACES, offset.unsigned_abs()))
}

/// The words that choose parts by the digits of a + b·ω, given a − b and b with [`offsets`] added, if digits at [`PLACES`] are enough.
///
/// b with its offset is Σ nᵢ·8ⁱ. ⌈n/2⌉ is n − ⌊n/2⌋, so Σ mᵢ·8ⁱ is a with its offset, less b with its offset, and Σ ⌊nᵢ/2⌋·8ⁱ.
///
/// The number of the last digit is m + n·2ᵏ for `last_bits` k: [`DOUBLINGS`], or less if few digits can be there.
pub fn digits<M: Machine>(machine: &M, [a_less_b, b]: [M::Word; 2], last_bits: u32) -> Digits<M::Word> {
    let op = |op, a, b| machine.word_op(op, a, b);
    let word = |value: U256| machine.word(value);
    let n = machine.bind(b);
    let halves = op(WordOp::And, op(WordOp::Shr, n, machine.small(1)), word(at_each_place(0..PLACES, 3)));
    let m = machine.bind(op(WordOp::Add, a_less_b, halves));
    let lower_bits = DOUBLINGS * (PLACES - 1);
    let width = machine.small(lower_bits.into());
    let last = op(WordOp::Shl, op(WordOp::Shr, n, width), machine.small(last_bits.into()));
    let last = op(WordOp::Add, last, op(WordOp::Shr, m, width));
    let (last_word, last_cell) = cell(PLACES - 1);
    let last = machine.bind(op(WordOp::Shl, last, machine.small(last_cell.into())));
    // m at bits from 0 on and n from 126 on. Digits of m at odd places are exchanged with those of n one place before, so that both digits of a
    // place are neighbours: Knuth, The Art of Computer Programming 4A, §7.1.3, (69).
    let lower = word((U256::ONE << lower_bits as usize) - U256::ONE); // widens
    let before = op(WordOp::Or, op(WordOp::Shl, op(WordOp::And, n, lower), width), op(WordOp::And, m, lower));
    let before = machine.bind(before);
    let distance = machine.small((lower_bits - DOUBLINGS).into());
    let odd = word(at_each_place((1..PLACES).step_by(2), 7));
    let apart = machine.bind(op(WordOp::And, op(WordOp::Xor, op(WordOp::Shr, before, distance), before), odd));
    let pairs = machine.bind(op(WordOp::Xor, op(WordOp::Xor, op(WordOp::Shl, apart, distance), apart), before));
    let cells = SequenceStep::<M::Word>::CELLS.each_at(CELL_BITS, DIGITS as u64 - 1); // usize to u64 widens
    Digits([0, 1, 2, 3].map(|number| {
        let shifted = match number {
            0 => pairs,
            number => op(WordOp::Shr, pairs, machine.small(number as u64 * PAIR_BITS)), // usize to u64 widens
        };
        let digits = op(WordOp::And, shifted, word(cells));
        machine.bind(if number == last_word { op(WordOp::Or, digits, last) } else { digits })
    }))
}

/// Index of the word with the digit at place `at`, and the digit's first bit there.
const fn cell(at: u32) -> (usize, u32) {
    let number = if at == PLACES - 1 { at } else { at / 2 + at % 2 * (PLACES / 2) };
    ((number % 4) as usize, number / 4 * CELL_BITS) // widens
}

/// Bits of a digit's number.
const PAIR_BITS: u64 = 6;
/// Bits from one digit to the next in a word: four digits.
const CELL_BITS: u32 = 24;

impl<W: Copy> Digits<W> {
    /// The step for the digit at place `at`, whose parts are those from `first_part` on.
    pub fn step(&self, at: u32, first_part: usize) -> SequenceStep<W> {
        let (word, first_bit) = cell(at);
        SequenceStep::Chosen { word: self.0[word], first_bit, first_part }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_units_times_bases() {
        for (kept, count) in [(Kept::All, BASES), (Kept::Odd, ODD_BASES)] {
            let bases = kept.bases();
            for digit in 0..DIGITS {
                let found = kept.digits()[digit].map_or([0, 0], |Digit { base, unit, doublings }| {
                    unit.times(bases[base]).map(|part| part << doublings)
                });
                assert_eq!(found, element(digit), "{digit}");
            }
            let read: std::collections::BTreeSet<_> = kept.digits().iter().flatten().map(|digit| digit.base).collect();
            assert_eq!(read.len(), count);
            assert_eq!(bases.len(), count);
        }
    }

    #[test]
    fn every_place_has_its_cell() {
        let cells: std::collections::BTreeSet<_> = (0..PLACES).map(cell).collect();
        assert_eq!(cells.len(), PLACES as usize);
        assert!(cells.iter().all(|(word, first_bit)| *word < 4 && *first_bit <= 240));
    }

    #[test]
    fn no_two_digits_are_congruent() {
        let residues: std::collections::BTreeSet<_> =
            (0..DIGITS).map(|digit| element(digit).map(|part| part.rem_euclid(8))).collect();
        assert_eq!(residues.len(), DIGITS);
    }
}
