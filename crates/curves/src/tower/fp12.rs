//! `Fp12 = Fp4[w] / (w³ − s) = Fp2[w] / (w⁶ − ξ)`, the field of pairing values.
//!
//! The coefficients of 1, w, …, w⁵ over Fp2 are those of the tower Fp2, `Fp6 = Fp2[w²]`, `Fp12 = Fp6[w]` that most libraries
//! use; only their grouping differs. With a [`Tower::CUBE`] c it is `Fp4[w] / (w³ − c)`.

use super::Tower;
use super::fp2::Fp2;
use super::fp4::{self, Fp4};
use super::fp6::Fp6;
use core::ops::Mul;
use residue_formula::scope::enter;
use residue_formula::{Fe, bundle};

/// c0 + c1·w + c2·w².
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fp12<F, T> {
    /// The part in Fp4.
    pub c0: Fp4<F, T>,
    /// The part times w.
    pub c1: Fp4<F, T>,
    /// The part times w².
    pub c2: Fp4<F, T>,
}

bundle!(Fp12<T: Tower> { c0: Fp4<F, T>, c1: Fp4<F, T>, c2: Fp4<F, T> });
linear!(Fp12<T: Tower> { c0, c1, c2 });

/// An element b as the right operand of products, with all sums that they take of it.
#[derive(Clone, Copy, Debug)]
pub struct Multiplicand<F, T> {
    b0: fp4::Prepared<F, T>,
    b1: fp4::Prepared<F, T>,
    b2: fp4::Prepared<F, T>,
    /// b1 + b2.
    b12: fp4::Prepared<F, T>,
    /// b0 + b1.
    b01: fp4::Prepared<F, T>,
    /// b0 + b2.
    b02: fp4::Prepared<F, T>,
}

bundle!(Multiplicand<T: Tower> {
    b0: fp4::Prepared<F, T>,
    b1: fp4::Prepared<F, T>,
    b2: fp4::Prepared<F, T>,
    b12: fp4::Prepared<F, T>,
    b01: fp4::Prepared<F, T>,
    b02: fp4::Prepared<F, T>
});

/// The sparse element l0 + l2·w² + l3·w³: a line of the pairing for a twist of type M.
#[derive(Clone, Copy, Debug)]
pub struct Sparse023<F, T> {
    /// The coefficient of 1.
    pub l0: Fp2<F, T>,
    /// The coefficient of w².
    pub l2: Fp2<F, T>,
    /// The coefficient of w³.
    pub l3: Fp2<F, T>,
}

bundle!(Sparse023<T: Tower> { l0: Fp2<F, T>, l2: Fp2<F, T>, l3: Fp2<F, T> });

/// The sparse element l0 + l1·w + l3·s: a line for a twist of type D.
#[derive(Clone, Copy, Debug)]
pub struct Sparse013<F, T> {
    /// The coefficient of 1.
    pub l0: Fp2<F, T>,
    /// The coefficient of w.
    pub l1: Fp2<F, T>,
    /// The coefficient of s.
    pub l3: Fp2<F, T>,
}

impl<F: Fe, T: Tower> Multiplicand<F, T> {
    /// The element itself, where products are to be sums of products in Fp.
    fn in_sums(self) -> Option<Fp12<F, T>> {
        let part = |part: fp4::Prepared<F, T>| Some(Fp4::new(part.parts().c0.in_sums()?, part.parts().c1.in_sums()?));
        Some(Fp12::new(part(self.b0)?, part(self.b1)?, part(self.b2)?))
    }

    /// The element itself.
    fn element(self) -> Fp12<F, T> {
        let part = |part: fp4::Prepared<F, T>| Fp4::new(part.parts().c0.element(), part.parts().c1.element());
        Fp12::new(part(self.b0), part(self.b1), part(self.b2))
    }
}

/// Products as sums of products in Fp with one reduction each, or as products in Fp6, for u² = −1; the former for the golden ratio too.
impl<F: Fe, T: Tower> Fp12<F, T> {
    fn is_in_sums(self) -> bool {
        T::CUBE.is_none() && self.c0.c0.is_in_sums()
    }

