//! Blocks on values in EVM memory run on rows or in memory itself.

use alloc::boxed::Box;
use alloc::sync::Arc;

use residue_isa::FieldOp;
use residue_lanes::{Op, Shape};
use residue_modular::evm384;
use revm::interpreter::Interpreter;
use revm::interpreter::interpreter::EthInterpreter;

use super::Runner;
use crate::batch::block::Block;
use crate::batch::blocks::Blocks;
use crate::batch::cache::AnyBlocks;
use crate::batch::location::Facts;
use crate::batch::memory::{Memory, MemoryNeeds};
use crate::batch::memory_places::PlaceSet;
use crate::batch::memory_rows::MemoryRows;
use crate::batch::plan::RowPlan;
use crate::machine::{FieldMachine, FieldState};

impl Runner for Memory {
    fn any(blocks: Arc<Blocks<Self>>) -> AnyBlocks {
        AnyBlocks::Memory(blocks)
    }

    #[inline(always)]
    fn of(state: &mut FieldState) -> &mut Option<Arc<Blocks<Self>>> {
        &mut state.memory_blocks
    }

    fn enter(
        machine: &mut FieldMachine,
        interpreter: &mut Interpreter<EthInterpreter>,
        blocks: &Blocks<Self>,
        first: &Block<Self>,
    ) -> Option<Facts> {
        let plans_run = machine.frame.ledger.lets_plans_run(blocks.batching);
        let memory = &mut *interpreter.memory.context_memory_mut();
        // All instructions have the modulus of the first, which is no place of a value: none of them writes it.
        let MemoryNeeds { reach, modulus, .. } = first.needs;
        if reach <= memory.len() && blocks.layout.form.refuses(memory, modulus) {
            return None;
        }
        if let Some(rows) = machine.frame.memory_rows.as_mut().filter(|_| !plans_run) {
            // No plan runs from now on, so nothing need be in rows.
            rows.settle_all(&blocks.layout, memory);
        }
        Some(Facts {
            slot_count: 0,
            width_limbs: evm384::WIDTH_LIMBS,
            memory_bytes: memory.len(),
            width: None,
            plans_run,
        })
    }

    fn shape(
        machine: &mut FieldMachine,
        interpreter: &mut Interpreter<EthInterpreter>,
        blocks: &Blocks<Self>,
        block: &Block<Self>,
        _facts: &Facts,
    ) -> Option<Shape> {
        if machine.frame.memory_rows.is_none() {
            machine.make_room_for_rows(blocks.layout.row_bytes());
        }
        let state = &mut machine.frame;
        let memory = &mut *interpreter.memory.context_memory_mut();
        let modulus = block.needs.modulus;
        let new = || Box::new(MemoryRows::new(&blocks.layout, memory, modulus, state.ledger.clone()));
        let rows = state.memory_rows.get_or_insert_with(new);
        rows.use_modulus(&blocks.layout, memory, modulus);
        rows.shape()
    }

    fn run_plan(
        machine: &mut FieldMachine,
        interpreter: &mut Interpreter<EthInterpreter>,
        blocks: &Blocks<Self>,
        block: &Block<Self>,
        plan: &RowPlan<PlaceSet>,
    ) -> bool {
        let growth = machine.frame.memory_rows.as_ref().map_or(0, |rows| rows.row_growth(plan));
        machine.make_room_for_rows(growth);
        let memory = &*interpreter.memory.context_memory();
        let rows = machine.frame.memory_rows.as_mut();
        rows.is_some_and(|rows| rows.run(&blocks.layout, &block.needs, plan, memory))
    }

    fn run_trace(
        machine: &mut FieldMachine,
        interpreter: &mut Interpreter<EthInterpreter>,
        blocks: &Blocks<Self>,
        block: &Block<Self>,
        (): &(),
    ) {
        Self::stay_out(machine, interpreter, blocks, block);
        let memory = &mut *interpreter.memory.context_memory_mut();
        let at = |place: u16| blocks.layout.offsets()[usize::from(place)] as usize; // u32 to usize widens.
        for &Op { kind, out, x, y } in block.operations.ops() {
            let operate = match kind {
                FieldOp::Add => evm384::add_in_memory,
                FieldOp::Sub => evm384::sub_in_memory,
                FieldOp::Mul => evm384::mul_in_memory,
            };
            operate(memory, at(out), at(x), at(y), block.needs.modulus);
        }
    }

    /// Writes back the places that the block names, and drops those that it writes.
    fn stay_out(
        machine: &mut FieldMachine,
        interpreter: &mut Interpreter<EthInterpreter>,
        blocks: &Blocks<Self>,
        block: &Block<Self>,
    ) {
        if let Some(rows) = &mut machine.frame.memory_rows {
            let memory = &mut *interpreter.memory.context_memory_mut();
            rows.settle_block(&blocks.layout, &block.needs, block.start..block.path.end, memory);
        }
    }
}
