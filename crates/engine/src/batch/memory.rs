//! Blocks of EVM384: arithmetic on values in EVM memory, pushes of their operands included.
//!
//! A block is entered at its first opcode, after the push of its operands: nothing else leads there. Its plan runs if memory reaches as far,
//! and modulus, r_inv and operands are those of Montgomery arithmetic; its trace is its operations one after the other in memory.

use std::sync::Arc;

use residue_isa::{FieldOp, Revision};
use residue_lanes::{ByteOrder, Op, Shape, SlotBlock};
use residue_modular::evm384;
use revm::interpreter::Interpreter;
use revm::interpreter::interpreter::EthInterpreter;

use super::Batching;
use super::block::Block;
use super::blocks::Blocks;
use super::cache::AnyBlocks;
use super::location::{Facts, Instruction, Location};
use super::memory_places::{Form, Found, MemoryPlaces, PlaceSet};
use super::memory_rows::MemoryRows;
use super::plan::RowPlan;
use super::tuning::PLACES_CYCLES_PER_BYTE;
use crate::machine::{FieldMachine, FieldState};

/// In EVM memory.
#[derive(Debug)]
pub(crate) struct Memory;

/// What a block does with memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryNeeds {
    /// Whether there is an instruction.
    has_modulus: bool,
    /// Byte offset of the modulus that all instructions share.
    pub modulus: usize,
    /// Bytes of memory that its instructions reach.
    pub reach: usize,
    /// Whether r_inv matters.
    pub multiplies: bool,
    /// The places it names, and those it writes.
    pub names: PlaceSet,
    pub writes: PlaceSet,
}

/// Where the instruction begins whose opcode or push stands at `pc`.
fn found_at(places: &MemoryPlaces, code: &[u8], pc: usize, is_first: bool) -> Option<Found> {
    let start = if is_first { pc.checked_sub(places.form.push_bytes())? } else { pc };
    let found = places.form.instruction(code, start)?;
    places.has_opcode_at(found.opcode_at(&places.form)).then_some(found)
}

impl Location for Memory {
    type Set = PlaceSet;
    type Layout = MemoryPlaces;
    type Needs = MemoryNeeds;
    type Trace = ();

    const LAYOUT_CYCLES_PER_BYTE: i64 = PLACES_CYCLES_PER_BYTE;
    const JOINS: bool = false;

    fn layout(code: &[u8], revision: Revision, batching: Batching) -> Option<MemoryPlaces> {
        let has_traces = |form: &Form| batching.has_traces() && form.order == ByteOrder::Little;
        let form = Form::of(revision).filter(|form| batching.has_plans() || has_traces(form))?;
        MemoryPlaces::of(code, form)
    }

    fn may_begin(places: &MemoryPlaces, pc: usize) -> bool {
        places.has_opcode_at(pc)
    }

    fn layout_bytes(places: &MemoryPlaces) -> usize {
        places.bytes()
    }

    fn instruction(places: &MemoryPlaces, code: &[u8], pc: usize, is_first: bool) -> Option<Instruction> {
        let found = found_at(places, code, pc, is_first)?;
        let [out, x, y] = places.numbers(&found)?.map(|place| (place, 0));
        let length = found.start + found.length - pc;
        Some(Instruction { operation: found.operation, out, x, y, count: 1, length })
    }

    fn admit(
        places: &MemoryPlaces,
        needs: &mut MemoryNeeds,
        instruction: &Instruction,
        code: &[u8],
        pc: usize,
    ) -> bool {
        let start = pc + instruction.length - places.form.instruction_bytes();
        let Some(found) = places.form.instruction(code, start) else { return false };
        let modulus = found.modulus as usize; // u32 to usize widens.
        if needs.has_modulus && needs.modulus != modulus {
            return false;
        }
        (needs.has_modulus, needs.modulus) = (true, modulus);
        needs.reach = needs.reach.max(found.reach(&places.form));
        needs.multiplies |= found.operation == FieldOp::Mul;
        let Instruction { out, x, y, .. } = *instruction;
        [out, x, y].into_iter().for_each(|(place, _)| needs.names.insert(usize::from(place)));
        needs.writes.insert(usize::from(out.0));
        true
    }

    fn lanes_in_turn(_places: &MemoryPlaces) -> bool {
        false
    }

    fn push(places: &MemoryPlaces) -> Option<u8> {
        places.form.push
    }

    fn has_traces(places: &MemoryPlaces) -> bool {
        places.order() == ByteOrder::Little
    }

    /// There is nothing to it but the operations themselves.
    fn trace(_places: &MemoryPlaces, _operations: &SlotBlock) -> Option<()> {
        Some(())
    }

    fn trace_size((): &(), operations: &SlotBlock) -> (usize, usize) {
        (operations.ops().len(), 0)
    }

    fn place_count(places: &MemoryPlaces, _facts: &Facts) -> usize {
        places.offsets().len()
    }

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
        _first: &Block<Self>,
    ) -> Option<Facts> {
        let plans_run = machine.frame.ledger.lets_plans_run(blocks.batching);
        let memory = &mut *interpreter.memory.context_memory_mut();
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

    #[inline]
    fn fits(needs: &MemoryNeeds, facts: &Facts) -> bool {
        needs.reach <= facts.memory_bytes
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

    /// Writes back what the block names, and forgets what it writes.
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

#[cfg(test)]
mod tests;
