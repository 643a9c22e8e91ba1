//! Points outside the subgroups, as constants that keep additions away from their exceptional cases.
//!
//! Let T lie on the curve and outside the subgroup. If S and P are in the subgroup, then S + m·T is neither the identity nor
//! ±P unless m·T is in the subgroup. So sums that begin with multiples of T, instead of the identity, can be formed with
//! incomplete formulas; a last addition takes the multiple of T away.

use super::constants::modulus;
use crate::fp2::Fp2;
use crate::group::{Affine, Coordinate, Jacobian};
use num_bigint::BigUint;
use residue_modular::{Number, fields::Bls12_381Fp};

type Fp = Bls12_381Fp;

/// A coordinate of a constant point, with what finding it needs.
pub trait ConstantCoordinate: Coordinate<Base = Fp> + PartialEq {
    /// 1.
    const ONE: Self;

    /// b of y² = x³ + b.
    fn b() -> Self;

    /// a ↦ a⁻¹; `None` for zero.
    fn inverted(self) -> Option<Self>;

    /// A square root, if there is one.
    fn root(self) -> Option<Self>;
}

impl ConstantCoordinate for Fp {
    const ONE: Self = <Fp as Number>::ONE;

    fn b() -> Self {
        Fp::from_u64(4)
    }

    fn inverted(self) -> Option<Self> {
        self.inverse()
    }

    /// a^((p + 1)/4), for p ≡ 3 mod 4.
    fn root(self) -> Option<Self> {
        let root = self.pow(&((modulus() + 1u32) / 4u32));
        (root * root == self).then_some(root)
    }
}

impl ConstantCoordinate for Fp2<Fp> {
    const ONE: Self = Fp2::<Fp>::ONE;

    fn b() -> Self {
        Fp2::new(Fp::from_u64(4), Fp::from_u64(4))
    }

    fn inverted(self) -> Option<Self> {
        self.inverse()
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

/// T: the point with the smallest x in 1, 2, … that lies on the curve, and either of its y.
pub fn torsion_point<C: ConstantCoordinate>() -> Affine<C> {
    let mut x = C::ONE;
    loop {
        if let Some(y) = (x * x.squared() + C::b()).root() {
            return Affine::new(x, y);
        }
        x = x + C::ONE;
    }
}

/// m·P for m ≠ 0, by doubling and adding; `None` if it is the identity or an exceptional case is met.
pub fn multiple<C: ConstantCoordinate>(point: Affine<C>, m: i64) -> Option<Affine<C>> {
    let three_halves = Fp::from_u64(3) * Fp::from_u64(2).inverse()?;
    let digits = BigUint::from(m.unsigned_abs());
    let mut sum = point.to_jacobian(C::ONE);
    for bit in (0..digits.bits() - 1).rev() {
        sum = sum.double(three_halves);
        if digits.bit(bit) {
            sum = sum.add_mixed(point);
        }
    }
    let Jacobian { x, y, z } = sum;
    let inverse = z.inverted()?;
    let y = y * inverse * inverse.squared();
    Some(Affine::new(x * inverse.squared(), if m < 0 { -y } else { y }))
}
