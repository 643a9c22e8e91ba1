//! MAP_FP_TO_G1: from an element of Fp to a point of G1. RFC 9380, §6.6.2 and §6.6.3 with the constants of §8.8.1, and the
//! cofactor cleared as in §7.
//!
//! Exact for every u, also where the image on the curve has small order: the additions of [`crate::group`] meet equal or
//! opposite points only if the image's part in G1 is the identity (they add P to k·P, 2 ≤ k < 2⁶⁵). Then the result is the
//! identity, since 1 − x clears the whole cofactor, and it has Z = 0, which is absorbing.

use super::constants::{X_ABS, modulus};
use super::g1::{multiply_by_x_abs, multiply_by_x_abs_in_eights};
use super::groups::{G1, to_affine_with};
use super::isogeny::{G1_KERNEL, degree_11};
use super::{inverse_from_root, root_power, root_power_by_twos};
use crate::group::{Affine, Jacobian};
use num_bigint::BigUint;
use residue_formula::scope::enter;
use residue_formula::{Fe, Number};
use residue_ir::{Machine, WordOp};
use residue_modular::fields::Bls12_381Fp;
use std::sync::LazyLock;

/// A′ and B′ of E′: y² = x³ + A′x + B′. RFC 9380, §8.8.1.
const A: &str = "144698a3b8e9433d693a02c96d4982b0ea985383ee66a8d8e8981aefd881ac98936f8da0e0f97f5cf428082d584c1d";
const B: &str = "12e2908d11688030018b12e8753eee3b2016c1f0f24f4070a0b9c14fcef35ef55a23215a316ceaa5d1cc48e98e172be0";
/// Z.
const Z: u64 = 11;

/// Constants of the map, as canonical values.
struct Constants {
    a: BigUint,
    b: BigUint,
    /// √(−Z).
    root: BigUint,
    kernel: [BigUint; 5],
}

static CONSTANTS: LazyLock<Constants> = LazyLock::new(|| {
    let number = |digits: &str| BigUint::parse_bytes(digits.as_bytes(), 16).expect("written in hexadecimal digits");
    let minus_z = -Bls12_381Fp::from_u64(Z);
    let root = minus_z.pow(&((modulus() + 1u32) / 4u32));
    assert_eq!(root.square(), minus_z, "−Z is a square");
    Constants { a: number(A), b: number(B), root: root.to_canonical(), kernel: G1_KERNEL.map(number) }
});

/// u ↦ the point of G1, 0 and 0 for the identity.
pub fn map_to_g1<M: Machine>(machine: &M, u: M::Fe) -> Affine<M::Fe> {
    let on_curve = on_curve(machine, u, root_power_by_twos);
    let image = multiply_by_x_abs_in_eights(machine, on_curve) + on_curve.addend();
    let by_root = |machine: &M, z| inverse_from_root(z, root_power_by_twos(machine, z));
    to_affine_with::<M, G1>(image, |z| machine.inverse(z, by_root))
}

/// u ↦ the point of the curve; Z = 0 for the identity.
pub fn map_to_curve<M: Machine>(machine: &M, u: M::Fe) -> Jacobian<M::Fe> {
    on_curve(machine, u, root_power)
}

/// The same with the given way to take a ↦ a^((p − 3)/4).
fn on_curve<M: Machine>(machine: &M, u: M::Fe, root_power: impl FnOnce(&M, M::Fe) -> M::Fe) -> Jacobian<M::Fe> {
    let kernel = CONSTANTS.kernel.each_ref().map(|value| machine.constant(value));
    degree_11(simplified_swu(machine, u, root_power), machine.constant(&CONSTANTS.a), &kernel)
}

/// P ↦ (1 − x)·P = (|x| + 1)·P, in G1; Z = 0 for the identity.
pub fn clear_cofactor<M: Machine>(machine: &M, point: Jacobian<M::Fe>) -> Jacobian<M::Fe> {
    const _: () = assert!(X_ABS.count_ones() == 6, "the ladder has five additions");
    multiply_by_x_abs(machine, point) + point.addend()
}

/// u ↦ a point of E′: RFC 9380, appendix F.2, with the inverse of x's denominator taken from the power that gives the
/// square root.
///
/// With v = d³ for the denominator d of x₁, g₁ = n/v and c = (n·v³)^((p − 3)/4): y = c·n·v has y² = ±g₁, the sign being that
/// of g₁'s quadratic character, and (c·v)²·n = ±1/v, so that ±(c·v)²·n·d² = 1/d.
fn simplified_swu<M: Machine>(machine: &M, u: M::Fe, root_power: impl FnOnce(&M, M::Fe) -> M::Fe) -> Affine<M::Fe> {
    let _scope = enter("simplified_swu");
    let constant = |value: &BigUint| machine.constant(value);
    let (a, b) = (constant(&CONSTANTS.a), constant(&CONSTANTS.b));
    let zu2 = times_z(u.square()); //                                     Zu²
    let t = zu2.square() + zu2; //                                        T = Z²u⁴ + Zu²
    // x₁ = B(T + 1)/d with d = −A·T or, where that is 0, d = A·Z.
    let d = a * machine.branch(machine.is_zero(t), |machine| times_z(machine.one()), |_| -t);
    let xn = t * b + b;
    let dd = d.square();
    let v = dd * d; //                                                    v = d³
    let n = (xn.square() + dd * a) * xn + v * b;
    let nv = n * v;
    let c = root_power(machine, nv * v.square());
    let cv = c * v;
    let y1 = cv * n; //                                                   y₁ = c·n·v
    let x1 = xn * (cv * y1 * dd); //                                      ±x₁ = xn·(c·v)²·n·d²
    let is_square = machine.equal(y1.square() * v, n);
    let (x, y) = machine.branch(
        is_square,
        |_| (x1, y1),
        // x₂ = Zu²·x₁ and y₂² = g(x₂) = Z³u⁶·g₁, where y₁² = −g₁.
        |_| (-(x1 * zu2), y1 * zu2 * (u * constant(&CONSTANTS.root))),
    );
    let differ = machine.word_op(WordOp::Xor, machine.is_odd(u), machine.is_odd(y));
    let y = machine.branch(differ, |_| -y, |_| y);
    Affine::new(x, y)
}

/// a ↦ Z·a.
fn times_z<F: Fe>(a: F) -> F {
    const _: () = assert!(Z == 11, "this is 8 + 2 + 1 times");
    let twice = a.double();
    twice.double().double() + twice + a
}
