//! Running time of a plan, estimated from its tables: precise enough to decide between a plan and one instruction at a
//! time.

use crate::shape::Shape;
use crate::tables::{Plan, QUAD_LANES};

/// Cycles of the parts of a plan, fitted to `examples/blocks.rs` on an AMD Zen 4 (family 25, model 17); within a fifth on its blocks.
struct Costs {
    /// A batch of up to four products, and of more.
    batch: [u64; 2],
    /// Saving of a batch that follows another in a stream.
    streamed: u64,
    /// A linear step that runs along with a batch.
    companion: u64,
    /// Any other, with the latency that it exposes.
    linear: u64,
    carry: u64,
    reduction: u64,
    /// Up to [`MOVED_TOGETHER`] values from limbs to rows, or from rows to limbs, on average.
    moves: u64,
}

/// Values that move between limbs and rows together.
const MOVED_TOGETHER: usize = 8;

/// Checks and constants before the first step.
const ENTRY_CYCLES: u64 = 80;

fn costs(shape: Shape) -> Costs {
    match shape.limbs() {
        6 => Costs { batch: [118, 205], streamed: 0, companion: 4, linear: 6, carry: 6, reduction: 13, moves: 450 },
        8 => Costs { batch: [190, 335], streamed: 45, companion: 2, linear: 6, carry: 6, reduction: 13, moves: 500 },
        10 => Costs { batch: [390, 560], streamed: 0, companion: 3, linear: 9, carry: 10, reduction: 26, moves: 700 },
        _ => Costs { batch: [890, 1150], streamed: 0, companion: 3, linear: 9, carry: 10, reduction: 26, moves: 1000 },
    }
}

/// Estimated cycles of a batch of `lanes` products that follows no other.
pub(crate) fn batch_cycles(shape: Shape, lanes: usize) -> u64 {
    costs(shape).batch[usize::from(lanes > QUAD_LANES)]
}

impl Shape {
    /// Estimated cycles of moving `values` values from limbs to rows, or from rows to limbs, with IFMA.
    pub fn move_cycles(self, values: usize) -> u64 {
        costs(self).moves * values.div_ceil(MOVED_TOGETHER) as u64 // Far below 2⁶⁴.
    }
}

/// Estimated cycles of an execution of `plan` with IFMA.
pub(crate) fn cycles(plan: &Plan) -> u64 {
    let costs = costs(plan.shape);
    // Table lengths are far below 2⁶⁴.
    let count = |entries: usize| entries as u64;
    let companions = plan.companions();
    let narrow = plan.batches.iter().filter(|batch| usize::from(batch.lanes) <= QUAD_LANES).count();
    ENTRY_CYCLES + costs.batch[0] * count(narrow) + costs.batch[1] * count(plan.batches.len() - narrow)
        - costs.streamed * count(plan.streamed())
        + costs.companion * count(companions)
        + costs.linear * count(plan.linear.len() - companions)
        + costs.carry * count(plan.carries.len())
        + costs.reduction * count(plan.reductions.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::SlotBlock;
    use crate::bounds::Bias;
    use crate::plan::Policy;
    use crate::tables::{BatchStep, CarryStep, LinearStep, ReduceStep};

    /// Cost of one more entry of each kind, independent of the other entries.
    #[test]
    fn every_entry_costs_its_cycles() {
        for (bits, moves) in [(254, 450), (381, 500), (512, 700), (768, 1000)] {
            let shape = Shape::of_bits(bits).unwrap();
            assert_eq!([0, 1, 8, 9, 256].map(|values| shape.move_cycles(values)), [0, 1, 1, 2, 32].map(|n| n * moves));
        }
        for (bits, [narrow, full, streamed, companion, linear, carry, reduction]) in [
            (254, [118, 205, 0, 4, 6, 6, 13]),
            (381, [190, 335, 45, 2, 6, 6, 13]),
            (512, [390, 560, 0, 3, 9, 10, 26]),
            (768, [890, 1150, 0, 3, 9, 10, 26]),
        ] {
            let shape = Shape::of_bits(bits).unwrap();
            let mut plan = Plan::new(&SlotBlock::new(1), shape, &Policy::default()).unwrap();
            let mut before = plan.predicted_cycles();
            assert_eq!(before, 80, "an empty plan");
            for _ in 0..3 {
                let mut costs = |add: &dyn Fn(&mut Plan), cycles: i64| {
                    add(&mut plan);
                    let after = plan.explain().predicted_cycles;
                    assert_eq!(after.wrapping_sub(before) as i64, cycles, "{bits} bits");
                    before = after;
                };
                let lanes = [0; 8];
                let batch = |lanes_used| BatchStep {
                    out: lanes,
                    x: lanes,
                    y: lanes,
                    lanes: lanes_used,
                    followers: 0,
                    companions: 0,
                    companions_start: 0,
                };
                (1..=4).for_each(|lanes| costs(&|plan| plan.batches.push(batch(lanes)), narrow));
                (5..=8).for_each(|lanes| costs(&|plan| plan.batches.push(batch(lanes)), full));
                costs(&|plan| plan.batches.push(BatchStep { followers: 1, ..batch(8) }), full - streamed);
                costs(&|plan| plan.linear.push(LinearStep::new(0, 0, 0, false)), linear);
                costs(&|plan| plan.linear.push(LinearStep::new(0, 0, 0, true)), linear);
                costs(&|plan| plan.batches[0].companions += 1, companion - linear);
                costs(&|plan| plan.carries.push(CarryStep { out: 0, x: 0 }), carry);
                costs(&|plan| plan.reductions.push(ReduceStep { out: 0, x: 0, bias: Bias(0) }), reduction);
            }
            assert_eq!([1, 4, 5, 8].map(|lanes| batch_cycles(shape, lanes) as i64), [narrow, narrow, full, full]);
        }
    }
}
