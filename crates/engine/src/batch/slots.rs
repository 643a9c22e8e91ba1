//! Blocks on the slots of a field context.

use residue_isa::revision::rules::SLOTS_MAX;
use residue_isa::{FieldInstruction, FieldOp, Fp2Lanes, Fp2Products, Fp6Product, Revision, SumOfProducts};
use residue_lanes::{Fp6Op, SlotBlock, SumOp};

use super::Batching;
use super::index_set::SlotSet;
use super::location::{Facts, Instruction, Location};
use super::scalar_trace::ScalarTrace;
use super::tuning::MARK_CYCLES_PER_BYTE;

/// In the slots of the active field context.
#[derive(Debug)]
pub(crate) struct Slots;

/// Layout of blocks in a revision with slots.
#[derive(Debug)]
pub(crate) struct SlotLayout {
    revision: Revision,
    lanes_in_turn: bool,
    prices_squares: bool,
    /// The opcode of sums of two products.
    sums: Option<u8>,
    /// The opcode of products in Fp2.
    fp2: Option<u8>,
    /// The opcode of products in Fp6.
    fp6: Option<u8>,
    /// The opcode of copies.
    copy: Option<u8>,
    /// True if slots may hold values that are not reduced, for moduli that are powers of two.
    pub store_reduces: bool,
}

/// The highest slot that a block names.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SlotNeeds {
    last_slot: usize,
}

impl Location for Slots {
    type Set = SlotSet;
    type Layout = SlotLayout;
    type Needs = SlotNeeds;
    type Trace = ScalarTrace;

    const LAYOUT_CYCLES_PER_BYTE: i64 = MARK_CYCLES_PER_BYTE;
    const JOINS: bool = true;

    fn layout(_code: &[u8], revision: Revision, batching: Batching) -> Option<SlotLayout> {
        let rules = revision.slot_rules().filter(|_| batching.has_blocks())?;
        Some(SlotLayout {
            revision,
            lanes_in_turn: rules.lanes_in_turn,
            prices_squares: rules.prices_squares,
            sums: rules.sums,
            fp2: rules.mul_fp2,
            fp6: rules.mul_fp6,
            copy: rules.copy,
            store_reduces: rules.store_reduces,
        })
    }

    fn may_begin(_layout: &SlotLayout, _pc: usize) -> bool {
        true
    }

    fn layout_bytes(_layout: &SlotLayout) -> usize {
        0
    }

    fn instruction(layout: &SlotLayout, code: &[u8], pc: usize, _is_first: bool) -> Option<Instruction> {
        let (instruction, length) = layout.revision.decode(code.get(pc..)?)?;
        let (operation, out, x, y, count) = match instruction {
            FieldInstruction::Slots { operation, out, x, y, count } => (operation, out, x, y, count),
            FieldInstruction::Copy { out, x, count } => (FieldOp::Add, out, x, x, count),
            FieldInstruction::Sum(sum) => return Some(sum_of(&sum, length)),
            FieldInstruction::Fp2(products) => return fp2_of(&products, length),
            FieldInstruction::Fp6(product) => return fp6_of(&product, length),
            _ => return None,
        };
        let is_copy = matches!(instruction, FieldInstruction::Copy { .. });
        let last = out.last(count).max(x.last(count)).max(y.last(count));
        let lanes_go = count > 0 && (layout.lanes_in_turn || out.stride > 0);
        let [out, x, y] = [out, x, y].map(|lanes| (u16::from(lanes.index), u16::from(lanes.stride)));
        let instruction =
            Instruction { operation, out, x, y, count: count.into(), sum: None, fp6: None, is_copy, length };
        (lanes_go && last < SLOTS_MAX as u32).then_some(instruction) // 256.
    }

    fn admit(_layout: &SlotLayout, needs: &mut SlotNeeds, instruction: &Instruction, _code: &[u8], _pc: usize) -> bool {
        needs.last_slot = needs.last_slot.max(instruction.last());
        true
    }

    fn lanes_in_turn(layout: &SlotLayout) -> bool {
        layout.lanes_in_turn
    }

    fn prices_squares(layout: &SlotLayout) -> bool {
        layout.prices_squares
    }

    fn push(_layout: &SlotLayout) -> Option<u8> {
        None
    }

    fn sums(layout: &SlotLayout) -> Option<u8> {
        layout.sums
    }

    fn fp2(layout: &SlotLayout) -> Option<u8> {
        layout.fp2
    }

    fn fp6(layout: &SlotLayout) -> Option<u8> {
        layout.fp6
    }

    fn copy(layout: &SlotLayout) -> Option<u8> {
        layout.copy
    }

    fn has_traces(_layout: &SlotLayout) -> bool {
        true
    }

    fn trace(_layout: &SlotLayout, operations: &SlotBlock) -> Option<ScalarTrace> {
        ScalarTrace::of(operations)
    }

    fn trace_size(trace: &ScalarTrace, _operations: &SlotBlock) -> (usize, usize) {
        (trace.steps.len() + trace.sums.len(), size_of_val(&*trace.steps) + size_of_val(&*trace.sums))
    }

    fn place_count(_layout: &SlotLayout, facts: &Facts) -> usize {
        facts.slot_count
    }

    #[inline]
    fn fits(needs: &SlotNeeds, facts: &Facts) -> bool {
        needs.last_slot < facts.slot_count
    }
}

/// A sum as an instruction.
fn sum_of(sum: &SumOfProducts, length: usize) -> Instruction {
    let products = sum.products().map(|(is_subtracted, slots)| (is_subtracted, slots.map(u16::from)));
    let op = SumOp::new(sum.out.into(), products);
    let [x, y] = op.slots()[0];
    let [out, x, y] = [op.out, x, y].map(|slot| (slot, 0));
    Instruction { operation: FieldOp::Mul, out, x, y, count: 1, sum: Some(op), fp6: None, is_copy: false, length }
}

/// Products in Fp2 as an instruction; `None` if it halts for its operands, or if a lane reads a result of an earlier
/// one: then no order of the lanes is right.
fn fp2_of(products: &Fp2Products, length: usize) -> Option<Instruction> {
    let Fp2Products { out, x, y, count } = *products;
    if count == 0 || out.stride == 0 || usize::from(products.last()) >= SLOTS_MAX {
        return None;
    }
    let sum = Some(SumOp::fp2(out.slots(0), x.slots(0), y.slots(0)));
    let [out, x, y] = [out, x, y].map(|Fp2Lanes { c0, stride, .. }| (u16::from(c0), u16::from(stride)));
    let instruction =
        Instruction { operation: FieldOp::Mul, out, x, y, count: count.into(), sum, fp6: None, is_copy: false, length };
    let mut written = SlotSet::default();
    let is_apart = instruction.sums().all(|lane| {
        let reads_written = lane.slots().iter().flatten().any(|&slot| written.contains(slot.into()));
        lane.outs().for_each(|slot| written.insert(slot.into()));
        !reads_written
    });
    is_apart.then_some(instruction)
}

/// A product in Fp6 as an instruction; none if its v³ is not small.
fn fp6_of(product: &Fp6Product, length: usize) -> Option<Instruction> {
    let [out, x, y] = [product.out, product.x, product.y].map(|slots| slots.map(u16::from));
    let fp6 = Some(Fp6Op::new(out, x, y, product.xi)?);
    let [out, x, y] = [out, x, y].map(|slots| (slots[0], 0));
    Some(Instruction { operation: FieldOp::Mul, out, x, y, count: 1, sum: None, fp6, is_copy: false, length })
}

#[cfg(test)]
mod tests;
