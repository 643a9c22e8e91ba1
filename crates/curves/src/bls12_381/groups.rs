//! G1 and G2 as types: the differences between the groups, for programs that are one text for both.

use super::{g1, g2, invert, invert_by_root};
use crate::bls12_381::Fp2;
use crate::group::{Affine, Coordinate, Jacobian};
use residue_formula::Fe;
use residue_ir::{Bundle, Machine};

/// A group whose points have coordinates in `Coordinate`.
pub trait Group<M: Machine> {
    /// Fp or Fp2.
    type Coordinate: Coordinate<Base = M::Fe, Denominator = M::Fe> + Bundle<M::Fe>;

    /// Zero exactly if the point lies on the group's curve.
    fn curve_defect(machine: &M, point: Affine<Self::Coordinate>) -> M::Fe;

    /// A value of Fp that is zero exactly if `value` is.
    fn norm(value: Self::Coordinate) -> M::Fe;
}

/// (X, Y, Z) ↦ (X/Z², Y/Z³); zeros for Z = 0, which is how EIP-2537 writes the identity.
pub fn to_affine<M: Machine, G: Group<M>>(machine: &M, point: Jacobian<G::Coordinate>) -> Affine<G::Coordinate> {
    to_affine_with::<M, G>(point, |value| invert(machine, value))
}

/// The same for programs that take roots.
pub fn to_affine_by_root<M: Machine, G: Group<M>>(
    machine: &M,
    point: Jacobian<G::Coordinate>,
) -> Affine<G::Coordinate> {
    to_affine_with::<M, G>(point, |value| invert_by_root(machine, value))
}

/// The same where `invert` inverts in Fp.
pub(super) fn to_affine_with<M: Machine, G: Group<M>>(
    point: Jacobian<G::Coordinate>,
    invert: impl FnOnce(M::Fe) -> M::Fe,
) -> Affine<G::Coordinate> {
    let inverse = invert(point.z);
    let square = inverse.square();
    Affine::new(point.x.scaled(square), point.y.scaled(square * inverse))
}

/// The subgroup of y² = x³ + 4 over Fp.
#[derive(Debug, Clone, Copy)]
pub struct G1;

/// The subgroup of y² = x³ + 4ξ over Fp2.
#[derive(Debug, Clone, Copy)]
pub struct G2;

impl<M: Machine> Group<M> for G1 {
    type Coordinate = M::Fe;

    fn curve_defect(machine: &M, point: Affine<M::Fe>) -> M::Fe {
        g1::curve_defect(machine, point)
    }

    fn norm(value: M::Fe) -> M::Fe {
        value
    }
}

impl<M: Machine> Group<M> for G2 {
    type Coordinate = Fp2<M::Fe>;

    fn curve_defect(machine: &M, point: Affine<Fp2<M::Fe>>) -> M::Fe {
        g2::curve_defect(machine, point)
    }

    fn norm(value: Fp2<M::Fe>) -> M::Fe {
        value.norm()
    }
}
