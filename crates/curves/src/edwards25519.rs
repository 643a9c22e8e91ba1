//! edwards25519, −x² + y² = 1 + d·x²·y²: its constants, sums, and u·B + v·P for a point and scalars at run time. RFC 8032, §5.1.
//!
//! Extended coordinates (X : Y : Z : T), x = X/Z, y = Y/Z, T = X·Y/Z: Hisil, Wong, Carter and Dawson 2008 (2008/522), §3.1 and §3.3. Sums are
//! complete, as −1 is a square and d is none. The sum u·B + v·P goes along the digits of both scalars: of both together where code may be long
//! ([`joint`]), else of one after the other, with code for each digit ([`apart`]) or for one of each scalar ([`by_rows`]).

mod apart;
mod by_rows;
mod joint;

use crate::chain::squared;
use crate::group::{Affine, Projective};
use num_bigint::BigUint;
use residue_formula::scope::enter;
use residue_formula::{Fe, Number, bundle};
use residue_ir::{Feature, Machine};
use residue_modular::fields::Curve25519Fp;
use std::sync::LazyLock;

/// Constants.
#[derive(Debug)]
pub struct Constants {
    /// d = −121665/121666.
    pub d: Curve25519Fp,
    /// A root of −1.
    pub i: Curve25519Fp,
    /// B: y = 4/5, and x is even.
    pub base: Affine<Curve25519Fp>,
    /// L, the order of B.
    pub order: BigUint,
}

static CONSTANTS: LazyLock<Constants> = LazyLock::new(|| {
    let small = Curve25519Fp::from_u64;
    let inverse = |value: Curve25519Fp| value.inverse().expect("it is not zero");
    let p = Curve25519Fp::modulus();
    let d = -small(121_665) * inverse(small(121_666));
    let i = small(2).pow(&((&p - 1u32) / 4u32));
    let y = small(4) * inverse(small(5));
    let (u, v) = (y.square() - small(1), d * y.square() + small(1));
    let square = u * inverse(v);
    let root = square.pow(&((&p + 3u32) / 8u32));
    let root = if root.square() == square { root } else { root * i };
    let x = if root.to_canonical().bit(0) { -root } else { root };
    let tail: BigUint = "27742317777372353535851937790883648493".parse().expect("these are digits");
    Constants { d, i, base: Affine::new(x, y), order: (BigUint::from(1u8) << 252) + tail }
});

/// The constants.
pub fn constants() -> &'static Constants {
    &CONSTANTS
}

/// A point in extended coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Extended<F> {
    /// X.
    pub x: F,
    /// Y.
    pub y: F,
    /// Z.
    pub z: F,
    /// T.
    pub t: F,
}

bundle!(Extended { x: F, y: F, z: F, t: F });

/// A point as the right operand of sums: Y − X, Y + X, 2d·T, 2·Z.
#[derive(Clone, Copy, Debug)]
pub struct Addend<F> {
    minus: F,
    plus: F,
    t: F,
    /// None: Z is 1.
    z: Option<F>,
}

/// A point before the last products: X = E·F, Y = G·H, Z = F·G, T = E·H.
#[derive(Clone, Copy, Debug)]
pub struct Factors<F> {
    e: F,
    f: F,
    g: F,
    h: F,
}

impl<F: Fe> Factors<F> {
    /// The point without T.
    pub fn projective(self) -> Projective<F> {
        let Self { e, f, g, h } = self;
        Projective { x: e * f, y: g * h, z: f * g }
    }

    /// The point.
    pub fn extended(self) -> Extended<F> {
        let Projective { x, y, z } = self.projective();
        Extended { x, y, z, t: self.e * self.h }
    }
}

/// P ↦ 2P. 2008/522, §3.3, for a = −1, with all coordinates negated.
pub fn double<F: Fe>(point: Projective<F>) -> Factors<F> {
    let _scope = enter("edwards_double");
    let Projective { x, y, z } = point;
    let (a, b) = (x.square(), y.square()); //        A = X², B = Y²
    let zz = z.square();
    let sum = a + b; //                              −H = A + B
    let e = (x + y).square() - sum; //               E = (X + Y)² − A − B
    let g = b - a; //                                G = B − A
    Factors { e, f: zz + zz - g, g, h: sum } //      −F = 2Z² − G
}

impl<F: Fe> Extended<F> {
    /// The point without T.
    pub fn projective(self) -> Projective<F> {
        let Self { x, y, z, .. } = self;
        Projective { x, y, z }
    }

