//! The sum of products of EIP-2537 (G1MSM and G2MSM): one text for both groups.

use super::{Encoded, FP_BYTES, any_nonzero, parse_point};
use residue_curves::bls12_381::sum_of_products::{ProductGroup, Window};
use residue_curves::bls12_381::{SumOfProducts, to_affine};
use residue_curves::conditions::Conditions;
use residue_curves::group::Jacobian;
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
    let is_few = machine.word_op(WordOp::Lt, count, machine.small(G::MANY));
    let total = machine.branch(
        machine.not(is_few),
        |machine| sum::<M, G>(machine, &many, count),
        |machine| sum::<M, G>(machine, &few, count),
    );
    machine.return_elements(to_affine::<M, G>(machine, total), FP_BYTES);
}

fn sum<M: Machine, G: ProductGroup<M> + Encoded<M>>(
    machine: &M,
    sum: &SumOfProducts<M, G>,
    count: M::Word,
) -> Jacobian<G::Coordinate> {
    sum.clear(machine);
    let conditions = machine.repeat(count, Conditions::none(machine), |machine, index, conditions| {
        let product_bytes = machine.small(u64::from(G::POINT_BYTES + SCALAR_BYTES));
        let offset = machine.bind(machine.word_op(WordOp::Mul, index, product_bytes));
        let point = parse_point::<M, G>(machine, offset);
        // y = 0 is on no point of the curve: it has an odd number of points.
        let elements = G::POINT_BYTES / FP_BYTES / 2;
        machine.branch(
            any_nonzero(machine, offset, elements..2 * elements),
            |machine| {
                let scalar_at = machine.word_op(WordOp::Add, offset, machine.small(u64::from(G::POINT_BYTES)));
                conditions.and(sum.add(machine, machine.calldata_word(scalar_at), point))
            },
            |machine| {
                machine.require(machine.not(any_nonzero(machine, offset, 0..elements)));
                conditions
            },
        )
    });
    machine.require(conditions.hold(machine));
    sum.finish(machine)
}
