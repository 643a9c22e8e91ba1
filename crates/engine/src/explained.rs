//! What the batch engine makes of a code, for people.

use std::ops::Range;

use residue_lanes::Explanation;

use crate::analysis::Executed;
use crate::planned::Work;

/// A block of field instructions, and its plan if it has one.
#[derive(Debug, Clone)]
pub struct BlockExplained {
    /// From its first opcode to behind it; where several runs are joined, to behind the last, which may lie before the first.
    pub code: Range<usize>,
    /// Runs of field instructions, joined by jumps and jump targets between them.
    pub runs: usize,
    /// Instructions of each kind, in the order of [`residue_isa::Arithmetic::ALL`].
    pub instructions: [u32; 3],
    /// Operations of each kind: lanes of the instructions.
    pub operations: [u32; 3],
    /// Estimated cycles of its instructions one by one.
    pub scalar_cycles: u64,
    /// The plan it runs as; none if it has not been entered often enough, or if that would be slower.
    pub plan: Option<Explanation>,
    /// Steps of its chain, which runs where no plan does; none if it has not been entered often enough, or is too short.
    pub chain_steps: Option<usize>,
}

impl BlockExplained {
    pub(crate) fn new(
        code: Range<usize>,
        runs: usize,
        work: &Work,
        plan: Option<Explanation>,
        chain_steps: Option<usize>,
    ) -> Self {
        let Work { instructions, operations, .. } = *work;
        Self { code, runs, instructions, operations, scalar_cycles: work.scalar_cycles(), plan, chain_steps }
    }
}

/// The blocks of a code, in its order.
pub(crate) fn blocks_of(executed: &Executed) -> Vec<BlockExplained> {
    let slots = executed.blocks.iter().flat_map(|blocks| blocks.explain());
    let memory = executed.memory_blocks.iter().flat_map(|blocks| blocks.explain());
    slots.chain(memory).collect()
}
