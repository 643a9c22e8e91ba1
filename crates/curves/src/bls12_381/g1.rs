//! G1 of BLS12-381: is a point on the curve, and in the subgroup?

use super::constants::{X_ABS, constants};
use super::root_power;
use crate::conditions::{Conditions, all_vanish};
use crate::group::{Affine, Jacobian};
use crate::ladder::ladder;
use crate::side_by_side::SideBySide;
use residue_formula::Fe;
use residue_formula::scope::enter;
use residue_ir::Machine;

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
    membership_of_all(machine, [point])
}

/// The same for several points side by side: what holds exactly if it holds of all. Their products do not wait for each other.
pub fn membership_of_all<M: Machine, const N: usize>(machine: &M, points: [Affine<M::Fe>; N]) -> Conditions<M::Fe> {
    let _scope = enter("g1_membership");
    let points = Affine::of(points);
    let once = multiply_all_by_x_abs(machine, points.to_jacobian(SideBySide::all(machine.one())), 4);
    vanishing_and_invertible(machine, points, multiply_all_by_x_abs(machine, once, 4))
}

/// What holds exactly if `point` lies on the curve and in G1, given `multiple` = x²·P from a chain of doublings and additions
/// in Jacobian coordinates, whatever its order.
pub fn membership_from_multiple<M: Machine>(
    machine: &M,
    point: Affine<M::Fe>,
    multiple: Jacobian<M::Fe>,
) -> Conditions<M::Fe> {
    vanishing_and_invertible(machine, Affine::of([point]), Jacobian::of([multiple]))
}

/// The same for several points.
fn vanishing_and_invertible<M: Machine, const N: usize>(
    machine: &M,
    points: Affine<SideBySide<M::Fe, N>>,
    multiples: Jacobian<SideBySide<M::Fe, N>>,
) -> Conditions<M::Fe> {
    let Jacobian { x, y, z } = multiples;
    let [beta, b] = [&constants().beta, &constants().b].map(|value| SideBySide::all(machine.constant(value)));
    let zz = z * z;
    let dx = x - points.x * beta * zz; //   X = β·x·Z²
    let dy = y + points.y * (zz * z); //    Y = −y·Z³
    let vanishing = [dx.0, dy.0, points.curve_defect(b).0].concat();
    let invertible = z.0.into_iter().reduce(|product, z| product * z).expect("there is a point");
    Conditions { vanishing: all_vanish(&vanishing), invertible }
}

/// 1 if the point lies on the curve and in G1, else 0.
pub fn is_in_subgroup<M: Machine>(machine: &M, point: Affine<M::Fe>) -> M::Word {
    membership(machine, point).hold(machine)
}

/// P ↦ |x|·P, as a function; Z = 0 if an exceptional case was met.
pub(super) fn multiply_by_x_abs<M: Machine>(machine: &M, point: Jacobian<M::Fe>) -> Jacobian<M::Fe> {
    multiply_all_by_x_abs(machine, Jacobian::of([point]), 4).alone()
}

/// The same with eight doublings at a time where it was four: 290 bytes more, 84 gas less.
pub(super) fn multiply_by_x_abs_in_eights<M: Machine>(machine: &M, point: Jacobian<M::Fe>) -> Jacobian<M::Fe> {
    multiply_all_by_x_abs(machine, Jacobian::of([point]), 8).alone()
}

/// Parts of the chain for |x|.
const DOUBLE: usize = 0;
const DOUBLE_RUN: usize = 1;
const ADD: usize = 2;

/// P ↦ |x|·P for several points, as a function whose parts follow each other in constant order: a part is eight bytes of code
/// for each operation of one point, and going on to the next takes as much gas as half a doubling; doublings go one by one and
/// `run` at a time.
fn multiply_all_by_x_abs<M: Machine, const N: usize>(
    machine: &M,
    points: Jacobian<SideBySide<M::Fe, N>>,
    run: usize,
) -> Jacobian<SideBySide<M::Fe, N>> {
    let name = match (N, run) {
        (1, 4) => "g1_multiply_by_x_abs",
        (1, 8) => "g1_multiply_by_x_abs_in_eights",
        (2, 4) => "g1_multiply_two_by_x_abs",
        (4, 4) => "g1_multiply_four_by_x_abs",
        _ => unreachable!("a function for each number of points"),
    };
    machine.function(name, points, |machine, points| {
        let addends = points.addend();
        let doublings = |(): &(), count: u32, order: Vec<usize>| {
            let (runs, ones) = (count as usize / run, count as usize % run); // u32 to usize widens.
            [order, vec![DOUBLE; ones], vec![DOUBLE_RUN; runs]].concat()
        };
        let order = ladder(&(), X_ABS, Vec::new(), doublings, |(), order| [order, vec![ADD]].concat());
        let double = |points: Jacobian<_>| points.double(machine.constant(&constants().pairing.three_halves));
        machine.sequence(&order, 3, points, |_, part, points| match part {
            DOUBLE => double(points),
            DOUBLE_RUN => (0..run).fold(points, |points, _| double(points)),
            _ => points + addends,
        })
    })
}
