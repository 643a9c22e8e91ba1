//! Blocks on the slots of a field context.

use std::sync::Arc;

use residue_isa::revision::rules::SLOTS_MAX;
use residue_isa::{FieldInstruction, Revision};
use residue_lanes::{Shape, SlotBlock};
use revm::interpreter::Interpreter;
use revm::interpreter::interpreter::EthInterpreter;

use super::Batching;
use super::block::Block;
use super::blocks::Blocks;
use super::cache::AnyBlocks;
use super::location::{Facts, Instruction, Location};
use super::plan::RowPlan;
use super::scalar_trace::ScalarTrace;
use super::slot_file::SlotSet;
use super::tuning::MARK_CYCLES_PER_BYTE;
use crate::machine::{FieldMachine, FieldState};

/// In the slots of the active field context.
#[derive(Debug)]
pub(crate) struct Slots;

/// What blocks go by in a revision with slots.
#[derive(Debug)]
pub(crate) struct SlotLayout {
    revision: Revision,
    lanes_in_turn: bool,
    /// Whether slots may hold values that are not reduced, where the modulus is a power of two.
    store_reduces: bool,
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
        Some(SlotLayout { revision, lanes_in_turn: rules.lanes_in_turn, store_reduces: rules.store_reduces })
    }

    fn may_begin(_layout: &SlotLayout, _pc: usize) -> bool {
        true
    }

    fn layout_bytes(_layout: &SlotLayout) -> usize {
        0
    }

    fn instruction(layout: &SlotLayout, code: &[u8], pc: usize, _is_first: bool) -> Option<Instruction> {
        let (instruction, length) = layout.revision.decode(code.get(pc..)?)?;
        let FieldInstruction::Slots { operation, out, x, y, count } = instruction else { return None };
        let last = out.last(count).max(x.last(count)).max(y.last(count));
        let lanes_go = count > 0 && (layout.lanes_in_turn || out.stride > 0);
        let [out, x, y] = [out, x, y].map(|lanes| (u16::from(lanes.index), u16::from(lanes.stride)));
        let instruction = Instruction { operation, out, x, y, count: count.into(), length };
        (lanes_go && last < SLOTS_MAX as u32).then_some(instruction) // 256.
    }

    fn admit(_layout: &SlotLayout, needs: &mut SlotNeeds, instruction: &Instruction, _code: &[u8], _pc: usize) -> bool {
        needs.last_slot = needs.last_slot.max(instruction.last());
        true
    }

    fn lanes_in_turn(layout: &SlotLayout) -> bool {
        layout.lanes_in_turn
    }

    fn push(_layout: &SlotLayout) -> Option<u8> {
        None
    }

    fn has_traces(_layout: &SlotLayout) -> bool {
        true
    }

    fn trace(_layout: &SlotLayout, operations: &SlotBlock) -> Option<ScalarTrace> {
        ScalarTrace::of(operations)
    }

    fn trace_size(trace: &ScalarTrace, _operations: &SlotBlock) -> (usize, usize) {
        (trace.steps.len(), size_of_val(&*trace.steps))
    }

    fn place_count(_layout: &SlotLayout, facts: &Facts) -> usize {
        facts.slot_count
    }

    fn any(blocks: Arc<Blocks<Self>>) -> AnyBlocks {
        AnyBlocks::Slots(blocks)
    }

    #[inline(always)]
    fn of(state: &mut FieldState) -> &mut Option<Arc<Blocks<Self>>> {
        &mut state.blocks
    }

    fn enter(
        machine: &mut FieldMachine,
        _interpreter: &mut Interpreter<EthInterpreter>,
        blocks: &Blocks<Self>,
        _first: &Block<Self>,
    ) -> Option<Facts> {
        let plans_run = machine.frame.ledger.lets_plans_run(blocks.batching);
        let (context, &width) = machine.frame.active()?;
        // Modulo a power of two, slots may hold values that are not reduced.
        if !context.is_odd() && blocks.layout.store_reduces {
            return None;
        }
        let (slot_count, width_limbs) = (context.slot_count(), context.limbs().width_limbs());
        Some(Facts { slot_count, width_limbs, memory_bytes: 0, width: Some(width), plans_run })
    }

    #[inline]
    fn fits(needs: &SlotNeeds, facts: &Facts) -> bool {
        needs.last_slot < facts.slot_count
    }

    #[inline]
    fn shape(
        machine: &mut FieldMachine,
        _interpreter: &mut Interpreter<EthInterpreter>,
        _blocks: &Blocks<Self>,
        _first: &Block<Self>,
        _facts: &Facts,
    ) -> Option<Shape> {
        let (context, _) = machine.frame.active()?;
        context.shape()
    }

    #[inline]
    fn run_plan(
        machine: &mut FieldMachine,
        _interpreter: &mut Interpreter<EthInterpreter>,
        _blocks: &Blocks<Self>,
        _block: &Block<Self>,
        plan: &RowPlan<SlotSet>,
    ) -> bool {
        let Some((context, _)) = machine.frame.active() else { return false };
        if !context.wants(plan) {
            return false;
        }
        let growth = context.row_growth(plan);
        machine.make_room_for_rows(growth);
        let (context, _) = machine.frame.active().expect("the context is active still");
        context.run(plan);
        true
    }

    #[inline]
    fn run_trace(
        machine: &mut FieldMachine,
        _interpreter: &mut Interpreter<EthInterpreter>,
        _blocks: &Blocks<Self>,
        _block: &Block<Self>,
        trace: &ScalarTrace,
    ) {
        let (context, _) = machine.frame.active().expect("a block was entered with an active context");
        context.run_trace(trace);
    }

    fn stay_out(
        _machine: &mut FieldMachine,
        _interpreter: &mut Interpreter<EthInterpreter>,
        _blocks: &Blocks<Self>,
        _block: &Block<Self>,
    ) {
    }
}

#[cfg(test)]
mod tests;
