//! The sum of many points of the curve of G1, as the public keys of a committee are aggregated: the result of a chain
//! of calls of G1ADD, with one inversion at its end.
//!
//! The sum is kept in homogeneous projective coordinates with complete formulas, so that equal, opposite and identical points
//! need no thought. What is on no curve is found out at the end, for all points as one.

use super::{ENCODING, Encoded, FP_BYTES, encoded_point, parse_point_and_y};
use crate::Contract;
use residue_curves::bls12_381::constants::{g1_generator, modulus};
use residue_curves::bls12_381::{G1, g1, invert};
use residue_curves::complete::AZero;
use residue_curves::conditions::all_vanish;
use residue_curves::{Affine, Projective};
use residue_formula::Fe;
use residue_ir::{Machine, WordOp};

/// `bls12_381/aggregate_g1`.
pub const CONTRACT: Contract = Contract {
    name: "bls12_381/aggregate_g1",
    summary: "the sum of many points of G1's curve, such as public keys; no subgroup check, as in EIP-2537 G1ADD",
    interface: "128 bytes a point, one point at least; returns 128 bytes: the sum",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let point_bytes = machine.small(<G1 as Encoded<M>>::POINT_BYTES.into());
    let size = machine.calldata_size();
    machine.require(size);
    machine.require(machine.not(machine.word_op(WordOp::Mod, size, point_bytes)));
    let count = machine.word_op(WordOp::Div, size, point_bytes);

    let (zero, one) = (machine.zero(), machine.one());
    let identity = Projective { x: zero, y: one, z: zero };
    let (sum, defect) = machine.repeat(count, (identity, zero), |machine, index, state| {
        let offset = machine.bind(machine.word_op(WordOp::Mul, index, point_bytes));
        let (point, y) = parse_point_and_y::<M, G1>(machine, offset);
        let identity = |machine: &M| {
            machine.require(machine.not(ENCODING.any_nonzero(machine, offset, 0..1)));
            state
        };
        let add = |machine: &M| {
            let (sum, defect) = state;
            (sum.add_mixed_complete(point, &AZero(times_12)), all_vanish(&[defect, g1::curve_defect(machine, point)]))
        };
        machine.branch(machine.not(y), identity, add)
    });
    machine.require(machine.is_zero(defect));
    let inverse = invert(machine, sum.z); // 0 for the identity, which so becomes zeros
    machine.return_elements(Affine::new(sum.x * inverse, sum.y * inverse), FP_BYTES);
}

/// a ↦ 3b·a, for b = 4.
pub(super) fn times_12<F: Fe>(a: F) -> F {
    let four = a.double().double();
    four.double() + four
}

/// The generator 512 times: a sync committee of one mind.
fn example() -> Vec<u8> {
    encoded_point(&g1_generator()).repeat(512)
}
