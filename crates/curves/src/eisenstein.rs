//! Digits of Z[ω], ω² + ω + 1 = 0, and the points that they stand for on a curve y² = x³ + b with an endomorphism ω, (x, y) ↦ (β·x, y).
//!
//! A digit to the base 4 is a + b·ω with a and b from −2 to 1. It is a unit of Z[ω], which costs next to nothing, times one of five
//! numbers: the multiples of a point by those five are brought to one denominator, and so are affine points of an isomorphic curve
//! y² = x³ + b·Z⁶, where formulas are the same. Words choose which part of a sequence comes next, and so which digit's addition.

use crate::fixed_base::Sums;
use crate::group::{Affine, Jacobian};
use residue_formula::scope::enter;
use residue_formula::{Fe, Number};
use residue_ir::{Bundle, Machine, SequenceStep, WordOp};
use ruint::aliases::U256;

/// Number of digits: a is the lower half of a digit's number, b the upper one, each with 2 added.
pub const DIGITS: usize = 16;

/// A digit that is not 0: ωᵗ times one of five numbers, or the opposite of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digit {
    /// The number of the one of the five.
    pub base: usize,
    /// t.
    pub turn: usize,
    /// True for the opposite.
    pub is_negated: bool,
}

/// 1, 2, 1 − ω, −2 + ω, 1 − 2ω.
const BASES: usize = 5;

/// The digits by their numbers: (a + 2) + 4·(b + 2).
pub const DIGIT: [Option<Digit>; DIGITS] = {
    const fn digit(base: usize, turn: usize, is_negated: bool) -> Option<Digit> {
        Some(Digit { base, turn, is_negated })
    }
    [
        digit(1, 2, false), // −2 − 2ω = 2ω²
        digit(2, 1, true),  // −1 − 2ω = −(1 − ω)·ω
        digit(1, 1, true),  // −2ω
        digit(4, 0, false), // 1 − 2ω
        digit(2, 2, false), // −2 − ω = (1 − ω)·ω²
        digit(0, 2, false), // −1 − ω = ω²
        digit(0, 1, true),  // −ω
        digit(2, 0, false), // 1 − ω
        digit(1, 0, true),  // −2
        digit(0, 0, true),  // −1
        None,               // 0
        digit(0, 0, false), // 1
        digit(3, 0, false), // −2 + ω
        digit(2, 0, true),  // −1 + ω
        digit(0, 1, false), // ω
        digit(0, 2, true),  // 1 + ω = −ω²
    ]
};

/// A point with its images under φ and φ².
#[derive(Debug, Clone, Copy)]
pub struct Images<F> {
    /// x, β·x, β²·x.
    x: [F; 3],
    y: F,
}

impl<F: Fe> Images<F> {
    fn new(point: Affine<F>, beta: F) -> Self {
        let Affine { x, y } = point;
        let image = x * beta;
        Self { x: [x, image, -(x + image)], y } // 1 + β + β² = 0
    }

    /// ±φᵗ(P).
    pub const fn of(&self, turn: usize, is_negated: bool) -> Addend<F> {
        Addend { point: Affine::new(self.x[turn], self.y), is_negated }
    }
}

/// An affine point, or its opposite.
#[derive(Debug, Clone, Copy)]
pub struct Addend<F> {
    point: Affine<F>,
    is_negated: bool,
}

impl<F: Fe> Addend<F> {
    /// The point, which is not negated any more.
    pub fn to_affine(self) -> Affine<F> {
        let Affine { x, y } = self.point;
        Affine::new(x, if self.is_negated { -y } else { y })
    }

    /// With Z = `one`.
    pub fn to_jacobian(self, one: F) -> Jacobian<F> {
        self.point.to_jacobian(one)
    }
}

impl<F: Fe> std::ops::Add<Addend<F>> for Jacobian<F> {
    type Output = Self;

    fn add(self, Addend { point, is_negated }: Addend<F>) -> Self {
        if is_negated { self.subtract_mixed(point) } else { self.add_mixed(point) }
    }
}

/// The multiples of P that digits add, each with a denominator of its own.
#[derive(Debug, Clone, Copy)]
pub struct Multiples<F: Fe> {
    once: Affine<F>,
    /// 2P, P − φ(P), φ(P) − 2P and P − 2φ(P).
    others: [Jacobian<F>; BASES - 1],
}

impl<F: Fe> Bundle<F> for Multiples<F> {
    const LEN: usize = <(Affine<F>, [Jacobian<F>; BASES - 1]) as Bundle<F>>::LEN;

    fn collect(&self, values: &mut Vec<F>) {
        (self.once, self.others).collect(values);
    }

    fn build(values: &mut impl Iterator<Item = F>) -> Self {
        let (once, others) = Bundle::build(values);
        Self { once, others }
    }
}

