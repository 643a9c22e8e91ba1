//! The EVM's words: integers in [0, 2²⁵⁶), kept as big integers, with the signed reading some opcodes take.

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::One;

/// A stack item, always below 2²⁵⁶.
pub type Word = BigUint;

/// Bits of a word.
pub const WORD_BITS: u64 = 256;

/// Bytes of a word.
pub const WORD_BYTES: usize = 32;

/// 2^bits.
pub fn two_to(bits: u64) -> BigUint {
    BigUint::one() << bits
}

/// x ↦ x mod 2²⁵⁶.
pub fn wrap(x: BigUint) -> Word {
    x % two_to(WORD_BITS)
}

/// The word as a two's complement integer in [−2²⁵⁵, 2²⁵⁵).
pub fn to_signed(word: &Word) -> BigInt {
    let value = BigInt::from(word.clone());
    if word.bit(WORD_BITS - 1) { value - BigInt::from(two_to(WORD_BITS)) } else { value }
}

/// x ↦ x mod 2²⁵⁶ for an integer of either sign.
pub fn from_signed(x: BigInt) -> Word {
    let modulus = BigInt::from(two_to(WORD_BITS));
    let (sign, residue) = (((x % &modulus) + &modulus) % &modulus).into_parts();
    debug_assert_ne!(sign, Sign::Minus);
    residue
}

/// One or zero.
pub fn from_bool(condition: bool) -> Word {
    Word::from(u8::from(condition))
}

/// The word's 32 bytes, most significant first.
pub fn to_be_bytes(word: &Word) -> [u8; WORD_BYTES] {
    let digits = word.to_bytes_be();
    let mut bytes = [0; WORD_BYTES];
    bytes[WORD_BYTES - digits.len()..].copy_from_slice(&digits);
    bytes
}
