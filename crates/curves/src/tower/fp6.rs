//! `Fp6 = Fp2[v] / (v³ − ξ)`, the other subfield of Fp12: v = w². With a [`Tower::CUBE`] c it is `Fp2[v] / (v³ − c)`, and v = w. Norms from Fp12 land here and are inverted here.

use super::Tower;
use super::fp2::{self, Fp2};
use core::ops::Mul;
use residue_formula::scope::enter;
use residue_formula::{Fe, bundle};

/// c0 + c1·v + c2·v².
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fp6<F, T> {
    /// The part in Fp2.
    pub c0: Fp2<F, T>,
    /// The part times v.
    pub c1: Fp2<F, T>,
    /// The part times v².
    pub c2: Fp2<F, T>,
}

bundle!(Fp6<T: Tower> { c0: Fp2<F, T>, c1: Fp2<F, T>, c2: Fp2<F, T> });
linear!(Fp6<T: Tower> { c0, c1, c2 });

/// An element as the right operand of products; see [`fp2::Multiplicand`].
#[derive(Clone, Copy, Debug)]
pub struct Multiplicand<F, T> {
    c0: fp2::Multiplicand<F, T>,
    c1: fp2::Multiplicand<F, T>,
    c2: fp2::Multiplicand<F, T>,
}

bundle!(Multiplicand<T: Tower> { c0: fp2::Multiplicand<F, T>, c1: fp2::Multiplicand<F, T>, c2: fp2::Multiplicand<F, T> });

impl<F: Fe, T: Tower> Fp6<F, T> {
    /// c0 + c1·v + c2·v².
    pub const fn new(c0: Fp2<F, T>, c1: Fp2<F, T>, c2: Fp2<F, T>) -> Self {
        Self { c0, c1, c2 }
    }

    /// This element as the right operand of products.
    #[must_use]
    pub fn multiplicand(self) -> Multiplicand<F, T> {
        Multiplicand { c0: self.c0.multiplicand(), c1: self.c1.multiplicand(), c2: self.c2.multiplicand() }
    }

    /// (a, b) ↦ a·b with nine products in Fp2, in three sums.
    pub(super) fn times_in_sums(self, b: Self) -> Self {
        let Self { c0: a0, c1: a1, c2: a2 } = self;
        let (t1, t2) = (b.c1.mul_by_cube(), b.c2.mul_by_cube()); //                 ξ·b1, ξ·b2
        let c0 = Fp2::sum_of_products([(a0, b.c0), (a1, t2), (a2, t1)]); //          a0·b0 + ξ·(a1·b2 + a2·b1)
        let c1 = Fp2::sum_of_products([(a0, b.c1), (a1, b.c0), (a2, t2)]); //        a0·b1 + a1·b0 + ξ·a2·b2
        let c2 = Fp2::sum_of_products([(a0, b.c2), (a1, b.c1), (a2, b.c0)]); //      a0·b2 + a1·b1 + a2·b0
        Self::new(c0, c1, c2)
    }

    /// a ↦ v·a.
    #[must_use]
    pub fn mul_by_v(self) -> Self {
        Self::new(self.c2.mul_by_cube(), self.c0, self.c1)
    }

    /// a ↦ t²·a, where Fp12 = Fp6[t]: v·a for t = w, ξ·a for t = s.
    #[must_use]
    pub fn mul_by_square(self) -> Self {
        match T::CUBE {
            Some(_) => {
                let [c0, c1, c2] = [self.c0, self.c1, self.c2].map(Fp2::mul_by_nonresidue);
                Self::new(c0, c1, c2)
            }
            None => self.mul_by_v(),
        }
    }

    /// a ↦ a². Chung–Hasan 2007, the method SQR2.
    #[must_use]
    pub fn square(self) -> Self {
        let _scope = enter("fp6_square");
        if self.c0.is_in_sums() {
            return self.square_in_sums();
        }
        let Self { c0: a0, c1: a1, c2: a2 } = self;
        let m = a1.double().multiplicand();
        let s0 = a0.square(); //                   S0 = a0²
        let s1 = a0 * m; //                        S1 = 2·a0·a1
        let s2 = (a0 - a1 + a2).square(); //       S2 = (a0 − a1 + a2)²
        let s3 = a2 * m; //                        S3 = 2·a1·a2
        let s4 = a2.square(); //                   S4 = a2²
        let c0 = s0 + s3.mul_by_cube(); //   S0 + ξ·S3
        let c1 = s1 + s4.mul_by_cube(); //   S1 + ξ·S4
        let c2 = (s1 + s2 + s3) - (s0 + s4); //    S1 + S2 + S3 − S0 − S4
        Self::new(c0, c1, c2)
    }