impl<F: Fe> Multiples<F> {
    /// Of P.
    pub fn new<M: Machine<Fe = F>>(machine: &M, point: Affine<F>, beta: F, three_halves: F) -> Self {
        let image = Affine::new(point.x * beta, point.y);
        let once = point.to_jacobian(machine.one());
        let twice = once.double(three_halves); //  2P
        let turned = Jacobian { x: twice.x * beta, ..twice }; //          2φ(P)
        let others = [
            twice,
            once.subtract_mixed(image),             //             P − φ(P)
            twice.subtract_mixed(image).negated(),  //   φ(P) − 2P
            turned.subtract_mixed(point).negated(), //  P − 2φ(P)
        ];
        Self { once: point, others }
    }

    /// The products of the denominators of the first two of the others and of the last two.
    fn pairs(&self) -> [F; 2] {
        let [a, b, c, d] = self.others;
        [a.z * b.z, c.z * d.z]
    }

    /// The product of all denominators.
    pub fn denominator(&self) -> F {
        let [ab, cd] = self.pairs();
        ab * cd
    }

    /// The table over the denominator z, given z² and z³, that is the product of the own ones and `others`.
    pub fn over(&self, others: Option<F>, beta: F, z: F, [zz, zzz]: [F; 2]) -> Table<F> {
        let ([a, b, c, d], [ab, cd]) = (self.others, self.pairs());
        let [ab, cd] = [ab, cd].map(|pair| others.map_or(pair, |others| others * pair));
        let scaled = |point: Jacobian<F>, by: F| {
            let square = by.square();
            Images::new(Affine::new(point.x * square, point.y * (square * by)), beta)
        };
        let Affine { x, y } = self.once;
        let once = Images::new(Affine::new(x * zz, y * zzz), beta);
        let [a, b, c, d] =
            [(a, b.z * cd), (b, a.z * cd), (c, ab * d.z), (d, ab * c.z)].map(|(point, by)| scaled(point, by));
        Table { images: [once, a, b, c, d], z }
    }
}

/// The multiples of P that digits add, over one denominator.
#[derive(Debug, Clone, Copy)]
pub struct Table<F> {
    /// P, 2P, P − φ(P), φ(P) − 2P and P − 2φ(P), with their images.
    pub images: [Images<F>; BASES],
    /// Their Z.
    pub z: F,
}

impl<F: Fe> Table<F> {
    /// Of P.
    pub fn new<M: Machine<Fe = F>>(machine: &M, point: Affine<F>, beta: F, three_halves: F) -> Self {
        let ([table], _) = Self::over_one_denominator(machine, [point], beta, three_halves);
        table
    }

    /// Of points, with the denominator that all have in common. The points that are added have the order r and differ by multiples that r
    /// does not divide: no Z is zero.
    pub fn over_one_denominator<M: Machine<Fe = F>, const COUNT: usize>(
        machine: &M,
        points: [Affine<F>; COUNT],
        beta: F,
        three_halves: F,
    ) -> ([Self; COUNT], F) {
        let _scope = enter("multiple_table");
        let multiples = points.map(|point| Multiples::new(machine, point, beta, three_halves));
        let own = multiples.map(|multiples| multiples.denominator());
        // What all tables but one have, from the products before and after it.
        let product = |a: Option<F>, b: F| Some(a.map_or(b, |a| a * b));
        let mut after = vec![None; COUNT];
        for number in (1..COUNT).rev() {
            after[number - 1] = product(after[number], own[number]);
        }
        let mut before = None;
        let others: [Option<F>; COUNT] = std::array::from_fn(|number| {
            let others = after[number].map_or(before, |after| product(before, after));
            before = product(before, own[number]);
            others
        });
        let z = before.expect("there is a table");
        let powers = [z.square(), z.square() * z];
        (std::array::from_fn(|number| multiples[number].over(others[number], beta, z, powers)), z)
    }

    /// Of affine points: P, 2P, P − φ(P), φ(P) − 2P and P − 2φ(P) on the curve whose points have the denominator `z`.
    pub fn affine(points: [Affine<F>; BASES], beta: F, z: F) -> Self {
        Self { images: points.map(|point| Images::new(point, beta)), z }
    }

    /// The points that digits stand for, by their numbers, and `nothing` for 0.
    pub fn points(&self, nothing: Affine<F>) -> [Affine<F>; DIGITS] {
        let opposites = self.images.map(|images| -images.y);
        DIGIT.map(|digit| match digit {
            None => nothing,
            Some(Digit { base, turn, is_negated }) => {
                let Images { x, y } = self.images[base];
                Affine::new(x[turn], if is_negated { opposites[base] } else { y })
            }
        })
    }

    /// The sum with the point that a digit stands for.
    #[must_use]
    pub fn add(&self, sum: Jacobian<F>, digit: usize) -> Jacobian<F> {
        match DIGIT[digit] {
            None => sum,
            Some(Digit { base, turn, is_negated }) => sum + self.images[base].of(turn, is_negated),
        }
    }
}

impl<F: Number> Table<F> {
    /// The affine points of a constant P, for [`Table::affine`].
    pub fn constant(point: Affine<F>, beta: F) -> [Affine<F>; BASES] {
        let sums = Sums { a: F::ZERO };
        let image = |Affine { x, y }: Affine<F>| Affine::new(x * beta, y);
        let minus = |p: Affine<F>, q: Affine<F>| {
            sums.add(Some(p), Some(Affine::new(q.x, -q.y))).expect("they are different multiples")
        };
        let twice = sums.add(Some(point), Some(point)).expect("the order is odd");
        let less = minus(point, image(point));
        [point, twice, less, minus(image(point), twice), minus(less, image(point))]
    }
}

