//! How long a plan takes, estimated from its tables: enough to decide between a plan and one instruction at a time.

use crate::plan::Plan;

/// Cycles of the parts of a plan.
struct Costs {
    batch: u64,
    linear: u64,
    carry: u64,
    reduction: u64,
}

/// A mispredicted branch and the latency that a change of kind exposes.
const SEGMENT_CYCLES: u64 = 10;
/// Entering the kernel.
const ENTRY_CYCLES: u64 = 60;

/// Estimated cycles of an execution of `plan` with IFMA.
pub(crate) fn cycles(plan: &Plan) -> u64 {
    let costs = match plan.shape.limbs() {
        6 => Costs { batch: 170, linear: 4, carry: 4, reduction: 14 },
        8 => Costs { batch: 330, linear: 4, carry: 4, reduction: 14 },
        _ => Costs { batch: 1100, linear: 8, carry: 8, reduction: 26 },
    };
    // Table lengths are far below 2⁶⁴.
    let count = |entries: usize| entries as u64;
    ENTRY_CYCLES
        + SEGMENT_CYCLES * count(plan.segments.len())
        + costs.batch * count(plan.batches.len())
        + costs.linear * count(plan.linear.len())
        + costs.carry * count(plan.carries.len())
        + costs.reduction * count(plan.reductions.len())
}
