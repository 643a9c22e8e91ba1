//! The loop: it fetches, charges base gas and halts; the semantics of an instruction are in the tables.

use crate::evm;
use crate::field_opcode::FieldOpcode;
use crate::frame::{Env, Frame};
use crate::halt::Halt;
use crate::jumps::{entries, jumpdests};
use crate::prices::Prices;
use crate::revision::{FieldState, Revision};

/// Outcome of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// End of the frame.
    pub halt: Halt,
    /// Returned bytes; empty after an exceptional halt.
    pub output: Vec<u8>,
    /// Gas charged; all of it after an exceptional halt.
    pub gas_used: u64,
    /// Gas given and not charged.
    pub gas_left: u64,
    /// Memory when the frame ended. After an exceptional halt: as it was before the instruction that halted, and of no
    /// meaning to a caller.
    pub memory: Vec<u8>,
}

/// Runs `code` in a frame of its own under `revision` at `prices`.
pub fn run(revision: &Revision, prices: &Prices, env: &Env, code: &[u8], input: &[u8], gas: u64) -> Outcome {
    let mut frame = Frame::new(env, code, input, jumpdests(revision, code), gas);
    frame.entries = entries(revision, code);
    let mut field = (revision.start)();
    let halt = loop {
        if let Err(halt) = step(revision, prices, field.as_mut(), &mut frame) {
            break halt;
        }
        frame.pc = frame.next_pc;
    };
    let gas_left = if halt.is_exceptional() { 0 } else { frame.gas_left() };
    Outcome { halt, output: frame.output, gas_used: gas - gas_left, gas_left, memory: frame.memory.into_bytes() }
}

/// One instruction. `Err` says how the frame ended, well or badly.
fn step(revision: &Revision, prices: &Prices, field: &mut dyn FieldState, frame: &mut Frame<'_>) -> Result<(), Halt> {
    let Some(&byte) = frame.code.get(frame.pc) else {
        return Err(Halt::Stop);
    };
    if let Some(opcode) = revision.opcode(frame.code, frame.pc) {
        return field_step(opcode, revision.opcode_bytes(), prices, field, frame);
    }
    if let Some(opcode) = evm::opcode(byte) {
        frame.next_pc = frame.pc + 1;
        frame.charge(prices.evm.get(&byte).copied().unwrap_or(opcode.gas))?;
        return (opcode.execute)(frame);
    }
    Err(if evm::needs_world(byte) { Halt::Unsupported { opcode: byte } } else { Halt::InvalidInstruction })
}

/// One field instruction with an opcode of `opcode_bytes` bytes, up to its operand checks, which the revision makes.
fn field_step(
    opcode: &FieldOpcode,
    opcode_bytes: usize,
    prices: &Prices,
    field: &mut dyn FieldState,
    frame: &mut Frame<'_>,
) -> Result<(), Halt> {
    let start = frame.pc + opcode_bytes;
    frame.next_pc = start + opcode.immediate_bytes;
    let code = frame.code;
    let immediate = code.get(start..frame.next_pc).ok_or(Halt::InvalidInstruction)?;
    if !field.accepts(opcode, immediate) {
        return Err(Halt::InvalidInstruction);
    }
    if frame.stack_size() < opcode.pops {
        return Err(Halt::StackUnderflow);
    }
    frame.charge(prices.base(opcode)?)?;
    field.execute(opcode, immediate, frame, prices)
}