    /// By schoolbook for ξ = 1 + u, else by products in Fp6.
    fn square_in_sums(self) -> Self {
        if T::K == 1 { self.schoolbook_square() } else { self.square_in_fp6() }
    }

    /// (E + O·t)² = (E + O)(E + t²·O) − (1 + t²)·E·O + 2·E·O·t, where Fp12 = Fp6[t].
    fn square_in_fp6(self) -> Self {
        let (even, odd) = self.even_and_odd();
        let product = even.times_in_sums(odd); //                                     E·O
        let square = (even + odd).times_in_sums(even + odd.mul_by_square()); //       (E + O)(E + t²·O)
        Self::from_even_and_odd(square - product - product.mul_by_square(), product + product)
    }

    /// f² for ξ = 1 + u: the coefficient of wᵏ is Σ fᵢ·fⱼ over i + j = k, and over i + j = k + 6 times ξ. Those of odd k are two sums of six
    /// products each. Those of even k have a square x² and a square ξ·y², y = c + d·u: as Re(ξ·y²) = (c + d)(c − d) − 2c·d and
    /// Im(ξ·y²) = (c + d)(c − d) + c·2d, one product stands beside both sums, and none in both.
    fn schoolbook_square(self) -> Self {
        let [f0, f1, f2, f3, f4, f5] = self.coefficients();
        let [d0, d1, d2, d3, d4, d5] = [f0, f1, f2, f3, f4, f5].map(Fp2::double);
        let [x3, x4, x5] = [f3, f4, f5].map(Fp2::mul_by_nonresidue);
        // (x, 2x), (y, 2y, ξ·y) and two pairs ↦ x² + ξ·y² + the products of the pairs
        let even = |x: Fp2<F, T>,
                    x2: Fp2<F, T>,
                    y2: Fp2<F, T>,
                    [y, xi_y]: [Fp2<F, T>; 2],
                    [(a, b), (c, d)]: [(Fp2<F, T>, Fp2<F, T>); 2]| {
            let both = xi_y.c1 * xi_y.c0; //                                              (c + d)(c − d)
            let re = (a.c0 * b.c0 - a.c1 * b.c1)
                + (c.c0 * d.c0 - c.c1 * d.c1)
                + ((x.c0 + x.c1) * (x.c0 - x.c1) - y2.c0 * y.c1);
            let im = (a.c0 * b.c1 + a.c1 * b.c0) + (c.c0 * d.c1 + c.c1 * d.c0) + (x2.c0 * x.c1 + y.c0 * y2.c1);
            Fp2::new(re + both, im + both)
        };
        let c0 = even(f0, d0, d3, [f3, x3], [(d1, x5), (d2, x4)]); //                    f0² + ξ·f3² + 2ξ(f1·f5 + f2·f4)
        let c1 = Fp2::sum_of_products([(d0, f1), (d2, x5), (d3, x4)]); //                2·f0·f1 + 2ξ(f2·f5 + f3·f4)
        let c2 = even(f1, d1, d4, [f4, x4], [(d0, f2), (d3, x5)]); //                    f1² + ξ·f4² + 2·f0·f2 + 2ξ·f3·f5
        let c3 = Fp2::sum_of_products([(d0, f3), (d2, f1), (d4, x5)]); //                2(f0·f3 + f1·f2) + 2ξ·f4·f5
        let c4 = even(f2, d2, d5, [f5, x5], [(d0, f4), (d1, f3)]); //                    f2² + ξ·f5² + 2(f0·f4 + f1·f3)
        let c5 = Fp2::sum_of_products([(d0, f5), (d2, f3), (d4, f1)]); //                2(f0·f5 + f1·f4 + f2·f3)
        Self::from_coefficients([c0, c1, c2, c3, c4, c5])
    }

