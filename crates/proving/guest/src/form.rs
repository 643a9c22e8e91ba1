//! Ways to compute a call, by the number that the guest is given: a file of the guest and of what runs it.

/// A way to compute a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Bytecode with field instructions is copied and its jump targets found, and no more: the answer is calldata.
    Analysis,
    /// The precompile's code; with bytecode, that of each precompile that the bytecode calls.
    Native,
    /// Bytecode with field instructions, whose arithmetic is instructions of this machine.
    Software,
    /// Bytecode with field instructions, each product, sum and difference one call.
    Calls,
    /// Bytecode for today's EVM, with MULMOD in instructions of this machine.
    Words,
    /// The same with MULMOD as one call.
    WordsByCalls,
}

impl Form {
    /// All of them, by their numbers, in the order of tables.
    pub const ALL: [Self; 6] =
        [Self::Analysis, Self::Native, Self::Software, Self::Calls, Self::Words, Self::WordsByCalls];
}
