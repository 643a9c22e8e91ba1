//! Square roots in Fp2, by one power in Fp: p ≡ 3 mod 4.

use num_bigint::BigUint;
use residue_formula::Fe;
use residue_formula::scope::enter;
use residue_ir::Machine;

use super::constants::modulus;
use crate::bls12_381::Fp2;

/// 1/2 in Fp.
fn half() -> BigUint {
    (modulus() + 1u32) >> 1
}

/// a ↦ (N(a), √(±N(a))); the sign is + exactly if a is a square. `power` is a ↦ a^((p − 3)/4).
pub(super) fn norm_and_root<M: Machine>(
    machine: &M,
    a: Fp2<M::Fe>,
    power: impl Fn(&M, M::Fe) -> M::Fe,
) -> (M::Fe, M::Fe) {
    let norm = a.norm();
    (norm, power(machine, norm) * norm)
}

/// (a + bu, s, d) ↦ (√(a + bu)/d³, 1/D), where s² = a² + b² and D = N(d) ≠ 0. `power` is a ↦ a^((p − 3)/4).
///
/// R = (a + s)/2 or, if that is zero, in which case b is zero too, R = a.
/// With V = D⁶ and c = (R·V³)^((p − 3)/4), X = c·R·V has X² = χ·R/V, χ the quadratic character of R, and 1/X = χ·c·V². So
/// X = √(χR)/D³, and e = (b/2)·c·V is b/(2√(χR))/D³ up to χ: the root over D³ is X + e·u for χ = 1 and −e + X·u for −1.
pub(super) fn root_over_cube<M: Machine>(
    machine: &M,
    (w, s, d): (Fp2<M::Fe>, M::Fe, Fp2<M::Fe>),
    power: impl Fn(&M, M::Fe) -> M::Fe,
) -> (Fp2<M::Fe>, M::Fe) {
    let _scope = enter("fp2_root");
    let half = machine.constant(&half());
    let sum = (w.c0 + s) * half;
    let r = machine.branch(machine.is_zero(sum), |_| w.c0, |_| sum);
    let half_b = w.c1 * half;
    let norm = d.norm();
    let d2 = norm.square();
    let d3 = d2 * norm;
    let v = d3.square(); //                                               V = D⁶
    let c = power(machine, r * (v.square() * v));
    let cv = c * v;
    let (x, e) = (cv * r, half_b * cv);
    let inverse = cv * x * (d3 * d2); //                                  c·V·X·D⁵ = χ/D
    let is_real = machine.equal(x.square() * v, r);
    let (root, inverse) = machine.branch(is_real, |_| (Fp2::new(x, e), inverse), |_| (Fp2::new(-e, x), -inverse));
    let conjugate = d.conjugate();
    (root * (conjugate.square() * conjugate), inverse)
}
