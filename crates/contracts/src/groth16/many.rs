//! The sum of the inputs where there are many: with the digits and tables of [`residue_curves::glv::msm`], which are made at run time, so that a point takes no more code than its coordinates.

use super::curve::ProofCurve;
use crate::keyed::points::Curve;
use residue_curves::glv::msm::{add, complete, identity, known_offset, start};
use residue_curves::group::Projective;
use residue_curves::{Affine, Jacobian};
use residue_formula::{Fe, Number};
use residue_ir::{Machine, WordOp};

/// P₀ + Σ sᵢ·Pᵢ for scalars in words of calldata from byte `inputs_at` on; Z = 0 exactly if it is the identity.
///
/// Sums begin with T and end with P₀ − T. A sum that is the identity, or meets an exceptional case, has Z = 0 and is computed once more with complete formulas.
pub(super) fn sum_of_many<M: Machine, C: ProofCurve>(
    machine: &M,
    inputs_at: u32,
    constant: Option<Affine<C::Number>>,
    points: &[Affine<C::Number>],
) -> Jacobian<M::Fe> {
    if points.len() <= C::IN_FOURS {
        sum_of_chunks::<M, C, 4>(machine, inputs_at, constant, points)
    } else {
        sum_of_chunks::<M, C, 8>(machine, inputs_at, constant, points)
    }
}

/// The same with so many points that share doublings.
fn sum_of_chunks<M: Machine, C: ProofCurve, const TOGETHER: usize>(
    machine: &M,
    inputs_at: u32,
    constant: Option<Affine<C::Number>>,
    points: &[Affine<C::Number>],
) -> Jacobian<M::Fe> {
    let curve = &C::CURVE;
    let small = |value: usize| machine.small(value as u64); // usize to u64 widens
    let (group, generator) = Curve::<C>::new().of_g1();
    let padded = points.iter().copied().chain(std::iter::repeat(generator));
    let padded = padded.take(points.len().next_multiple_of(TOGETHER));
    let rows: Vec<_> = padded.map(|Affine { x, y }| vec![x.to_canonical(), y.to_canonical()]).collect();
    let table = machine.table("groth16_inputs", &rows);
    let scalar_at = |machine: &M, number| {
        let offset = machine.word_op(WordOp::Mul, number, machine.small(32));
        machine.calldata_word(machine.word_op(WordOp::Add, offset, machine.small(inputs_at.into())))
    };
    let chunks = small(points.len().div_ceil(TOGETHER));
    let sum = machine.repeat(chunks, start(machine, curve), |machine, chunk, sum| {
        let small = |value: usize| machine.small(value as u64); // usize to u64 widens
        // Not kept on the stack: words of each product would come between.
        let first = machine.variable("first_input", machine.word_op(WordOp::Mul, chunk, small(TOGETHER)));
        let products = std::array::from_fn::<_, TOGETHER, _>(|place| {
            let number = machine.bind(machine.word_op(WordOp::Add, machine.get(first), small(place)));
            let point = machine.lookup::<Affine<M::Fe>>(table, number);
            // After the last input there may be anything.
            let is_input = machine.word_op(WordOp::Lt, number, small(points.len()));
            let scalar = machine.word_op(WordOp::Mul, scalar_at(machine, number), is_input);
            (machine.variable("scalar", scalar), point)
        });
        add(machine, curve, products, sum)
    });
    let element = |Affine { x, y }: Affine<C::Number>| {
        Affine::new(machine.constant(&x.to_canonical()), machine.constant(&y.to_canonical()))
    };
    let t = known_offset(curve, &1u32.into());
    let less_t = Affine::new(t.x, -t.y);
    let last = constant.map_or(Some(less_t), |constant| group.plus(constant, less_t));
    let sum = last.map_or(sum, |last| sum.add_mixed(element(last)));
    let again = |machine: &M| {
        let first = constant.map_or_else(
            || identity(machine),
            |point| {
                let Affine { x, y } = element(point);
                Projective { x, y, z: machine.one() }
            },
        );
        let sum = machine.repeat(machine.small(points.len() as u64), first, |machine, number, sum| {
            let number = machine.bind(number);
            let point = machine.lookup::<Affine<M::Fe>>(table, number);
            complete(machine, curve, scalar_at(machine, number), point, sum)
        });
        let Projective { x, y, z } = sum;
        Jacobian { x: x * z, y: y * z.square(), z } // (X/Z, Y/Z) = (XZ/Z², YZ²/Z³)
    };
    machine.branch(machine.is_zero(sum.z), again, |_| sum)
}
