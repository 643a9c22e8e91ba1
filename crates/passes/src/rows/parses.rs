//! Elements of calldata that stand one after the other, at equal distances.

use residue_ir::WordOp;
use residue_ir::program::{Value, Word, WordDef};
use ruint::aliases::U256;

/// Elements that are parsed as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parses {
    /// Offset of the first one.
    pub offset: Word,
    /// Values defined by them, in order; at least one.
    pub results: Vec<Value>,
    /// Bytes of each.
    pub size_bytes: u32,
    /// Bytes from the start of one to that of the next, no fewer; of a single one, its size.
    pub stride_bytes: u32,
}

impl Parses {
    /// A single element.
    pub fn one(result: Value, offset: Word, size_bytes: u32) -> Self {
        Self { offset, results: vec![result], size_bytes, stride_bytes: size_bytes }
    }

    /// Bytes from the start of the first element to the end of the last.
    pub fn covered_bytes(&self) -> u32 {
        let others = u32::try_from(self.results.len() - 1).unwrap_or(u32::MAX);
        others.saturating_mul(self.stride_bytes).saturating_add(self.size_bytes)
    }

    /// The distance from the start of one element to that of the next if `next`, a single element, is added: it is as long, begins
    /// where the next one would, and a second one no more than `gap_bytes_max` after the end of the first. None if it is not.
    pub fn stride_with(&self, next: &Self, words: &[WordDef], gap_bytes_max: u32) -> Option<u32> {
        let (base, at) = base_and_constant(words, self.offset);
        let (next_base, next_at) = base_and_constant(words, next.offset);
        let stride_bytes = match self.results.len() {
            1 => u32::try_from(next_at.wrapping_sub(at)).ok()?,
            _ => self.stride_bytes,
        };
        let gap_bytes = stride_bytes.checked_sub(self.size_bytes)?;
        let expected = at.wrapping_add(U256::from(stride_bytes).wrapping_mul(U256::from(self.results.len())));
        let fits = next.size_bytes == self.size_bytes && next_base == base && next_at == expected;
        (fits && gap_bytes <= gap_bytes_max).then_some(stride_bytes)
    }
}

/// b and c where the word is b + c for a constant c, which may be 0; b is none if the word is a constant.
fn base_and_constant(words: &[WordDef], word: Word) -> (Option<Word>, U256) {
    let constant = |word: Word| match words[word.0 as usize] {
        WordDef::Constant(value) => Some(value),
        _ => None,
    };
    match words[word.0 as usize] {
        WordDef::Constant(value) => (None, value),
        WordDef::Op(WordOp::Add, base, after) if let Some(value) = constant(after) => (Some(base), value),
        _ => (Some(word), U256::ZERO),
    }
}
