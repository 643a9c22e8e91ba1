//! The sum of two points, as G1ADD and G2ADD of EIP-2537 give it: one text for both groups.

use super::{Encoded, FP_BYTES, is_finite, parse_point};
use residue_curves::bls12_381::{Group, invert};
use residue_curves::conditions::all_vanish;
use residue_curves::group::{Affine, Coordinate};
use residue_ir::{Machine, WordOp};

/// Returns P + Q of the calldata P ‖ Q. The points must lie on their curve, not in its subgroup: EIP-2537, “ABI for G1
/// addition”. By the chord or the tangent, Silverman, The Arithmetic of Elliptic Curves, III.2.3.
pub(crate) fn text<M: Machine, G: Encoded<M>>(machine: &M) {
    let point_bytes = u64::from(G::POINT_BYTES);
    machine.require(machine.word_op(WordOp::Eq, machine.calldata_size(), machine.small(2 * point_bytes)));
    let [p_offset, q_offset] = [machine.small(0), machine.small(point_bytes)];
    let p = parse_point::<M, G>(machine, p_offset);
    let q = parse_point::<M, G>(machine, q_offset);
    let p_is_finite = is_finite::<M, G>(machine, p_offset);
    let q_is_finite = is_finite::<M, G>(machine, q_offset);

    machine.branch(
        machine.word_op(WordOp::And, p_is_finite, q_is_finite),
        |machine| {
            let defects = [G::curve_defect(machine, p), G::curve_defect(machine, q)];
            machine.require(machine.is_zero(all_vanish(&defects)));
            return_sum::<M, G>(machine, p, q);
        },
        |machine| {
            // (0, 0) stands for the identity, so that the sum is that of the coordinates.
            let sum = Affine::new(p.x + q.x, p.y + q.y);
            machine.branch(
                machine.word_op(WordOp::Or, p_is_finite, q_is_finite),
                |machine| machine.require(machine.is_zero(G::curve_defect(machine, sum))),
                |_| (),
            );
            machine.return_elements(sum, FP_BYTES);
        },
    );
}

/// Returns P + Q for two points of the curve, neither of them the identity.
fn return_sum<M: Machine, G: Group<M>>(machine: &M, p: Affine<G::Coordinate>, q: Affine<G::Coordinate>) {
    let dx = q.x - p.x;
    let (numerator, denominator) = machine.branch(
        machine.is_zero(G::norm(dx)),
        |machine| {
            // Q = ±P. No point has y = 0, since the curves have an odd number of points.
            let two_y = p.y + q.y;
            let square = p.x.squared();
            machine.branch(
                machine.is_zero(G::norm(two_y)),
                |machine| machine.return_elements(Affine::new(dx, dx), FP_BYTES),
                |_| (),
            );
            (square + square + square, two_y)
        },
        |_| (q.y - p.y, dx),
    );
    let (numerator, denominator) = numerator.ratio(denominator);
    let slope = numerator.scaled(invert(machine, denominator)); // λ = 3x₁²/(2y₁) or (y₂ − y₁)/(x₂ − x₁)
    let x = slope.squared() - p.x - q.x; //                        x₃ = λ² − x₁ − x₂
    let y = slope * (p.x - x) - p.y; //                            y₃ = λ·(x₁ − x₃) − y₁
    machine.return_elements(Affine::new(x, y), FP_BYTES);
}
