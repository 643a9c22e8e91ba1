//! How a scalar is split where r is the norm of a number π = a + b·ω of Z[ω], so that numbers modulo π are those modulo r, ω being λ.
//!
//! (s, 0) is taken to the parallelogram {f·π + g·ω·π, 0 ≤ f, g < 1}, by exact quotients: s·π̄/r has two coordinates whose integral parts, times π, are taken
//! away. Before that a constant is added to s and after it taken from the result, so that the centre is where it should be: the
//! middle of what digits reach. ⌊n/r⌋ is (n − n mod r)/r, and in words a product with 1/r modulo 2²⁵⁶.

use super::PLACES;
use num_bigint::{BigInt, BigUint};
use residue_ir::{Machine, ModOp, WordOp};
use ruint::aliases::U256;

/// π.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    a: BigInt,
    b: BigInt,
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
    /// Given a and b in decimal digits.
    pub fn new([a, b]: [&str; 2]) -> Self {
        let [a, b] = [a, b].map(|digits| digits.parse().expect("these are digits"));
        Self { a, b }
    }

    /// r = a² − ab + b².
    pub fn order(&self) -> BigUint {
        let Self { a, b } = self;
        (a * a - a * b + b * b).to_biguint().expect("norms are positive")
    }

    /// λ, for which a + b·λ is 0 modulo r.
    pub fn lambda(&self) -> BigUint {
        let order = BigInt::from(self.order());
        let inverse = reduced(&self.b, &order).modinv(&self.order()).expect("π is no integer, and r a prime");
        reduced(&(-&self.a * BigInt::from(inverse)), &order)
    }

    /// What is taken from the result: the middle of the parallelogram, (a − b, a)/2, less that of what digits reach, −1/6 of 4⁶⁴.
    fn moved(&self, begins_with_one: bool) -> [BigInt; 2] {
        let Self { a, b } = self;
        let first = if begins_with_one { top() } else { BigInt::ZERO };
        [(a - b) / 2 - first + top() / 6, a / 2 + top() / 6]
    }

    /// [`super::Endomorphism::split`].
    pub fn apply<M: Machine>(&self, machine: &M, scalar: M::Word, begins_with_one: bool) -> M::Word {
        let op = |op, a, b| machine.word_op(op, a, b);
        let order = BigInt::from(self.order());
        let [moved1, moved2] = self.moved(begins_with_one);
        let added = &moved1 + &moved2 * BigInt::from(self.lambda());
        let r = machine.word(word(&order));
        let scalar = machine.mod_op(ModOp::Add, scalar, machine.word(word(&reduced(&added, &order).into())), r);
        let scalar = machine.bind(scalar);
        // s·π̄ = s·(a − b) − s·b·ω. What r goes into of it, modulo 2²⁵⁶.
        let (plain, of_omega) = (&self.a - &self.b, -&self.b);
        let whole = |factor: &BigInt| {
            let rest = machine.mod_op(ModOp::Mul, scalar, machine.word(word(&reduced(factor, &order).into())), r);
            machine.bind(op(WordOp::Sub, op(WordOp::Mul, scalar, machine.word(word(factor))), rest))
        };
        let (first, second) = (whole(&plain), whole(&of_omega));
        let inverse = BigInt::from(self.order().modinv(&words()).expect("r is odd"));
        let times = |whole, factor: &BigInt| op(WordOp::Mul, whole, machine.word(word(&(factor * &inverse))));
        // (c + d·ω)·(a + b·ω) = ca − db + (cb + d(a − b))·ω.
        let k1 = op(WordOp::Sub, op(WordOp::Sub, scalar, times(first, &self.a)), times(second, &of_omega));
        let k2 = op(WordOp::Sub, times(first, &of_omega), times(second, &plain));
        // Σ 2·4ⁱ, which makes digits from 0 to 3 of those from −2 to 1.
        let twos = (top() - 1) / 3 * 2;
        let one = if begins_with_one { top() } else { BigInt::ZERO };
        let low = op(WordOp::Add, k1, machine.word(word(&(&twos - one - moved1))));
        let high = op(WordOp::Add, k2, machine.word(word(&(twos - moved2))));
        op(WordOp::Or, op(WordOp::Shl, high, machine.small(128)), low)
    }

    /// [`super::Endomorphism::exception`]: what is left of 0 is a multiple m of π, what is left of 2d is m + 2d, and so d is −m modulo 4.
    pub fn exception(&self) -> usize {
        let order = BigInt::from(self.order());
        let [moved1, moved2] = self.moved(true);
        let start = BigInt::from(reduced(&(&moved1 + &moved2 * BigInt::from(self.lambda())), &order));
        let whole = |factor: BigInt| {
            let product = &start * factor;
            let rest = BigInt::from(reduced(&product, &order));
            (product - rest) / &order
        };
        let Self { a, b } = self;
        let (c, d) = (whole(a - b), whole(-b));
        let left = [&start - &c * a + &d * b - moved1, -(&c * b) - &d * (a - b) - moved2];
        let [low, high] = left.map(|part| {
            let digit = reduced(&(2 - part), &4.into()); // 2 is added to each
            usize::try_from(digit).expect("it is below 4")
        });
        low + 4 * high
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::short::{GRUMPKIN, PALLAS, VESTA};

    #[test]
    fn digits_reach_all_of_the_parallelogram() {
        for pi in [GRUMPKIN.pi, PALLAS.pi, VESTA.pi] {
            let split = Split::new(pi);
            let Split { a, b } = &split;
            for begins_with_one in [false, true] {
                let [moved1, moved2] = split.moved(begins_with_one);
                let first = if begins_with_one { top() } else { BigInt::ZERO };
                let reach = [(top() - 1) / -3 * 2, (top() - 1) / 3];
                for corner in 0..4 {
                    let (c, d) = (BigInt::from(corner & 1), BigInt::from(corner >> 1));
                    let k1: BigInt = &c * a - &d * b - &moved1 - &first;
                    let k2: BigInt = &c * b + &d * (a - b) - &moved2;
                    for part in [k1, k2] {
                        assert!(reach[0] < part && part < reach[1], "{pi:?} {corner} {part}");
                    }
                }
            }
        }
    }
}
