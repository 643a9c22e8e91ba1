//! Common parts of the curves of the family BLS12 beside their pairing: powers by exponents that are short in base |x|,
//! and membership in G1.

use crate::base_chain::pow_in_base;
use crate::conditions::{Conditions, all_vanish};
use crate::group::{Affine, Jacobian};
use crate::ladder::ladder;
use crate::pairing::PairingCurve;
use crate::side_by_side::SideBySide;
use crate::side_by_side::multiply_all;
use num_bigint::BigUint;
use residue_formula::Fe;
use residue_formula::scope::enter;
use residue_ir::Machine;

/// A curve y² = x³ + b of the family.
pub trait Bls12: PairingCurve {
    /// b of G1.
    fn b() -> &'static BigUint;

    /// β, the cube root of unity with φ(x, y) = (β·x, y) = −x²·(x, y) on G1.
    fn beta() -> &'static BigUint;
}

/// (a, e) ↦ aᵉ in Fp, for exponents that are short in base |x|.
pub(crate) fn power<M: Machine, C: Bls12>(machine: &M, a: M::Fe, exponent: &BigUint) -> M::Fe {
    pow_in_base(a, exponent, C::FAMILY.x_abs(), |a| {
        machine.function("fp_power_of_x_abs", a, |_, a| power_of_x_abs::<_, C>(a))
    })
}

/// a ↦ a^|x|.
pub(crate) fn power_of_x_abs<F: Fe, C: Bls12>(a: F) -> F {
    let squarings = |(): &(), count, power: F| (0..count).fold(power, |power, _| power.square());
    ladder(&(), C::FAMILY.x_abs(), a, squarings, |(), power| power * a)
}

/// Conditions that hold exactly if all of `points` lie on the curve and in G1: φ(P) = −x²·P. Scott 2021 (2021/1130);
/// EIP-2537, `fast_subgroup_checks.md`, “The G1 case”. Points stand side by side: their products do not wait for each
/// other.
///
/// Exact for every pair of field elements. If the conditions hold then P is on the curve and Z ≠ 0, so x²·P was computed
/// without an exceptional case (see [`crate::group`]) and φ(P) = −x²·P; as φ² + φ + 1 = 0 on the whole curve, this gives
/// (x⁴ − x² + 1)·P = r·P = 0. If P is in G1 (and not the identity), then all the chain meets is k·P with 0 < k < r, where
/// an addition of P comes at 2 ≤ k < r − 1, and likewise for the addition of |x|·P: so Z ≠ 0, and the equation holds.
pub fn membership_of_all<M: Machine, C: Bls12, const N: usize>(
    machine: &M,
    points: [Affine<M::Fe>; N],
) -> Conditions<M::Fe> {
    membership_with_multiples::<M, C, N>(machine, points).0
}

/// The same, and |x|·P for each of the points.
pub(crate) fn membership_with_multiples<M: Machine, C: Bls12, const N: usize>(
    machine: &M,
    points: [Affine<M::Fe>; N],
) -> (Conditions<M::Fe>, [Jacobian<M::Fe>; N]) {
    let _scope = enter("g1_membership");
    let points = Affine::of(points);
    let once = multiply_all_by_x_abs::<M, C, N>(machine, points.to_jacobian(SideBySide::all(machine.one())), 4);
    let twice = multiply_all_by_x_abs::<M, C, N>(machine, once, 4);
    (vanishing_and_invertible::<M, C, N>(machine, points, twice), once.apart())
}

/// The same for points and their products with x².
pub(crate) fn vanishing_and_invertible<M: Machine, C: Bls12, const N: usize>(
    machine: &M,
    points: Affine<SideBySide<M::Fe, N>>,
    multiples: Jacobian<SideBySide<M::Fe, N>>,
) -> Conditions<M::Fe> {
    let Jacobian { x, y, z } = multiples;
    let [beta, b] = [C::beta(), C::b()].map(|value| SideBySide::all(machine.constant(value)));
    let zz = z * z;
    let dx = x - points.x * beta * zz; //   X = β·x·Z²
    let dy = y + points.y * (zz * z); //    Y = −y·Z³
    let vanishing = [dx.0, dy.0, points.curve_defect(b).0].concat();
    let invertible = z.0.into_iter().reduce(|product, z| product * z).expect("there is a point");
    Conditions { vanishing: all_vanish(&vanishing), invertible }
}

/// P ↦ |x|·P for several points; see [`multiply_all`].
pub(crate) fn multiply_all_by_x_abs<M: Machine, C: Bls12, const N: usize>(
    machine: &M,
    points: Jacobian<SideBySide<M::Fe, N>>,
    run: usize,
) -> Jacobian<SideBySide<M::Fe, N>> {
    multiply_all(machine, C::FAMILY.x_abs(), &C::constants().three_halves, points, run)
}
