//! G1 of BLS12-381: is a point on the curve, and in the subgroup?

use super::constants::{X_ABS, constants};
use super::root_power;
use crate::conditions::{Conditions, all_vanish};
use crate::group::{Affine, Jacobian};
use crate::ladder::{by_eights, ladder};
use residue_ir::Machine;
use residue_modular::Fe;
use residue_modular::scope::enter;

/// y² − x³ − 4: zero exactly if the point lies on the curve.
pub fn curve_defect<M: Machine>(machine: &M, point: Affine<M::Fe>) -> M::Fe {
    let _scope = enter("g1_curve_defect");
    point.curve_defect(machine.constant(&constants().b))
}

/// x ↦ x³ + 4, which is y² on the curve.
pub fn square_of_y<M: Machine>(machine: &M, x: M::Fe) -> M::Fe {
    x.square() * x + machine.constant(&constants().b)
}

/// a ↦ a^((p + 1)/4), the square root of a if it has one.
pub fn square_root<M: Machine>(machine: &M, a: M::Fe) -> M::Fe {
    root_power(machine, a) * a
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
    let _scope = enter("g1_membership");
    membership_from_multiple(machine, point, multiply_by_x_squared(machine, point))
}

/// What holds exactly if `point` lies on the curve and in G1, given `multiple` = x²·P from a chain of doublings and additions
/// in Jacobian coordinates, whatever its order.
pub fn membership_from_multiple<M: Machine>(
    machine: &M,
    point: Affine<M::Fe>,
    multiple: Jacobian<M::Fe>,
) -> Conditions<M::Fe> {
    let Jacobian { x, y, z } = multiple;
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
    let once = multiply_by_x_abs(machine, point.to_jacobian(machine.one()));
    multiply_by_x_abs(machine, once)
}

/// P ↦ |x|·P, as a function; Z = 0 if an exceptional case was met.
pub(super) fn multiply_by_x_abs<M: Machine>(machine: &M, point: Jacobian<M::Fe>) -> Jacobian<M::Fe> {
    machine.function("g1_multiply_by_x_abs", point, |machine, point| {
        let addend = point.addend();
        ladder(machine, X_ABS, point, double_repeatedly, |_, p| p + addend)
    })
}

/// P ↦ 2ⁿ·P, with eight doublings as a function.
fn double_repeatedly<M: Machine>(machine: &M, count: u32, point: Jacobian<M::Fe>) -> Jacobian<M::Fe> {
    let double = |machine: &M, p: Jacobian<M::Fe>| p.double(machine.constant(&constants().three_halves));
    let eight = |p| machine.function("g1_double_8", p, |machine, p| (0..8).fold(p, |p, _| double(machine, p)));
    by_eights(count, point, |p| double(machine, p), eight)
}
