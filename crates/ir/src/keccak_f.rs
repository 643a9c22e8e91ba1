//! Keccak-f[1600] (FIPS 202, §3.3) on bytes of scratch memory.

use crate::limits::SCRATCH_END_MAX;
use crate::scratch::Scratch;
use keccak::Keccak;
use ruint::aliases::U256;

/// Lanes of the state: lane (x, y) of FIPS 202 is number x + 5·y.
pub const LANES: usize = 25;
/// Bytes of a lane, a big-endian number.
pub const LANE_BYTES: u32 = 8;
/// Bytes before the lanes, which are anything afterwards: code writes words that end with a lane.
pub const BEFORE_BYTES: u32 = 24;
/// All bytes of the state.
pub const STATE_BYTES: u32 = BEFORE_BYTES + 200;

/// Permutes the state from byte `offset`. The bytes before its lanes become ones, so that a program that reads them is found.
///
/// # Errors
///
/// The first byte, if scratch memory has its end before that of the state.
pub(crate) fn permute(scratch: &mut Scratch, offset: u32) -> Result<(), U256> {
    let first = U256::from(offset);
    let bytes = scratch.bytes(first, U256::from(STATE_BYTES)).ok_or(first)?;
    let mut state = [0; LANES];
    let (before, lanes) = bytes.split_at(BEFORE_BYTES as usize); // u32 to usize widens
    for (lane, bytes) in state.iter_mut().zip(lanes.chunks_exact(LANE_BYTES as usize)) {
        *lane = u64::from_be_bytes(bytes.try_into().expect("a lane has eight bytes"));
    }
    Keccak::new().with_f1600(|permutation| permutation(&mut state));
    let lanes = state.iter().flat_map(|lane| lane.to_be_bytes());
    let permuted: Vec<u8> = before.iter().map(|_| u8::MAX).chain(lanes).collect();
    scratch.write(first, &permuted).ok_or(first)
}

/// Checks that a state from byte `offset` has its end where scratch memory may have one.
pub(crate) fn check(offset: u32) -> Result<(), String> {
    if u64::from(offset) + u64::from(STATE_BYTES) > SCRATCH_END_MAX {
        return Err(format!(
            "a state from byte {offset} does not end at byte {SCRATCH_END_MAX} of scratch memory or before"
        ));
    }
    Ok(())
}
