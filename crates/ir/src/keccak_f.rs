//! Keccak-f[1600] (FIPS 202, §3.3) on words of scratch memory, a lane in each.

use crate::limits::SCRATCH_END_MAX;
use crate::scratch::Scratch;
use keccak::Keccak;
use ruint::aliases::U256;

/// Lanes of the state: lane (x, y) of FIPS 202 is number x + 5·y.
pub const LANES: usize = 25;
/// Bytes of the state's words.
pub const STATE_BYTES: u32 = 800;
/// Bits above a lane after the permutation, in which code leaves anything: ones, so that a program that reads them is found.
const ABOVE: U256 = U256::from_limbs([0, u64::MAX, u64::MAX, u64::MAX]);

/// Permutes the lanes in the words from byte `offset`.
///
/// # Errors
///
/// The first byte of scratch memory that is past its end.
pub(crate) fn permute(scratch: &mut Scratch, offset: u32) -> Result<(), U256> {
    let place = |lane: usize| U256::from(offset) + U256::from(32 * lane);
    let mut state = [0; LANES];
    for (number, lane) in state.iter_mut().enumerate() {
        *lane = scratch.word(place(number)).ok_or(place(number))?.wrapping_to::<u64>();
    }
    Keccak::new().with_f1600(|permutation| permutation(&mut state));
    for (number, &lane) in state.iter().enumerate() {
        let word = ABOVE | U256::from(lane);
        scratch.write(place(number), &word.to_be_bytes::<32>()).ok_or(place(number))?;
    }
    Ok(())
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
