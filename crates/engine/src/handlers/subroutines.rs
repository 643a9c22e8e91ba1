//! Subroutines (EIP-7979): CALLSUB, ENTERSUB and RETURNSUB with the return stack of the frame, and the jumps beside them.
//!
//! Targets of both kinds are in one jump table, and the byte at a target says of which kind it is. So jumps of revisions that have subroutines
//! look at that byte, and revm's own do the rest.

use residue_isa::opcode::subroutine::{CALLSUB, ENTERSUB, RETURNS_MAX, RETURNSUB};
use revm::bytecode::opcode::{JUMP, JUMPI};
use revm::interpreter::instructions::control;
use revm::interpreter::interpreter::EthInterpreter;
use revm::interpreter::interpreter_types::{Jumps, LegacyBytecode};
use revm::interpreter::{Instruction, InstructionResult};

use super::{FieldHost, Frame, Handled, charge_base, halt, index, pop};
use crate::halt::Halt;

/// The handler of an opcode of EIP-7979, if it is one.
pub fn handler<H: FieldHost>(opcode: u8) -> Option<Instruction<EthInterpreter, H>> {
    Some(match opcode {
        CALLSUB => Instruction::new(call::<H>),
        ENTERSUB => Instruction::new(enter::<H>),
        RETURNSUB => Instruction::new(return_::<H>),
        _ => return None,
    })
}

/// The jumps of revisions that have subroutines.
pub fn jumps<H: FieldHost>() -> [(u8, Instruction<EthInterpreter, H>); 2] {
    [(JUMP, Instruction::new(jump::<H>)), (JUMPI, Instruction::new(jump_if::<H>))]
}

/// `CALLSUB`: puts the offset after it on the return stack, and goes on at the ENTERSUB that it takes from the stack.
fn call<H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    let [destination] = pop(&mut frame)?;
    charge_base::<CALLSUB, H>(&mut frame)?;
    // The opcode has been read.
    let after = frame.interpreter.bytecode.pc();
    let returns = &mut frame.host.chain_mut().frame.returns;
    if returns.len() == RETURNS_MAX {
        return Err(halt(&mut frame, Halt::ReturnStackOverflow));
    }
    returns.push(after);
    match index(destination).filter(|&at| is_target(&mut frame, at, ENTERSUB)) {
        Some(at) => frame.interpreter.bytecode.absolute_jump(at),
        None => return Err(InstructionResult::InvalidJump),
    }
    Ok(())
}

/// `ENTERSUB`: does nothing.
fn enter<H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    charge_base::<ENTERSUB, H>(&mut frame)
}

/// `RETURNSUB`: goes on at the offset that it takes from the return stack.
fn return_<H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    charge_base::<RETURNSUB, H>(&mut frame)?;
    match frame.host.chain_mut().frame.returns.pop() {
        // After a CALLSUB of the same code.
        Some(at) => frame.interpreter.bytecode.absolute_jump(at),
        None => return Err(halt(&mut frame, Halt::ReturnStackUnderflow)),
    }
    Ok(())
}

/// `JUMP`: not to an ENTERSUB.
fn jump<H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    refuse_entry(&mut frame)?;
    control::jump(frame)
}

/// `JUMPI`: not to an ENTERSUB, unless the condition is zero.
fn jump_if<H: FieldHost>(mut frame: Frame<'_, H>) -> Handled {
    if frame.interpreter.stack.data().iter().nth_back(1).is_some_and(|condition| !condition.is_zero()) {
        refuse_entry(&mut frame)?;
    }
    control::jumpi(frame)
}

#[inline(always)]
fn refuse_entry<H: FieldHost>(frame: &mut Frame<'_, H>) -> Handled {
    match frame.interpreter.stack.data().last().copied().and_then(index) {
        Some(at) if is_target(frame, at, ENTERSUB) => Err(InstructionResult::InvalidJump),
        _ => Ok(()),
    }
}

/// True if an offset is a target under this label opcode.
#[inline(always)]
fn is_target<H: FieldHost>(frame: &mut Frame<'_, H>, at: usize, label: u8) -> bool {
    let bytecode = &mut frame.interpreter.bytecode;
    bytecode.is_valid_legacy_jump(at) && bytecode.bytecode_slice().get(at) == Some(&label)
}
