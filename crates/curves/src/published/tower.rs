//! The tower as blst builds it: Fp2, `Fp6 = Fp2[v]/(v³ − ξ)`, `Fp12 = Fp6[w]/(w² − v)`. Release 0.3, `src/fp12_tower.c`;
//! each function names the one that it follows.

use crate::bls12_381::Fp2;
use crate::bls12_381::Fp6;
use crate::bls12_381::constants::constants;
use num_bigint::BigUint;
use residue_formula::scope::enter;
use residue_formula::{Fe, Fp2Product, Number, bundle};
use residue_ir::Machine;
use residue_modular::fields::Bls12_381Fp;

/// c0 + c1·w over Fp6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fp12<F> {
    /// The part in Fp6.
    pub c0: Fp6<F>,
    /// The part times w.
    pub c1: Fp6<F>,
}

bundle!(Fp12 { c0: Fp6<F>, c1: Fp6<F> });

/// The sparse element x + y·v + z·v·w: a line, evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Line<F> {
    /// The coefficient of 1.
    pub x: Fp2<F>,
    /// The coefficient of v.
    pub y: Fp2<F>,
    /// The coefficient of v·w.
    pub z: Fp2<F>,
}

bundle!(Line { x: Fp2<F>, y: Fp2<F>, z: Fp2<F> });

impl<F: Fe> Fp12<F> {
    /// c0 + c1·w.
    pub const fn new(c0: Fp6<F>, c1: Fp6<F>) -> Self {
        Self { c0, c1 }
    }

    /// 1.
    pub fn one<M: Machine<Fe = F>>(machine: &M) -> Self {
        let zero = Fp2::new(machine.zero(), machine.zero());
        let one = Fp2::new(machine.one(), machine.zero());
        Self::new(Fp6::new(one, zero, zero), Fp6::new(zero, zero, zero))
    }

    /// f ↦ f^(p⁶). `conjugate_fp12`.
    #[must_use]
    pub fn conjugate(self) -> Self {
        Self::new(self.c0, -self.c1)
    }
}

/// (a, b) ↦ a·b: three multiplications, two additions, three subtractions; or 4, 1 and 1. `mul_fp2`.
#[must_use]
pub fn mul_fp2<F: Fe>(a: Fp2<F>, b: Fp2<F>) -> Fp2<F> {
    let _scope = enter("fp2_mul");
    let aa = a.c0 * b.c0;
    let bb = a.c1 * b.c1;
    let c1 = match a.c0.fp2_product() {
        Fp2Product::Karatsuba | Fp2Product::Fp6 => (a.c0 + a.c1) * (b.c0 + b.c1) - aa - bb,
        Fp2Product::Schoolbook | Fp2Product::Sums => a.c0 * b.c1 + a.c1 * b.c0,
    };
    Fp2::new(aa - bb, c1)
}

/// (a, b) ↦ a·b. `mul_fp6`.
#[must_use]
pub fn mul_fp6<F: Fe>(a: Fp6<F>, b: Fp6<F>) -> Fp6<F> {
    let _scope = enter("fp6_mul");
    let mul = |x, y| mul_fp2(x, y);
    let t0 = mul(a.c0, b.c0);
    let t1 = mul(a.c1, b.c1);
    let t2 = mul(a.c2, b.c2);
    let t12 = mul(a.c1 + a.c2, b.c1 + b.c2) - t1 - t2; //   a₁·b₂ + a₂·b₁
    let t01 = mul(a.c0 + a.c1, b.c0 + b.c1) - t0 - t1; //   a₀·b₁ + a₁·b₀
    let t02 = mul(a.c0 + a.c2, b.c0 + b.c2) - t0 - t2; //   a₀·b₂ + a₂·b₀
    Fp6::new(t12.mul_by_nonresidue() + t0, t01 + t2.mul_by_nonresidue(), t02 + t1)
}

/// a ↦ a². `sqr_fp6`.
#[must_use]
pub fn sqr_fp6<F: Fe>(a: Fp6<F>) -> Fp6<F> {
    let _scope = enter("fp6_square");
    let s0 = a.c0.square(); //                                                  a₀²
    let m01 = mul_fp2(a.c0, a.c1).double(); //                         2·a₀·a₁
    let m12 = mul_fp2(a.c1, a.c2).double(); //                         2·a₁·a₂
    let s2 = a.c2.square(); //                                                  a₂²
    let c2 = (a.c2 + a.c1 + a.c0).square() - s0 - s2 - m01 - m12; //            a₁² + 2·a₀·a₂
    Fp6::new(m12.mul_by_nonresidue() + s0, s2.mul_by_nonresidue() + m01, c2)
}

