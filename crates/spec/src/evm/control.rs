//! Opcodes that decide the next instruction, or carry an argument in the code: jumps, ends, and the numbered families.

use super::immediate_bytes;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::word::Word;
use num_traits::{ToPrimitive, Zero};

/// `JUMP`: goes to a jumpdest.
pub fn jump(frame: &mut Frame<'_>) -> Result<(), Halt> {
    let [target] = frame.pop()?;
    go(frame, &target)
}

/// `JUMPI`: goes to a jumpdest unless the condition is zero; then the target does not matter.
pub fn jumpi(frame: &mut Frame<'_>) -> Result<(), Halt> {
    let [target, condition] = frame.pop()?;
    if condition.is_zero() { Ok(()) } else { go(frame, &target) }
}

/// `RETURN`, `REVERT`: ends the frame with a range of memory.
pub fn return_or_revert(frame: &mut Frame<'_>, halt: Halt) -> Result<(), Halt> {
    let [offset, size] = frame.pop()?;
    let range = frame.grow(&offset, &size)?;
    frame.output = frame.memory.read(range).to_vec();
    Err(halt)
}

/// `PUSHn`: the n bytes after the opcode, those beyond the end of the code being zero.
pub fn push(frame: &mut Frame<'_>) -> Result<(), Halt> {
    let size = immediate_bytes(frame.code[frame.pc]);
    let mut bytes: Vec<u8> = frame.code[frame.pc + 1..].iter().copied().take(size).collect();
    bytes.resize(size, 0);
    frame.next_pc = frame.pc + 1 + size;
    frame.push(Word::from_bytes_be(&bytes))
}

/// `DUPn`: copies the n-th word, the top being the first.
pub fn dup(frame: &mut Frame<'_>) -> Result<(), Halt> {
    let word = frame.peek(usize::from(frame.code[frame.pc] - 0x80))?.clone();
    frame.push(word)
}

/// `SWAPn`: exchanges the top with the n-th word below it.
pub fn swap(frame: &mut Frame<'_>) -> Result<(), Halt> {
    frame.swap(usize::from(frame.code[frame.pc] - 0x8f))
}

fn go(frame: &mut Frame<'_>, target: &Word) -> Result<(), Halt> {
    let target = target.to_usize().filter(|target| frame.jumpdests.contains(target)).ok_or(Halt::InvalidJump)?;
    frame.next_pc = target;
    Ok(())
}
