//! Subroutines (EIP-7979): `CALLSUB`, `ENTERSUB` and `RETURNSUB`, with a return stack that nothing else reads or writes.
//!
//! Source: EIP-7979, "Specification", without `MAGIC`. It leaves bytes open; the instruction set names their source.

use super::FieldState;
use crate::field_opcode::FieldOpcode;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::prices::Prices;
use num_traits::ToPrimitive;

/// `CALLSUB`: a destination.
pub const CALLSUB: FieldOpcode = FieldOpcode { byte: 0xb0, mnemonic: "CALLSUB", immediate_bytes: 0, pops: 1 };
/// `ENTERSUB`.
pub const ENTERSUB: FieldOpcode = FieldOpcode { byte: 0xb1, mnemonic: "ENTERSUB", immediate_bytes: 0, pops: 0 };
/// `RETURNSUB`.
pub const RETURNSUB: FieldOpcode = FieldOpcode { byte: 0xb2, mnemonic: "RETURNSUB", immediate_bytes: 0, pops: 0 };

/// All three.
pub const OPCODES: &[FieldOpcode] = &[CALLSUB, ENTERSUB, RETURNSUB];
/// Their prices (EIP-7979, "Costs").
pub const PRICES: [(&str, u64); 3] = [("CALLSUB", 8), ("ENTERSUB", 1), ("RETURNSUB", 5)];
/// Most offsets on the return stack ("Constraints on valid code", 4).
pub const RETURNS_MAX: usize = 1024;

/// Executes the opcode if it is one of the three; true if it is.
pub fn execute(opcode: &FieldOpcode, frame: &mut Frame<'_>) -> Result<bool, Halt> {
    match opcode.mnemonic {
        "CALLSUB" => call(frame)?,
        "ENTERSUB" => {}
        "RETURNSUB" => frame.next_pc = frame.return_stack.pop().ok_or(Halt::ReturnStackUnderflow)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// 1. Pop the destination. 2. Push PC + 1 to the return stack. 3. Set PC to the destination, which must be an `ENTERSUB`.
fn call(frame: &mut Frame<'_>) -> Result<(), Halt> {
    let [destination] = frame.pop()?;
    if frame.return_stack.len() == RETURNS_MAX {
        return Err(Halt::ReturnStackOverflow);
    }
    frame.return_stack.push(frame.pc + 1);
    let destination = destination.to_usize().filter(|destination| frame.entries.contains(destination));
    frame.next_pc = destination.ok_or(Halt::InvalidJump)?;
    Ok(())
}

/// A frame without any state but the return stack, which is in the frame.
struct OnWords;

/// A frame's state at its start.
pub fn start() -> Box<dyn FieldState> {
    Box::new(OnWords)
}

impl FieldState for OnWords {
    fn execute(&mut self, opcode: &FieldOpcode, _: &[u8], frame: &mut Frame<'_>, _: &Prices) -> Result<(), Halt> {
        execute(opcode, frame)?;
        Ok(())
    }
}
