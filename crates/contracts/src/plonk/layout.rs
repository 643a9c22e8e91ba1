//! Offsets of the parts of calldata, in bytes, after the selector: nine points, six evaluations, the inputs.

/// Points of a proof.
pub(super) const POINTS: usize = 9;

/// The first of them.
pub(super) const POINTS_AT: u32 = 4;
/// The first evaluation.
pub(super) const EVALUATIONS_AT: u32 = POINTS_AT + 9 * 64;
/// The first input.
pub(super) const INPUTS_AT: u32 = EVALUATIONS_AT + 6 * 32;
