//! G1 of BLS12-381: is a point on the curve, and in the subgroup?

use super::constants::{X_ABS, constants};
use crate::conditions::{Conditions, all_vanish};
use crate::group::{Affine, Jacobian};
use crate::ladder::{Unrolled, ladder};
use residue_ir::Machine;

/// y² − x³ − 4: zero exactly if the point lies on the curve.
pub fn curve_defect<M: Machine>(machine: &M, point: Affine<M::Fe>) -> M::Fe {
    point.curve_defect(machine.constant(&constants().b))
}

/// 1 if the point lies on the curve, else 0.
pub fn is_on_curve<M: Machine>(machine: &M, point: Affine<M::Fe>) -> M::Word {
    machine.is_zero(curve_defect(machine, point))
}

/// What holds exactly if `point` lies on the curve and in G1: φ(P) = −x²·P. Scott 2021 (2021/1130);
/// EIP-2537, `fast_subgroup_checks.md`, “The G1 case”.
///
/// Exact for every pair of field elements. If the conditions hold then P is on the curve and Z ≠ 0, so x²·P was computed
/// without an exceptional case (see [`crate::group`]) and φ(P) = −x²·P; as φ² + φ + 1 = 0 on the whole curve, this gives
/// (x⁴ − x² + 1)·P = r·P = 0. If P is in G1 (and not the identity), then all the chain meets is k·P with 0 < k < r, where
/// an addition of P comes at 2 ≤ k < r − 1, and likewise for the addition of |x|·P: so Z ≠ 0, and the equation holds.
pub fn membership<M: Machine>(machine: &M, point: Affine<M::Fe>) -> Conditions<M::Fe> {
    let Jacobian { x, y, z } = multiply_by_x_squared(machine, point);
    let beta = machine.constant(&constants().beta);
    let zz = z * z;
    let dx = x - point.x * beta * zz; //   X = β·x·Z²
    let dy = y + point.y * (zz * z); //    Y = −y·Z³
    Conditions { vanishing: all_vanish(&[dx, dy, curve_defect(machine, point)]), invertible: z }
}

/// 1 if the point lies on the curve and in G1, else 0.
pub fn is_in_subgroup<M: Machine>(machine: &M, point: Affine<M::Fe>) -> M::Word {
    membership(machine, point).hold(machine)
}

/// P ↦ x²·P in two chains; Z = 0 if an exceptional case was met.
fn multiply_by_x_squared<M: Machine>(machine: &M, point: Affine<M::Fe>) -> Jacobian<M::Fe> {
    let three_halves = machine.constant(&constants().three_halves);
    let double = |_: &M, p: Jacobian<M::Fe>| p.double(three_halves);
    let start = point.to_jacobian(machine.one());
    let once = ladder(machine, X_ABS, Unrolled::Eight, start, double, |_, p| p.add_mixed(point));
    let addend = once.addend();
    ladder(machine, X_ABS, Unrolled::Eight, once, double, |_, p| p + addend)
}
