//! The state of one call: stack, memory, gas, position in the code.

use crate::halt::Halt;
use crate::memory::Memory;
use crate::word::{Word, wrap};
use num_bigint::BigUint;
use std::collections::BTreeSet;
use std::ops::Range;

/// Most words a stack holds.
pub const STACK_LIMIT: usize = 1024;

/// Environment of a frame, and the one setting of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Env {
    /// Result of `ADDRESS`.
    pub address: [u8; 20],
    /// Result of `CALLER`.
    pub caller: [u8; 20],
    /// Result of `CALLVALUE`, mod 2²⁵⁶.
    pub call_value: BigUint,
    /// Growth of memory beyond this many bytes is `out_of_gas`, for any gas. Only it keeps a generous gas limit from
    /// asking the machine for more memory than it has.
    pub memory_limit_bytes: u64,
}

impl Default for Env {
    /// Zero addresses and value, a ceiling of 64 MiB.
    fn default() -> Self {
        Self { address: [0; 20], caller: [0; 20], call_value: BigUint::ZERO, memory_limit_bytes: 64 << 20 }
    }
}

/// The state of one call. The fields of a revision (moduli, slots) are kept beside it, in the revision's own state.
#[derive(Debug)]
pub struct Frame<'a> {
    /// The world.
    pub env: &'a Env,
    /// The code that runs.
    pub code: &'a [u8],
    /// The call's input.
    pub input: &'a [u8],
    /// Valid targets of jumps.
    pub jumpdests: BTreeSet<usize>,
    /// Valid targets of `CALLSUB`.
    pub entries: BTreeSet<usize>,
    /// Return addresses of `RETURNSUB`, innermost last.
    pub return_stack: Vec<usize>,
    /// Offset of the instruction that runs.
    pub pc: usize,
    /// Offset of the instruction after it; only the loop, `evm/control.rs` and `revision/subroutines.rs` write it.
    pub next_pc: usize,
    /// EVM memory.
    pub memory: Memory,
    /// Output of `RETURN` or `REVERT`.
    pub output: Vec<u8>,
    stack: Vec<Word>,
    gas_left: u64,
}

impl<'a> Frame<'a> {
    /// A frame before its first instruction.
    pub fn new(env: &'a Env, code: &'a [u8], input: &'a [u8], jumpdests: BTreeSet<usize>, gas: u64) -> Self {
        Self {
            env,
            code,
            input,
            jumpdests,
            entries: BTreeSet::new(),
            return_stack: Vec::new(),
            pc: 0,
            next_pc: 0,
            memory: Memory::new(env.memory_limit_bytes),
            output: Vec::new(),
            stack: Vec::new(),
            gas_left: gas,
        }
    }

    /// Gas not yet charged.
    pub fn gas_left(&self) -> u64 {
        self.gas_left
    }

    /// Charges `gas`.
    pub fn charge(&mut self, gas: u64) -> Result<(), Halt> {
        self.gas_left = self.gas_left.checked_sub(gas).ok_or(Halt::OutOfGas)?;
        Ok(())
    }

    /// Number of words on the stack.
    pub fn stack_size(&self) -> usize {
        self.stack.len()
    }

    /// Takes the top N words, the top first.
    pub fn pop<const N: usize>(&mut self) -> Result<[Word; N], Halt> {
        if self.stack.len() < N {
            return Err(Halt::StackUnderflow);
        }
        Ok(std::array::from_fn(|_| self.stack.pop().expect("the size was checked")))
    }

    /// Puts x mod 2²⁵⁶ on the stack.
    pub fn push(&mut self, x: impl Into<BigUint>) -> Result<(), Halt> {
        if self.stack.len() == STACK_LIMIT {
            return Err(Halt::StackOverflow);
        }
        self.stack.push(wrap(x.into()));
        Ok(())
    }

    /// The word at `depth` below the top, which has depth 0.
    pub fn peek(&self, depth: usize) -> Result<&Word, Halt> {
        self.stack.iter().rev().nth(depth).ok_or(Halt::StackUnderflow)
    }

    /// Exchanges the top with the word at `depth` below it.
    pub fn swap(&mut self, depth: usize) -> Result<(), Halt> {
        let top = self.stack.len();
        if depth >= top {
            return Err(Halt::StackUnderflow);
        }
        self.stack.swap(top - 1, top - 1 - depth);
        Ok(())
    }

    /// Charges for memory to hold `[offset, offset + size)`, grows it, and gives the range. An empty range is `0..0`.
    pub fn grow(&mut self, offset: &BigUint, size: &BigUint) -> Result<Range<usize>, Halt> {
        let (gas, words) = self.memory.growth(offset, size)?;
        self.charge(gas)?;
        self.memory.grow_to_words(words)?;
        Ok(self.memory.inside(offset, size).expect("memory has just grown to hold the range"))
    }

    /// Charges for `bytes` more of slots, as if memory had grown by them.
    pub fn allocate_slots(&mut self, bytes: u64) -> Result<(), Halt> {
        self.charge(self.memory.slot_growth(bytes))?;
        self.memory.add_slots(bytes);
        Ok(())
    }

    /// Charges for `bytes` of slots in place of all others.
    pub fn replace_slots(&mut self, bytes: u64) -> Result<(), Halt> {
        self.charge(self.memory.slot_replacement(bytes))?;
        self.memory.set_slots(bytes);
        Ok(())
    }
}
