//! Report on the blocks, traces and plans of a code, for people.

use alloc::vec::Vec;

use core::ops::Range;
use residue_isa::{FieldOp, PerOp};

use residue_lanes::{Explanation, Plan};

use super::work::Work;

/// A block of field instructions, and its plan if it has one.
#[derive(Debug, Clone)]
pub struct BlockExplained {
    /// From its first opcode to after it; where several runs are joined, to after the last, which may lie before the first.
    pub code: Range<usize>,
    /// Runs of field instructions, joined by jumps and jump targets between them.
    pub runs: usize,
    /// Instructions of each kind.
    pub instructions: PerOp<u32>,
    /// Operations of each kind: lanes of the instructions, and the products of sums and of products in Fp2 and Fp6 with the additions and subtractions between them,
    /// those in Fp6 as additions; a copy is an addition of zero, which a subtraction makes.
    pub operations: PerOp<u32>,
    /// Estimated cycles of its instructions one by one, on values as wide as it met last.
    pub scalar_cycles: u64,
    /// The plan it runs as; none if it has not earned one yet, or if that would be slower.
    pub plan: Option<Explanation>,
    /// The products of each of its batches, by lane: the row that is written and those that are multiplied; none without a plan.
    pub lanes: Vec<Vec<[u16; 3]>>,
    /// Rows of a plan below this are slots, or places in memory; the others are temporary.
    pub slots: u16,
    /// Steps of its scalar trace, which runs where no plan does; none if it has not earned one yet, or is too short.
    pub trace_steps: Option<usize>,
}

impl BlockExplained {
    pub(super) fn new(
        code: Range<usize>,
        runs: usize,
        work: &Work,
        limbs: usize,
        has_trace: bool,
        plan: Option<&Plan>,
        trace_steps: Option<usize>,
    ) -> Self {
        let Work { instructions, mut operations, .. } = *work;
        for (products, count) in work.sums_by_products() {
            operations[FieldOp::Mul] += products * count;
            operations[FieldOp::Add] += (products - 1) * count;
        }
        operations[FieldOp::Mul] += 4 * work.fp2_lanes;
        operations[FieldOp::Sub] += work.fp2_lanes;
        operations[FieldOp::Add] += work.fp2_lanes;
        operations[FieldOp::Mul] += 36 * work.fp6_instructions;
        operations[FieldOp::Add] += work.fp6_operations - 36 * work.fp6_instructions;
        operations[FieldOp::Sub] += work.copy_instructions;
        operations[FieldOp::Add] += work.copy_lanes;
        let scalar_cycles = work.scalar_cycles(limbs, has_trace);
        let lanes = plan.map_or(Vec::new(), Plan::lanes);
        let slots = plan.map_or(0, Plan::slot_count);
        let plan = plan.map(Plan::explain);
        Self { code, runs, instructions, operations, scalar_cycles, plan, lanes, slots, trace_steps }
    }
}
