//! How long a plan takes, estimated from its tables: enough to decide between a plan and one instruction at a time.

use crate::plan::{Plan, QUAD_LANES};
use crate::shape::Shape;

/// Cycles of the parts of a plan, fitted to `examples/blocks.rs` on an AMD Zen 4 (family 25, model 17); within a fifth on its blocks.
struct Costs {
    /// A batch of up to four products, and of more.
    batch: [u64; 2],
    /// What a batch saves that follows another in a stream.
    streamed: u64,
    /// A linear step that runs along with a batch.
    companion: u64,
    /// Any other, with the latency that it exposes.
    linear: u64,
    carry: u64,
    reduction: u64,
}

/// Checks and constants before the first step.
const ENTRY_CYCLES: u64 = 80;

fn costs(shape: Shape) -> Costs {
    match shape.limbs() {
        6 => Costs { batch: [118, 205], streamed: 0, companion: 4, linear: 6, carry: 6, reduction: 13 },
        8 => Costs { batch: [190, 335], streamed: 45, companion: 2, linear: 6, carry: 6, reduction: 13 },
        _ => Costs { batch: [650, 1180], streamed: 0, companion: 3, linear: 9, carry: 10, reduction: 26 },
    }
}

/// Estimated cycles of a batch of so many products that follows no other.
pub(crate) fn batch_cycles(shape: Shape, lanes: usize) -> u64 {
    costs(shape).batch[usize::from(lanes > QUAD_LANES)]
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
