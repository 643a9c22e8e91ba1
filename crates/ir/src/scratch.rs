//! Scratch memory of a run: bytes that a program writes and reads as words.

use crate::calldata::calldata_slice;
use ruint::aliases::U256;

/// Bytes, all 0 at the start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch(Vec<u8>);

impl Scratch {
    /// Grows it to at least `size_bytes` bytes.
    pub(crate) fn grow(&mut self, size_bytes: u32) {
        let size = self.0.len().max(size_bytes as usize); // u32 to usize widens
        self.0.resize(size, 0);
    }

    /// The word from `offset`; `None` if it has an end before that of the word.
    pub(crate) fn word(&self, offset: U256) -> Option<U256> {
        self.bytes(offset, U256::from(32)).map(U256::from_be_slice)
    }

    /// `size_bytes` bytes from `offset`; `None` beyond its end.
    pub(crate) fn bytes(&self, offset: U256, size_bytes: U256) -> Option<&[u8]> {
        let (start, size) = (usize::try_from(offset).ok()?, usize::try_from(size_bytes).ok()?);
        self.0.get(start..start.checked_add(size)?)
    }

    /// Writes `bytes` from `offset`; `None` if it has no room for them.
    pub(crate) fn write(&mut self, offset: U256, bytes: &[u8]) -> Option<()> {
        let start = usize::try_from(offset).ok()?;
        self.0.get_mut(start..start.checked_add(bytes.len())?)?.copy_from_slice(bytes);
        Some(())
    }

    /// Writes `size_bytes` bytes from `from` to `offset`, as if by way of a buffer.
    ///
    /// # Errors
    ///
    /// The first byte of the two ranges that is not within.
    pub(crate) fn move_within(&mut self, offset: u32, from: u32, size_bytes: u32) -> Result<(), U256> {
        let (from, offset, size) = (U256::from(from), U256::from(offset), U256::from(size_bytes));
        let bytes = self.bytes(from, size).ok_or(from)?.to_vec();
        self.write(offset, &bytes).ok_or(offset)
    }

    /// Writes `size_bytes` bytes of `calldata` from `from`, zeros past its end; `None` if they exceed its size.
    pub(crate) fn copy(&mut self, offset: U256, calldata: &[u8], from: U256, size_bytes: U256) -> Option<()> {
        let size = usize::try_from(size_bytes).ok().filter(|&size| size <= self.0.len())?;
        self.write(offset, &calldata_slice(calldata, from, size))
    }
}
