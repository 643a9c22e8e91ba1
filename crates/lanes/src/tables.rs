//! The tables of a plan: batches and linear phases over numbered rows. [`crate::plan`] fills them, [`crate::kernel`] runs them.

use alloc::vec::Vec;

use crate::block::Digest;
use crate::bounds::Bias;
use crate::line::Line;
use crate::shape::Shape;

/// Lanes of a batch.
pub(crate) const BATCH_LANES: usize = 8;
/// Batches of up to this many products take half the time, where CPUs work in halves.
pub(crate) const QUAD_LANES: usize = 4;

/// A block made ready for execution eight products at a time, for every modulus of one shape.
///
/// At both ends each slot satisfies [`Shape::end_bounds`].
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) shape: Shape,
    pub(crate) source: Digest,
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

/// outᵢ = xᵢ·yᵢ for eight lanes. Lanes from `lanes` on repeat the first and write a row that is never read. The companions are
/// linear steps that run between the batch's reads and its writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchStep {
    pub out: [u16; BATCH_LANES],
    pub x: [u16; BATCH_LANES],
    pub y: [u16; BATCH_LANES],
    pub lanes: u16,
    /// Number of batches after this one that may follow it in a stream: each reads no result of the one before it, its
    /// companions aside, so it may be read when those have run and before the products are written.
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
    pub fn companions(&self) -> core::ops::Range<usize> {
        let start = self.companions_start as usize;
        start..start + usize::from(self.companions)
    }
}

impl LinearStep {
    pub fn new(out: u16, x: u16, y: u16, is_sub: bool) -> Self {
        Self { out, x, y, sign: if is_sub { -1 } else { 0 } }
    }
}

/// Kind of steps that run together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SegmentKind {
    /// Sums, differences and lifts, one after the other.
    Linear,
    /// Carries, independent of each other.
    Carry,
    /// Reductions, independent of each other.
    Reduce,
    /// Up to eight independent products, and linear steps that need none of them.
    Batch,
}

impl Plan {
    /// The shape of the moduli it is for.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Digest of its block.
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
        usize::from(self.row_count) * self.shape.lines() * size_of::<Line>()
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

    /// Frees unused capacity.
    pub(crate) fn shrink(&mut self) {
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

    /// Number of batches that follow another in a stream.
    pub(crate) fn streamed(&self) -> usize {
        self.batches.iter().filter(|batch| batch.followers > 0).count()
    }

    /// Number of linear steps that run along with batches.
    pub(crate) fn companions(&self) -> usize {
        self.batches.iter().map(|batch| usize::from(batch.companions)).sum()
    }

    /// Entries of a table so far. Blocks are limited to [`OPERATIONS_MAX`], so it fits.
    pub(crate) fn table_len(&self, kind: SegmentKind) -> u32 {
        let len = match kind {
            SegmentKind::Linear => self.linear.len(),
            SegmentKind::Carry => self.carries.len(),
            SegmentKind::Reduce => self.reductions.len(),
            SegmentKind::Batch => self.batches.len(),
        };
        len as u32
    }

    /// Every row that a table names.
    pub(crate) fn rows_named(&self) -> impl Iterator<Item = u16> {
        let linear = self.linear.iter().flat_map(|step| [step.out, step.x, step.y]);
        let carries = self.carries.iter().flat_map(|step| [step.out, step.x]);
        let reductions = self.reductions.iter().flat_map(|step| [step.out, step.x]);
        let batches = self.batches.iter().flat_map(|batch| [batch.out, batch.x, batch.y].into_iter().flatten());
        let constants = self.constants.iter().map(|(row, _)| *row);
        linear.chain(constants).chain(carries).chain(reductions).chain(batches)
    }
}
