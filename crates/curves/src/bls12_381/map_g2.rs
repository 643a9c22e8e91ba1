//! MAP_FP2_TO_G2: from an element of Fp2 to a point of G2. RFC 9380, §6.6.2 and §6.6.3 with the constants of §8.8.2, and the
//! cofactor cleared as in appendix G.3.
//!
//! Exact for every u: wherever two points are added here that are not multiples of the same small order, their parts in G2
//! are different multiples of the image's part there, neither equal nor opposite (scalars in the comments, ψ being x on
//! G2). If that part is the identity then so is the result, since the cofactor is cleared, and it has Z = 0.

use super::constants::{constants as pairing_constants, modulus};
use super::fp2_root::{norm_and_root, root_over_cube};
use super::g2::{add, multiply_by_x_abs, psi_jacobian};
use super::groups::{G2, to_affine_by_root};
use super::isogeny::{G2_KERNEL, degree_3};
use super::root_power;
use crate::bls12_381::Fp2;
use crate::group::{Affine, Jacobian};
use num_bigint::BigUint;
use residue_formula::scope::enter;
use residue_formula::{Fe, Number};
use residue_ir::{Machine, WordOp};
use residue_modular::fields::Bls12_381Fp;
use std::sync::LazyLock;

/// Constants of the map, as canonical values.
struct Constants {
    /// A′ = A″·u. RFC 9380, §8.8.2.
    a: BigUint,
    minus_a: BigUint,
    /// B′ has this in both coefficients.
    b: BigUint,
    /// −Z = 2 + u.
    minus_z: Fp2<BigUint>,
    /// A′·Z.
    a_z: Fp2<BigUint>,
    /// √(−N(Z)³).
    root: BigUint,
    kernel: BigUint,
    minus_kernel: BigUint,
    /// The norm of the factor of ψ at x.
    psi_squared_x: BigUint,
}

static CONSTANTS: LazyLock<Constants> = LazyLock::new(|| {
    let small = Bls12_381Fp::from_u64;
    let z = Fp2::new(-small(2), -small(1));
    let a_z = Fp2::new(small(0), small(240)) * z;
    let cube = -(z.norm() * z.norm() * z.norm());
    let root = cube.pow(&((modulus() + 1u32) / 4u32));
    assert_eq!(root.square(), cube, "−N(Z)³ is a square");
    let number = |value: &BigUint| Bls12_381Fp::from_canonical(value).expect("a constant is below p");
    let norm = |value: &Fp2<BigUint>| Fp2::new(number(&value.c0), number(&value.c1)).norm();
    assert_eq!(norm(&pairing_constants().pairing.psi_y), -small(1), "ψ² negates y");
    Constants {
        a: BigUint::from(240u32),
        minus_a: (-small(240)).to_canonical(),
        b: BigUint::from(1012u32),
        minus_z: Fp2::new(BigUint::from(2u32), BigUint::from(1u32)),
        a_z: a_z.to_canonical(),
        root: root.to_canonical(),
        kernel: small(G2_KERNEL).to_canonical(),
        minus_kernel: (-small(G2_KERNEL)).to_canonical(),
        psi_squared_x: norm(&pairing_constants().pairing.psi_x).to_canonical(),
    }
});

/// u ↦ the point of G2, zeros for the identity.
pub fn map_to_g2<M: Machine>(machine: &M, u: Fp2<M::Fe>) -> Affine<Fp2<M::Fe>> {
    let on_twist = map_to_twist(machine, u);
    to_affine_by_root::<M, G2>(machine, clear_cofactor(machine, on_twist))
}

/// u ↦ the point of the twist; Z = 0 for the identity.
pub fn map_to_twist<M: Machine>(machine: &M, u: Fp2<M::Fe>) -> Jacobian<Fp2<M::Fe>> {
    let (zero, a) = (machine.zero(), machine.constant(&CONSTANTS.a));
    let (h0, h1) = (machine.constant(&CONSTANTS.kernel), machine.constant(&CONSTANTS.minus_kernel));
    degree_3(simplified_swu(machine, u), Fp2::new(zero, a), Fp2::new(h0, h1))
}

