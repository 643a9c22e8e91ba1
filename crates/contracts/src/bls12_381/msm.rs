//! The MSM of EIP-2537 (G1MSM and G2MSM): one text for both groups.

use super::{ENCODING, Encoded, FP_BYTES, parse_point_and_y};
use residue_curves::bls12_381::{Layout, Msm, MsmGroup, Window, to_affine};
use residue_curves::conditions::Conditions;
use residue_ir::{Machine, WordOp};

/// Bytes of a scalar.
pub(crate) const SCALAR_BYTES: u32 = 32;

/// Trade-off between code size and gas of a contract.
pub(crate) struct Policy {
    /// The layout for many products; for few, where those are summed in buckets too, it has the other window.
    pub layout: Layout,
    /// From so many products on, windows of eight bits take less gas than the way for few products on `eip6690-2024`.
    pub many: u64,
}

/// Returns Σ sᵢ·Pᵢ of the calldata P₀ ‖ s₀ ‖ P₁ ‖ … . Each point must be in its group, each scalar may be any number: EIP-2537,
/// “ABI for G1 MSM”.
pub(crate) fn text<M: Machine, G: MsmGroup<M> + Encoded<M>>(machine: &M, policy: &Policy) {
    let product_bytes = machine.small(u64::from(G::POINT_BYTES + SCALAR_BYTES));
    let size = machine.calldata_size();
    machine.require(size);
    machine.require(machine.not(machine.word_op(WordOp::Mod, size, product_bytes)));
    let count = machine.bind(machine.word_op(WordOp::Div, size, product_bytes));
    let many = Msm::<M, G>::new(machine, policy.layout);
    let few = many.with_window(Window::Nibble);
    let is_few = machine.bind(machine.word_op(WordOp::Lt, count, machine.small(policy.many)));
    machine.branch(machine.not(is_few), |machine| many.clear(machine), |machine| G::clear_few(machine, &few));
    let state = (Conditions::none(machine), G::start_few(machine));
    let (conditions, sums) = machine.repeat(count, state, |machine, index, (conditions, sums)| {
        let product_bytes = machine.small(u64::from(G::POINT_BYTES + SCALAR_BYTES));
        let offset = machine.bind(machine.word_op(WordOp::Mul, index, product_bytes));
        let (point, y) = parse_point_and_y::<M, G>(machine, offset);
        machine.branch(
            y,
            |machine| {
                let scalar_at = machine.word_op(WordOp::Add, offset, machine.small(u64::from(G::POINT_BYTES)));
                let scalar = machine.calldata_word(scalar_at);
                let (own, sums) = many.add_unless(machine, (is_few, &few), sums, scalar, point);
                (conditions.and(own), sums)
            },
            |machine| {
                machine.require(machine.not(ENCODING.any_nonzero(machine, offset, 0..G::POINT_BYTES / FP_BYTES / 2)));
                (conditions, sums)
            },
        )
    });
    machine.require(conditions.hold(machine));
    let total = machine.branch(
        machine.not(is_few),
        |machine| many.finish(machine),
        |machine| G::finish_few(machine, &few, sums),
    );
    machine.return_elements(to_affine::<M, G>(machine, total), FP_BYTES);
}
