//! Multiples of points by digits to the base 8, as [`crate::eisenstein_octal`] has them: 43 places, of which the first is a multiple to begin with.
//!
//! A scalar is taken to a parallelogram of (k₁, k₂) away from 0, so that the first digit is not 0 for any: [`Corner`]. The sum is k·P for a prefix k of the
//! digits then, and k is not 0. Additions are incomplete: they need 8k ≠ ±d modulo the ideal of r for the digit d that comes, or 4k and d/2 if half of d
//! is added before the last doubling, which is the same as r is odd. Elements of the ideal have norms that r divides. |d| is less than 6 and |8k| at least 8, so that
//! neither 8k + d nor 8k − d is 0. All (k₁, k₂) have norms below 16·r; so before the last step |8k ± d| is below (4√r + 6)/8 + 12, and its norm below r. In
//! the last step 8k + d is (k₁, k₂), which is in the ideal only for s = 0, where Z = 0 is the answer, and 8k − d only for s = 2d.
//!
//! The last digit for s = 2d need not be d. The parallelogram is so moved, by one of the vectors that span the ideal, that it is another one for each of the 63
//! digits d where that can be, and for all but one where not: on Pallas and Vesta. The sum for that one is made of its digit: [`Corner::exception`].

use super::Endomorphism;
use super::split::Split;
use crate::eisenstein_octal::{self, DIGITS, DOUBLINGS, Digits, Element, Kept, Multiples, PLACES};
use crate::group::{Affine, Jacobian};
use num_bigint::BigInt;
use num_integer::Integer;
use residue_formula::{Fe, Number};
use residue_ir::{Machine, SequenceStep, WordOp};
use ruint::aliases::U256;
use std::collections::HashMap;

/// Corner that the parallelogram of a [`Split`] is moved to, so that the required digits are available.
#[derive(Debug, Clone)]
struct Corner {
    /// By 1 and 1 + ω: a + b·ω is a − b and b of these.
    split: Split,
    /// Of the same.
    corner: [BigInt; 2],
    /// The number of the digit d that 2d ends with, if there is one.
    exception: Option<usize>,
}

fn big(word: U256) -> BigInt {
    BigInt::from_bytes_be(num_bigint::Sign::Plus, &word.to_be_bytes::<32>())
}

/// 8ⁿ.
fn power_of_8(n: u32) -> BigInt {
    BigInt::from(1) << (DOUBLINGS * n)
}

impl Corner {
    /// At the first of the vectors near 0 that will do, those without an exception before others.
    fn of(split: &Split) -> Option<Self> {
        let by_zeta = |[a, b]: &[BigInt; 2]| [a - b, b.clone()];
        let split = Split { v: by_zeta(&split.v), w: by_zeta(&split.w) };
        let few = -4i64..5;
        let pairs = few.clone().flat_map(|c| few.clone().map(move |d| [c, d]));
        let corners = pairs.map(|[c, d]| [0, 1].map(|at| &split.v[at] * c + &split.w[at] * d));
        let all = corners.map(|corner| Self { split: split.clone(), corner, exception: None });
        let is_usable = |corner: &Self| {
            corner.is_in_reach() && corner.begins_with_a_digit() && corner.begins_with_few() && corner.is_short()
        };
        let usable = all.filter(is_usable);
        let with_exceptions = usable.filter_map(|corner| match corner.exceptions()[..] {
            [] => Some(corner),
            [exception] => Some(Self { exception: Some(exception), ..corner }),
            _ => None,
        });
        with_exceptions.min_by_key(|corner| corner.exception.is_some())
    }

    /// The corners of the parallelogram.
    fn corners(&self) -> [[BigInt; 2]; 4] {
        let Self { split: Split { v, w }, corner, .. } = self;
        [[0, 0], [0, 1], [1, 0], [1, 1]].map(|[c, d]| [0, 1].map(|at| &corner[at] + &v[at] * c + &w[at] * d))
    }

    /// Bounds of what [`eisenstein_octal::digits`] makes digits of: Σ mᵢ·8ⁱ and Σ nᵢ·8ⁱ, where the first n is so much less. A sum Σ ⌊nᵢ/2⌋·8ⁱ is between
    /// half of Σ nᵢ·8ⁱ and that less Σ 8ⁱ/2.
    fn bounds(&self, less_n: &BigInt) -> [[BigInt; 2]; 2] {
        let [offset_a, offset_b] = eisenstein_octal::offsets().map(big);
        let offset_b = offset_b - less_n * power_of_8(PLACES - 1);
        let of_corners = self.corners().map(|[a, b]| {
            let b: BigInt = b + &offset_b;
            [(a + &offset_a) * 2 + &b, b]
        });
        let bounds = |at: usize| {
            let values = of_corners.iter().map(|corner| &corner[at]);
            [values.clone().min(), values.max()].map(|bound| bound.expect("there are four corners").clone())
        };
        let ones: BigInt = (power_of_8(PLACES) - 1) / 7;
        let [least, most] = bounds(0);
        [[(least - ones) / 2 - 1, most / 2 + 1], bounds(1)]
    }

