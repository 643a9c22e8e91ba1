//! Splitting of a scalar: s is k₁ + k₂·λ modulo r for a short (k₁, k₂), given two vectors that span all (a, b) with a +
//! b·λ = 0 modulo r.
//!
//! (s, 0) is taken to the parallelogram {f·v + g·w, 0 ≤ f, g < 1} by exact quotients: its two coordinates for v and w have integral parts, which many times the vectors
//! are taken away. Before that a constant is added to s and after it taken from the result, so that the middle is where it should be. ⌊n/r⌋ is (n − n mod r)/r, and in words a
//! product with 1/r modulo 2²⁵⁶.

use super::PLACES;
use num_bigint::{BigInt, BigUint};
use residue_ir::{Machine, ModOp, WordOp};
use ruint::aliases::U256;

/// Two vectors, with the determinant r.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    pub(crate) v: [BigInt; 2],
    pub(crate) w: [BigInt; 2],
}

/// The number in 0 ≤ n < `modulus` that `value` is.
fn reduced(value: &BigInt, modulus: &BigInt) -> BigUint {
    let rest = value % modulus;
    let rest = if rest < BigInt::ZERO { rest + modulus } else { rest };
    rest.to_biguint().expect("it is not negative")
}

/// 2²⁵⁶.
fn words() -> BigUint {
    BigUint::from(1u8) << 256
}

/// 4⁶⁴, which digits of [`PLACES`] places are below.
fn top() -> BigInt {
    BigInt::from(1) << (2 * PLACES)
}

/// A number that may be negative as a word.
fn word(value: &BigInt) -> U256 {
    U256::from_be_slice(&reduced(value, &words().into()).to_bytes_be())
}

impl Split {
    /// By a number π = a + b·ω of Z[ω] with the norm r: π and ω·π, given a and b in decimal digits.
    pub fn by_norm([a, b]: [&str; 2]) -> Self {
        let [a, b]: [BigInt; 2] = [a, b].map(|digits| digits.parse().expect("these are digits"));
        let w = [-&b, &a - &b];
        Self { v: [a, b], w }
    }

    /// By vectors in decimal digits.
    pub fn by_vectors(vectors: [[&str; 2]; 2]) -> Self {
        let [v, w] = vectors.map(|vector| vector.map(|digits| digits.parse().expect("these are digits")));
        Self { v, w }
    }

    /// r.
    pub fn order(&self) -> BigUint {
        let Self { v: [v1, v2], w: [w1, w2] } = self;
        (v1 * w2 - v2 * w1).to_biguint().expect("the vectors stand so")
    }

    /// λ, for which v₁ + v₂·λ is 0 modulo r.
    pub fn lambda(&self) -> BigUint {
        let order = BigInt::from(self.order());
        let inverse = reduced(&self.v[1], &order).modinv(&self.order()).expect("the vector is short, and r a prime");
        reduced(&(-&self.v[0] * BigInt::from(inverse)), &order)
    }

    /// Shift of the results: the middle of the parallelogram less the wanted middle.
    fn moved(&self, middle: &[BigInt; 2]) -> [BigInt; 2] {
        [0, 1].map(|at| (&self.v[at] + &self.w[at]) / 2 - &middle[at])
    }

    /// Any word s ↦ k₁ + added₁ and k₂ + added₂ modulo 2²⁵⁶, where the middle of all (k₁, k₂) is `middle`.
    pub fn halves<M: Machine>(
        &self,
        machine: &M,
        scalar: M::Word,
        middle: &[BigInt; 2],
        added: &[BigInt; 2],
    ) -> [M::Word; 2] {
        let order = BigInt::from(self.order());
        let [moved1, moved2] = self.moved(middle);
        let shift = reduced(&(&moved1 + &moved2 * BigInt::from(self.lambda())), &order);
        let r = machine.word(word(&order));
        let scalar = machine.bind(machine.mod_op(ModOp::Add, scalar, machine.word(word(&shift.into())), r));
        self.rest(machine, scalar, &[&added[0] - moved1, &added[1] - moved2])
    }

