//! The prefix of the experiment `x-extx`, after which its opcodes stand.

use revm::interpreter::InstructionResult;
use revm::interpreter::interpreter_types::Jumps;

use super::super::{FieldHost, Frame, Handled};
use super::{Rules, handler_of};

/// The prefix: the instruction whose opcode follows it. Another byte there is no instruction; nor is the padding after the end of the code.
pub(super) fn after_prefix<R: Rules, H: FieldHost>(frame: Frame<'_, H>) -> Handled {
    let code = &mut frame.interpreter.bytecode;
    let Some(instruction) = handler_of::<R, H>(code.opcode()) else { return Err(InstructionResult::OpcodeNotFound) };
    code.relative_jump(1);
    instruction.execute(frame)
}
