//! Opcodes that move bytes: hashing, input, code and memory. All grow memory to hold the ranges they name.

use super::{affordable, words_of};
use crate::frame::Frame;
use crate::halt::Halt;
use crate::word::{WORD_BYTES, Word, to_be_bytes};
use num_traits::{ToPrimitive, Zero};
use sha3::{Digest, Keccak256};

/// Gas for each word hashed by `KECCAK256`.
const KECCAK_WORD_GAS: u64 = 6;

/// Gas for each word copied.
const COPY_WORD_GAS: u64 = 3;

/// `KECCAK256`: the hash of a range of memory.
pub fn keccak256(frame: &mut Frame<'_>) -> Result<(), Halt> {
    let [offset, size] = frame.pop()?;
    frame.charge(KECCAK_WORD_GAS * words_of(affordable(&size)?))?;
    let range = frame.grow(&offset, &size)?;
    let hash = Keccak256::digest(frame.memory.read(range));
    frame.push(Word::from_bytes_be(&hash))
}

/// `CALLDATALOAD`: 32 bytes of the input from an offset, zeros beyond its end.
pub fn calldataload(frame: &mut Frame<'_>) -> Result<(), Halt> {
    let [offset] = frame.pop()?;
    frame.push(Word::from_bytes_be(&padded(frame.input, &offset, WORD_BYTES)))
}

/// `CALLDATACOPY`, `CODECOPY`: copies from `source` into memory, zeros beyond its end.
pub fn copy(frame: &mut Frame<'_>, source: &[u8]) -> Result<(), Halt> {
    let [dest, offset, size] = frame.pop()?;
    frame.charge(COPY_WORD_GAS * words_of(affordable(&size)?))?;
    let range = frame.grow(&dest, &size)?;
    frame.memory.write(range.start, &padded(source, &offset, range.len()));
    Ok(())
}

/// `RETURNDATACOPY` from returned data that is empty, as nothing is called here: only nothing can be copied, from the
/// beginning.
pub fn returndatacopy(frame: &mut Frame<'_>) -> Result<(), Halt> {
    let [_dest, offset, size] = frame.pop()?;
    affordable(&size)?;
    if !(offset + size).is_zero() {
        return Err(Halt::OutOfOffset);
    }
    Ok(())
}

/// `MLOAD`: the word at an offset.
pub fn mload(frame: &mut Frame<'_>) -> Result<(), Halt> {
    let [offset] = frame.pop()?;
    let range = frame.grow(&offset, &WORD_BYTES.into())?;
    frame.push(Word::from_bytes_be(frame.memory.read(range)))
}

/// `MSTORE`: writes a word.
pub fn mstore(frame: &mut Frame<'_>) -> Result<(), Halt> {
    let [offset, value] = frame.pop()?;
    let range = frame.grow(&offset, &WORD_BYTES.into())?;
    frame.memory.write(range.start, &to_be_bytes(&value));
    Ok(())
}

/// `MSTORE8`: writes the least significant byte of a word.
pub fn mstore8(frame: &mut Frame<'_>) -> Result<(), Halt> {
    let [offset, value] = frame.pop()?;
    let range = frame.grow(&offset, &1u8.into())?;
    frame.memory.write(range.start, &to_be_bytes(&value)[WORD_BYTES - 1..]);
    Ok(())
}

/// `MCOPY`: copies within memory as if through a buffer (EIP-5656).
pub fn mcopy(frame: &mut Frame<'_>) -> Result<(), Halt> {
    let [dest, source, size] = frame.pop()?;
    frame.charge(COPY_WORD_GAS * words_of(affordable(&size)?))?;
    let farther = dest.clone().max(source.clone());
    frame.grow(&farther, &size)?;
    let [dest, source] = [dest, source]
        .map(|start| frame.memory.inside(&start, &size).expect("memory has grown to hold the farther of the two"));
    let bytes = frame.memory.read(source).to_vec();
    frame.memory.write(dest.start, &bytes);
    Ok(())
}

/// `size` bytes of `source` from `offset`, zeros beyond its end.
fn padded(source: &[u8], offset: &Word, size: usize) -> Vec<u8> {
    let offset = offset.to_usize().map_or(source.len(), |offset| offset.min(source.len()));
    let mut bytes: Vec<u8> = source[offset..].iter().copied().take(size).collect();
    bytes.resize(size, 0);
    bytes
}
