//! The addition of EIP-196 (ECADD, address 0x06) as a contract.

use super::{ENCODING, FP_BYTES, G1_BYTES, encoded_point};
use crate::Contract;
use crate::points::is_any_nonzero;
use residue_curves::Affine;
use residue_curves::bn254::{g1_curve_defect, g1_generator, invert, modulus};
use residue_curves::conditions::all_vanish;
use residue_formula::Fe;
use residue_ir::{Feature, Machine, WordOp};
use residue_isa::precompile::BN254_ADD;

/// `bn254/add`.
pub const CONTRACT: Contract = Contract {
    name: "bn254/add",
    summary: "the sum of two points of BN254's G1 (EIP-196 ECADD)",
    interface: "128 bytes: two points of 64; what is missing is zero, what follows is ignored; returns 64: their sum",
    field: modulus,
    text: |machine| text(machine),
    precompile: Some(BN254_ADD),
    example,
};

/// The text. By the chord or the tangent, Silverman, The Arithmetic of Elliptic Curves, III.2.3.
pub fn text<M: Machine>(machine: &M) {
    let [p_offset, q_offset] = [machine.small(0), machine.small(G1_BYTES.into())];
    let [p, q] = [p_offset, q_offset].map(|offset| ENCODING.point(machine, offset));
    machine.branch(
        machine.has(Feature::ZeroTest),
        |machine| {
            let are_finite = [p, q].map(|point| is_any_nonzero(machine, point));
            return_sum_of_any(machine, [p, q], are_finite);
        },
        |machine| {
            let are_finite = [p_offset, q_offset].map(|offset| is_finite(machine, offset));
            return_sum_of_any(machine, [p, q], are_finite);
        },
    );
}

/// Returns P + Q for two points, each with whether it is other than the identity, and checks that they are on the curve.
fn return_sum_of_any<M: Machine>(machine: &M, [p, q]: [Affine<M::Fe>; 2], [p_is_finite, q_is_finite]: [M::Word; 2]) {
    machine.branch(
        machine.word_op(WordOp::And, p_is_finite, q_is_finite),
        |machine| {
            let defects = [p, q].map(|point| g1_curve_defect(machine, point));
            machine.require(machine.is_zero(all_vanish(&defects)));
            return_sum(machine, p, q);
        },
        |machine| {
            // (0, 0) stands for the identity, so that the sum is that of the coordinates.
            let sum = Affine::new(p.x + q.x, p.y + q.y);
            machine.branch(
                machine.word_op(WordOp::Or, p_is_finite, q_is_finite),
                |machine| machine.require(machine.is_zero(g1_curve_defect(machine, sum))),
                |_| (),
            );
            machine.return_elements(sum, FP_BYTES);
        },
    );
}

/// 1 if the point at `offset` is not the identity, else 0.
fn is_finite<M: Machine>(machine: &M, offset: M::Word) -> M::Word {
    let is_identity = machine.not(ENCODING.any_nonzero(machine, offset, 0..2));
    machine.bind(machine.not(is_identity))
}

/// Returns P + Q for two points of the curve, neither of them the identity.
fn return_sum<M: Machine>(machine: &M, p: Affine<M::Fe>, q: Affine<M::Fe>) {
    let dx = q.x - p.x;
    let (numerator, denominator) = machine.branch(
        machine.is_zero(dx),
        |machine| {
            // Q = ±P. No point has y = 0, since the curve has an odd number of points.
            let two_y = p.y + q.y;
            let square = p.x.square();
            machine.branch(
                machine.is_zero(two_y),
                |machine| machine.return_elements(Affine::new(dx, dx), FP_BYTES),
                |_| (),
            );
            (square + square + square, two_y)
        },
        |_| (q.y - p.y, dx),
    );
    let slope = numerator * invert(machine, denominator); //  λ = 3x₁²/(2y₁) or (y₂ − y₁)/(x₂ − x₁)
    let x = slope.square() - p.x - q.x; //                    x₃ = λ² − x₁ − x₂
    let y = slope * (p.x - x) - p.y; //                       y₃ = λ·(x₁ − x₃) − y₁
    machine.return_elements(Affine::new(x, y), FP_BYTES);
}

/// The generator twice.
fn example() -> Vec<u8> {
    encoded_point(&g1_generator()).repeat(2)
}