/// The words that choose parts, given the numbers of digits: at bit 2·i that of a at place i, each with 2 added, and at bit 2·i + 128 that of b. A bit of the word has a number of eight bits: bit 7 says of which of both it
/// is, bits 6 to 1 at which place, bit 0 which of its digit. Bit 7 is exchanged with bit 1, so that both digits of a place are neighbours:
/// that is an exchange of bits of the word with bits at a fixed distance (Knuth, The Art of Computer Programming 4A, §7.1.3, (69)).
pub fn chosen<M: Machine>(machine: &M, digits: M::Word) -> [M::Word; 4] {
    cells(machine, arranged(machine, digits), 0)
}

/// The word whose bits are so exchanged, kept.
pub fn arranged<M: Machine>(machine: &M, digits: M::Word) -> M::Word {
    machine.bind(exchanged(machine, digits, 7, 1))
}

/// The word whose bits have changed places so that of their numbers the bits `high` and `low` are exchanged.
pub(crate) fn exchanged<M: Machine>(machine: &M, word: M::Word, high: usize, low: usize) -> M::Word {
    let op = |op, a, b| machine.word_op(op, a, b);
    let distance = machine.small((1 << high) - (1 << low));
    let is_low = |bit: &usize| bit >> low & 1 == 1 && bit >> high & 1 == 0;
    let mask = (0..256).filter(is_low).fold(U256::ZERO, |mask, bit| mask | U256::ONE << bit);
    let before = machine.bind(word);
    let apart = op(WordOp::Xor, op(WordOp::Shr, before, distance), before);
    let apart = machine.bind(op(WordOp::And, apart, machine.word(mask)));
    op(WordOp::Xor, op(WordOp::Xor, op(WordOp::Shl, apart, distance), apart), before)
}

/// The words that choose parts by digits that are [`arranged`], of parts from `first` on, a multiple of 16.
pub fn cells<M: Machine>(machine: &M, arranged: M::Word, first: u64) -> [M::Word; 4] {
    [None, Some(4), Some(8), Some(12)].map(|bit| nibbles(machine, arranged, bit.map(|bit| machine.small(bit)), first))
}

/// The bit of cells at which the digits of a quarter begin that is done in this turn, the upper quarter first.
pub(crate) fn quarter<M: Machine>(machine: &M, turn: M::Word) -> M::Word {
    let before = machine.word_op(WordOp::Shl, turn, machine.small(2));
    machine.bind(machine.word_op(WordOp::Sub, machine.small(12), before))
}

/// The four bits of each cell from `bit`, or the lowest, on, with `first` added, a multiple of 16.
pub(crate) fn nibbles<M: Machine>(machine: &M, word: M::Word, bit: Option<M::Word>, first: u64) -> M::Word {
    let op = |op, a, b| machine.word_op(op, a, b);
    let shifted = bit.map_or(word, |bit| op(WordOp::Shr, word, bit));
    let numbers = op(WordOp::And, shifted, machine.word(SequenceStep::<M::Word>::CELLS.each(0xf)));
    match first {
        0 => numbers,
        first => op(WordOp::Or, numbers, machine.word(SequenceStep::<M::Word>::CELLS.each(first))),
    }
}

/// The step for the digit at place `at`: of its six bits the lowest says which half of a word's cells, the others in reverse order of
/// worth which cell of eight, and which word.
pub fn place<W: Copy>(chosen: &[W; 4], at: u32) -> SequenceStep<W> {
    place_from(chosen, at, 0)
}

/// The same where the parts are those from `first_part` on.
pub(crate) fn place_from<W: Copy>(chosen: &[W; 4], at: u32, first_part: usize) -> SequenceStep<W> {
    let cell = (at & 1) << 3 | at >> 3;
    SequenceStep::Chosen { word: chosen[(at >> 1 & 3) as usize], first_bit: 16 * cell, first_part } // u32 to usize widens
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digits a and b of a number.
    fn parts(digit: usize) -> [i64; 2] {
        [digit % 4, digit / 4].map(|part| i64::try_from(part).unwrap() - 2)
    }

    #[test]
    fn digits_are_units_times_bases() {
        let times = |[a, b]: [i64; 2], [c, d]: [i64; 2]| [a * c - b * d, a * d + b * c - b * d]; // ω² = −1 − ω
        for (number, digit) in DIGIT.iter().enumerate() {
            let found = digit.map_or([0, 0], |Digit { base, turn, is_negated }| {
                let base = [[1, 0], [2, 0], [1, -1], [-2, 1], [1, -2]][base];
                let turned = (0..turn).fold(base, |value, _| times(value, [0, 1]));
                turned.map(|part| if is_negated { -part } else { part })
            });
            assert_eq!(found, parts(number), "{number}");
        }
    }
}
