//! Montgomery form in little-endian bytes: input and output of EVM384's programs.

use num_bigint::BigUint;
use num_traits::One;

/// Bytes of a value: 8n for a modulus of n limbs.
pub fn size_bytes(modulus: &BigUint) -> usize {
    usize::try_from(modulus.bits().div_ceil(64) * 8).expect("a modulus has at most 4096 bits")
}

/// R = 2⁶⁴ⁿ for a modulus of n limbs.
pub fn radix(modulus: &BigUint) -> BigUint {
    BigUint::one() << (8 * size_bytes(modulus))
}

/// The little-endian bytes of a·R mod m ↦ a, for m odd; `None` if the number is not below m.
pub(crate) fn from_le_bytes(bytes: &[u8], modulus: &BigUint) -> Option<BigUint> {
    let number = BigUint::from_bytes_le(bytes);
    let inverse = radix(modulus).modinv(modulus).expect("the modulus is odd, `verify` checks it");
    (number < *modulus).then(|| number * inverse % modulus)
}

/// a ↦ the little-endian bytes of a·R mod m, for a < m.
pub fn to_le_bytes(value: &BigUint, modulus: &BigUint) -> Vec<u8> {
    let mut bytes = (value * radix(modulus) % modulus).to_bytes_le();
    bytes.resize(size_bytes(modulus), 0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_value_lead_back_to_it() {
        for modulus in [3u128, 97, (1 << 64) - 59, (1 << 64) + 13, u128::MAX - 158].map(BigUint::from) {
            let last = &modulus - 1u32;
            for value in [BigUint::ZERO, BigUint::one(), last] {
                let bytes = to_le_bytes(&value, &modulus);
                assert_eq!(bytes.len() % 8, 0);
                assert_eq!(from_le_bytes(&bytes, &modulus), Some(value), "modulus {modulus}");
            }
            let mut bytes = modulus.to_bytes_le();
            bytes.resize(size_bytes(&modulus), 0);
            assert_eq!(from_le_bytes(&bytes, &modulus), None);
        }
    }
}
