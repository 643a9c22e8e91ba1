//! Memory of a frame and its price. Slots of field contexts count as memory in the price, not in the size.

use crate::halt::Halt;
use num_bigint::BigUint;
use num_traits::{ToPrimitive, Zero};
use std::ops::Range;

/// EVM memory with the number of slot bytes that the frame has been charged for beside it.
#[derive(Debug, Clone)]
pub struct Memory {
    /// The bytes; their number is a multiple of 32.
    bytes: Vec<u8>,
    /// Bytes of all slots of the frame.
    slot_bytes: u64,
    /// Growth beyond this many bytes ends the frame.
    limit_bytes: u64,
}

/// W ↦ 3W + ⌊W² / 512⌋: total cost of W words of memory (yellow paper, equation for C_mem).
pub fn cost(words: u64) -> u64 {
    let words = u128::from(words);
    u64::try_from(3 * words + words * words / 512).unwrap_or(u64::MAX)
}

impl Memory {
    /// Empty memory that may grow to `limit_bytes`.
    pub fn new(limit_bytes: u64) -> Self {
        Self { bytes: Vec::new(), slot_bytes: 0, limit_bytes }
    }

    /// Number of bytes, a multiple of 32.
    pub fn size_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes of all slots of the frame.
    pub fn slot_bytes(&self) -> u64 {
        self.slot_bytes
    }

    /// The bytes of a range that lies inside memory.
    pub fn read(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }

    /// Writes into a range that lies inside memory.
    pub fn write(&mut self, offset: usize, bytes: &[u8]) {
        self.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    /// The range `[offset, offset + size)` if memory already holds it. An empty range needs no memory.
    pub fn inside(&self, offset: &BigUint, size: &BigUint) -> Option<Range<usize>> {
        if size.is_zero() {
            return Some(0..0);
        }
        let start = offset.to_usize()?;
        let end = (offset + size).to_usize()?;
        (end <= self.bytes.len()).then_some(start..end)
    }

    /// Gas of growing to hold `[offset, offset + size)`, and the number of words after it: Cmem(W' + R) − Cmem(W + R)
    /// for R words of slots.
    pub fn growth(&self, offset: &BigUint, size: &BigUint) -> Result<(u64, u64), Halt> {
        let words = self.words();
        if size.is_zero() {
            return Ok((0, words));
        }
        let end = (offset + size).to_u64().ok_or(Halt::OutOfGas)?;
        let words_after = end.div_ceil(32).max(words);
        if words_after > words && words_after > self.limit_bytes / 32 {
            return Err(Halt::OutOfGas);
        }
        let slots = slot_words(self.slot_bytes);
        Ok((cost(words_after + slots) - cost(words + slots), words_after))
    }

    /// Gas of `added_bytes` more of slots: Cmem(W + R') − Cmem(W + R).
    pub fn slot_growth(&self, added_bytes: u64) -> u64 {
        let words = self.words();
        let after = slot_words(self.slot_bytes + added_bytes);
        cost(words + after) - cost(words + slot_words(self.slot_bytes))
    }

    /// Grows to `words` words; the caller has charged for it.
    pub(crate) fn grow_to_words(&mut self, words: u64) -> Result<(), Halt> {
        let size = words.checked_mul(32).and_then(|bytes| usize::try_from(bytes).ok()).ok_or(Halt::OutOfGas)?;
        if size > self.bytes.len() {
            self.bytes.resize(size, 0);
        }
        Ok(())
    }

    /// Counts `added_bytes` more of slots; the caller has charged for it.
    pub(crate) fn add_slots(&mut self, added_bytes: u64) {
        self.slot_bytes += added_bytes;
    }

    /// Gas of `bytes` of slots in place of all others: Cmem(W + R') − Cmem(W + R), at least 0.
    pub fn slot_replacement(&self, bytes: u64) -> u64 {
        let words = self.words();
        cost(words + slot_words(bytes)).saturating_sub(cost(words + slot_words(self.slot_bytes)))
    }

    /// Counts `bytes` of slots in place of all others; the caller has charged for it.
    pub(crate) fn set_slots(&mut self, bytes: u64) {
        self.slot_bytes = bytes;
    }

    /// All bytes, given up at the end of the frame.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn words(&self) -> u64 {
        self.bytes.len() as u64 / 32 // style: S11: widening on every supported machine
    }
}

fn slot_words(bytes: u64) -> u64 {
    bytes.div_ceil(32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_cost_is_linear_and_quadratic() {
        for (words, expected) in
            [(0, 0), (1, 3), (22, 66), (23, 70), (386, 1449), (1024, 5120), (1 << 21, 8_596_226_048)]
        {
            assert_eq!(cost(words), expected, "{words} words");
        }
        assert_eq!(cost(u64::MAX), u64::MAX);
    }

    #[test]
    fn the_limit_itself_is_allowed() {
        let memory = Memory::new(64);
        let growth = |offset: u64, size: u64| memory.growth(&offset.into(), &size.into());
        assert_eq!(growth(0, 64), Ok((6, 2)));
        assert_eq!(growth(33, 32), Err(Halt::OutOfGas));
        assert_eq!(growth(u64::MAX, 1), Err(Halt::OutOfGas));
        assert_eq!(growth(u64::MAX, 0), Ok((0, 0)));
    }
}
