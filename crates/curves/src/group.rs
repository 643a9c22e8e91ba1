//! Points of y² = x³ + a·x + b, a = 0 or −3, in affine, Jacobian and homogeneous projective coordinates: one text for G1 (over Fp) and G2 (over
//! Fp2).
//!
//! The Jacobian formulas are not complete, and need not be: Z = 0 is absorbing. A doubling or addition whose input has
//! Z = 0 gives Z = 0; an addition of equal or opposite points gives Z = 0. So a chain that ends with Z ≠ 0 met no
//! exceptional case and its result is right; one that ends with Z = 0 says nothing, and callers reject it.
//!
//! Over Fp2, too, Z lies in Fp. A slope R/H is the same as R·H̄/N(H), where the norm N(H) = 0 only for H = 0, as −n is no
//! square in Fp: so the formulas hold with N(H) as the denominator, one product in Fp2 makes the slope, and each product with
//! a power of Z or of N(H) is two in Fp instead of three. An addition takes 30 products in Fp instead of 39, a doubling 20
//! instead of 18. See [`Coordinate::ratio`]. The result is that of the formulas that are cited, scaled by H̄.

use crate::tower::{Fp2, Tower};
use core::ops::{Add, Mul, Neg, Sub};
use residue_formula::Fe;
use residue_formula::scope::enter;
use residue_ir::Bundle;

/// Field of the coordinates: Fp itself or an extension of it.
pub trait Coordinate: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self> {
    /// Fp.
    type Base;

    /// Field of Z of Jacobian coordinates: Fp, or as many of its elements as stand side by side.
    type Denominator: Coordinate<Base = Self::Base, Denominator = Self::Denominator>;

    /// a ↦ a².
    #[must_use]
    fn squared(self) -> Self;

    /// (a, k) ↦ k·a.
    #[must_use]
    fn scaled(self, factor: Self::Denominator) -> Self;

    /// (a, b) ↦ (c, n) with a/b = c/n; n is zero exactly if b is. Over Fp2 it is the norm of b, as in the inverse of b.
    #[must_use]
    fn ratio(self, denominator: Self) -> (Self, Self::Denominator);

    /// (b, n, n²) ↦ b·n³, where n is that of a ratio over b.
    #[must_use]
    fn times_cube(self, n: Self::Denominator, nn: Self::Denominator) -> Self;

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
    type Denominator = F;

    fn squared(self) -> Self {
        self.square()
    }

    fn scaled(self, factor: F) -> Self {
        self * factor
    }

    fn ratio(self, denominator: Self) -> (Self, F) {
        (self, denominator)
    }

    /// n is b, and so this is (n²)².
    fn times_cube(self, _: F, nn: F) -> Self {
        nn.square()
    }

    fn three_halves_squared(self, three_halves: F) -> Self {
        self.square() * three_halves
    }
}

impl<F: Fe, T: Tower> Coordinate for Fp2<F, T> {
    type Base = F;
    type Denominator = F;

    fn squared(self) -> Self {
        self.square()
    }

    fn scaled(self, factor: F) -> Self {
        self.scale(factor)
    }

    /// a/b = a·b̄/N(b).
    fn ratio(self, denominator: Self) -> (Self, F) {
        (self * denominator.multiplicand().conjugate(), denominator.norm())
    }

    fn times_cube(self, n: F, nn: F) -> Self {
        self.scale(nn * n)
    }

    /// c1 is 3·a0·a1: two additions instead of one and a product.
    fn three_halves_squared(self, three_halves: F) -> Self {
        if T::IS_GOLDEN {
            return self.square().scale(three_halves);
        }
        let product = self.c0 * self.c1;
        Self::new(self.real_part_of_square() * three_halves, product.double() + product)
    }

