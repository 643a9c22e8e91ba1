//! The Miller loop of one pair as blst runs it: Jacobian coordinates, lines with its factors. Release 0.3, `src/pairing.c`.

use super::tower::{Fp12, Line, mul_by_line, mul_fp2, sqr_fp12};
use crate::bls12_381::Fp2;
use crate::bls12_381::Fp6;
use crate::bls12_381::constants::X_ABS;
use crate::group::Affine;
use residue_formula::scope::enter;
use residue_formula::{Fe, bundle};
use residue_ir::Machine;
use ruint::aliases::U256;

/// (−2·xP, 2·yP), where P lies on G1.
#[derive(Clone, Copy, Debug)]
pub struct EvaluationPoint<F> {
    x: F,
    y: F,
}

bundle!(EvaluationPoint { x: F, y: F });

/// (T, line) ↦ the line at P. `line_by_Px2`.
fn at<F: Fe>(line: Line<F>, p: EvaluationPoint<F>) -> Line<F> {
    Line { x: line.x, y: line.y.scale(p.x), z: line.z.scale(p.y) }
}

/// The point (X/Z², Y/Z³), with Z in Fp2 as in the published code.
#[derive(Clone, Copy, Debug)]
struct Jacobian<F> {
    x: Fp2<F>,
    y: Fp2<F>,
    z: Fp2<F>,
}

bundle!(Jacobian { x: Fp2<F>, y: Fp2<F>, z: Fp2<F> });

/// a ↦ 2ᵏ·a.
fn times_two_to<F: Fe>(a: Fp2<F>, k: u32) -> Fp2<F> {
    (0..k).fold(a, |a, _| a.double())
}

/// T ↦ (2T, the tangent). `line_dbl`: dbl-2009-alnr of the Explicit-Formulas Database.
fn doubling_step<F: Fe>(t: Jacobian<F>) -> (Jacobian<F>, Line<F>) {
    let _scope = enter("doubling_step");
    let mul = |x, y| mul_fp2(x, y);
    let Jacobian { x: x1, y: y1, z: z1 } = t;
    let a = x1.square(); //                                          A = X₁²
    let b = y1.square(); //                                          B = Y₁²
    let zz = z1.square(); //                                         ZZ = Z₁²
    let c = b.square(); //                                           C = B²
    let d = ((x1 + b).square() - a - c).double(); //                 D = 2((X₁ + B)² − A − C)
    let e = a + a + a; //                                            E = 3A
    let f = e.square(); //                                           F = E²
    let x3 = f - d - d; //                                           X₃ = F − 2D
    let z3 = (y1 + z1).square() - b - zz; //                         Z₃ = (Y₁ + Z₁)² − B − ZZ
    let y3 = mul(d - x3, e) - times_two_to(c, 3); //                 Y₃ = E·(D − X₃) − 8C
    let l = (e + x1).square() - a - f - times_two_to(b, 2); //       6X₁³ − 4Y₁²
    let line = Line { x: l, y: mul(e, zz), z: mul(z3, zz) };
    (Jacobian { x: x3, y: y3, z: z3 }, line)
}

/// (T, Q) ↦ (T + Q, the line through them). `line_add`: madd-2007-bl of the Explicit-Formulas Database.
fn addition_step<F: Fe>(t: Jacobian<F>, q: Affine<Fp2<F>>) -> (Jacobian<F>, Line<F>) {
    let _scope = enter("addition_step");
    let mul = |x, y| mul_fp2(x, y);
    let Jacobian { x: x1, y: y1, z: z1 } = t;
    let zz = z1.square(); //                                Z₁Z₁ = Z₁²
    let u2 = mul(q.x, zz); //                               U₂ = x₂·Z₁Z₁
    let s2 = mul(mul(q.y, z1), zz); //                      S₂ = y₂·Z₁·Z₁Z₁
    let h = u2 - x1; //                                     H = U₂ − X₁
    let hh = h.square(); //                                 HH = H²
    let i = times_two_to(hh, 2); //                         I = 4HH
    let j = mul(h, i); //                                   J = H·I
    let r = (s2 - y1).double(); //                          r = 2(S₂ − Y₁)
    let v = mul(x1, i); //                                  V = X₁·I
    let x3 = r.square() - j - v - v; //                     X₃ = r² − J − 2V
    let jy = mul(j, y1);
    let y3 = mul(v - x3, r) - jy - jy; //                   Y₃ = r·(V − X₃) − 2Y₁·J
    let z3 = (z1 + h).square() - zz - hh; //                Z₃ = (Z₁ + H)² − Z₁Z₁ − HH
    let l = (mul(r, q.x) - mul(q.y, z3)).double(); //       2(r·x₂ − y₂·Z₃)
    (Jacobian { x: x3, y: y3, z: z3 }, Line { x: l, y: r, z: z3 })
}

/// (P, Q) ↦ f_{x,Q}(P) with blst's factors, for points other than the identity; any other numbers, too, give what
/// `blst_miller_loop` gives.
pub fn miller_loop<M: Machine>(machine: &M, p: Affine<M::Fe>, q: Affine<Fp2<M::Fe>>) -> Fp12<M::Fe> {
    let (zero, one) = (machine.zero(), machine.one());
    let at_p = EvaluationPoint { x: -(p.x + p.x), y: p.y + p.y };
    let start = Jacobian { x: q.x, y: q.y, z: Fp2::new(one, zero) };
    // The first doubling, of one: the accumulator is its line.
    let (t, line) = doubling_step(start);
    let line = at(line, at_p);
    let none = Fp2::new(zero, zero);
    let f = Fp12::new(Fp6::new(line.x, line.y, none), Fp6::new(none, line.z, none));

    // A turn adds where the bit above is set, and doubles. The last bit of |x| is not set, so nothing is added at the end.
    const _: () = assert!(X_ABS.is_multiple_of(2));
    let turns = X_ABS.ilog2() - 1;
    let mut additions = U256::ZERO;
    for turn in 0..turns {
        additions.set_bit(turn as usize, X_ABS >> (turns - turn) & 1 == 1);
    }
    let (_, f) = machine.repeat(machine.small(u64::from(turns)), (t, f), |machine, turn, (t, f)| {
        let hit = machine.bit(machine.word(additions), turn);
        let (t, f) = machine.branch(
            hit,
            |_| {
                let (t, line) = addition_step(t, q);
                (t, mul_by_line(f, at(line, at_p)))
            },
            |_| (t, f),
        );
        let f = sqr_fp12(f);
        let (t, line) = doubling_step(t);
        (t, mul_by_line(f, at(line, at_p)))
    });
    f.conjugate() // x is negative
}
