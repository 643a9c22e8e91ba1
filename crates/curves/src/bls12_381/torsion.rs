//! Points outside the subgroups, as constants that keep additions away from their exceptional cases.
//!
//! Let T have a small prime order n, and so lie outside the subgroup. If S and P are in the subgroup, then S + i·T is neither the
//! identity nor ±(P + j·T) unless i = ±j mod n. So sums that begin with multiples of T, instead of the identity, can be formed
//! with incomplete formulas; and they are in the subgroup in the end if the multiples of T add up to a multiple of n.

use super::constants::{X_ABS, modulus};
use crate::bls12_381::Fp2;
use crate::group::{Affine, Coordinate, Jacobian};
use num_bigint::BigUint;
use residue_formula::{Fe, Number};
use residue_modular::fields::Bls12_381Fp;

type Fp = Bls12_381Fp;

/// A coordinate of a constant point, with what finding it needs.
pub trait ConstantCoordinate: Coordinate<Base = Fp, Denominator = Fp> + PartialEq {
    /// 1.
    const ONE: Self;

    /// n: a prime that divides the cofactor of G1 (twice) or G2 (once).
    const TORSION: u32;

    /// b of y² = x³ + b.
    fn b() -> Self;

    /// The number of points of the curve, divided by n as often as that goes.
    fn other_points() -> BigUint;

    /// A square root, if there is one.
    fn root(self) -> Option<Self>;
}

impl ConstantCoordinate for Fp {
    const ONE: Self = <Fp as Number>::ONE;
    const TORSION: u32 = 859_267;

    fn b() -> Self {
        Fp::from_u64(4)
    }

    /// p − x, for the trace x + 1 (draft-irtf-cfrg-pairing-friendly-curves-11, §4.2.1), without n².
    fn other_points() -> BigUint {
        (modulus() + X_ABS) / Self::TORSION / Self::TORSION
    }

    /// a^((p + 1)/4), for p ≡ 3 mod 4.
    fn root(self) -> Option<Self> {
        let root = self.pow(&((modulus() + 1u32) / 4u32));
        (root * root == self).then_some(root)
    }
}

impl ConstantCoordinate for Fp2<Fp> {
    const ONE: Self = Fp2::<Fp>::ONE;
    const TORSION: u32 = 262_069;

    fn b() -> Self {
        Fp2::new(Fp::from_u64(4), Fp::from_u64(4))
    }

    /// h₂·r without n: h₂ = (x⁸ − 4x⁷ + 5x⁶ − 4x⁴ + 6x³ − 4x² − 4x + 13)/9, in z = −x. Bowe 2019 (2019/814), §4.
    fn other_points() -> BigUint {
        let z = BigUint::from(X_ABS);
        let [z2, z4] = [2u32, 4].map(|power| z.pow(power));
        let plus = z.pow(8) + z.pow(7) * 4u32 + z.pow(6) * 5u32 + &z * 4u32 + 13u32;
        let h2 = (plus - &z4 * 4u32 - z.pow(3) * 6u32 - &z2 * 4u32) / 9u32;
        h2 * (z4 - z2 + 1u32) / Self::TORSION
    }

    /// Adj and Rodríguez-Henríquez 2012 (2012/685), algorithm 9.
    fn root(self) -> Option<Self> {
        let a1 = self.pow(&((modulus() - 3u32) / 4u32)); //  a₁ = a^((p − 3)/4)
        let x0 = a1 * self; //                               x₀ = a₁·a
        let alpha = a1 * x0; //                              α = a₁²·a
        let root = if alpha == -Self::ONE {
            Fp2::new(-x0.c1, x0.c0) //                       u·x₀
        } else {
            (Self::ONE + alpha).pow(&((modulus() - 1u32) / 2u32)) * x0
        };
        (root * root == self).then_some(root)
    }
}

/// T, from the point with the smallest x in 1, 2, … that has one.
pub fn torsion_point<C: ConstantCoordinate>() -> Affine<C> {
    let others = C::other_points();
    let mut x = C::ONE;
    loop {
        let point = (x * x.squared() + C::b()).root().map(|y| Affine::new(x, y));
        if let Some(torsion) = point.and_then(|point| multiple(point, &others)) {
            return torsion;
        }
        x = x + C::ONE;
    }
}

/// m·P for m ≠ 0, by doubling and adding; `None` if it is the identity or an exceptional case is met.
pub fn multiple<C: ConstantCoordinate>(point: Affine<C>, m: &BigUint) -> Option<Affine<C>> {
    let three_halves = Fp::from_u64(3) * Fp::from_u64(2).inverse()?;
    let mut sum = point.to_jacobian(Number::ONE);
    for bit in (0..m.bits() - 1).rev() {
        sum = sum.double(three_halves);
        if m.bit(bit) {
            sum = sum.add_mixed(point);
        }
    }
    let Jacobian { x, y, z } = sum;
    let inverse = z.inverse()?;
    Some(Affine::new(x.scaled(inverse.square()), y.scaled(inverse.square() * inverse)))
}
