//! Plans: what the lane planner makes of a slot block. Tables of batches and linear phases over numbered rows, and the bounds at both ends.
//!
//! Planning renames slots to values (`values`), keeps sums lazy as far as the bounds allow (`lazy`), orders steps so that products come in
//! eights (`order`), and gives values rows (`place`). A plan knows the [`Shape`] of the modulus, not the modulus.

mod lazy;
mod order;
mod place;
#[cfg(test)]
mod tests;
mod values;

use thiserror::Error;

use crate::block::{Digest, SlotBlock};
use crate::bounds::Bias;
use crate::estimate;
use crate::kernel::{self, Kernel};
use crate::modulus_rows::ModulusRows;
use crate::rows::Rows;
use crate::shape::Shape;

pub(crate) use order::{BATCH_LANES, QUAD_LANES, SegmentKind};

/// Most operations of one block.
pub const OPERATIONS_MAX: usize = 1 << 24;

/// Most companions of a batch.
pub const COMPANIONS_MAX: usize = 1 << 12;

/// Choices of the planner that change speed and nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    /// Linear steps run until this many products are ready, 1 to 8.
    pub batch_fill: usize,
    /// Most linear steps that a batch takes along, to run while its products do; [`COMPANIONS_MAX`] at most.
    pub companions: usize,
    /// Whether products may be executed in fours where few are ready at a time.
    pub fours: bool,
}

impl Default for Policy {
    /// What is fastest with [`Kernel::best`].
    fn default() -> Self {
        Self { batch_fill: BATCH_LANES, companions: 32, fours: Kernel::best().has_fours() }
    }
}

/// Why a block has no plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum PlanError {
    /// An operation names a slot beyond the block's.
    #[error("slot {slot} is not among the {slot_count} slots of the block")]
    SlotOutOfRange {
        /// The slot.
        slot: u16,
        /// Number of slots.
        slot_count: u16,
    },
    /// The block is longer than [`OPERATIONS_MAX`].
    #[error("a block of {count} operations exceeds the {OPERATIONS_MAX} that a plan may have")]
    TooManyOperations {
        /// Operations of the block.
        count: usize,
    },
    /// More values are alive at once than rows can be numbered.
    #[error("the block keeps more than 65,535 values alive")]
    TooManyRows,
}

/// A block made ready for execution eight products at a time, for every modulus of one shape.
///
/// At both ends each slot satisfies [`Shape::end_bounds`].
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) shape: Shape,
    source: Digest,
    pub(crate) slot_count: u16,
    pub(crate) row_count: u16,
    /// Rows that hold a multiple of M throughout.
    pub(crate) constants: Vec<(u16, Bias)>,
    pub(crate) inputs: Vec<u16>,
    pub(crate) outputs: Vec<u16>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) linear: Vec<LinearStep>,
    pub(crate) carries: Vec<CarryStep>,
    pub(crate) reductions: Vec<ReduceStep>,
    pub(crate) batches: Vec<BatchStep>,
}

/// Entries `start..end` of the table of its kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub kind: SegmentKind,
    pub start: u32,
    pub end: u32,
}

/// out = x ± y.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub(crate) struct LinearStep {
    pub out: u16,
    pub x: u16,
    pub y: u16,
    /// −1 to subtract, 0 to add.
    pub sign: i16,
}

/// out = x, limbs carried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CarryStep {
    pub out: u16,
    pub x: u16,
}

/// out = x + bias, reduced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReduceStep {
    pub out: u16,
    pub x: u16,
    pub bias: Bias,
}

/// outᵢ = xᵢ·yᵢ for eight lanes. Lanes from `lanes` on repeat the first and write a row that nobody reads. The companions are
/// linear steps that run between the batch's reads and its writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchStep {
    pub out: [u16; BATCH_LANES],
    pub x: [u16; BATCH_LANES],
    pub y: [u16; BATCH_LANES],
    pub lanes: u16,
    /// So many batches behind this one may follow it in a stream: each reads nothing that the one before it writes, its companions left
    /// aside, so it may be read when those have run and before the products are written.
    pub followers: u16,
    /// Number of companions.
    pub companions: u16,
    /// The first of them in the table of linear steps.
    pub companions_start: u32,
}

impl BatchStep {
    /// The rows that it reads.
    pub fn reads(&self) -> impl Iterator<Item = u16> {
        self.x.into_iter().chain(self.y)
    }

    /// The companions' places in the table of linear steps.
    pub fn companions(&self) -> std::ops::Range<usize> {
        let start = self.companions_start as usize;
        start..start + usize::from(self.companions)
    }
}

impl LinearStep {
    pub fn new(out: u16, x: u16, y: u16, is_sub: bool) -> Self {
        Self { out, x, y, sign: if is_sub { -1 } else { 0 } }
    }
}

