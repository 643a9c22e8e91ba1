//! Location of the values of a block: in the slots of a field context, or in EVM memory. [`Location`] defines their
//! discovery and construction, [`super::runner::Runner`] their execution; blocks, paths, plans and credit are the same
//! for both.

use core::fmt::Debug;

use residue_isa::{FieldOp, Form, Revision};
use residue_lanes::{Fp6Op, SlotBlock, SumOp};

use super::Batching;
use crate::prices::WidthPrices;

/// A lane of an instruction: the places that it writes and reads, out, x and y.
pub(crate) type Lane = (u16, u16, u16);

/// A field instruction on numbered places.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instruction {
    pub operation: FieldOp,
    /// First place and stride of out, x and y.
    pub out: (u16, u16),
    pub x: (u16, u16),
    pub y: (u16, u16),
    pub count: u16,
    /// Set if it is a sum of products: then it has one lane by the fields above, its first product. Or a product in
    /// Fp2: then it has the first lane, with the first coefficients at the places above.
    pub sum: Option<SumOp>,
    /// Set if it is a product in Fp6, with the places above as its first ones.
    pub fp6: Option<Fp6Op>,
    /// Its form, if it is no arithmetic. The second operand of a copy is equal to its first.
    pub form: Option<Form>,
    /// Bytes of it, operands and all, from where a block meets it.
    pub length: usize,
}

impl Instruction {
    /// Its lanes, in order.
    pub fn lanes(self) -> impl DoubleEndedIterator<Item = Lane> + Clone {
        let at = |(first, stride): (u16, u16), lane: u16| first + stride * lane;
        (0..self.count).map(move |lane| (at(self.out, lane), at(self.x, lane), at(self.y, lane)))
    }

    /// The sum that it is, or the products in Fp2, lane by lane.
    pub fn sums(self) -> impl DoubleEndedIterator<Item = SumOp> + Clone {
        let lanes = if self.sum.is_some() { self.count } else { 0 };
        (0..lanes).filter_map(move |lane| Some(self.sum?.moved(self.out.1 * lane, self.x.1 * lane, self.y.1 * lane)))
    }

    /// Number of operations that a block does for it.
    pub fn operation_count(&self) -> u32 {
        if let Some(product) = &self.fp6 {
            return product.operations().len() as u32; // Some dozens.
        }
        // A copy has one more, and sums have at most 11 each.
        if self.form == Some(Form::Copy) {
            return u32::from(self.count) + 1;
        }
        u32::from(self.count) * self.sum.map_or(1, |sum| sum.operation_count() as u32)
    }

    /// The highest place it names.
    pub fn last(&self) -> usize {
        if let Some(product) = &self.fp6 {
            return product.slots().fold(0, u16::max).into();
        }
        if let Some(sum) = self.sums().last() {
            return sum.slots().iter().flatten().copied().chain(sum.outs()).fold(0, u16::max).into();
        }
        let last =
            |(first, stride): (u16, u16)| usize::from(first) + usize::from(stride) * (usize::from(self.count) - 1);
        last(self.out).max(last(self.x)).max(last(self.y))
    }
}

/// Discovery and contents of blocks.
pub(crate) trait Location: Sized + Debug + Send + Sync + 'static {
    /// Places, as a set.
    type Set: FromIterator<usize> + Debug + Send + Sync;
    /// Data about a code, before any of its blocks is found.
    type Layout: Debug + Send + Sync;
    /// Conditions at the entry of a block.
    type Needs: Debug + Default + Clone + Send + Sync;
    /// The operations of a block as the scalar kernels run them.
    type Trace: Debug + Send + Sync;

    /// Cycles of [`Location::layout`] for each byte.
    const LAYOUT_CYCLES_PER_BYTE: i64;
    /// True if blocks continue over the control flow between runs.
    const JOINS: bool;

    /// Data about a code; `None` if it can have no blocks.
    fn layout(code: &[u8], revision: Revision, batching: Batching) -> Option<Self::Layout>;

    /// True if a block may begin at `pc`, given an arithmetic instruction there.
    fn may_begin(layout: &Self::Layout, pc: usize) -> bool;

    /// Bytes that a layout has allocated.
    fn layout_bytes(layout: &Self::Layout) -> usize;

    /// The arithmetic instruction at `pc`, if it cannot halt for its operands alone; the first of a block is met after the push of its
    /// operands, if there is one.
    fn instruction(layout: &Self::Layout, code: &[u8], pc: usize, is_first: bool) -> Option<Instruction>;

    /// Adds the needs of an instruction to those of a block; false, with nothing added, if it cannot be in the same
    /// block.
    fn admit(layout: &Self::Layout, needs: &mut Self::Needs, instruction: &Instruction, code: &[u8], pc: usize)
    -> bool;

    /// True if lanes of an instruction read results of the lanes before.
    fn lanes_in_turn(layout: &Self::Layout) -> bool;

    /// True if squares have a price of their own.
    fn prices_squares(_layout: &Self::Layout) -> bool {
        false
    }

    /// The opcode of the push before each instruction but the first, where there is one.
    fn push(layout: &Self::Layout) -> Option<u8>;

    /// The opcode of a form, where there is one.
    fn opcode(_layout: &Self::Layout, _form: Form) -> Option<u8> {
        None
    }

    /// True if blocks of this layout can have scalar traces.
    fn has_traces(layout: &Self::Layout) -> bool;

    /// The scalar trace of operations; none if they have none.
    fn trace(layout: &Self::Layout, operations: &SlotBlock) -> Option<Self::Trace>;

    /// Number of steps of a trace of operations, and bytes that it has allocated.
    fn trace_size(trace: &Self::Trace, operations: &SlotBlock) -> (usize, usize);

    /// Number of places that plans are made for, which are as many as the code has or the field context.
    fn place_count(layout: &Self::Layout, facts: &Facts) -> usize;

    /// True if a block may run, apart from gas.
    fn fits(needs: &Self::Needs, facts: &Facts) -> bool;
}

/// State at the entry of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    /// Slots of the field context.
    pub slot_count: usize,
    /// Limbs of 64 bits of a value.
    pub width_limbs: usize,
    /// Bytes of memory.
    pub memory_bytes: usize,
    /// Prices of the lanes, where they depend on the modulus.
    pub width: Option<WidthPrices>,
    /// True if the transaction still runs plans.
    pub plans_run: bool,
}
