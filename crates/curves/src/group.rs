//! Points of y² = x³ + b in affine, Jacobian and homogeneous projective coordinates: one text for G1 (over Fp) and G2 (over
//! Fp2).
//!
//! The Jacobian formulas are not complete, and need not be: Z = 0 is absorbing. A doubling or addition whose input has
//! Z = 0 gives Z = 0; an addition of equal or opposite points gives Z = 0. So a chain that ends with Z ≠ 0 met no
//! exceptional case and its result is right; one that ends with Z = 0 says nothing, and callers reject it.

use crate::fp2::{self, Fp2};
use core::ops::{Add, Mul, Neg, Sub};
use residue_ir::Bundle;
use residue_modular::Fe;
use residue_modular::scope::enter;

/// Where coordinates live: Fp itself or an extension of it.
pub trait Coordinate: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self> {
    /// Fp.
    type Base;

    /// A coordinate as the right operand of products: what several of them need is computed once.
    type Multiplicand: Copy;

    /// This coordinate as the right operand of products.
    #[must_use]
    fn multiplicand(self) -> Self::Multiplicand;

    /// (a, b) ↦ a·b.
    #[must_use]
    fn times(self, other: Self::Multiplicand) -> Self;

    /// a ↦ a².
    #[must_use]
    fn squared(self) -> Self;

    /// (a, 3/2) ↦ (3/2)·a².
    #[must_use]
    fn three_halves_squared(self, three_halves: Self::Base) -> Self;

    /// (a, b) ↦ a² − 2b.
    #[must_use]
    fn squared_minus_twice(self, other: Self) -> Self {
        self.squared() - (other + other)
    }
}

impl<F: Fe> Coordinate for F {
    type Base = F;
    type Multiplicand = F;

    fn multiplicand(self) -> F {
        self
    }

    fn times(self, other: F) -> F {
        self * other
    }

    fn squared(self) -> Self {
        self.square()
    }

    fn three_halves_squared(self, three_halves: F) -> Self {
        self.square() * three_halves
    }
}

impl<F: Fe> Coordinate for Fp2<F> {
    type Base = F;
    type Multiplicand = fp2::Multiplicand<F>;

    fn multiplicand(self) -> fp2::Multiplicand<F> {
        self.multiplicand()
    }

    fn times(self, other: fp2::Multiplicand<F>) -> Self {
        self * other
    }

    fn squared(self) -> Self {
        self.square()
    }

    /// c1 is 3·a0·a1: two additions instead of one and a product.
    fn three_halves_squared(self, three_halves: F) -> Self {
        let Self { c0, c1 } = self;
        let product = c0 * c1;
        Self::new((c0 + c1) * (c0 - c1) * three_halves, product.double() + product)
    }

