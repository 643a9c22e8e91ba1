//! Ways to compute a call, by the number that the guest is given: a file of the guest and of what runs it.

/// A way to compute a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The engine is made ready and bytecode with field instructions hashed: no part of other counts. The answer is calldata.
    Ready,
    /// The same, and jump targets are found. The answer is calldata.
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
    pub const ALL: [Self; 7] =
        [Self::Ready, Self::Analysis, Self::Native, Self::Software, Self::Calls, Self::Words, Self::WordsByCalls];
}
