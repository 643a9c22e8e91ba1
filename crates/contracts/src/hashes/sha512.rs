//! SHA-512 in words: FIPS 180-4, §6.4.

use super::sha2::Sha2;
use crate::Contract;
use num_bigint::BigUint;
use residue_ir::Machine;

/// `hashes/sha512`.
pub const CONTRACT: Contract = Contract {
    name: "hashes/sha512",
    summary: "SHA-512 in words",
    interface: "any bytes; returns their hash, 64 bytes",
    field: || BigUint::from(3u8),
    text: |machine| {
        let hash = hash(machine, machine.calldata_size(), |machine, _, offset| machine.calldata_word(offset));
        machine.return_words(&hash, machine.small(64));
    },
    precompile: None,
    example: || b"abc".to_vec(),
};

/// §4.1.3.
const FUNCTION: Sha2 =
    Sha2 { bits: 64, rounds: 80, sums: [[28, 34, 39], [14, 18, 41]], small: [[1, 8, 7], [19, 61, 6]] };

/// The hash of `size` bytes in two words. `word_at` gives the 32 bytes that are `offset` bytes after the start, with zeros after
/// the last one; it is told which word of a block that is.
fn hash<M: Machine>(machine: &M, size: M::Word, word_at: impl Fn(&M, u64, M::Word) -> M::Word) -> [M::Word; 2] {
    FUNCTION.words(machine, FUNCTION.hash(machine, size, word_at))
}

/// The same with the eight numbers of the hash, of 64 bits each, in reverse order: the last is highest in the first word.
pub(crate) fn hash_in_reverse<M: Machine>(
    machine: &M,
    size: M::Word,
    word_at: impl Fn(&M, u64, M::Word) -> M::Word,
) -> [M::Word; 2] {
    let mut numbers = FUNCTION.hash(machine, size, word_at);
    numbers.reverse();
    FUNCTION.words(machine, numbers)
}
