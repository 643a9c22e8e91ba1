//! Calldata as the EVM reads it.

use ruint::aliases::U256;

/// `size_bytes` of `calldata` from `offset`, with zeros past the end.
pub(crate) fn calldata_slice(calldata: &[u8], offset: U256, size_bytes: usize) -> Vec<u8> {
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(calldata.len());
    let mut bytes: Vec<u8> = calldata[start..].iter().copied().take(size_bytes).collect();
    bytes.resize(size_bytes, 0);
    bytes
}
