//! Paths: the course of a block through the code, and the stack words that an execution needs to follow it.

use alloc::boxed::Box;

use revm::primitives::U256;

/// Path from the start of a block to its end, with its cost beside field instructions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Path {
    /// Offset after its last instruction.
    pub end: usize,
    /// The words that it leaves on the stack, the first pushed first. It takes none that were there before, but for the operands of its
    /// first instruction.
    pub pushed: Box<[u32]>,
    /// The most words that it has on the stack at a time.
    pub height_max: usize,
    /// The offsets that it leaves on the return stack, the first one put first. It takes none that were there before.
    pub returns: Box<[u32]>,
    /// The most offsets that it has there at a time.
    pub return_count_max: usize,
    /// Runs of field instructions.
    pub runs: usize,
    pub guards: Box<[Guard]>,
    /// Counts of passed opcodes: of the EVM's, those in all forks, and those of subroutines.
    pub passed: Box<[(u8, u32)]>,
}

/// Condition on the stack at the start of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Guard {
    /// 0 is the top.
    pub depth: usize,
    /// The word; none if the stack is lower, or the word longer than any jump target.
    pub word: Option<u32>,
}

impl Path {
    /// Gas of its instructions beside the field's, by the base prices of opcodes.
    #[inline]
    pub fn cost(&self, base: &[u64; 256]) -> u64 {
        self.passed.iter().map(|&(opcode, count)| base[usize::from(opcode)] * u64::from(count)).sum()
    }

    /// True if all guards hold on this stack.
    #[inline]
    pub fn begins_with(&self, stack: &[U256]) -> bool {
        self.guards.iter().all(|guard| word_at(stack, guard.depth) == guard.word)
    }

    /// Bytes that it has allocated.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.pushed)
            + size_of_val(&*self.returns)
            + size_of_val(&*self.guards)
            + size_of_val(&*self.passed)
    }
}

/// The stack word at a depth, if the stack is that deep and the word is short.
#[inline]
pub(crate) fn word_at(stack: &[U256], depth: usize) -> Option<u32> {
    let at = stack.len().checked_sub(depth + 1)?;
    u32::try_from(stack[at]).ok()
}
