//! Numbers as words of 256 bits, and words as bytes.

use crate::hash::HASHED_BYTES_MAX;
use num_bigint::BigUint;
use ruint::aliases::U256;

/// The word whose bit 0 is bit `first_bit` of `number`.
pub(crate) fn word_at(number: &BigUint, first_bit: u32) -> U256 {
    let digits = (number >> first_bit).to_bytes_le();
    U256::from_le_slice(&digits[..digits.len().min(32)])
}

/// The number that `words` are, the most significant first.
pub(crate) fn number_of(words: &[U256]) -> BigUint {
    words
        .iter()
        .fold(BigUint::ZERO, |number, word| (number << 256u32) | BigUint::from_bytes_be(&word.to_be_bytes::<32>()))
}

/// The 32 bytes that begin `first_byte` bytes, 1 to 31, after the start of `first`, which `second` follows.
pub(crate) fn across(first: U256, second: U256, first_byte: u32) -> U256 {
    let bits = 8 * first_byte as usize; // u32 to usize widens
    (first << bits) | (second >> (256 - bits))
}

/// The last `size_bytes` bytes of `words`, after as many zeros as are missing; `None` if that is more than memory holds.
pub(crate) fn last_bytes(words: &[U256], size_bytes: U256) -> Option<Vec<u8>> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes::<32>()).collect();
    last(&bytes, size_bytes, HASHED_BYTES_MAX)
}

/// The same of numbers in `element_bytes` bytes each, those above them cut off; `None` if that is more than `limit_bytes`.
pub(crate) fn last_bytes_of(
    numbers: &[BigUint],
    element_bytes: u32,
    size_bytes: U256,
    limit_bytes: u32,
) -> Option<Vec<u8>> {
    let element = |number: &BigUint| {
        let mut bytes = number.to_bytes_le();
        bytes.resize(element_bytes as usize, 0); // u32 to usize widens
        bytes.into_iter().rev()
    };
    last(&numbers.iter().flat_map(element).collect::<Vec<u8>>(), size_bytes, limit_bytes)
}

/// The last `size_bytes` of `bytes`, after as many zeros as are missing; `None` if that is more than `limit_bytes`.
fn last(bytes: &[u8], size_bytes: U256, limit_bytes: u32) -> Option<Vec<u8>> {
    let size = usize::try_from(size_bytes).ok().filter(|&size| size <= limit_bytes as usize)?; // u32 to usize widens
    let missing = size.saturating_sub(bytes.len());
    let from = bytes.len() - (size - missing);
    Some([vec![0; missing], bytes[from..].to_vec()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers() {
        let words = [U256::from(7), U256::MAX, U256::from(5)];
        let number = number_of(&words);
        assert_eq!([512, 256, 0].map(|bit| word_at(&number, bit)), words);
        assert_eq!((word_at(&number, 768), word_at(&BigUint::ZERO, 0)), (U256::ZERO, U256::ZERO));
        assert_eq!(number_of(&[]), BigUint::ZERO);
    }

    #[test]
    fn the_last_bytes_of_words() {
        let words = [U256::from(0x0102), U256::from(0x0304)];
        let last = |size: u32| last_bytes(&words, U256::from(size));
        assert_eq!((last(0), last(1), last(2)), (Some(vec![]), Some(vec![4]), Some(vec![3, 4])));
        assert_eq!(last(34).unwrap()[..2], [1, 2]);
        let long = last(70).unwrap();
        assert_eq!((long.len(), &long[..8], &long[36..38]), (70, &[0; 8][..], &[1, 2][..]));
        assert_eq!(last(HASHED_BYTES_MAX + 1), None);
        assert_eq!(last_bytes(&words, U256::MAX), None);
    }
}
