//! Points of a key, which are checked as they are read: on their curves, and in their subgroups.

use super::json::Field;
use super::relations::Points;
use crate::groth16::ProofCurve;
use crate::verifier::{KeyError, cut};
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::complete::{AZero, Complete};
use residue_curves::group::{Coordinate, Projective};
use residue_curves::tower::Fp2;
use residue_formula::Number;
use residue_ir::Bundle;

/// An element of the field of G2's curve.
type ElementOfG2<C> = Fp2<<C as residue_curves::glv::Endomorphism>::Number, C>;

/// Coefficients for checks of points on a curve.
pub(crate) struct Curve<C: ProofCurve> {
    pub(crate) b: C::Number,
    twist_b: Fp2<C::Number, C>,
}

impl<C: ProofCurve> Curve<C> {
    pub(crate) fn new() -> Self {
        let element = |value| C::Number::from_canonical(value).expect("constants are below p");
        let twist_b = C::twist_b();
        Self { b: element(&C::CURVE.b()), twist_b: Fp2::new(element(&twist_b.c0), element(&twist_b.c1)) }
    }

    /// G1, and its generator.
    pub(crate) fn of_g1(&self) -> (Points<C::Number>, Affine<C::Number>) {
        let Affine { x, y } = C::CURVE.generator();
        let element = |value| C::Number::from_canonical(value).expect("constants are below p");
        let points = Points { b: self.b, zero: C::Number::ZERO, one: C::Number::ONE };
        (points, Affine::new(element(&x), element(&y)))
    }

    /// G2, and its generator.
    pub(crate) fn of_g2(&self) -> (Points<ElementOfG2<C>>, Affine<ElementOfG2<C>>) {
        let Affine { x, y } = C::g2_generator();
        let element = |value: &BigUint| C::Number::from_canonical(value).expect("constants are below p");
        let [x, y] = [x, y].map(|value| Fp2::new(element(&value.c0), element(&value.c1)));
        let zero = Fp2::new(C::Number::ZERO, C::Number::ZERO);
        (Points { b: self.twist_b, zero, one: Fp2::ONE }, Affine::new(x, y))
    }

    /// The point of G1 at `field`; `None` for the identity.
    pub(crate) fn g1(&self, field: &Field<'_>) -> Result<Option<Affine<C::Number>>, KeyError> {
        let point: Affine<C::Number> = field.point()?;
        if point == Affine::new(C::Number::ZERO, C::Number::ZERO) {
            return Ok(None);
        }
        let shown = || [point.x, point.y].map(|value| cut(&value.to_canonical().to_string()));
        let is_on = |point: Affine<C::Number>| point.curve_defect(self.b) == C::Number::ZERO;
        let hint = || if is_on(Affine::new(point.y, point.x)) { "; with x and y exchanged it is" } else { "" };
        let is_member = || {
            is_in_subgroup::<C::Number, C::Number>(point, self.b, [C::Number::ZERO, C::Number::ONE], &C::FAMILY.order())
        };
        check(&field.path, is_on(point), (is_member, hint), shown)?;
        Ok(Some(point))
    }

    /// The point of G2 at `field`, which may not be the identity.
    pub(crate) fn g2(&self, field: &Field<'_>) -> Result<Affine<Fp2<C::Number, C>>, KeyError> {
        let point: Affine<Fp2<C::Number, C>> = field.twist_point()?;
        let zero = Fp2::new(C::Number::ZERO, C::Number::ZERO);
        if point == Affine::new(zero, zero) {
            return Err(KeyError::Identity { field: field.path.clone() });
        }
        let cut = |value: C::Number| cut(&value.to_canonical().to_string());
        let shown = || [point.x, point.y].map(|value| format!("{} + {}·u", cut(value.c0), cut(value.c1)));
        let is_on = |point: Affine<Fp2<C::Number, C>>| point.curve_defect(self.twist_b) == zero;
        let exchanged = |value: Fp2<C::Number, C>| Fp2::new(value.c1, value.c0);
        let hint = || if is_on(Affine::new(exchanged(point.x), exchanged(point.y))) { EXCHANGED } else { "" };
        let is_member = || {
            is_in_subgroup::<C::Number, Fp2<C::Number, C>>(point, self.twist_b, [zero, Fp2::ONE], &C::FAMILY.order())
        };
        check(&field.path, is_on(point), (is_member, hint), shown)?;
        Ok(point)
    }
}

/// Part of the message for a point whose coordinates have their parts in the order of calldata.
const EXCHANGED: &str = "; with both parts of each coordinate exchanged it is: a key has c0, c1 of c0 + c1·u, as snarkjs and gnark write them, and EIP-197 \
                         has c1, c0";

fn check(
    field: &str,
    is_on_curve: bool,
    (is_member, hint): (impl FnOnce() -> bool, impl FnOnce() -> &'static str),
    shown: impl FnOnce() -> [String; 2],
) -> Result<(), KeyError> {
    let field = || field.to_owned();
    if !is_on_curve {
        let [x, y] = shown();
        return Err(KeyError::NotOnCurve { field: field(), x, y, hint: hint() });
    }
    if !is_member() {
        let [x, y] = shown();
        return Err(KeyError::NotInSubgroup { field: field(), x, y });
    }
    Ok(())
}

/// True if r·P is the identity, for a point of y² = x³ + b without points of order two.
fn is_in_subgroup<N, K>(point: Affine<K>, b: K, [zero, one]: [K; 2], order: &BigUint) -> bool
where
    N: Number,
    K: Coordinate + Bundle<N> + PartialEq,
{
    let curve = AZero(|z: K| {
        let bz = z * b;
        bz + bz + bz
    });
    let point = Projective { x: point.x, y: point.y, z: one };
    let identity = Projective { x: zero, y: one, z: zero };
    let multiple = (0..order.bits()).rev().fold(identity, |multiple, bit| {
        let double = curve.double(multiple);
        if order.bit(bit) { double.add_complete(point, &curve) } else { double }
    });
    multiple.z == zero
}