/// (a, b) ↦ a·b: 54 multiplications, 115 additions, 109 subtractions. `mul_fp12`.
#[must_use]
pub fn mul_fp12<F: Fe>(a: Fp12<F>, b: Fp12<F>) -> Fp12<F> {
    let _scope = enter("fp12_mul");
    let t0 = mul_fp6(a.c0, b.c0);
    let t1 = mul_fp6(a.c1, b.c1);
    let c1 = mul_fp6(b.c0 + b.c1, a.c0 + a.c1) - t0 - t1; //   a₀·b₁ + a₁·b₀
    Fp12::new(t0 + t1.mul_by_v(), c1) //                                a₀·b₀ + v·a₁·b₁
}

/// f ↦ f². `sqr_fp12`.
#[must_use]
pub fn sqr_fp12<F: Fe>(a: Fp12<F>) -> Fp12<F> {
    let _scope = enter("fp12_square");
    let t0 = mul_fp6(a.c0 + a.c1, a.c0 + a.c1.mul_by_v()); //  (a₀ + a₁)(a₀ + v·a₁)
    let t1 = mul_fp6(a.c0, a.c1); //                           a₀·a₁
    Fp12::new(t0 - t1 - t1.mul_by_v(), t1 + t1)
}

/// (f, l) ↦ f·l with thirteen products in Fp2. `mul_by_xy00z0_fp12`.
#[must_use]
pub fn mul_by_line<F: Fe>(a: Fp12<F>, line: Line<F>) -> Fp12<F> {
    let _scope = enter("fp12_mul_by_line");
    let t0 = mul_by_xy0(a.c0, line.x, line.y);
    let t1 = mul_by_0y0(a.c1, line.z);
    let c1 = mul_by_xy0(a.c0 + a.c1, line.x, line.y + line.z) - t0 - t1;
    Fp12::new(t0 + t1.mul_by_v(), c1)
}

/// (a, y) ↦ a·y·v. `mul_by_0y0_fp6`.
fn mul_by_0y0<F: Fe>(a: Fp6<F>, y: Fp2<F>) -> Fp6<F> {
    let mul = |x| mul_fp2(x, y);
    Fp6::new(mul(a.c2).mul_by_nonresidue(), mul(a.c0), mul(a.c1))
}

/// (a, x, y) ↦ a·(x + y·v). `mul_by_xy0_fp6`.
fn mul_by_xy0<F: Fe>(a: Fp6<F>, x: Fp2<F>, y: Fp2<F>) -> Fp6<F> {
    let mul = |a, b| mul_fp2(a, b);
    let t0 = mul(a.c0, x);
    let t1 = mul(a.c1, y);
    let t3 = mul(a.c2, y).mul_by_nonresidue();
    let c1 = mul(a.c0 + a.c1, x + y) - t0 - t1;
    let c2 = mul(a.c2, x) + t1;
    Fp6::new(t3 + t0, c1, c2)
}

/// f ↦ f⁻¹, where `invert` inverts in Fp; 0 ↦ 0 if it does so. `inverse_fp12`.
#[must_use]
pub fn inverse_fp12<F: Fe>(a: Fp12<F>, invert: impl FnOnce(F) -> F) -> Fp12<F> {
    let _scope = enter("fp12_inverse");
    let norm = sqr_fp6(a.c0) - sqr_fp6(a.c1).mul_by_v();
    let inverse = inverse_fp6(norm, invert);
    Fp12::new(mul_fp6(a.c0, inverse), -mul_fp6(a.c1, inverse))
}

/// `inverse_fp6`.
fn inverse_fp6<F: Fe>(a: Fp6<F>, invert: impl FnOnce(F) -> F) -> Fp6<F> {
    let mul = |x, y| mul_fp2(x, y);
    let c0 = a.c0.square() - mul(a.c1, a.c2).mul_by_nonresidue(); //    C₀ = a₀² − ξ·a₁·a₂
    let c1 = a.c2.square().mul_by_nonresidue() - mul(a.c0, a.c1); //    C₁ = ξ·a₂² − a₀·a₁
    let c2 = a.c1.square() - mul(a.c0, a.c2); //                        C₂ = a₁² − a₀·a₂
    let norm = (mul(c1, a.c2) + mul(c2, a.c1)).mul_by_nonresidue() + mul(c0, a.c0);
    let inverse = norm.inverse_with(invert);
    Fp6::new(mul(c0, inverse), mul(c1, inverse), mul(c2, inverse))
}

