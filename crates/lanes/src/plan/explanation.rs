//! Statistics of a plan, and its running time.

use alloc::vec::Vec;

use crate::estimate;
use crate::tables::{BATCH_LANES, BatchStep, Plan};

/// Statistics of a plan, for people and for the decision to run it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Explanation {
    /// Products of the block that are needed.
    pub products: usize,
    /// Batches they are executed in.
    pub batches: usize,
    /// Batches by number of products: entry i counts those with i + 1.
    pub batches_by_lanes: [usize; BATCH_LANES],
    /// Batches that follow another in a stream: their operands are turned while the other multiplies.
    pub streamed: usize,
    /// Sums, differences, lifts and copies.
    pub linear: usize,
    /// Linear steps among them that run along with a batch.
    pub companions: usize,
    /// Linear steps among them that add a multiple of the modulus or copy.
    pub lifts: usize,
    /// PlannedSteps that carry limbs.
    pub carries: usize,
    /// PlannedSteps that reduce the range.
    pub reductions: usize,
    /// Runs of steps of one kind, batches included.
    pub segments: usize,
    /// Rows beside the slots' own.
    pub temporary_rows: usize,
    /// Bytes of the tables.
    pub table_bytes: usize,
    /// Estimated cycles of an execution with [`Kernel::Ifma`], conversions not included.
    pub predicted_cycles: u64,
}

impl Plan {
    /// Estimated cycles of an execution with [`Kernel::Ifma`], conversions not included.
    pub fn predicted_cycles(&self) -> u64 {
        estimate::cycles(self)
    }

    /// The products of each batch, in its lanes: the rows that each writes and multiplies. Rows below [`Plan::slot_count`] are slots, others
    /// are temporary.
    pub fn lanes(&self) -> Vec<Vec<[u16; 3]>> {
        let products = |batch: &BatchStep| {
            (0..usize::from(batch.lanes)).map(|lane| [batch.out[lane], batch.x[lane], batch.y[lane]]).collect()
        };
        self.batches.iter().map(products).collect()
    }

    /// Statistics of the plan.
    pub fn explain(&self) -> Explanation {
        let mut batches_by_lanes = [0; BATCH_LANES];
        for batch in &self.batches {
            batches_by_lanes[usize::from(batch.lanes) - 1] += 1;
        }
        Explanation {
            products: self.batches.iter().map(|batch| usize::from(batch.lanes)).sum(),
            batches: self.batches.len(),
            batches_by_lanes,
            streamed: self.streamed(),
            linear: self.linear.len(),
            companions: self.companions(),
            lifts: self.linear.iter().filter(|step| self.constants.iter().any(|(row, _)| *row == step.y)).count(),
            carries: self.carries.len(),
            reductions: self.reductions.len(),
            segments: self.segments.len(),
            temporary_rows: usize::from(self.row_count - self.slot_count),
            table_bytes: size_of_val(&*self.segments)
                + size_of_val(&*self.linear)
                + size_of_val(&*self.carries)
                + size_of_val(&*self.reductions)
                + size_of_val(&*self.batches),
            predicted_cycles: self.predicted_cycles(),
        }
    }
}
