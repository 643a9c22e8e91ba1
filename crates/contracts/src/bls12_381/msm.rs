//! The sum of products of EIP-2537 (G1MSM and G2MSM): one text for both groups.

use super::{Encoded, FP_BYTES, any_nonzero, parse_point_and_y};
use residue_curves::bls12_381::sum_of_products::{ProductGroup, Window};
use residue_curves::bls12_381::{SumOfProducts, to_affine};
use residue_curves::conditions::Conditions;
use residue_ir::{Machine, WordOp};

/// Bytes of a scalar.
pub(crate) const SCALAR_BYTES: u32 = 32;

/// Returns Σ sᵢ·Pᵢ of the calldata P₀ ‖ s₀ ‖ P₁ ‖ … . Each point must be in its group, each scalar may be any number: EIP-2537,
/// “ABI for G1 MSM”.
pub(crate) fn text<M: Machine, G: ProductGroup<M> + Encoded<M>>(machine: &M) {
    let product_bytes = machine.small(u64::from(G::POINT_BYTES + SCALAR_BYTES));
    let size = machine.calldata_size();
    machine.require(size);
    machine.require(machine.not(machine.word_op(WordOp::Mod, size, product_bytes)));
    let count = machine.bind(machine.word_op(WordOp::Div, size, product_bytes));
    let few = SumOfProducts::<M, G>::new(machine, Window::Nibble);
    let many = few.with_window(Window::Byte);
    let is_few = machine.bind(machine.word_op(WordOp::Lt, count, machine.small(G::MANY)));
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
                machine.require(machine.not(any_nonzero(machine, offset, 0..G::POINT_BYTES / FP_BYTES / 2)));
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
