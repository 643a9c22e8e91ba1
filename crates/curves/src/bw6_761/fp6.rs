//! Fp6 of BW6-761, `Fp2[v] / (v³ − 2)` with i² = −1: lines, squares in the cyclotomic subgroup, Frobenius.

use super::{Bw6_761, Fp2, constants};
use crate::tower::{self, fp6};
use residue_formula::scope::enter;
use residue_formula::{Fe, bundle};
use residue_ir::Machine;

/// Fp6 of this curve.
pub type Fp6<F> = tower::Fp6<F, Bw6_761>;
/// An element as the right operand of products.
pub type Multiplicand<F> = fp6::Multiplicand<F, Bw6_761>;

/// The sparse element one + i·i + v²·v²: a line of the pairing.
#[derive(Clone, Copy, Debug)]
pub struct Line<F> {
    /// The coefficient of 1.
    pub of_one: F,
    /// The coefficient of i.
    pub of_i: F,
    /// The coefficient of v².
    pub of_vv: F,
}

bundle!(Line { of_one: F, of_i: F, of_vv: F });

/// 1.
pub fn one<M: Machine>(machine: &M) -> Fp6<M::Fe> {
    let zero = Fp2::new(machine.zero(), machine.zero());
    Fp6::new(Fp2::new(machine.one(), machine.zero()), zero, zero)
}

/// (f, l) ↦ f·l with thirteen products: Karatsuba over Fp2 on A + B·v², A = one + i·i. Where a sum of products is reduced once, eighteen in six sums.
pub fn mul_by_line<F: Fe>(f: Fp6<F>, line: Line<F>) -> Fp6<F> {
    let _scope = enter("fp6_mul_by_line");
    let Fp6 { c0: f0, c1: f1, c2: f2 } = f;
    if f0.is_in_sums() {
        let (a, b) = (Fp2::new(line.of_one, line.of_i).multiplicand(), line.of_vv);
        return Fp6::new(f0 * a + f1.scale(b.double()), f1 * a + f2.scale(b.double()), f2 * a + f0.scale(b));
    }
    let a = Fp2::new(line.of_one, line.of_i).multiplicand();
    let sum = Fp2::new(line.of_one + line.of_vv, line.of_i).multiplicand();
    let p0 = f0 * a; //                                P0 = F0·A
    let p1 = f1 * a; //                                P1 = F1·A
    let q1 = f1.scale(line.of_vv.double()); //         2·Q1 = 2·F1·B
    let q2 = f2.scale(line.of_vv); //                  Q2 = F2·B
    let r = (f0 + f2) * sum; //                        R = (F0 + F2)(A + B)
    Fp6::new(p0 + q1, p1 + q2.double(), r - (p0 + q2))
}

/// 3g ↦ 3g² for g in the cyclotomic subgroup: see [`crate::tower::cyclotomic`], with Fp2 in the place of Fp4.
pub fn cyclotomic_square_tripled<F: Fe>(tripled: Fp6<F>) -> Fp6<F> {
    let _scope = enter("cyclotomic_square");
    let Fp6 { c0: a, c1: b, c2: c } = tripled;
    let real = |x: Fp2<F>| (x.c0 + x.c1) * (x.c0 - x.c1);
    let minus = |x: Fp2<F>, l: Fp2<F>| Fp2::new(real(x) - l.c0.double(), (x.c0 * x.c1 + l.c1).double()); // x² − 2l̄
    let re = (real(c) - b.c0).double(); //                                  2C² − 2B̄
    let im = ((c.c0 * c.c1).double() + b.c1).double();
    Fp6::new(minus(a, a), Fp2::new(re, im), minus(b, c))
}

/// g ↦ g^(p³), the inverse of a unitary g.
pub fn conjugate<F: Fe>(g: Fp6<F>) -> Fp6<F> {
    Fp6::new(g.c0.conjugate(), g.c1.conjugate(), g.c2.conjugate())
}

/// f ↦ fᵖ: iᵖ = −i and vᵖ = β·v.
pub fn frobenius<M: Machine>(machine: &M, f: Fp6<M::Fe>) -> Fp6<M::Fe> {
    let _scope = enter("frobenius");
    let [beta, beta_squared] = [&constants().beta, &constants().beta_squared].map(|value| machine.constant(value));
    let Fp6 { c0, c1, c2 } = f;
    Fp6::new(c0.conjugate(), c1.conjugate().scale(beta), c2.conjugate().scale(beta_squared))
}

/// f ↦ f^(p³ − 1) = f̄²/(f·f̄), where `invert` inverts in Fp; f·f̄ lies in `Fp3 = Fp[v]`. Unitary.
pub fn conjugate_over_self<F: Fe>(f: Fp6<F>, invert: impl FnOnce(F) -> F) -> Fp6<F> {
    let _scope = enter("fp6_conjugate_over_self");
    let [x, y] = [[f.c0.c0, f.c1.c0, f.c2.c0], [f.c0.c1, f.c1.c1, f.c2.c1]]; // f = X + Y·i over Fp3
    let (xx, yy, xy) = (square3(x), square3(y), product3(x, y));
    let add = |a: [F; 3], b: [F; 3]| [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
    let sub = |a: [F; 3], b: [F; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let inverse = inverse3(add(xx, yy), invert);
    let re = product3(sub(xx, yy), inverse); //         (X² − Y²)/N
    let im = product3(add(xy, xy), inverse); //         2X·Y/N
    Fp6::new(Fp2::new(re[0], -im[0]), Fp2::new(re[1], -im[1]), Fp2::new(re[2], -im[2]))
}

/// a·b in Fp3, v³ = 2, with six products (Karatsuba).
fn product3<F: Fe>([a0, a1, a2]: [F; 3], [b0, b1, b2]: [F; 3]) -> [F; 3] {
    let (p0, p1, p2) = (a0 * b0, a1 * b1, a2 * b2);
    let t12 = (a1 + a2) * (b1 + b2) - (p1 + p2);
    let t01 = (a0 + a1) * (b0 + b1) - (p0 + p1);
    let t02 = (a0 + a2) * (b0 + b2) - (p0 + p2);
    [p0 + t12.double(), t01 + p2.double(), t02 + p1]
}

/// a² in Fp3. Chung–Hasan 2007, the method SQR2.
fn square3<F: Fe>([a0, a1, a2]: [F; 3]) -> [F; 3] {
    let twice = a1.double();
    let (s0, s1, s3, s4) = (a0.square(), a0 * twice, a2 * twice, a2.square());
    let s2 = (a0 - a1 + a2).square();
    [s0 + s3.double(), s1 + s4.double(), s1 + s2 + s3 - s0 - s4]
}

/// a⁻¹ in Fp3, given inversion in Fp. Beuchat et al. 2010 (2010/354), algorithm 17.
fn inverse3<F: Fe>([a0, a1, a2]: [F; 3], invert: impl FnOnce(F) -> F) -> [F; 3] {
    let a = a0.square() - (a1 * a2).double();
    let b = a2.square().double() - a0 * a1;
    let c = a1.square() - a0 * a2;
    let inverse = invert(a0 * a + (a2 * b + a1 * c).double());
    [a * inverse, b * inverse, c * inverse]
}