    /// (P, Q) ↦ P ± Q. 2008/522, §3.1.
    #[must_use]
    pub fn add(self, other: Addend<F>, is_negated: bool) -> Factors<F> {
        let _scope = enter("edwards_add");
        let Self { x, y, z, t } = self;
        let (minus, plus) = if is_negated { (other.plus, other.minus) } else { (other.minus, other.plus) };
        let a = (y - x) * minus; //                      A = (Y₁ − X₁)(Y₂ − X₂)
        let b = (y + x) * plus; //                       B = (Y₁ + X₁)(Y₂ + X₂)
        let c = t * other.t; //                          C = 2d·T₁·T₂
        let d = other.z.map_or(z + z, |other| z * other); // D = 2·Z₁·Z₂
        let (e, h) = (b - a, b + a);
        let (f, g) = if is_negated { (d + c, d - c) } else { (d - c, d + c) };
        Factors { e, f, g, h }
    }

    /// As the right operand of sums, given 2d.
    pub fn addend(self, twice_d: F) -> Addend<F> {
        let Self { x, y, z, t } = self;
        Addend { minus: y - x, plus: y + x, t: t * twice_d, z: Some(z + z) }
    }
}

/// 2d.
fn twice_d<M: Machine>(machine: &M) -> M::Fe {
    machine.constant(&(CONSTANTS.d + CONSTANTS.d).to_canonical())
}

/// An affine point with its T.
pub fn extended<M: Machine>(machine: &M, Affine { x, y }: Affine<M::Fe>) -> Extended<M::Fe> {
    Extended { x, y, z: machine.one(), t: x * y }
}

/// P as the right operand of sums.
pub fn addend<M: Machine>(machine: &M, point: Affine<M::Fe>) -> Addend<M::Fe> {
    Addend { z: None, ..extended(machine, point).addend(twice_d(machine)) }
}

/// The identity.
fn identity<M: Machine>(machine: &M) -> Extended<M::Fe> {
    let (zero, one) = (machine.zero(), machine.one());
    Extended { x: zero, y: one, z: one, t: zero }
}

/// Y − X, Y + X and 2d·T of B, 2B, …, so many of them.
fn base_numbers(count: usize) -> Vec<[Curve25519Fp; 3]> {
    let twice_d = CONSTANTS.d + CONSTANTS.d;
    let Affine { x, y } = CONSTANTS.base;
    let base = Extended { x, y, z: Curve25519Fp::ONE, t: x * y };
    let all = std::iter::successors(Some(base), |last| Some(last.add(base.addend(twice_d), false).extended()));
    let numbers = |point: Extended<Curve25519Fp>| {
        let inverse = point.z.inverse().expect("Z is never zero");
        let (x, y) = (point.x * inverse, point.y * inverse);
        [y - x, y + x, x * y * twice_d]
    };
    all.take(count).map(numbers).collect()
}

/// B, 2B, … as right operands, so many of them, from slots.
fn base_multiples<M: Machine>(machine: &M, count: usize) -> Vec<Addend<M::Fe>> {
    let addend = |numbers: [Curve25519Fp; 3]| {
        let [minus, plus, t] = numbers.map(|value| machine.constant(&value.to_canonical()));
        Addend { minus, plus, t, z: None }
    };
    base_numbers(count).into_iter().map(addend).collect()
}

/// (u, v, P) ↦ u·B + v·P for scalars below 2²⁵³ and a point of the curve. By digits of both scalars together where code for 64 parts is not too
/// long: where instructions name slots. Elsewhere bytes that are worth gas leave code for one digit of each scalar.
pub fn sum<M: Machine>(machine: &M, u: M::Word, v: M::Word, point: Affine<M::Fe>) -> Projective<M::Fe> {
    let one_by_one = |machine: &M| {
        machine.branch(
            machine.has(Feature::SmallTables),
            |machine| by_rows::sum(machine, u, v, point),
            |machine| apart::sum(machine, u, v, point),
        )
    };
    machine.branch(machine.has(Feature::FieldSlots), |machine| joint::sum(machine, u, v, point), one_by_one)
}

/// a ↦ a⁻¹, by an instruction where there is one; 0 ↦ 0.
pub fn invert<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    machine.inverse(a, inverse_power)
}

/// a ↦ a⁻¹ = a^(p − 2); 0 ↦ 0.
pub fn inverse_power<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    let (eleventh, ones) = ones(machine, a);
    squared(ones, 5) * eleventh
}

/// (u, v) ↦ x with v·x² = u, if there is one; else v·x² is neither u nor −u. Whether there is one is the second result. RFC 8032, §5.1.3.
pub fn root_of_ratio<M: Machine>(machine: &M, u: M::Fe, v: M::Fe) -> (M::Fe, M::Word) {
    let cube = v.square() * v;
    let power = {
        let base = u * cube.square() * v; // u·v⁷
        let (_, ones) = ones(machine, base);
        squared(ones, 2) * base // to the power (p − 5)/8
    };
    let root = u * cube * power;
    let square = v * root.square();
    let is_root = machine.equal(square, u);
    let i = machine.constant(&CONSTANTS.i.to_canonical());
    let x = machine.branch(is_root, |_| root, |_| root * i);
    let is_either = machine.is_zero((square - u) * (square + u));
    (x, is_either)
}