/// What a plan consists of, for people and for deciding whether to run it.
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
    /// Steps that carry limbs.
    pub carries: usize,
    /// Steps that reduce the range.
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
    /// Plans a block for moduli of a shape.
    pub fn new(block: &SlotBlock, shape: Shape, policy: &Policy) -> Result<Self, PlanError> {
        let count = block.ops().len();
        if count > OPERATIONS_MAX {
            return Err(PlanError::TooManyOperations { count });
        }
        let values = values::Values::of(block);
        let steps = lazy::Steps::of(&values, shape);
        let order = order::Order::of(&steps.steps, policy, shape);
        let mut plan = Self {
            shape,
            source: block.digest(),
            slot_count: block.slot_count(),
            row_count: block.slot_count(),
            constants: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            segments: Vec::with_capacity(order.runs.len() + 1),
            linear: Vec::with_capacity(order.steps.len()),
            carries: Vec::new(),
            reductions: Vec::new(),
            batches: Vec::new(),
        };
        place::place(&steps, &order, &mut plan)?;
        plan.shrink();
        assert!(plan.rows_named().all(|row| row < plan.row_count), "every row of the tables exists");
        Ok(plan)
    }

    /// Executes the plan with the fastest kernel of this machine.
    ///
    /// `rows` must have the plan's slot count, and rows and modulus its shape; anything else panics.
    #[inline]
    pub fn run(&self, modulus: &ModulusRows, rows: &mut Rows) {
        self.run_with(Kernel::best(), modulus, rows);
    }

    /// [`Plan::run`] with the kernel given. Panics if this machine does not have it.
    pub fn run_with(&self, kernel: Kernel, modulus: &ModulusRows, rows: &mut Rows) {
        assert_eq!(self.shape, modulus.shape(), "plan and modulus have one shape");
        assert_eq!(self.shape, rows.shape(), "plan and rows have one shape");
        assert_eq!(self.slot_count, rows.slot_count(), "plan and rows have the same slots");
        rows.reserve(self.row_count);
        self.set_constants(modulus, rows);
        kernel::run(kernel, self, modulus, rows);
    }

    /// The shape of the moduli it is for.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The digest of the block that it was made of.
    pub fn source(&self) -> Digest {
        self.source
    }

    /// The number of slots of the block.
    pub fn slot_count(&self) -> u16 {
        self.slot_count
    }

    /// Bytes of the rows that it runs on: those of the slots, and temporary ones.
    #[inline]
    pub fn row_bytes(&self) -> usize {
        usize::from(self.row_count) * self.shape.lines() * size_of::<crate::rows::Line>()
    }

    /// Bytes that its tables hold, room for more entries included.
    pub fn bytes(&self) -> usize {
        fn held<T>(table: &Vec<T>) -> usize {
            table.capacity() * size_of::<T>()
        }
        held(&self.constants)
            + held(&self.inputs)
            + held(&self.outputs)
            + held(&self.segments)
            + held(&self.linear)
            + held(&self.carries)
            + held(&self.reductions)
            + held(&self.batches)
    }

    /// Gives back the room for more entries.
    fn shrink(&mut self) {
        self.constants.shrink_to_fit();
        self.inputs.shrink_to_fit();
        self.outputs.shrink_to_fit();
        self.segments.shrink_to_fit();
        self.linear.shrink_to_fit();
        self.carries.shrink_to_fit();
        self.reductions.shrink_to_fit();
        self.batches.shrink_to_fit();
    }

    /// The slots whose values at entry the plan reads, in order.
    pub fn inputs(&self) -> &[u16] {
        &self.inputs
    }

    /// The slots it writes, in order. All others keep their rows.
    pub fn outputs(&self) -> &[u16] {
        &self.outputs
    }

    /// Estimated cycles of an execution with [`Kernel::Ifma`], conversions not included.
    pub fn predicted_cycles(&self) -> u64 {
        estimate::cycles(self)
    }

    /// What the plan consists of.
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

    /// Number of batches that follow another in a stream.
    pub(crate) fn streamed(&self) -> usize {
        self.batches.iter().filter(|batch| batch.followers > 0).count()
    }

    /// Number of linear steps that run along with batches.
    pub(crate) fn companions(&self) -> usize {
        self.batches.iter().map(|batch| usize::from(batch.companions)).sum()
    }

    /// Fills the rows that hold multiples of M.
    pub(crate) fn set_constants(&self, modulus: &ModulusRows, rows: &mut Rows) {
        for (row, bias) in &self.constants {
            rows.set_row(*row, &modulus.constants.multiple(*bias));
        }
    }

    /// Entries of a table so far. Blocks are limited to [`OPERATIONS_MAX`], so it fits.
    fn table_len(&self, kind: SegmentKind) -> u32 {
        let len = match kind {
            SegmentKind::Linear => self.linear.len(),
            SegmentKind::Carry => self.carries.len(),
            SegmentKind::Reduce => self.reductions.len(),
            SegmentKind::Batch => self.batches.len(),
        };
        len as u32
    }

    /// Every row that a table names.
    fn rows_named(&self) -> impl Iterator<Item = u16> {
        let linear = self.linear.iter().flat_map(|step| [step.out, step.x, step.y]);
        let carries = self.carries.iter().flat_map(|step| [step.out, step.x]);
        let reductions = self.reductions.iter().flat_map(|step| [step.out, step.x]);
        let batches = self.batches.iter().flat_map(|batch| [batch.out, batch.x, batch.y].into_iter().flatten());
        let constants = self.constants.iter().map(|(row, _)| *row);
        linear.chain(constants).chain(carries).chain(reductions).chain(batches)
    }
}
