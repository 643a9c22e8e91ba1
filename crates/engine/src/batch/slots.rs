//! Blocks on the slots of a field context.

use residue_isa::revision::rules::SLOTS_MAX;
use residue_isa::{
    FieldInstruction, FieldOp, Form, Fp2Lanes, Fp2Products, Fp6Product, Revision, SlotRules, SumOfProducts,
};
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
    rules: &'static SlotRules,
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
        Some(SlotLayout { revision, rules, store_reduces: rules.store_reduces })
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
            FieldInstruction::Formed(formed) => match formed.form() {
                Form::Copy => {
                    let [out, x] = formed.lanes()?;
                    (FieldOp::Add, out, x, x, formed.count())
                }
                Form::MulFp2 => return fp2_of(&Fp2Products::unpack(formed.bytes().try_into().ok()?), length),
                Form::MulFp6 => return fp6_of(&Fp6Product::unpack(formed.bytes().try_into().ok()?), length),
                form if form.products() > 0 => {
                    return Some(sum_of(&SumOfProducts::unpack(formed.bytes())?, form, length));
                }
                _ => return None,
            },
            FieldInstruction::Memory { .. } => return None,
        };
        let form = match instruction {
            FieldInstruction::Formed(formed) => Some(formed.form()),
            _ => None,
        };
        let last = out.last(count).max(x.last(count)).max(y.last(count));
        let lanes_go = count > 0 && (layout.rules.lanes_in_turn || out.stride > 0);
        let [out, x, y] = [out, x, y].map(|lanes| (u16::from(lanes.index), u16::from(lanes.stride)));
        let instruction = Instruction { operation, out, x, y, count: count.into(), sum: None, fp6: None, form, length };
        (lanes_go && last < SLOTS_MAX as u32).then_some(instruction) // 256.
    }

    fn admit(_layout: &SlotLayout, needs: &mut SlotNeeds, instruction: &Instruction, _code: &[u8], _pc: usize) -> bool {
        needs.last_slot = needs.last_slot.max(instruction.last());
        true
    }

    fn lanes_in_turn(layout: &SlotLayout) -> bool {
        layout.rules.lanes_in_turn
    }

    fn prices_squares(layout: &SlotLayout) -> bool {
        layout.rules.prices_squares
    }

    fn push(_layout: &SlotLayout) -> Option<u8> {
        None
    }

    fn opcode(layout: &SlotLayout, form: Form) -> Option<u8> {
        layout.rules.opcode(form)
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
fn sum_of(sum: &SumOfProducts, form: Form, length: usize) -> Instruction {
    let products = sum.products().map(|(is_subtracted, slots)| (is_subtracted, slots.map(u16::from)));
    let op = SumOp::new(sum.out.into(), products);
    let [x, y] = op.slots()[0];
    let [out, x, y] = [op.out, x, y].map(|slot| (slot, 0));
    Instruction { operation: FieldOp::Mul, out, x, y, count: 1, sum: Some(op), fp6: None, form: Some(form), length }
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
    let instruction = Instruction {
        operation: FieldOp::Mul,
        out,
        x,
        y,
        count: count.into(),
        sum,
        fp6: None,
        form: Some(Form::MulFp2),
        length,
    };
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
    Some(Instruction { operation: FieldOp::Mul, out, x, y, count: 1, sum: None, fp6, form: Some(Form::MulFp6), length })
}

#[cfg(test)]
mod tests;