/// P ↦ (x² − x − 1)·P + (x − 1)·ψ(P) + ψ²(2P), in G2. Budroni and Pintore 2017 (2017/419), §4.1; RFC 9380, appendix G.3.
/// With z = |x| this is z·(z·P + P − ψ(P)) − P − ψ(P) + ψ²(2P).
pub fn clear_cofactor<M: Machine>(machine: &M, p: Jacobian<Fp2<M::Fe>>) -> Jacobian<Fp2<M::Fe>> {
    let psi_p = psi_jacobian(machine, p);
    let a = add(machine, multiply_by_x_abs(machine, p), p); //           (1 − x)P: z and 1
    let b = add(machine, a, psi_p.negated()); //                         (1 − 2x)P: 1 − x and −x
    let c = multiply_by_x_abs(machine, b); //                            (2x² − x)P
    let twice = p.double(machine.constant(&pairing_constants().pairing.three_halves));
    let image = psi_squared(machine, twice); //                          2x²·P
    let rest = add(machine, image, psi_p.negated()); //                  2x² and −x
    let rest = add(machine, rest, p.negated()); //                       2x² − x and −1
    add(machine, c, rest) //                                             2x² − x and 2x² − x − 1
}

/// ψ²(x, y) = (x·N(cx), −y) where cx is the factor of ψ at x, as that at y has norm −1.
fn psi_squared<M: Machine>(machine: &M, p: Jacobian<Fp2<M::Fe>>) -> Jacobian<Fp2<M::Fe>> {
    Jacobian { x: p.x.scale(machine.constant(&CONSTANTS.psi_squared_x)), y: -p.y, z: p.z }
}

/// u ↦ a point of E″: RFC 9380, §6.6.2. One power finds the square root of a norm and tells squares, another one the
/// square root in Fp2 (the complex method; Scott 2020 (2020/1497), §6) together with the inverse of the denominator.
///
/// With D = N(d) for the denominator d of x₁, and g₁ = w/d⁶: y = √w·d̄³/D³.
fn simplified_swu<M: Machine>(machine: &M, u: Fp2<M::Fe>) -> Affine<Fp2<M::Fe>> {
    let _scope = enter("simplified_swu");
    let constants = &*CONSTANTS;
    let constant = |value: &BigUint| machine.constant(value);
    let one = machine.one();
    let minus_zu2 = u.square() * constants.minus_z.lift(machine); //   −Zu²
    let t = minus_zu2.square() - minus_zu2; //                            T = Z²u⁴ + Zu²
    let d = machine.branch(
        machine.is_zero(t.norm()),
        |machine| constants.a_z.lift(machine), //                      d = A·Z,
        |_| times_u(t).scale(constant(&constants.minus_a)), //            or −A·T
    );
    let b = Fp2::new(constant(&constants.b), constant(&constants.b)).multiplicand();
    let xn = Fp2::new(t.c0 + one, t.c1) * b; //                           x₁ = B(T + 1)/d
    let dd = d.square();
    let v = (dd * d).multiplicand();
    let n = (xn.square() + times_u(dd).scale(constant(&constants.a))) * xn + (dd * d) * b; // g₁ = n/d³
    let w = n * v; //                                                     g₁ = w/d⁶
    let (norm, s) = norm_and_root(machine, w, root_power); //                         s² = ±N(w)
    let is_square = machine.equal(s.square(), norm);
    let (w, s, xn) = machine.branch(
        is_square,
        |_| (w, s, xn),
        // g₂ = Z³u⁶·g₁ and N(g₂) = −N(Z)³N(u)⁶·(−N(g₁)).
        |_| {
            let nu = u.norm();
            let s = s * (nu.square() * nu) * constant(&constants.root);
            let minus_cube = minus_zu2.square() * minus_zu2;
            (-(w * minus_cube), s, -(xn * minus_zu2))
        },
    );
    let (y, inverse) = root_over_cube(machine, (w, s, d), root_power);
    let x = xn * d.conjugate().scale(inverse);
    Affine::new(x, with_sign_of(machine, u, y))
}

/// ±y with the sign of u. RFC 9380, §4.1, `sgn0_m_eq_2`.
fn with_sign_of<M: Machine>(machine: &M, u: Fp2<M::Fe>, y: Fp2<M::Fe>) -> Fp2<M::Fe> {
    let sign = |a: Fp2<M::Fe>| {
        let of_c1 = machine.word_op(WordOp::And, machine.is_zero(a.c0), machine.is_odd(a.c1));
        machine.word_op(WordOp::Or, machine.is_odd(a.c0), of_c1)
    };
    let differ = machine.word_op(WordOp::Xor, sign(u), sign(y));
    machine.branch(differ, |_| -y, |_| y)
}

/// a ↦ u·a.
fn times_u<F: Fe>(a: Fp2<F>) -> Fp2<F> {
    Fp2::new(-a.c1, a.c0)
}
