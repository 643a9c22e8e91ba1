//! Operations on words that take more than one line to say.

use super::byte_of;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::word::{WORD_BITS, WORD_BYTES, Word, from_signed, to_signed, two_to, wrap};
use num_traits::{ToPrimitive, Zero};

/// Gas for each significant byte of the exponent of `EXP` (EIP-160).
const EXP_BYTE_GAS: u64 = 50;

/// `EXP`: base ^ exponent mod 2²⁵⁶; 0⁰ = 1.
pub fn exp(frame: &mut Frame<'_>) -> Result<(), Halt> {
    let [base, exponent] = frame.pop()?;
    frame.charge(EXP_BYTE_GAS * exponent.bits().div_ceil(8))?;
    frame.push(base.modpow(&exponent, &two_to(WORD_BITS)))
}

/// `SIGNEXTEND`: the low `index` + 1 bytes of `value` as a two's complement integer. An index ≥ 31 changes nothing.
pub fn sign_extend(index: Word, value: Word) -> Word {
    let Some(index) = index.to_u64().filter(|&index| index < 31) else {
        return value;
    };
    let bits = 8 * (index + 1);
    let low = &value % two_to(bits);
    if low.bit(bits - 1) { low + two_to(WORD_BITS) - two_to(bits) } else { low }
}

/// `BYTE`: byte `index` of `value`, the most significant being 0; zero for an index ≥ 32.
pub fn byte(index: Word, value: Word) -> Word {
    match index.to_usize() {
        Some(index) if index < WORD_BYTES => byte_of(&value, index),
        _ => Word::zero(),
    }
}

/// `SHL`: value · 2^shift mod 2²⁵⁶.
pub fn shift_left(shift: Word, value: Word) -> Word {
    match small(&shift) {
        Some(shift) => wrap(value << shift),
        None => Word::zero(),
    }
}

/// `SHR`: ⌊value / 2^shift⌋.
pub fn shift_right(shift: Word, value: Word) -> Word {
    match small(&shift) {
        Some(shift) => value >> shift,
        None => Word::zero(),
    }
}

/// `SAR`: ⌊value / 2^shift⌋ for the signed value, rounded towards −∞.
pub fn shift_arithmetic_right(shift: Word, value: Word) -> Word {
    from_signed(to_signed(&value) >> small(&shift).unwrap_or(WORD_BITS))
}

/// The shift if it leaves anything of a word.
fn small(shift: &Word) -> Option<u64> {
    shift.to_u64().filter(|&shift| shift < WORD_BITS)
}
