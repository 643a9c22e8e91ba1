//! `Fp4 = Fp2[s] / (s² − ξ)`.
//!
//! Fp12 is the cubic extension of this field: that makes the cyclotomic squaring and the line products of the pairing
//! cheapest, since both work on three elements of Fp4.

use super::Tower;
use super::fp2::{self, Fp2};
use core::ops::Mul;
use residue_formula::scope::enter;
use residue_formula::{Fe, bundle};

/// c0 + c1·s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fp4<F, T> {
    /// The part in Fp2.
    pub c0: Fp2<F, T>,
    /// The part times s.
    pub c1: Fp2<F, T>,
}

bundle!(Fp4<T: Tower> { c0: Fp2<F, T>, c1: Fp2<F, T> });
linear!(Fp4<T: Tower> { c0, c1 });

/// An element as the right operand of products; see [`fp2::Multiplicand`].
#[derive(Clone, Copy, Debug)]
pub struct Multiplicand<F, T> {
    /// c0 as a right operand.
    pub c0: fp2::Multiplicand<F, T>,
    /// c1 as a right operand.
    pub c1: fp2::Multiplicand<F, T>,
}

bundle!(Multiplicand<T: Tower> { c0: fp2::Multiplicand<F, T>, c1: fp2::Multiplicand<F, T> });
linear!(Multiplicand<T: Tower> { c0, c1 });

/// A right operand with the sum that Karatsuba's method takes of it, for many products.
#[derive(Clone, Copy, Debug)]
pub struct Prepared<F, T> {
    parts: Multiplicand<F, T>,
    /// c0 + c1.
    sum: fp2::Multiplicand<F, T>,
}

bundle!(Prepared<T: Tower> { parts: Multiplicand<F, T>, sum: fp2::Multiplicand<F, T> });
linear!(Prepared<T: Tower> { parts, sum });

impl<F: Copy, T: Copy> Prepared<F, T> {
    /// Without the sum.
    pub(super) fn parts(self) -> Multiplicand<F, T> {
        self.parts
    }
}

impl<F: Fe, T: Tower> Multiplicand<F, T> {
    /// The same with its sum.
    #[must_use]
    pub fn prepared(self) -> Prepared<F, T> {
        Prepared { parts: self, sum: self.c0 + self.c1 }
    }
}

impl<F: Fe, T: Tower> Fp4<F, T> {
    /// c0 + c1·s.
    pub const fn new(c0: Fp2<F, T>, c1: Fp2<F, T>) -> Self {
        Self { c0, c1 }
    }

    /// This element as the right operand of products.
    #[must_use]
    pub fn multiplicand(self) -> Multiplicand<F, T> {
        Multiplicand { c0: self.c0.multiplicand(), c1: self.c1.multiplicand() }
    }

    /// a ↦ 2a.
    #[must_use]
    pub fn double(self) -> Self {
        self + self
    }

    /// a ↦ a² with three squarings in Fp2; their sum serves twice, as a0² + ξ·a1² = (a0² + a1²) + (k − 1)·a1² + u·a1².
    #[must_use]
    pub fn square(self) -> Self {
        let _scope = enter("fp4_square");
        let t0 = self.c0.square(); //                  T0 = a0²
        let t1 = self.c1.square(); //                  T1 = a1²
        let t = t0 + t1; //                            T = T0 + T1
        let c0 = t0.add_times_nonresidue(t1, t); //    a0² + ξ·a1²
        let c1 = (self.c0 + self.c1).square() - t; //  2·a0·a1 = (a0 + a1)² − T
        Self::new(c0, c1)
    }

    /// a ↦ a^(p²) = a0 − a1·s.
    #[must_use]
    pub fn conjugate(self) -> Self {
        Self::new(self.c0, -self.c1)
    }

    /// (a, k) ↦ k·a for k in Fp2.
    #[must_use]
    pub fn scale(self, factor: fp2::Multiplicand<F, T>) -> Self {
        Self::new(self.c0 * factor, self.c1 * factor)
    }

    /// (a, b) ↦ a·b with three products in Fp2 (Karatsuba), given b0 + b1; the sum of two of them serves twice, as in the
    /// square.
    fn times(self, b: Multiplicand<F, T>, sum: impl FnOnce() -> fp2::Multiplicand<F, T>) -> Self {
        let _scope = enter("fp4_mul");
        let t0 = self.c0 * b.c0; //                          T0 = a0·b0
        let t1 = self.c1 * b.c1; //                          T1 = a1·b1
        let t = t0 + t1; //                                  T = T0 + T1
        let c0 = t0.add_times_nonresidue(t1, t); //          a0·b0 + ξ·a1·b1
        let c1 = (self.c0 + self.c1) * sum() - t; //         a0·b1 + a1·b0 = (a0 + a1)(b0 + b1) − T
        Self::new(c0, c1)
    }

    /// a ↦ w³·a for the w of Fp12: c·a, or s·a.
    #[must_use]
    pub fn mul_by_cube(self) -> Self {
        match T::CUBE {
            Some(_) => Self::new(self.c0.mul_by_cube(), self.c1.mul_by_cube()),
            None => self.mul_by_s(),
        }
    }

    /// (a, b) ↦ a·(b + s) for b in Fp2, with two products in Fp2.
    #[must_use]
    pub fn mul_by_monic(self, b: fp2::Multiplicand<F, T>) -> Self {
        let c0 = self.c0 * b + self.c1.mul_by_nonresidue(); // a0·b + ξ·a1
        let c1 = self.c1 * b + self.c0; //                     a1·b + a0
        Self::new(c0, c1)
    }

    /// a ↦ s·a.
    #[must_use]
    pub fn mul_by_s(self) -> Self {
        Self::new(self.c1.mul_by_nonresidue(), self.c0)
    }
}

impl<F: Fe, T: Tower> Mul<Prepared<F, T>> for Fp4<F, T> {
    type Output = Self;

    fn mul(self, b: Prepared<F, T>) -> Self {
        self.times(b.parts, || b.sum)
    }
}

impl<F: Fe, T: Tower> Mul<Multiplicand<F, T>> for Fp4<F, T> {
    type Output = Self;

    fn mul(self, b: Multiplicand<F, T>) -> Self {
        self.times(b, || b.c0 + b.c1)
    }
}

impl<F: Fe, T: Tower> Mul for Fp4<F, T> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        self * other.multiplicand()
    }
}
