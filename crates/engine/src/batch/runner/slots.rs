//! Blocks on slots run on the active field context of the frame.

use alloc::sync::Arc;

use residue_lanes::Shape;
use revm::interpreter::Interpreter;
use revm::interpreter::interpreter::EthInterpreter;

use super::Runner;
use crate::batch::block::Block;
use crate::batch::blocks::Blocks;
use crate::batch::cache::AnyBlocks;
use crate::batch::index_set::SlotSet;
use crate::batch::location::Facts;
use crate::batch::plan::RowPlan;
use crate::batch::scalar_trace::ScalarTrace;
use crate::batch::slots::Slots;
use crate::machine::{FieldMachine, FieldState};

impl Runner for Slots {
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