    /// (E + O·t)(G + H·t) with three products in Fp6, where Fp12 = Fp6[t].
    fn times_in_sums(self, other: Self) -> Self {
        let ((even, odd), (g, h)) = (self.even_and_odd(), other.even_and_odd());
        let v0 = even.times_in_sums(g); //                                            V0 = E·G
        let v1 = odd.times_in_sums(h); //                                             V1 = O·H
        let both = (even + odd).times_in_sums(g + h); //                              (E + O)(G + H)
        Self::from_even_and_odd(v0 + v1.mul_by_square(), both - v0 - v1)
    }

    /// (f, l) ↦ f·(l0 + lⱼ·wʲ + l3·w³) = Σ (fₖ·l0 + fₖ₋ⱼ·lⱼ + fₖ₋₃·l3)·wᵏ, where what goes round is taken times ξ. `degree` is j.
    fn mul_by_line_in_sums(self, [l0, l, l3]: [Fp2<F, T>; 3], degree: usize) -> Self {
        let f = self.coefficients();
        let (round, round3) = (l.mul_by_nonresidue(), l3.mul_by_nonresidue());
        let coefficient = |k: usize| {
            let (g, m) = (f[(k + 6 - degree) % 6], if k < degree { round } else { l });
            let (h, n) = (f[(k + 3) % 6], if k < 3 { round3 } else { l3 });
            Fp2::sum_of_products([(f[k], l0), (g, m), (h, n)])
        };
        Self::from_coefficients([0, 1, 2, 3, 4, 5].map(coefficient))
    }
}

impl<F: Fe, T: Tower> Fp12<F, T> {
    /// 1, made of 0 and 1 in Fp.
    pub fn one(zero: F, one: F) -> Self {
        let (zero, one) = (Fp2::new(zero, zero), Fp2::new(one, zero));
        Self::from_coefficients([one, zero, zero, zero, zero, zero])
    }

    /// c0 + c1·w + c2·w².
    pub const fn new(c0: Fp4<F, T>, c1: Fp4<F, T>, c2: Fp4<F, T>) -> Self {
        Self { c0, c1, c2 }
    }

    /// f0 + f1·w + f2·w² + (f3 + f4·w + f5·w²)·s: fᵢ and fᵢ₊₃ make one coefficient over Fp4. Where w³ = s, it is f0 + f1·w + … + f5·w⁵.
    pub const fn from_coefficients([f0, f1, f2, f3, f4, f5]: [Fp2<F, T>; 6]) -> Self {
        Self::new(Fp4::new(f0, f3), Fp4::new(f1, f4), Fp4::new(f2, f5))
    }

    /// The coefficients of 1, w, w², s, s·w, s·w² over Fp2; where w³ = s, those of 1, w, …, w⁵.
    pub const fn coefficients(self) -> [Fp2<F, T>; 6] {
        [self.c0.c0, self.c1.c0, self.c2.c0, self.c0.c1, self.c1.c1, self.c2.c1]
    }

    /// f = E + O·w with E and O in `Fp6 = Fp2[w²]`; or, with a [`Tower::CUBE`], E + O·s with E and O in `Fp6 = Fp2[w]`.
    pub const fn even_and_odd(self) -> (Fp6<F, T>, Fp6<F, T>) {
        let [f0, f1, f2, f3, f4, f5] = self.coefficients();
        if T::CUBE.is_some() {
            return (Fp6::new(f0, f1, f2), Fp6::new(f3, f4, f5));
        }
        (Fp6::new(f0, f2, f4), Fp6::new(f1, f3, f5))
    }

    /// E + O·w, or E + O·s.
    pub const fn from_even_and_odd(even: Fp6<F, T>, odd: Fp6<F, T>) -> Self {
        if T::CUBE.is_some() {
            return Self::from_coefficients([even.c0, even.c1, even.c2, odd.c0, odd.c1, odd.c2]);
        }
        Self::from_coefficients([even.c0, odd.c0, even.c1, odd.c1, even.c2, odd.c2])
    }

    /// This element as the right operand of products.
    #[must_use]
    pub fn multiplicand(self) -> Multiplicand<F, T> {
        let [b0, b1, b2] = [self.c0, self.c1, self.c2].map(|part| part.multiplicand().prepared());
        Multiplicand { b0, b1, b2, b12: b1 + b2, b01: b0 + b1, b02: b0 + b2 }
    }