    /// True if digits at [`PLACES`] are enough.
    fn is_in_reach(&self) -> bool {
        self.bounds(&BigInt::ZERO).iter().all(|[least, most]| *least >= BigInt::ZERO && *most < power_of_8(PLACES))
    }

    /// True if the first digit is never 0.
    fn begins_with_a_digit(&self) -> bool {
        let zero = [eisenstein_octal::zero() % 8, eisenstein_octal::zero() / 8];
        let first = power_of_8(PLACES - 1);
        self.bounds(&BigInt::ZERO)
            .iter()
            .zip(zero)
            .any(|([least, most], zero)| *most < &first * zero || *least >= &first * (zero + 1))
    }

    /// Least m and n of the first digit, subtracted so that few parts are for it, and the counts of their values.
    fn first_numbers(&self) -> [(BigInt, BigInt); 2] {
        let first = power_of_8(PLACES - 1);
        let numbers = |[least, most]: &[BigInt; 2]| {
            let (least, most) = (least.div_floor(&first), most.div_floor(&first));
            let count: BigInt = most - &least + 1;
            (least, count)
        };
        let n = numbers(&self.bounds(&BigInt::ZERO)[1]);
        [numbers(&self.bounds(&n.0)[0]), n]
    }

    /// True if few numbers m begin one, so that those of m and n together identify the digit.
    fn begins_with_few(&self) -> bool {
        self.first_numbers()[0].1 <= BigInt::from(1 << FIRST_BITS)
    }

    /// The first digits by their numbers m + n·2ᵏ, both less as above, as many as a sequence may have parts for.
    fn firsts(&self) -> Vec<Option<usize>> {
        let [(less_m, count_m), (less_n, count_n)] = self.first_numbers();
        let counts = [count_m, count_n].map(|count| i64::try_from(count).expect("they are few"));
        let [less_m, less_n] = [less_m, less_n].map(|less| i64::try_from(less).expect("it is a number of a digit"));
        let numbers = (0..counts[1]).flat_map(|n| (0..counts[0]).map(move |m| (m, n)));
        let digits: HashMap<i64, usize> = numbers
            .filter_map(|(m, n)| {
                // With n less by k, ⌊n/2⌋ is another number, and so is m.
                let whole = n + less_n;
                let whole_m = m + less_m - n / 2 + whole / 2;
                let digit = (0..8).contains(&whole_m).then_some(whole_m + 8 * whole)?;
                Some((m + (n << FIRST_BITS), usize::try_from(digit).ok().filter(|&digit| digit < DIGITS)?))
            })
            .collect();
        let most = digits.keys().max().map_or(0, |&most| usize::try_from(most).expect("numbers begin with 0"));
        let count = (most + 1).next_multiple_of(SequenceStep::<()>::CHOICES_MIN);
        (0..).take(count).map(|number| digits.get(&number).copied()).collect()
    }

    /// True if norms are below 16·r: that of (a − b) + b·(1 + ω) is (a − b)² + (a − b)·b + b². It is convex, and so
    /// largest at a corner.
    fn is_short(&self) -> bool {
        let limit = BigInt::from(self.split.order()) * 16;
        self.corners().iter().all(|[a, b]| a * a + a * b + b * b < limit)
    }

    /// The digits d that 2d ends with: no other digit is congruent to d modulo 8.
    fn exceptions(&self) -> Vec<usize> {
        let Self { split: Split { v, w }, corner, .. } = self;
        let order = BigInt::from(self.split.order());
        let is_exception = |[a, b]: Element| {
            let digit = [a - b, b].map(BigInt::from);
            let [a, b] = [0, 1].map(|at| &digit[at] * 2);
            // 2d is f·v + g·w: f and g are rounded down, and what is left of it lies in the parallelogram.
            let (f, g): (BigInt, BigInt) = (&w[1] * &a - &w[0] * &b, &v[0] * &b - &v[1] * &a);
            let (f, g) = (f.div_floor(&order), g.div_floor(&order));
            let left = |at: usize| &digit[at] - &f * &v[at] - &g * &w[at] + &corner[at]; // less d
            (0..2).all(|at| (left(at) % 8) == BigInt::ZERO)
        };
        let digits = (0..DIGITS).filter(|digit| *digit != eisenstein_octal::zero());
        digits.filter(|digit| is_exception(eisenstein_octal::element(*digit))).collect()
    }

    fn digits<M: Machine>(&self, machine: &M, scalar: M::Word) -> Digits<M::Word> {
        let [offset_a, offset_b] = eisenstein_octal::offsets().map(big);
        let ([(less_m, _), (less_n, _)], first) = (self.first_numbers(), power_of_8(PLACES - 1));
        let added = [offset_a + &self.corner[0] - less_m * &first, offset_b + &self.corner[1] - less_n * &first];
        let [a_less_b, b] = self.split.rest(machine, scalar, &added);
        eisenstein_octal::digits(machine, [a_less_b, b], FIRST_BITS)
    }
}

