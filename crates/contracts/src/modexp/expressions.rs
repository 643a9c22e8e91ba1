//! Names for frequent expressions.

use residue_ir::{Machine, ModOp};
use ruint::aliases::U256;

/// Expressions of words beside those of [`crate::words::Words`].
pub(super) trait Expressions: Machine {
    /// a + b mod m.
    fn addmod(&self, a: Self::Word, b: Self::Word, m: Self::Word) -> Self::Word {
        self.mod_op(ModOp::Add, a, b, m)
    }

    /// a · b mod m.
    fn mulmod(&self, a: Self::Word, b: Self::Word, m: Self::Word) -> Self::Word {
        self.mod_op(ModOp::Mul, a, b, m)
    }

    /// The word of scratch memory from a byte that is known.
    fn at(&self, offset: u64) -> Self::Word {
        self.scratch_word(self.small(offset))
    }

    /// Writes the word of scratch memory from a byte that is known.
    fn put(&self, offset: u64, word: Self::Word) {
        self.set_scratch(self.small(offset), word);
    }

    /// 2ᵇ − 1.
    fn ones(&self, bits: usize) -> Self::Word {
        self.word(U256::MAX >> (256 - bits))
    }
}

impl<M: Machine> Expressions for M {}