    /// f ↦ 2f.
    #[must_use]
    pub fn double(self) -> Self {
        self + self
    }

    /// (f, k) ↦ k·f for k in Fp.
    #[must_use]
    pub fn scale(self, factor: F) -> Self {
        Self::from_coefficients(self.coefficients().map(|c| c.scale(factor)))
    }

    /// f ↦ f². Chung–Hasan 2007, the method SQR2, over Fp4.
    #[must_use]
    pub fn square(self) -> Self {
        let _scope = enter("fp12_square");
        if self.is_in_sums() {
            return self.square_in_sums();
        }
        if self.c0.c0.is_in_fp6() {
            return self.square_in_fp6();
        }
        let Self { c0: a0, c1: a1, c2: a2 } = self;
        let m = a1.double().multiplicand();
        let s0 = a0.square(); //                  S0 = a0²
        let s1 = a0 * m; //                       S1 = 2·a0·a1
        let s2 = (a0 - a1 + a2).square(); //      S2 = (a0 − a1 + a2)²
        let s3 = a2 * m; //                       S3 = 2·a1·a2
        let s4 = a2.square(); //                  S4 = a2²
        let c0 = s0 + s3.mul_by_cube(); //           S0 + s·S3
        let c1 = s1 + s4.mul_by_cube(); //           S1 + s·S4
        let c2 = (s1 + s2 + s3) - (s0 + s4); //   S1 + S2 + S3 − S0 − S4
        Self::new(c0, c1, c2)
    }

    /// (f, l) ↦ f·(l0 + l2·w² + l3·w³) with thirteen products in Fp2: Karatsuba over Fp4 on (l0 + l3·s) + l2·w².
    #[must_use]
    pub fn mul_by_023(self, line: Sparse023<F, T>) -> Self {
        let _scope = enter("fp12_mul_by_line");
        if self.is_in_sums() {
            return self.mul_by_line_in_sums([line.l0, line.l2, line.l3], 2);
        }
        let Self { c0: f0, c1: f1, c2: f2 } = self;
        let a = Fp4::new(line.l0, line.l3).multiplicand(); //         A = l0 + l3·s
        let b = line.l2.multiplicand(); //                            B = l2
        let sum = fp4::Multiplicand { c0: a.c0 + b, c1: a.c1 }; //    A + B
        let p0 = f0 * a; //                                           P0 = F0·A
        let p1 = f1 * a; //                                           P1 = F1·A
        let q1 = f1.scale(b); //                                      Q1 = F1·B
        let q2 = f2.scale(b); //                                      Q2 = F2·B
        let r = (f0 + f2) * sum; //                                   R = (F0 + F2)(A + B)
        // All products come before all results, which can then take the place of f.
        let c0 = p0 + q1.mul_by_cube(); //                               F0·A + s·F1·B
        let c1 = p1 + q2.mul_by_cube(); //                               F1·A + s·F2·B
        let c2 = r - (p0 + q2); //                                    F2·A + F0·B = R − P0 − Q2
        Self::new(c0, c1, c2)
    }

    /// (f, l) ↦ f·(l0 + l1·w + l3·s) with thirteen products in Fp2: Karatsuba over Fp4 on (l0 + l3·s) + l1·w.
    #[must_use]
    pub fn mul_by_013(self, line: Sparse013<F, T>) -> Self {
        let _scope = enter("fp12_mul_by_line");
        if self.is_in_sums() {
            return self.mul_by_line_in_sums([line.l0, line.l1, line.l3], 1);
        }
        let Self { c0: f0, c1: f1, c2: f2 } = self;
        let a = Fp4::new(line.l0, line.l3).multiplicand(); //         A = l0 + l3·s
        let b = line.l1.multiplicand(); //                            B = l1
        let sum = fp4::Multiplicand { c0: a.c0 + b, c1: a.c1 }; //    A + B
        let p0 = f0 * a; //                                           P0 = F0·A
        let p2 = f2 * a; //                                           P2 = F2·A
        let q1 = f1.scale(b); //                                      Q1 = F1·B
        let q2 = match T::CUBE {
            Some(_) => f2.scale(line.l1.mul_by_cube().multiplicand()), // Q2 = c·F2·B
            None => f2.scale(b),                                       //                                      Q2 = F2·B
        };
        let r = (f0 + f1) * sum; //                                   R = (F0 + F1)(A + B)
        let c0 = match T::CUBE {
            Some(_) => p0 + q2,
            None => p0 + q2.mul_by_s(), //                            F0·A + w³·F2·B
        };
        let c1 = r - (p0 + q1); //                                    F1·A + F0·B = R − P0 − Q1
        let c2 = p2 + q1; //                                          F2·A + F1·B
        Self::new(c0, c1, c2)
    }

