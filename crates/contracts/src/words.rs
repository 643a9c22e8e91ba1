//! Expressions of words, as short as the text that they stand in needs them.

use residue_ir::{Machine, WordOp};
use ruint::aliases::U256;

/// A word with `number` at every `bits` bits.
pub(crate) fn each(bits: usize, number: U256) -> U256 {
    (0..256).step_by(bits).fold(U256::ZERO, |word, bit| word | number << bit)
}

/// The words of a machine, with operations by name.
pub(crate) struct Words<'m, M>(pub &'m M);

impl<M: Machine> Words<'_, M> {
    pub(crate) fn number(&self, value: u64) -> M::Word {
        self.0.small(value)
    }

    /// Makes bytes of scratch memory zeros.
    pub(crate) fn clear(&self, at: u64, bytes: u64) {
        self.0.copy_calldata(self.number(at), self.0.calldata_size(), self.number(bytes));
    }

    pub(crate) fn add(&self, a: M::Word, b: M::Word) -> M::Word {
        self.0.word_op(WordOp::Add, a, b)
    }

    pub(crate) fn sub(&self, a: M::Word, b: M::Word) -> M::Word {
        self.0.word_op(WordOp::Sub, a, b)
    }

    pub(crate) fn mul(&self, a: M::Word, b: M::Word) -> M::Word {
        self.0.word_op(WordOp::Mul, a, b)
    }

    pub(crate) fn div(&self, a: M::Word, b: M::Word) -> M::Word {
        self.0.word_op(WordOp::Div, a, b)
    }

    pub(crate) fn modulo(&self, a: M::Word, b: M::Word) -> M::Word {
        self.0.word_op(WordOp::Mod, a, b)
    }

    pub(crate) fn and(&self, a: M::Word, b: M::Word) -> M::Word {
        self.0.word_op(WordOp::And, a, b)
    }

    pub(crate) fn or(&self, a: M::Word, b: M::Word) -> M::Word {
        self.0.word_op(WordOp::Or, a, b)
    }

    pub(crate) fn xor(&self, a: M::Word, b: M::Word) -> M::Word {
        self.0.word_op(WordOp::Xor, a, b)
    }

    pub(crate) fn is_below(&self, a: M::Word, b: M::Word) -> M::Word {
        self.0.word_op(WordOp::Lt, a, b)
    }

    pub(crate) fn is_equal(&self, a: M::Word, b: M::Word) -> M::Word {
        self.0.word_op(WordOp::Eq, a, b)
    }

    /// ⌊a / 2ᵇ⌋.
    pub(crate) fn shr(&self, a: M::Word, bits: M::Word) -> M::Word {
        self.0.word_op(WordOp::Shr, a, bits)
    }

    /// a·2ᵇ.
    pub(crate) fn shl(&self, a: M::Word, bits: M::Word) -> M::Word {
        self.0.word_op(WordOp::Shl, a, bits)
    }

    /// a without its lowest `bits` bits.
    pub(crate) fn high(&self, a: M::Word, bits: u64) -> M::Word {
        self.shr(a, self.number(bits))
    }
}
