//! G2 of BLS12-381: is a point on the twist, and in the subgroup?

use super::constants::{X_ABS, constants};
use super::fp2_root::{norm_and_root, root_over_cube};
use super::root_power;
use crate::bls12_381::Fp2;
use crate::conditions::{Conditions, all_vanish};
use crate::group::{Affine, Jacobian, Projective};
use crate::ladder::ladder_in_a_loop;
use crate::pairing::psi;
use residue_formula::Fe;
use residue_formula::scope::enter;
use residue_ir::Machine;

/// Zero exactly if the point lies on the twist y² = x³ + 4ξ.
pub fn curve_defect<M: Machine>(machine: &M, point: Affine<Fp2<M::Fe>>) -> M::Fe {
    let _scope = enter("g2_curve_defect");
    let b = machine.constant(&constants().b);
    let Fp2 { c0, c1, .. } = point.curve_defect(Fp2::new(b, b));
    all_vanish(&[c0, c1])
}

/// x ↦ x³ + 4ξ, which is y² on the twist.
pub fn square_of_y<M: Machine>(machine: &M, x: Fp2<M::Fe>) -> Fp2<M::Fe> {
    let b = machine.constant(&constants().b);
    x.square() * x + Fp2::new(b, b)
}

/// a ↦ its square root, and 1 if that is one, else 0; as a function.
pub fn square_root<M: Machine>(machine: &M, a: Fp2<M::Fe>) -> (Fp2<M::Fe>, M::Word) {
    let root = |machine: &M, a| root_and_defect(machine, a, root_power);
    let (root, defect) = machine.function("g2_square_root", a, root);
    (root, machine.is_zero(defect))
}

/// [`square_root`], given a ↦ a^((p − 3)/4); no function.
pub fn square_root_by<M: Machine>(
    machine: &M,
    a: Fp2<M::Fe>,
    power: impl Fn(&M, M::Fe) -> M::Fe,
) -> (Fp2<M::Fe>, M::Word) {
    let (root, defect) = root_and_defect(machine, a, power);
    (root, machine.is_zero(defect))
}

/// a ↦ √(±a), and what is zero exactly if the sign is +.
fn root_and_defect<M: Machine>(machine: &M, a: Fp2<M::Fe>, power: impl Fn(&M, M::Fe) -> M::Fe) -> (Fp2<M::Fe>, M::Fe) {
    let (norm, s) = norm_and_root(machine, a, &power);
    let one = Fp2::new(machine.one(), machine.zero());
    let (root, _) = root_over_cube(machine, (a, s, one), power);
    (root, s.square() - norm)
}

/// 1 if the point lies on the twist, else 0.
pub fn is_on_curve<M: Machine>(machine: &M, point: Affine<Fp2<M::Fe>>) -> M::Word {
    machine.is_zero(curve_defect(machine, point))
}

/// ψ in Jacobian coordinates: Z, in Fp, stays.
pub fn psi_jacobian<M: Machine>(machine: &M, point: Jacobian<Fp2<M::Fe>>) -> Jacobian<Fp2<M::Fe>> {
    let Affine { x, y } = psi(machine, Affine::new(point.x, point.y));
    Jacobian { x, y, z: point.z }
}

/// P ↦ |x|·P, as a function; Z = 0 if an exceptional case was met. |x| = ((14·15·2⁸ + 1)·2³² + 1)·2¹⁶.
pub(super) fn multiply_by_x_abs<M: Machine>(machine: &M, point: Jacobian<Fp2<M::Fe>>) -> Jacobian<Fp2<M::Fe>> {
    const _: () = assert!(X_ABS == ((14 * 15 * (1 << 8) + 1) * (1 << 32) + 1) * (1 << 16));
    machine.function("g2_multiply_by_x_abs", point, |machine, point| {
        let fifteen = add(machine, double_repeatedly(machine, 4, point), point.negated());
        let twice = double_repeatedly(machine, 1, fifteen);
        let head = add(machine, double_repeatedly(machine, 3, twice), twice.negated());
        let head = add(machine, double_repeatedly(machine, 8, head), point);
        double_repeatedly(machine, 16, add(machine, double_repeatedly(machine, 32, head), point))
    })
}

/// (P, Q) ↦ P + Q, as a function; Z = 0 in exceptional cases.
pub(super) fn add<M: Machine>(machine: &M, p: Jacobian<Fp2<M::Fe>>, q: Jacobian<Fp2<M::Fe>>) -> Jacobian<Fp2<M::Fe>> {
    machine.function("g2_add", (p, q), |_, (p, q)| p + q.addend())
}