    /// (f, l0, l2) ↦ f·(l0 + l2·w² + s) with ten products in Fp2, where w³ = s: as [`Fp12::mul_by_023`] with A = l0 + s.
    #[must_use]
    pub fn mul_by_monic_023(self, l0: Fp2<F, T>, l2: Fp2<F, T>) -> Self {
        let _scope = enter("fp12_mul_by_monic_line");
        let Self { c0: f0, c1: f1, c2: f2 } = self;
        let (a, b) = (l0.multiplicand(), l2.multiplicand());
        let p0 = f0.mul_by_monic(a); //                               P0 = F0·A
        let p1 = f1.mul_by_monic(a); //                               P1 = F1·A
        let q1 = f1.scale(b); //                                      Q1 = F1·B
        let q2 = f2.scale(b); //                                      Q2 = F2·B
        let r = (f0 + f2).mul_by_monic(a + b); //                     R = (F0 + F2)(A + B)
        Self::new(p0 + q1.mul_by_cube(), p1 + q2.mul_by_cube(), r - (p0 + q2))
    }

    /// (f, l0, l1) ↦ f·(l0 + l1·w + s) with ten products in Fp2, for a tower with a [`Tower::CUBE`]: as [`Fp12::mul_by_013`] with A = l0 + s.
    #[must_use]
    pub fn mul_by_monic_013(self, l0: Fp2<F, T>, l1: Fp2<F, T>) -> Self {
        let _scope = enter("fp12_mul_by_monic_line");
        let Self { c0: f0, c1: f1, c2: f2 } = self;
        let (a, b) = (l0.multiplicand(), l1.multiplicand());
        let p0 = f0.mul_by_monic(a); //                               P0 = F0·A
        let p2 = f2.mul_by_monic(a); //                               P2 = F2·A
        let q1 = f1.scale(b); //                                      Q1 = F1·B
        let q2 = f2.scale(l1.mul_by_cube().multiplicand()); //        Q2 = c·F2·B
        let r = (f0 + f1).mul_by_monic(a + b); //                     R = (F0 + F1)(A + B)
        Self::new(p0 + q2, r - (p0 + q1), p2 + q1)
    }

    /// (f, g) ↦ the part of f·g in Fp4.
    #[must_use]
    pub fn mul_c0(self, other: Self) -> Fp4<F, T> {
        let _scope = enter("fp12_mul_c0");
        let Self { c0: a0, c1: a1, c2: a2 } = self;
        let Self { c0: b0, c1: b1, c2: b2 } = other;
        a0 * b0 + (a1 * b2 + a2 * b1).mul_by_cube() // a0·b0 + s·(a1·b2 + a2·b1)
    }

    /// f ↦ f^(p⁶) = E − O·w, the inverse of a unitary f.
    #[must_use]
    pub fn conjugate(self) -> Self {
        let (even, odd) = self.even_and_odd();
        Self::from_even_and_odd(even, -odd)
    }

    /// f ↦ f⁻¹ = (E − O·w) / N, where N = E² − v·O² is the norm to Fp6 (w is s with a [`Tower::CUBE`]) and `invert` inverts in Fp.
    #[must_use]
    pub fn inverse_with(self, invert: impl FnOnce(F) -> F) -> Self {
        let _scope = enter("fp12_inverse");
        let (even, odd) = self.even_and_odd();
        let norm = even.square() - odd.square().mul_by_square();
        let inverse = norm.inverse_with(invert).multiplicand();
        Self::from_even_and_odd(even * inverse, -(odd * inverse))
    }