    /// c1 is 2·(a0·a1 − b1): one doubling instead of two.
    fn squared_minus_twice(self, other: Self) -> Self {
        if T::IS_GOLDEN {
            return self.square() - other.double();
        }
        let real = self.real_part_of_square() - other.c0.double();
        Self::new(real, (self.c0 * self.c1 - other.c1).double())
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

/// The point (X/Z², Y/Z³), with Z in Fp over Fp2 too.
#[derive(Clone, Copy, Debug)]
pub struct Jacobian<C: Coordinate> {
    /// X.
    pub x: C,
    /// Y.
    pub y: C,
    /// Z.
    pub z: C::Denominator,
}

/// A point as the right operand of additions, with what every addition of it uses.
#[derive(Clone, Copy, Debug)]
pub struct Addend<C: Coordinate> {
    /// X.
    pub x: C,
    /// ±Y.
    pub y: C,
    /// True if the point has −Y instead of the y above: a sign costs nothing in an addition.
    pub is_negated: bool,
    /// Z.
    pub z: C::Denominator,
    /// Z².
    pub zz: C::Denominator,
    /// Z³.
    pub zzz: C::Denominator,
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
point_bundle!(Projective { x, y, z });

impl<F: Fe, C: Coordinate<Denominator: Bundle<F>> + Bundle<F>> Bundle<F> for Jacobian<C> {
    const LEN: usize = 2 * C::LEN + C::Denominator::LEN;

    fn collect(&self, values: &mut Vec<F>) {
        self.x.collect(values);
        self.y.collect(values);
        self.z.collect(values);
    }

    fn build(values: &mut impl Iterator<Item = F>) -> Self {
        let (x, y) = (C::build(values), C::build(values));
        Self { x, y, z: C::Denominator::build(values) }
    }
}

impl<C> Affine<C> {
    /// The point (x, y).
    pub const fn new(x: C, y: C) -> Self {
        Self { x, y }
    }
}

impl<C: Coordinate> Affine<C> {
    /// This point with Z = `one`.
    pub fn to_jacobian(self, one: C::Denominator) -> Jacobian<C> {
        Jacobian { x: self.x, y: self.y, z: one }
    }

    /// y² − x³ − b: zero exactly if the point lies on y² = x³ + b.
    pub fn curve_defect(self, b: C) -> C {
        self.y.squared() - self.x * self.x.squared() - b
    }
}

impl<C: Coordinate> Jacobian<C> {
    /// P ↦ 2P where a = 0, given 3/2 in Fp. Halving the slope removes the factors 2, 4 and 8 of the usual formulas (dbl-2009-l of the
    /// Explicit-Formulas Database, with Z₃ halved).
    #[must_use]
    pub fn double(self, three_halves: C::Base) -> Self {
        let _scope = enter("point_double");
        self.double_with(self.x.three_halves_squared(three_halves).ratio(self.y)) // L/N = (3/2)·X₁²/Y₁
    }

    /// P ↦ 2P given L/N, the slope of the tangent times Z₁, see [`Coordinate::ratio`].
    fn double_with(self, (l, n): (C, C::Denominator)) -> Self {
        let Self { x: x1, y: y1, z: z1 } = self;
        let nn = n.squared(); //                             N²
        let m = x1.scaled(nn); //                            M = X₁·N²
        let x3 = l.squared_minus_twice(m); //                X₃ = L² − 2M
        let y3 = (m - x3) * l - y1.times_cube(n, nn); //      Y₃ = L·(M − X₃) − Y₁·N³
        Self { x: x3, y: y3, z: z1 * n } //                  Z₃ = Z₁·N
    }

    /// (P, Q) ↦ P + Q; Z₃ = 0 if P = ±Q or P is the identity. Cohen–Miyaji–Ono 1998, §2.3, with Z₂ = 1.
    #[must_use]
    pub fn add_mixed(self, other: Affine<C>) -> Self {
        self.mixed(other, false)
    }

    /// (P, Q) ↦ P − Q; Z₃ = 0 if P = ±Q or P is the identity.
    #[must_use]
    pub fn subtract_mixed(self, other: Affine<C>) -> Self {
        self.mixed(other, true)
    }

    /// (P, Q) ↦ P ± Q.
    fn mixed(self, other: Affine<C>, is_negated: bool) -> Self {
        let _scope = enter("point_add_mixed");
        self.chord_to(self.over_own_denominator(other), is_negated)
    }

    /// An affine point over the denominator of this one, for [`Jacobian::add_over_own_denominator`].
    #[must_use]
    pub fn over_own_denominator(self, other: Affine<C>) -> Affine<C> {
        let zz = self.z.squared(); //                        Z₁²
        let u2 = other.x.scaled(zz); //                      U₂ = x₂·Z₁²
        let s2 = other.y.scaled(zz * self.z); //             S₂ = y₂·Z₁³
        Affine::new(u2, s2)
    }

    /// The rest of [`Jacobian::add_mixed`], given what [`Jacobian::over_own_denominator`] makes of the point.
    #[must_use]
    pub fn add_over_own_denominator(self, other: Affine<C>) -> Self {
        let _scope = enter("point_add_mixed");
        self.chord_to(other, false)
    }

    fn chord_to(self, Affine { x: u2, y: s2 }: Affine<C>, is_negated: bool) -> Self {
        let (x3, y3, h) = chord(self.x, self.y, u2, s2, is_negated);
        Self { x: x3, y: y3, z: self.z * h } //              Z₃ = Z₁·h
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
        Addend { x, y, is_negated: false, z, zz, zzz: zz * z }
    }
}

impl<F: Fe> Jacobian<F> {
    /// P ↦ 2P where a = −3, given 3/2: 3X₁² + a·Z₁⁴ = 3(X₁ + Z₁²)(X₁ − Z₁²) (dbl-2001-b of the Explicit-Formulas Database, with Z₃
    /// halved).
    #[must_use]
    pub fn double_minus_three(self, three_halves: F) -> Self {
        let _scope = enter("point_double");
        let zz = self.z.square();
        let slope = (self.x + zz) * (self.x - zz) * three_halves;
        self.double_with(slope.ratio(self.y))
    }
}

impl<F: Fe, T: Tower> Jacobian<Fp2<F, T>> {
    /// (X, Y, Z) ↦ the point (X/Z², Y/Z³), for Z in Fp2.
    pub fn over(x: Fp2<F, T>, y: Fp2<F, T>, z: Fp2<F, T>) -> Self {
        let conjugate = z.conjugate();
        let square = conjugate.square();
        Self { x: x * square, y: y * (square * conjugate), z: z.norm() }
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
        let zz1 = z1.squared(); //                           Z₁²
        let zzz1 = zz1 * z1; //                              Z₁³
        let u1 = x1.scaled(other.zz); //                     U₁ = X₁·Z₂²
        let s1 = y1.scaled(other.zzz); //                    S₁ = Y₁·Z₂³
        let u2 = other.x.scaled(zz1); //                     U₂ = X₂·Z₁²
        let s2 = other.y.scaled(zzz1); //                    S₂ = ±Y₂·Z₁³
        let (x3, y3, h) = chord(u1, s1, u2, s2, other.is_negated);
        Self { x: x3, y: y3, z: z1 * h * other.z } //        Z₃ = Z₁·Z₂·h
    }
}

/// Common part of both additions: (X₃, Y₃, h) from both points over one denominator; `negated`: the second has −S₂.
fn chord<C: Coordinate>(u1: C, s1: C, u2: C, s2: C, negated: bool) -> (C, C, C::Denominator) {
    let run = u2 - u1; //                                    H = U₂ − U₁
    let rise = if negated { s2 + s1 } else { s2 - s1 }; //   R = S₂ − S₁, or −R = S₂ + S₁
    let (r, h) = rise.ratio(run); //                         r/h = ±R/H
    let hh = h.squared(); //                                 h²
    let v = u1.scaled(hh); //                                V = U₁·h²
    let x3 = r.squared_minus_twice(v) - run.scaled(hh); //   X₃ = r² − H·h² − 2V
    let w = if negated { x3 - v } else { v - x3 }; //        ±(V − X₃)
    let y3 = w * r - s1.scaled(hh * h); //                   Y₃ = ±r·(V − X₃) − S₁·h³
    (x3, y3, h)
}
