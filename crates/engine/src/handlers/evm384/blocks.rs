//! EVM384 in blocks: at the first opcode of one its plan runs, if gas covers all of it, memory reaches as far, and modulus,
//! r_inv and operands are those of Montgomery arithmetic. Without a plan its operations run in memory, if they are many; else its
//! instructions run one by one, on memory that holds their operands.

use residue_isa::revision::evm384::{R_INV_BYTES, VALUE_BYTES};
use revm::bytecode::opcode::{
    CALL, CALLCODE, CALLDATACOPY, CODECOPY, CREATE, CREATE2, DELEGATECALL, EXTCODECOPY, MCOPY, MSTORE, MSTORE8,
    RETURNDATACOPY, STATICCALL,
};
use revm::interpreter::Interpreter;
use revm::interpreter::interpreter::EthInterpreter;
use revm::interpreter::interpreter_types::Jumps;

use super::{ADD, FieldHost, Frame, MUL, SUB, Step};
use crate::handlers::charge;
use crate::handlers::slot_memory::{self, Before};
use crate::machine::FieldMachine;
use crate::memory_rows::MemoryRows;

/// Runs the block whose first opcode this is, if it is one and may run. Then it is as if its instructions had run one by
/// one: none of them can halt.
#[inline(always)]
pub(super) fn run_block<H: FieldHost>(frame: &mut Frame<'_, H>) -> bool {
    let machine = frame.host.chain();
    if !machine.in_blocks {
        return false;
    }
    let pc = frame.interpreter.bytecode.pc() - 1; // revm has moved on behind the opcode.
    let state = &machine.frame;
    let Some(blocks) = &state.memory_blocks else { return false };
    // Where nothing is in rows and no plan will run, asking more than this would cost as much as the instructions.
    let is_idle = state.memory_rows.as_ref().is_none_or(|rows| rows.is_empty());
    let is_due = match is_idle {
        true => blocks.is_due(pc, state.ledger.is_open(), false),
        false => blocks.begins(pc),
    };
    is_due && run_at_once(frame, pc)
}

#[inline(never)]
fn run_at_once<H: FieldHost>(frame: &mut Frame<'_, H>, pc: usize) -> bool {
    let FieldMachine { frame: state, prices, .. } = frame.host.chain_mut();
    let Some(blocks) = state.memory_blocks.clone() else { return false };
    let Some(block) = blocks.get(pc) else { return false };
    let interpreter = &mut *frame.interpreter;
    let memory = &mut *interpreter.memory.context_memory_mut();
    let plans_run = blocks.has_plans() && state.ledger.is_open();
    if let Some(rows) = state.memory_rows.as_mut().filter(|_| !plans_run) {
        // No plan runs from now on, so nothing need be in rows.
        rows.settle_all(&blocks, memory);
    }
    if memory.len() < block.reach {
        if let Some(rows) = &mut state.memory_rows {
            rows.settle_block(&blocks, block, memory);
        }
        return false;
    }
    let cost = block.cost(prices, [ADD, SUB, MUL], blocks.push());
    let is_paid = cost <= interpreter.gas.remaining();
    let mut has_run = false;
    if plans_run {
        let new = || Box::new(MemoryRows::new(&blocks, memory, block.modulus, state.ledger.clone()));
        let rows = state.memory_rows.get_or_insert_with(new);
        rows.use_modulus(&blocks, memory, block.modulus);
        // What holds nothing yet was made for this block, which is due.
        let is_due = rows.is_empty() || blocks.is_due(pc, true, true);
        let plan = if is_due { blocks.plan(block, rows.shape()) } else { None };
        has_run = is_paid && plan.is_some_and(|plan| rows.run(&blocks, block, plan, memory));
    }
    if !has_run {
        if let Some(rows) = &mut state.memory_rows {
            rows.settle_block(&blocks, block, memory);
        }
        if !is_paid || !block.is_chain() {
            return false;
        }
        blocks.run_chain(block, memory);
    }
    charge(&mut interpreter.gas, cost).expect("the gas left covers the block");
    if blocks.push().is_some() {
        interpreter.stack.pop().expect("the operands of the first instruction are there");
    }
    // From behind the first opcode to behind the block: both lie in the code.
    interpreter.bytecode.relative_jump((block.code.end - pc - 1) as isize);
    true
}

/// Makes memory right for one arithmetic instruction on values at these offsets.
#[inline(always)]
pub(super) fn settle_operands<H: FieldHost>(frame: &mut Frame<'_, H>, offsets: [usize; 4]) {
    if let Some(rows) = &frame.host.chain().frame.memory_rows
        && !rows.is_empty()
        && !rows.settled.contains(&(frame.interpreter.bytecode.pc() - 1))
    {
        settle_operands_from_rows(frame, offsets);
    }
}

#[inline(never)]
fn settle_operands_from_rows<H: FieldHost>(frame: &mut Frame<'_, H>, [out, x, y, modulus]: [usize; 4]) {
    let state = &mut frame.host.chain_mut().frame;
    let (Some(rows), Some(blocks)) = (&mut state.memory_rows, &state.memory_blocks) else { return };
    let memory = &mut *frame.interpreter.memory.context_memory_mut();
    let value_at = |offset: usize| offset..offset + VALUE_BYTES;
    for (range, is_written) in [
        (value_at(x), false),
        (value_at(y), false),
        (modulus..modulus + VALUE_BYTES + R_INV_BYTES, false),
        (value_at(out), true),
    ] {
        rows.settle_range(blocks, memory, &range, is_written);
    }
}

/// Makes the whole memory of a frame right: it ends, or another frame may run.
pub(crate) fn settle_all(machine: &mut FieldMachine, interpreter: &mut Interpreter<EthInterpreter>) {
    let state = &mut machine.frame;
    if let (Some(rows), Some(blocks)) = (&mut state.memory_rows, &state.memory_blocks)
        && !rows.is_empty()
    {
        rows.settle_all(blocks, &mut interpreter.memory.context_memory_mut());
    }
}

/// Memory is made right in front of every opcode of the EVM that reads or writes it.
pub(crate) struct Settled;

impl Before for Settled {
    #[inline(always)]
    fn is_due<H: FieldHost>(frame: &Frame<'_, H>) -> bool {
        frame.host.chain().frame.memory_rows.as_ref().is_some_and(|rows| !rows.is_empty())
    }

    fn before<const OPCODE: u8, H: FieldHost>(frame: &mut Frame<'_, H>) -> Step {
        if matches!(OPCODE, CREATE | CREATE2 | CALL | CALLCODE | DELEGATECALL | STATICCALL) {
            settle_all(frame.host.chain_mut(), frame.interpreter);
            return Ok(());
        }
        let writes_first =
            matches!(OPCODE, MSTORE | MSTORE8 | MCOPY | CALLDATACOPY | CODECOPY | EXTCODECOPY | RETURNDATACOPY);
        for (number, range) in slot_memory::ranges::<OPCODE>(frame.interpreter).enumerate() {
            let state = &mut frame.host.chain_mut().frame;
            if let (Some(rows), Some(blocks)) = (&mut state.memory_rows, &state.memory_blocks) {
                let memory = &mut *frame.interpreter.memory.context_memory_mut();
                rows.settle_range(blocks, memory, &range, writes_first && number == 0);
            }
        }
        Ok(())
    }
}