    /// f ↦ f^(p⁶ − 1) = (E − O·w) / (E + O·w) = (E² + v·O² − 2·E·O·w) / N, where `invert` inverts in Fp. Unitary.
    #[must_use]
    pub fn conjugate_over_self(self, invert: impl FnOnce(F) -> F) -> Self {
        let _scope = enter("fp12_conjugate_over_self");
        let (even, odd) = self.even_and_odd();
        let ee = even.square(); //             E²
        let oo = odd.square().mul_by_square(); //   v·O²
        let eo = even * odd; //                E·O
        let inverse = (ee - oo).inverse_with(invert).multiplicand();
        Self::from_even_and_odd((ee + oo) * inverse, -((eo + eo) * inverse))
    }

    /// f ↦ fᵖ, given the γᵢ by which p-th powers of 1, w, w², s, s·w, s·w² are multiples of them: Σ fᵢ·wⁱ ↦ Σ fᵢᵖ·γᵢ·wⁱ.
    #[must_use]
    pub fn frobenius(self, gamma: &[Fp2<F, T>; 6]) -> Self {
        let _scope = enter("frobenius");
        let [f0, f1, f2, f3, f4, f5] = self.coefficients();
        let [_, g1, g2, g3, g4, g5] = *gamma;
        Self::from_coefficients([
            f0.conjugate(),
            f1.conjugate_mul(g1),
            f2.conjugate_mul(g2),
            f3.conjugate_mul(g3),
            f4.conjugate_mul(g4),
            f5.conjugate_mul(g5),
        ])
    }

    /// f ↦ f^(p²), given δᵢ = γᵢᵖ⁺¹ in Fp for i = 0 … 5; δ₀ = 1 and δ₃ = −1.
    #[must_use]
    pub fn frobenius_squared(self, delta: &[F; 6]) -> Self {
        let _scope = enter("frobenius_squared");
        let [f0, f1, f2, f3, f4, f5] = self.coefficients();
        let [_, d1, d2, _, d4, d5] = *delta;
        Self::from_coefficients([f0, f1.scale(d1), f2.scale(d2), -f3, f4.scale(d4), f5.scale(d5)])
    }
}

impl<F: Fe, T: Tower> Mul<Multiplicand<F, T>> for Fp12<F, T> {
    type Output = Self;

    /// (f, g) ↦ f·g with six products in Fp4 (eighteen in Fp2): Karatsuba, as in Fp6.
    fn mul(self, b: Multiplicand<F, T>) -> Self {
        let _scope = enter("fp12_mul");
        if let Some(b) = b.in_sums().filter(|_| self.is_in_sums()) {
            return self.times_in_sums(b);
        }
        if self.c0.c0.is_in_fp6() {
            return self.times_in_sums(b.element());
        }
        let Self { c0: a0, c1: a1, c2: a2 } = self;
        let v0 = a0 * b.b0; //                         V0 = a0·b0
        let v1 = a1 * b.b1; //                         V1 = a1·b1
        let v2 = a2 * b.b2; //                         V2 = a2·b2
        let t12 = (a1 + a2) * b.b12 - (v1 + v2); //    a1·b2 + a2·b1
        let t01 = (a0 + a1) * b.b01 - (v0 + v1); //    a0·b1 + a1·b0
        let t02 = (a0 + a2) * b.b02 - (v0 + v2); //    a0·b2 + a2·b0
        let c0 = v0 + t12.mul_by_cube(); //               V0 + s·(a1·b2 + a2·b1)
        let c1 = t01 + v2.mul_by_cube(); //               a0·b1 + a1·b0 + s·V2
        let c2 = t02 + v1; //                          a0·b2 + a2·b0 + V1
        Self::new(c0, c1, c2)
    }
}

impl<F: Fe, T: Tower> Mul for Fp12<F, T> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        if self.c0.c0.is_in_fp6() {
            return self.times_in_sums(other);
        }
        self * other.multiplicand()
    }
}