    /// a ↦ a² by three squares and three products, in three sums.
    fn square_in_sums(self) -> Self {
        let Self { c0: a0, c1: a1, c2: a2 } = self;
        let twice = a2.double().multiplicand();
        let c0 = a0.square() + (a1 * twice).mul_by_cube(); //       a0² + 2ξ·a1·a2
        let c1 = a0 * a1.double() + a2.square().mul_by_cube(); //   2·a0·a1 + ξ·a2²
        let c2 = a0 * twice + a1.square(); //                       2·a0·a2 + a1²
        Self::new(c0, c1, c2)
    }

    /// a ↦ a⁻¹, where `invert` inverts in Fp. Beuchat et al. 2010 (2010/354), algorithm 17.
    #[must_use]
    pub fn inverse_with(self, invert: impl FnOnce(F) -> F) -> Self {
        let _scope = enter("fp6_inverse");
        let Self { c0: a0, c1: a1, c2: a2 } = self;
        let [m0, m1, m2] = [a0, a1, a2].map(Fp2::multiplicand);
        let a = a0.square() - (a1 * m2).mul_by_cube(); //          A = a0² − ξ·a1·a2
        let b = a2.square().mul_by_cube() - a1 * m0; //            B = ξ·a2² − a0·a1
        let c = a1.square() - a2 * m0; //                                C = a1² − a0·a2
        let norm = a * m0 + (b * m2 + c * m1).mul_by_cube(); //    N = a0·A + ξ·(a2·B + a1·C)
        let inverse = norm.inverse_with(invert).multiplicand();
        Self::new(a * inverse, b * inverse, c * inverse) //              (A + B·v + C·v²) / N
    }
}

impl<F: Fe, T: Tower> Mul<Multiplicand<F, T>> for Fp6<F, T> {
    type Output = Self;

    /// (a, b) ↦ a·b with six products in Fp2. Devegili et al. 2006 (2006/471), §4: Karatsuba.
    fn mul(self, b: Multiplicand<F, T>) -> Self {
        let _scope = enter("fp6_mul");
        if let (Some(b0), Some(b1), Some(b2)) = (b.c0.in_sums(), b.c1.in_sums(), b.c2.in_sums()) {
            return self.times_in_sums(Self::new(b0, b1, b2));
        }
        let Self { c0: a0, c1: a1, c2: a2 } = self;
        if a0.is_in_fp6() {
            return self.times_in_sums(Self::new(b.c0.element(), b.c1.element(), b.c2.element()));
        }
        let v0 = a0 * b.c0; //                                V0 = a0·b0
        let v1 = a1 * b.c1; //                                V1 = a1·b1
        let v2 = a2 * b.c2; //                                V2 = a2·b2
        let t12 = (a1 + a2) * (b.c1 + b.c2) - (v1 + v2); //   a1·b2 + a2·b1
        let t01 = (a0 + a1) * (b.c0 + b.c1) - (v0 + v1); //   a0·b1 + a1·b0
        let t02 = (a0 + a2) * (b.c0 + b.c2) - (v0 + v2); //   a0·b2 + a2·b0
        let c0 = v0 + t12.mul_by_cube(); //             V0 + ξ·(a1·b2 + a2·b1)
        let c1 = t01 + v2.mul_by_cube(); //             a0·b1 + a1·b0 + ξ·V2
        let c2 = t02 + v1; //                                 a0·b2 + a2·b0 + V1
        Self::new(c0, c1, c2)
    }
}

impl<F: Fe, T: Tower> Mul for Fp6<F, T> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        if self.c0.is_in_fp6() {
            return self.times_in_sums(other);
        }
        self * other.multiplicand()
    }
}