/// (a₀ + a₁·s) ↦ its square, s² = ξ. `sqr_fp4`.
fn sqr_fp4<F: Fe>(a0: Fp2<F>, a1: Fp2<F>) -> (Fp2<F>, Fp2<F>) {
    let t0 = a0.square();
    let t1 = a1.square();
    (t1.mul_by_nonresidue() + t0, (a0 + a1).square() - t0 - t1)
}

/// f ↦ f² for f in the cyclotomic subgroup. `cyclotomic_sqr_fp12`.
#[must_use]
pub fn cyclotomic_sqr_fp12<F: Fe>(a: Fp12<F>) -> Fp12<F> {
    let _scope = enter("cyclotomic_square");
    let Fp12 { c0: a0, c1: a1 } = a;
    let t0 = sqr_fp4(a0.c0, a1.c1);
    let t1 = sqr_fp4(a1.c0, a0.c2);
    let t2 = sqr_fp4(a0.c1, a1.c2);
    let minus = |t: Fp2<F>, a: Fp2<F>| (t - a).double() + t; //   3t − 2a
    let plus = |t: Fp2<F>, a: Fp2<F>| (t + a).double() + t; //    3t + 2a
    Fp12::new(
        Fp6::new(minus(t0.0, a0.c0), minus(t1.0, a0.c1), minus(t2.0, a0.c2)),
        Fp6::new(plus(t2.1.mul_by_nonresidue(), a1.c0), plus(t0.1, a1.c1), plus(t1.1, a1.c2)),
    )
}

/// f ↦ f^(pⁿ), n from 1 to 3. `frobenius_map_fp12`.
pub fn frobenius<M: Machine>(machine: &M, f: Fp12<M::Fe>, n: u32) -> Fp12<M::Fe> {
    let _scope = enter("frobenius");
    let [g1, g2, g4] = frobenius_coefficients(n);
    let lift = |value: &Fp2<BigUint>| Fp2::new(machine.constant(&value.c0), machine.constant(&value.c1));
    let (g1, g2, g4) = (lift(&g1), lift(&g2), machine.constant(&g4.c0));
    let map2 = |a: Fp2<M::Fe>| if n % 2 == 1 { a.conjugate() } else { a };
    let map6 = |a: Fp6<M::Fe>| Fp6::new(map2(a.c0), mul_fp2(map2(a.c1), g2), map2(a.c2).scale(g4));
    let c1 = map6(f.c1);
    let mul = |x| mul_fp2(x, g1);
    Fp12::new(map6(f.c0), Fp6::new(mul(c1.c0), mul(c1.c1), mul(c1.c2)))
}

/// ξ^(i(pⁿ − 1)/6) for i = 1, 2, 4; the last lies in Fp.
fn frobenius_coefficients(n: u32) -> [Fp2<BigUint>; 3] {
    let number = |value: &BigUint| Bls12_381Fp::from_canonical(value).expect("a constant is below p");
    let gamma = &constants().pairing.gamma[1];
    let gamma = Fp2::new(number(&gamma.c0), number(&gamma.c1));
    // (pⁿ − 1)/6 = (p − 1)/6·(1 + p + … + pⁿ⁻¹), and γ^(p^i) alternates with the conjugate.
    let g1 = (1..n).fold(gamma, |power, i| power * if i % 2 == 1 { gamma.conjugate() } else { gamma });
    let g2 = g1 * g1;
    let g4 = g2 * g2;
    assert_eq!(g4.c1, Bls12_381Fp::ZERO, "ξ^(2(pⁿ − 1)/3) lies in Fp");
    [g1, g2, g4].map(Fp2::to_canonical)
}

/// (f, g) ↦ f·g, as a function.
pub fn multiply<M: Machine>(machine: &M, f: Fp12<M::Fe>, g: Fp12<M::Fe>) -> Fp12<M::Fe> {
    machine.function("published_mul_fp12", (f, g), |_, (f, g)| mul_fp12(f, g))
}