/// P ↦ 2ⁿ·P by functions for two doublings and one, the first of which ends in the other.
fn double_repeatedly<M: Machine>(machine: &M, count: u32, point: Jacobian<Fp2<M::Fe>>) -> Jacobian<Fp2<M::Fe>> {
    let double = |machine: &M, p: Jacobian<Fp2<M::Fe>>| p.double(machine.constant(&constants().pairing.three_halves));
    let one = |machine: &M, p| machine.function("g2_double", p, double);
    let two = |machine: &M, p| machine.function("g2_double_2", p, |machine, p| one(machine, double(machine, p)));
    let twos = (0..count / 2).fold(point, |p, _| two(machine, p));
    if count & 1 > 0 { one(machine, twos) } else { twos }
}

/// Conditions that hold exactly if `point` lies on the twist and in G2: ψ(Q) = x·Q. Scott 2021 (2021/1130); EIP-2537,
/// `fast_subgroup_checks.md`, “The G2 case”.
///
/// Exact for every two elements of Fp2. If the conditions hold then Z ≠ 0, so x·Q was computed without an exceptional case
/// (see [`crate::group`]) and ψ(Q) = x·Q; as ψ² − (x + 1)ψ + p = 0 on the whole twist, this gives (p − x)·Q = h₁·r·Q = 0;
/// the twist has h₂·r points and the cofactors are coprime, so r·Q = 0 (the argument of El Housni, Guillevic and Piellard
/// 2022, 2022/352). If Q is in G2 (and not the identity), all that the chain meets is k·Q with 0 < k < r, and an addition
/// of Q comes at 2 ≤ k < r − 1: so Z ≠ 0, and the equation holds.
pub fn membership<M: Machine>(machine: &M, point: Affine<Fp2<M::Fe>>) -> Conditions<M::Fe> {
    let _scope = enter("g2_membership");
    let three_halves = machine.constant(&constants().pairing.three_halves);
    let start = point.to_jacobian(machine.one());
    let double = |_: &M, q: Jacobian<Fp2<M::Fe>>| q.double(three_halves);
    let multiple = ladder_in_a_loop(machine, X_ABS, start, double, |_, q| q.add_mixed(point));
    membership_from_chain(machine, point, multiple)
}

/// Conditions that hold exactly if `point` lies on the twist and in G2, given `multiple` = |x|·Q from a chain of
/// doublings and additions in Jacobian coordinates, of any order.
pub fn membership_from_chain<M: Machine>(
    machine: &M,
    point: Affine<Fp2<M::Fe>>,
    multiple: Jacobian<Fp2<M::Fe>>,
) -> Conditions<M::Fe> {
    let Jacobian { x, y, z } = multiple;
    let image = psi(machine, point);
    let zz = z.square();
    let dx = x - image.x.scale(zz); //          X = ψ(Q).x·Z²
    let dy = y + image.y.scale(zz * z); //      Y = −ψ(Q).y·Z³
    let vanishing = all_vanish(&[dx.c0, dx.c1, dy.c0, dy.c1, curve_defect(machine, point)]);
    Conditions { vanishing, invertible: z }
}

/// Conditions that hold exactly if Q, which must lie on the twist (or a rescaled one), is in G2, given `multiple` =
/// |x|·Q from the homogeneous steps of [`crate::pairing::steps`]: there, too, Z = 0 is absorbing.
pub fn membership_from_multiple<M: Machine>(
    machine: &M,
    point: Affine<Fp2<M::Fe>>,
    multiple: Projective<Fp2<M::Fe>>,
) -> Conditions<M::Fe> {
    let Projective { x, y, z } = multiple;
    let image = psi(machine, point);
    let z_multiplicand = z.multiplicand();
    let dx = x - image.x * z_multiplicand; //   X = ψ(Q).x·Z
    let dy = y + image.y * z_multiplicand; //   Y = −ψ(Q).y·Z
    Conditions { vanishing: all_vanish(&[dx.c0, dx.c1, dy.c0, dy.c1]), invertible: z.norm() }
}

/// 1 if the point lies on the twist and in G2, else 0.
pub fn is_in_subgroup<M: Machine>(machine: &M, point: Affine<Fp2<M::Fe>>) -> M::Word {
    membership(machine, point).hold(machine)
}