    /// c1 is 2·(a0·a1 − b1): one doubling instead of two.
    fn squared_minus_twice(self, other: Self) -> Self {
        let Self { c0, c1 } = self;
        Self::new((c0 + c1) * (c0 - c1) - other.c0.double(), (c0 * c1 - other.c1).double())
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

/// A point as the right operand of additions, with what every addition of it uses.
#[derive(Clone, Copy, Debug)]
pub struct Addend<C: Coordinate> {
    /// X.
    pub x: C,
    /// ±Y.
    pub y: C,
    /// Whether the point has −Y instead of the y above: a sign costs nothing in an addition.
    pub is_negated: bool,
    /// Z.
    pub z: C::Multiplicand,
    /// Z².
    pub zz: C::Multiplicand,
    /// Z³.
    pub zzz: C::Multiplicand,
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
        let _scope = enter("point_double");
        let Self { x: x1, y: y1, z: z1 } = self;
        let b = y1.squared(); //                        B = Y₁²
        let l = x1.three_halves_squared(three_halves); // L = (3/2)·X₁²
        let m = b.times(x1.multiplicand()); //           M = X₁·B
        let x3 = l.squared_minus_twice(m); //           X₃ = L² − 2M
        let y3 = (m - x3).times(l.multiplicand()) - b.squared(); // Y₃ = L·(M − X₃) − B²
        let z3 = z1.times(y1.multiplicand()); //         Z₃ = Y₁·Z₁
        Self { x: x3, y: y3, z: z3 }
    }

    /// (P, Q) ↦ P + Q; Z₃ = 0 if P = ±Q or P is the identity. Cohen–Miyaji–Ono 1998, §2.3, with Z₂ = 1.
    #[must_use]
    pub fn add_mixed(self, other: Affine<C>) -> Self {
        let _scope = enter("point_add_mixed");
        let Self { x: x1, y: y1, z: z1 } = self;
        let zz = z1.squared(); //                       Z₁²
        let zzz = zz.times(z1.multiplicand()); //       Z₁³
        let u2 = other.x.times(zz.multiplicand()); //   U₂ = x₂·Z₁²
        let s2 = other.y.times(zzz.multiplicand()); //  S₂ = y₂·Z₁³
        let (x3, y3, h) = chord(x1, y1, u2, s2, false);
        Self { x: x3, y: y3, z: z1.times(h.multiplicand()) } // Z₃ = Z₁·H
    }

    /// −P.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { y: -self.y, ..self }
    }

    /// This point as the right operand of additions.
    #[must_use]
    pub fn addend(self) -> Addend<C> {
        let _scope = enter("point_addend");
        let Self { x, y, z } = self;
        let zz = z.squared();
        let zzz = zz.times(z.multiplicand());
        Addend { x, y, is_negated: false, z: z.multiplicand(), zz: zz.multiplicand(), zzz: zzz.multiplicand() }
    }
}

impl<C: Coordinate> Addend<C> {
    /// −P.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { is_negated: !self.is_negated, ..self }
    }
}

impl<C: Coordinate> Add<Addend<C>> for Jacobian<C> {
    type Output = Self;

    /// (P, Q) ↦ P + Q; Z₃ = 0 if P = ±Q or either is the identity. Cohen–Miyaji–Ono 1998, §2.3.
    fn add(self, other: Addend<C>) -> Self {
        let _scope = enter("point_add");
        let Self { x: x1, y: y1, z: z1 } = self;
        let zz1 = z1.squared();
        let zzz1 = zz1.times(z1.multiplicand());
        let u1 = x1.times(other.zz); //                      U₁ = X₁·Z₂²
        let s1 = y1.times(other.zzz); //                     S₁ = Y₁·Z₂³
        let u2 = other.x.times(zz1.multiplicand()); //       U₂ = X₂·Z₁²
        let s2 = other.y.times(zzz1.multiplicand()); //      S₂ = ±Y₂·Z₁³
        let (x3, y3, h) = chord(u1, s1, u2, s2, other.is_negated);
        let z3 = z1.times(other.z).times(h.multiplicand());
        Self { x: x3, y: y3, z: z3 } //                      Z₃ = Z₁·Z₂·H
    }
}

/// What both additions have in common: (X₃, Y₃, H) from both points over one denominator; `negated`: the second has −S₂.
fn chord<C: Coordinate>(u1: C, s1: C, u2: C, s2: C, negated: bool) -> (C, C, C) {
    let h = u2 - u1; //                                      H = U₂ − U₁
    let r = if negated { s2 + s1 } else { s2 - s1 }; //      R = S₂ − S₁, or −R = S₂ + S₁
    let hh = h.squared(); //                                 H²
    let hhh = hh.times(h.multiplicand()); //                 H³
    let v = u1.times(hh.multiplicand()); //                  V = U₁·H²
    let x3 = r.squared_minus_twice(v) - hhh; //              X₃ = R² − H³ − 2V
    let w = if negated { x3 - v } else { v - x3 }; //        ±(V − X₃)
    let y3 = w.times(r.multiplicand()) - s1.times(hhh.multiplicand()); // Y₃ = R·(V − X₃) − S₁·H³
    (x3, y3, h)
}