    /// Any word s ↦ k₁ + added₁ and k₂ + added₂ modulo 2²⁵⁶, where (k₁, k₂) is in {f·v + g·w, 0 ≤ f, g < 1}.
    pub(super) fn rest<M: Machine>(&self, machine: &M, scalar: M::Word, added: &[BigInt; 2]) -> [M::Word; 2] {
        let op = |op, a, b| machine.word_op(op, a, b);
        let order = BigInt::from(self.order());
        let r = machine.word(word(&order));
        // (s, 0) = (s·w₂/r)·v − (s·v₂/r)·w. What r goes into of the numerators, modulo 2²⁵⁶.
        let Self { v: [v1, v2], w: [w1, w2] } = self;
        let whole = |factor: &BigInt| {
            let rest = machine.mod_op(ModOp::Mul, scalar, machine.word(word(&reduced(factor, &order).into())), r);
            machine.bind(op(WordOp::Sub, op(WordOp::Mul, scalar, machine.word(word(factor))), rest))
        };
        let (first, second) = (whole(w2), whole(&-v2));
        let inverse = BigInt::from(self.order().modinv(&words()).expect("r is odd"));
        let times = |whole, factor: &BigInt| op(WordOp::Mul, whole, machine.word(word(&(factor * &inverse))));
        let k1 = op(WordOp::Sub, op(WordOp::Sub, scalar, times(first, v1)), times(second, w1));
        let k2 = op(WordOp::Sub, times(first, &-v2), times(second, w2));
        [(k1, &added[0]), (k2, &added[1])].map(|(half, added)| op(WordOp::Add, half, machine.word(word(added))))
    }

    /// The middle of what digits from −2 to 1 to the base 4 reach, −1/6 of 4⁶⁴.
    fn middle_of_digits(begins_with_one: bool) -> [BigInt; 2] {
        let sixth: BigInt = -top() / 6;
        [if begins_with_one { &sixth + top() } else { sixth.clone() }, sixth]
    }

    /// [`super::Endomorphism::split`].
    pub fn digits<M: Machine>(&self, machine: &M, scalar: M::Word, begins_with_one: bool) -> M::Word {
        // Σ 2·4ⁱ, which makes digits from 0 to 3 of those from −2 to 1.
        let twos: BigInt = (top() - 1) / 3 * 2;
        let added = [if begins_with_one { &twos - top() } else { twos.clone() }, twos];
        let [low, high] = self.halves(machine, scalar, &Self::middle_of_digits(begins_with_one), &added);
        let high = machine.word_op(WordOp::Shl, high, machine.small(128));
        machine.word_op(WordOp::Or, high, low)
    }

    /// [`super::Endomorphism::exception`]: what is left of 0 is a vector m of those that the two span, what is left of 2d is m + 2d, and so d is −m modulo 4.
    pub fn exception(&self) -> usize {
        let order = BigInt::from(self.order());
        let [moved1, moved2] = self.moved(&Self::middle_of_digits(true));
        let start = BigInt::from(reduced(&(&moved1 + &moved2 * BigInt::from(self.lambda())), &order));
        let whole = |factor: &BigInt| {
            let product = &start * factor;
            let rest = BigInt::from(reduced(&product, &order));
            (product - rest) / &order
        };
        let Self { v: [v1, v2], w: [w1, w2] } = self;
        let (c, d) = (whole(w2), whole(&-v2));
        let left = [&start - &c * v1 - &d * w1 - moved1, -(&c * v2) - &d * w2 - moved2];
        let [low, high] = left.map(|part| {
            let digit = reduced(&(2 - part), &4.into()); // 2 is added to each
            usize::try_from(digit).expect("it is below 4")
        });
        low + 4 * high
    }

    /// The corners of where results are, for tests.
    #[cfg(test)]
    pub(crate) fn corners(&self, middle: &[BigInt; 2]) -> Vec<[BigInt; 2]> {
        let moved = self.moved(middle);
        let corner = |c: u8, d: u8| [0, 1].map(|at| &self.v[at] * c + &self.w[at] * d - &moved[at]);
        vec![corner(0, 0), corner(0, 1), corner(1, 0), corner(1, 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::short::{GRUMPKIN, PALLAS, VESTA};

    #[test]
    fn digits_reach_all_of_the_parallelogram() {
        let reach: [BigInt; 2] = [(top() - 1) / -3 * 2, (top() - 1) / 3];
        for split in [GRUMPKIN.pi, PALLAS.pi, VESTA.pi].map(Split::by_norm) {
            for begins_with_one in [false, true] {
                for [k1, k2] in split.corners(&Split::middle_of_digits(begins_with_one)) {
                    let k1 = if begins_with_one { k1 - top() } else { k1 };
                    for part in [k1, k2] {
                        assert!(reach[0] < part && part < reach[1], "{split:?} {part}");
                    }
                }
            }
        }
    }
}
