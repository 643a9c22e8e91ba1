//! Points of y² = x³ + b in affine, Jacobian and homogeneous projective coordinates: one text for G1 (over Fp) and G2 (over
//! Fp2).
//!
//! The Jacobian formulas are not complete, and need not be: Z = 0 is absorbing. A doubling or addition whose input has
//! Z = 0 gives Z = 0; an addition of equal or opposite points gives Z = 0. So a chain that ends with Z ≠ 0 met no
//! exceptional case and its result is right; one that ends with Z = 0 says nothing, and callers reject it.

use crate::fp2::Fp2;
use core::ops::{Add, Mul, Neg, Sub};
use residue_ir::Bundle;
use residue_modular::Fe;

/// Where coordinates live: Fp itself or an extension of it.
pub trait Coordinate: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self> {
    /// Fp.
    type Base;

    /// a ↦ a².
    #[must_use]
    fn squared(self) -> Self;

    /// (a, k) ↦ k·a for k in Fp.
    #[must_use]
    fn scaled(self, factor: Self::Base) -> Self;
}

impl<F: Fe> Coordinate for F {
    type Base = F;

    fn squared(self) -> Self {
        self.square()
    }

    fn scaled(self, factor: F) -> Self {
        self * factor
    }
}

impl<F: Fe> Coordinate for Fp2<F> {
    type Base = F;

    fn squared(self) -> Self {
        self.square()
    }

    fn scaled(self, factor: F) -> Self {
        self.scale(factor)
    }
}

/// The point (x, y); never the identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine<C> {
    /// x.
    pub x: C,
    /// y.
    pub y: C,
}

/// The point (X/Z², Y/Z³).
#[derive(Clone, Copy, Debug)]
pub struct Jacobian<C> {
    /// X.
    pub x: C,
    /// Y.
    pub y: C,
    /// Z.
    pub z: C,
}

/// A point with Z² and Z³, which every addition of it uses.
#[derive(Clone, Copy, Debug)]
pub struct Addend<C> {
    point: Jacobian<C>,
    zz: C,
    zzz: C,
}

/// The point (X/Z, Y/Z).
#[derive(Clone, Copy, Debug)]
pub struct Projective<C> {
    /// X.
    pub x: C,
    /// Y.
    pub y: C,
    /// Z.
    pub z: C,
}

/// `Bundle` for a point over any coordinates; `bundle!` knows only types whose one parameter is the field.
macro_rules! point_bundle {
    ($name:ident { $($part:ident),+ }) => {
        impl<F: Fe, C: Bundle<F>> Bundle<F> for $name<C> {
            const LEN: usize = [$(stringify!($part)),+].len() * C::LEN;

            fn collect(&self, values: &mut Vec<F>) {
                $(self.$part.collect(values);)+
            }

            fn build(values: &mut impl Iterator<Item = F>) -> Self {
                $(let $part = C::build(values);)+
                $name { $($part),+ }
            }
        }
    };
}

point_bundle!(Affine { x, y });
point_bundle!(Jacobian { x, y, z });
point_bundle!(Projective { x, y, z });

impl<C> Affine<C> {
    /// The point (x, y).
    pub const fn new(x: C, y: C) -> Self {
        Self { x, y }
    }

    /// This point with Z = `one`.
    pub fn to_jacobian(self, one: C) -> Jacobian<C> {
        Jacobian { x: self.x, y: self.y, z: one }
    }
}

impl<C: Coordinate> Affine<C> {
    /// y² − x³ − b: zero exactly if the point lies on y² = x³ + b.
    pub fn curve_defect(self, b: C) -> C {
        self.y.squared() - self.x * self.x.squared() - b
    }
}

impl<C: Coordinate> Jacobian<C> {
    /// P ↦ 2P, given 3/2 in Fp. Halving the slope removes the factors 2, 4 and 8 of the usual formulas (dbl-2009-l of the
    /// Explicit-Formulas Database, with Z₃ halved).
    #[must_use]
    pub fn double(self, three_halves: C::Base) -> Self {
        let Self { x: x1, y: y1, z: z1 } = self;
        let b = y1.squared(); //                        B = Y₁²
        let l = x1.squared().scaled(three_halves); //   L = (3/2)·X₁²
        let m = x1 * b; //                              M = X₁·B
        let x3 = l.squared() - (m + m); //              X₃ = L² − 2M
        let y3 = l * (m - x3) - b.squared(); //         Y₃ = L·(M − X₃) − B²
        let z3 = y1 * z1; //                            Z₃ = Y₁·Z₁
        Self { x: x3, y: y3, z: z3 }
    }

    /// (P, Q) ↦ P + Q; Z₃ = 0 if P = ±Q or P is the identity. Cohen–Miyaji–Ono 1998, §2.3, with Z₂ = 1.
    #[must_use]
    pub fn add_mixed(self, other: Affine<C>) -> Self {
        let Self { x: x1, y: y1, z: z1 } = self;
        let zz = z1.squared(); //                       Z₁²
        let u2 = other.x * zz; //                       U₂ = x₂·Z₁²
        let s2 = other.y * (zz * z1); //                S₂ = y₂·Z₁³
        let (x3, y3, h) = chord(x1, y1, u2, s2);
        Self { x: x3, y: y3, z: z1 * h } //             Z₃ = Z₁·H
    }

    /// This point as the right operand of additions.
    #[must_use]
    pub fn addend(self) -> Addend<C> {
        let zz = self.z.squared();
        Addend { point: self, zz, zzz: zz * self.z }
    }
}

impl<C: Coordinate> Add<Addend<C>> for Jacobian<C> {
    type Output = Self;

    /// (P, Q) ↦ P + Q; Z₃ = 0 if P = ±Q or either is the identity. Cohen–Miyaji–Ono 1998, §2.3.
    fn add(self, other: Addend<C>) -> Self {
        let Self { x: x1, y: y1, z: z1 } = self;
        let Addend { point: Self { x: x2, y: y2, z: z2 }, zz: zz2, zzz: zzz2 } = other;
        let zz1 = z1.squared();
        let u1 = x1 * zz2; //                           U₁ = X₁·Z₂²
        let s1 = y1 * zzz2; //                          S₁ = Y₁·Z₂³
        let u2 = x2 * zz1; //                           U₂ = X₂·Z₁²
        let s2 = y2 * (zz1 * z1); //                    S₂ = Y₂·Z₁³
        let (x3, y3, h) = chord(u1, s1, u2, s2);
        Self { x: x3, y: y3, z: z1 * z2 * h } //        Z₃ = Z₁·Z₂·H
    }
}

/// What both additions have in common: (X₃, Y₃, H) from both points over one denominator.
fn chord<C: Coordinate>(u1: C, s1: C, u2: C, s2: C) -> (C, C, C) {
    let h = u2 - u1; //                             H = U₂ − U₁
    let r = s2 - s1; //                             R = S₂ − S₁
    let hh = h.squared(); //                        H²
    let hhh = hh * h; //                            H³
    let v = u1 * hh; //                             V = U₁·H²
    let x3 = r.squared() - hhh - (v + v); //        X₃ = R² − H³ − 2V
    let y3 = r * (v - x3) - s1 * hhh; //            Y₃ = R·(V − X₃) − S₁·H³
    (x3, y3, h)
}