/// a to the powers 11 and 2²⁵⁰ − 1. Bernstein 2006, “Curve25519”, §5 and its software.
fn ones<M: Machine>(machine: &M, a: M::Fe) -> (M::Fe, M::Fe) {
    machine.function("ones", a, |_, a| {
        let a2 = a.square();
        let a9 = squared(a2, 2) * a;
        let a11 = a9 * a2;
        let b5 = a11.square() * a9; // 2⁵ − 1
        let b10 = squared(b5, 5) * b5;
        let b20 = squared(b10, 10) * b10;
        let b40 = squared(b20, 20) * b20;
        let b50 = squared(b40, 10) * b10;
        let b100 = squared(b50, 50) * b50;
        let b200 = squared(b100, 100) * b100;
        (a11, squared(b200, 50) * b50)
    })
}

/// Zero exactly if the order of (X : Y : Z) divides 8: then that of 2P divides 4, and points of such an order have x = 0 or y = 0.
pub fn small_order_defect<F: Fe>(x: F, y: F) -> F {
    x * y * (x.square() + y.square())
}

#[cfg(test)]
mod tests {
    use super::*;
    use residue_ir::Numbers;
    use ruint::aliases::U256;

    /// k·P, bit by bit.
    fn multiple(k: &BigUint, point: Extended<Curve25519Fp>) -> Extended<Curve25519Fp> {
        let addend = point.addend(CONSTANTS.d + CONSTANTS.d);
        let identity = identity(&Numbers::<Curve25519Fp>::new(Vec::new()));
        (0..k.bits()).rev().fold(identity, |sum, bit| {
            let twice = double(sum.projective()).extended();
            if k.bit(bit) { twice.add(addend, false).extended() } else { twice }
        })
    }

    fn affine(point: Projective<Curve25519Fp>) -> (Curve25519Fp, Curve25519Fp) {
        let inverse = point.z.inverse().unwrap();
        (point.x * inverse, point.y * inverse)
    }

    /// The point with this y and one of both x, if there is one.
    fn with_y(y: u64) -> Option<Affine<Curve25519Fp>> {
        let y = Curve25519Fp::from_u64(y);
        let square = (y.square() - Curve25519Fp::ONE) * (CONSTANTS.d * y.square() + Curve25519Fp::ONE).inverse()?;
        let root = square.pow(&((Curve25519Fp::modulus() + 3u32) / 8u32));
        [root, root * CONSTANTS.i].into_iter().find(|x| x.square() == square).map(|x| Affine::new(x, y))
    }

    #[test]
    fn sums_are_those_of_multiples() {
        let machine = Numbers::<Curve25519Fp>::new(Vec::new());
        let base = extended(&machine, CONSTANTS.base);
        let twice_d = CONSTANTS.d + CONSTANTS.d;
        let plus = |a: Extended<Curve25519Fp>, b: Extended<Curve25519Fp>| a.add(b.addend(twice_d), false).extended();
        let power = |exponent: u32| BigUint::from(7u8).modpow(&exponent.into(), &CONSTANTS.order);
        // Of order 8: what is left of a point that L is multiplied with, for one y in four.
        let eighth = (2..).filter_map(with_y).map(|point| multiple(&CONSTANTS.order, extended(&machine, point)));
        let eighth =
            eighth.take(100).find(|point| affine(multiple(&4u32.into(), *point).projective()).1 != Curve25519Fp::ONE);
        let mut points: Vec<_> = (0..8u32).map(|k| multiple(&k.into(), eighth.unwrap())).collect();
        points.extend([base, multiple(&(&CONSTANTS.order - 1u32), base)]);
        let moved = |(turn, &point): (u32, _)| plus(multiple(&power(400 + turn), base), point);
        points.extend((0u32..).zip(&points.clone()).map(moved));
        let all_digits = |digit: u32| (0..84).fold(BigUint::ZERO, |sum, _| (sum << 3) + digit);
        let limit = BigUint::from(1u8) << 253;
        let mut scalars =
            vec![BigUint::ZERO, 1u32.into(), 8u32.into(), &CONSTANTS.order - 1u32, &limit - 1u32, &limit >> 1];
        scalars.extend((1..8).map(all_digits));
        scalars.extend((1..6).map(|turn| power(300 * turn)));
        let word = |value: &BigUint| U256::from_be_slice(&value.to_bytes_be());
        for (turn, v) in scalars.iter().enumerate() {
            for (number, &point) in points.iter().enumerate() {
                // The same scalar, and another: with ±B sums meet what they add, and its opposite.
                let u = if number % 2 == 0 { v } else { &scalars[(turn * 5 + number) % scalars.len()] };
                let (x, y) = affine(point.projective());
                let expected = affine(plus(multiple(u, base), multiple(v, point)).projective());
                for sum in [joint::sum, apart::sum, by_rows::sum] {
                    let sum = sum(&machine, word(u), word(v), Affine::new(x, y));
                    assert_eq!(affine(sum), expected, "{u} {v}, point {number}");
                }
            }
        }
    }
}
