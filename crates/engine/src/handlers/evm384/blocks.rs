//! EVM384 in blocks: the interface to the batch engine, and the synchronisation of memory with values in rows.

use residue_isa::revision::evm384::{R_INV_BYTES, VALUE_BYTES};
use revm::bytecode::opcode::{
    CALL, CALLCODE, CALLDATACOPY, CODECOPY, CREATE, CREATE2, DELEGATECALL, EXTCODECOPY, MCOPY, MSTORE, MSTORE8,
    RETURNDATACOPY, STATICCALL,
};
use revm::interpreter::Interpreter;
use revm::interpreter::interpreter::EthInterpreter;
use revm::interpreter::interpreter_types::Jumps;

use crate::batch::memory::Memory;
use crate::batch::run::run_block;
use crate::handlers::slot_memory::{self, Before};
use crate::handlers::{FieldHost, Frame, Handled, charge};
use crate::machine::FieldMachine;

/// Runs the block whose first opcode this is, if there is one and it may run as one.
#[inline(always)]
pub(super) fn runs_in_block<H: FieldHost>(frame: &mut Frame<'_, H>) -> bool {
    let machine = frame.host.chain();
    if !machine.in_blocks {
        return false;
    }
    let pc = frame.interpreter.bytecode.pc() - 1; // revm has moved on after the opcode.
    let state = &machine.frame;
    let is_idle = || state.memory_rows.as_ref().is_none_or(|rows| rows.is_empty());
    // Where nothing will run, asking more than this would cost as much as the instructions; but what is in rows is written back once for
    // a block.
    let is_due = match &state.memory_blocks {
        Some(blocks) => blocks.is_due(pc, machine.due(0), || !is_idle()) || (!is_idle() && blocks.begins(pc)),
        None => state.earned >= state.ask_at,
    };
    is_due && run_block::<Memory>(frame.host.chain_mut(), frame.interpreter, pc)
}

/// Charges the base price of an arithmetic instruction, which its code earns.
#[inline(always)]
pub(super) fn charge_arithmetic<const OPCODE: u8, H: FieldHost>(frame: &mut Frame<'_, H>) -> Handled {
    let machine = frame.host.chain_mut();
    let base = machine.prices.base[usize::from(OPCODE)];
    machine.frame.earned += base;
    charge(&mut frame.interpreter.gas, base)
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
        rows.settle_range(&blocks.layout, memory, &range, is_written);
    }
}

/// Makes the whole memory of a frame right: it ends, or another frame may run.
#[inline]
pub(crate) fn settle_all(machine: &mut FieldMachine, interpreter: &mut Interpreter<EthInterpreter>) {
    let state = &mut machine.frame;
    if let (Some(rows), Some(blocks)) = (&mut state.memory_rows, &state.memory_blocks)
        && !rows.is_empty()
    {
        rows.settle_all(&blocks.layout, &mut interpreter.memory.context_memory_mut());
    }
}

/// Memory is made right in front of every opcode of the EVM that reads or writes it.
pub(crate) struct Settled;

impl Before for Settled {
    #[inline(always)]
    fn is_due<H: FieldHost>(frame: &Frame<'_, H>) -> bool {
        frame.host.chain().frame.memory_rows.as_ref().is_some_and(|rows| !rows.is_empty())
    }

    fn before<const OPCODE: u8, H: FieldHost>(frame: &mut Frame<'_, H>) -> Handled {
        if matches!(OPCODE, CREATE | CREATE2 | CALL | CALLCODE | DELEGATECALL | STATICCALL) {
            settle_all(frame.host.chain_mut(), frame.interpreter);
            return Ok(());
        }
        let writes_first =
            matches!(OPCODE, MSTORE | MSTORE8 | MCOPY | CALLDATACOPY | CODECOPY | EXTCODECOPY | RETURNDATACOPY);
        let ranges = slot_memory::ranges::<OPCODE>(frame.interpreter).enumerate();
        for (number, range) in ranges.filter(|(_, range)| !range.is_empty()) {
            let state = &mut frame.host.chain_mut().frame;
            if let (Some(rows), Some(blocks)) = (&mut state.memory_rows, &state.memory_blocks) {
                let memory = &mut *frame.interpreter.memory.context_memory_mut();
                rows.settle_range(&blocks.layout, memory, &range, writes_first && number == 0);
            }
        }
        Ok(())
    }
}