/// s·P for P on the curve and not the identity; Z = 0 if it is the identity. Each digit has a part with doublings of its own.
pub(super) fn multiple<M: Machine, E: Endomorphism>(
    machine: &M,
    curve: &E,
    scalar: M::Word,
    point: Affine<M::Fe>,
) -> Jacobian<M::Fe> {
    let corner = Corner::of(&curve.vectors()).expect("a curve's vectors are short");
    let digits = corner.digits(machine, scalar);
    let points = Points::new(machine, curve, point);
    let sum = points.sum(machine, &corner, &digits);
    points.finish(machine, curve, &corner, scalar, sum)
}

/// Addends of the digits.
struct Points<F> {
    point: Affine<F>,
    multiples: Multiples<F>,
    /// Their Z.
    z: F,
    one: F,
    three_halves: F,
}

/// The first of the parts that give what sums begin with.
const FIRST: usize = DIGITS;
/// The first digit is known by m + n·2ᵏ for this k, but for what both are less: few can be there.
const FIRST_BITS: u32 = 2;

impl<F: Fe> Points<F> {
    fn new<M: Machine<Fe = F>, E: Endomorphism>(machine: &M, curve: &E, point: Affine<F>) -> Self {
        let beta = E::Number::from_canonical(&curve.beta()).expect("β is below p");
        let betas = [beta, beta.square()].map(|value| machine.constant(&value.to_canonical()));
        let three_halves = curve.three_halves(machine);
        let (multiples, z) = Multiples::new(Kept::Odd, point, betas, three_halves);
        Self { point, multiples, z, one: machine.one(), three_halves }
    }

    fn double(&self, sum: Jacobian<F>) -> Jacobian<F> {
        sum.double(self.three_halves)
    }

    /// The multiple that a digit stands for.
    fn multiple(&self, digit: usize) -> Option<Jacobian<F>> {
        self.multiples.multiple(digit, self.one, |sum| self.double(sum))
    }

    /// k·P, by its digits.
    fn sum<M: Machine<Fe = F>>(&self, machine: &M, corner: &Corner, digits: &Digits<M::Word>) -> Jacobian<F> {
        let first = digits.step(PLACES - 1, FIRST);
        let others = (0..PLACES - 1).rev().map(|at| digits.step(at, 0));
        let order: Vec<_> = [first].into_iter().chain(others).collect();
        let start = self.point.to_jacobian(self.one);
        let firsts = corner.firsts();
        let then = vec![None; FIRST + firsts.len()];
        machine.sequence_of(&order, &then, start, |_, part, sum| match part {
            digit @ 0..DIGITS => self.multiples.double_and_add(sum, digit, |sum| self.double(sum)),
            part => firsts[part - FIRST].and_then(|digit| self.multiple(digit)).unwrap_or(sum),
        })
    }

    /// The sum of digits over the denominator that it has where P is affine, and the right one for a scalar that met an exception.
    fn finish<M: Machine<Fe = F>, E: Endomorphism>(
        &self,
        machine: &M,
        curve: &E,
        corner: &Corner,
        scalar: M::Word,
        sum: Jacobian<F>,
    ) -> Jacobian<F> {
        let sum = match corner.exception {
            None => sum,
            // Z = 0: s is 0, for which it stays so, or 2d.
            Some(digit) => machine.branch(
                machine.is_zero(sum.z),
                |machine| {
                    let order = U256::from_be_slice(&curve.order().to_bytes_be());
                    let is_zero = machine.not(machine.word_op(WordOp::Mod, scalar, machine.word(order)));
                    let double = |_: &M| self.multiple(digit).map_or(sum, |half| self.double(half));
                    machine.branch(is_zero, |_| sum, double)
                },
                |_| sum,
            ),
        };
        Jacobian { z: sum.z * self.z, ..sum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bn254::Bn254;
    use crate::short::{GRUMPKIN, PALLAS, VESTA};

    /// Every digit that the corners of a parallelogram begin with has its number, and no other one has the same.
    #[test]
    fn first_digits_are_known_by_their_numbers() {
        for vectors in [Bn254.vectors(), GRUMPKIN.vectors(), PALLAS.vectors(), VESTA.vectors()] {
            let corner = Corner::of(&vectors).expect("there is one");
            let firsts = corner.firsts();
            let digits: Vec<usize> = firsts.iter().flatten().copied().collect();
            assert!(digits.iter().enumerate().all(|(at, digit)| !digits[..at].contains(digit)), "{digits:?}");
            assert!(!digits.contains(&eisenstein_octal::zero()));
            assert_eq!(firsts.len(), 16, "{firsts:?}");
        }
    }

    #[test]
    fn every_curve_has_its_corner() {
        let exceptions = [Bn254.vectors(), GRUMPKIN.vectors(), PALLAS.vectors(), VESTA.vectors()]
            .map(|split| Corner::of(&split).expect("there is one").exception.map(eisenstein_octal::element));
        assert_eq!(exceptions, [None, None, Some([2, 0]), Some([0, -2])]);
    }
}
