//! Hash functions in words against libraries and precompiles, on lengths around those of blocks.

use crate::points::Seeded;
use crate::support::{cases, everywhere, refused_everywhere, returned_everywhere};
use residue_contracts::find;
use sha2::Digest;

/// Lengths around those of blocks of 64 and 128 bytes, and of the words that they are read in.
const AROUND: [usize; 27] = [
    0, 1, 31, 32, 33, 54, 55, 56, 57, 63, 64, 65, 110, 111, 112, 113, 119, 120, 121, 127, 128, 129, 239, 240, 241, 255,
    300,
];

/// The contract gives what `hash` does.
#[track_caller]
fn check(name: &str, hash: impl Fn(&[u8]) -> Vec<u8>) {
    let mut compiled = everywhere(find(name).unwrap());
    let mut seeded = Seeded(41);
    for case in 0..cases(AROUND.len()) {
        let length = AROUND.get(case).copied().unwrap_or_else(|| seeded.below(1001));
        let input = if case % 5 == 4 { vec![0xff; length] } else { seeded.bytes(length) };
        returned_everywhere(&mut compiled, &input, &hash(&input), &format!("{length} bytes"));
    }
}

/// Output of the precompile that the contract replaces.
fn precompile(name: &str) -> impl Fn(&[u8]) -> Vec<u8> {
    let contract = find(name).unwrap();
    |input| residue_workbench::native(contract, input).unwrap().unwrap().output
}

#[test]
fn sha512_is_that_of_sha2() {
    check("hashes/sha512", |input| sha2::Sha512::digest(input).to_vec());
}

#[test]
fn ripemd160_is_that_of_the_precompile() {
    check("hashes/ripemd160", precompile("hashes/ripemd160"));
}

#[test]
fn sha256_is_that_of_the_precompile() {
    check("hashes/sha256", precompile("hashes/sha256"));
}

#[test]
fn sha1_is_that_of_the_library() {
    check("hashes/sha1", |input| [vec![0; 12], sha1::Sha1::digest(input).to_vec()].concat());
}

#[test]
fn blake2f_is_that_of_the_precompile() {
    let contract = find("hashes/blake2f").unwrap();
    let expected = precompile("hashes/blake2f");
    let mut compiled = everywhere(contract);
    let mut seeded = Seeded(42);
    let rounds = [0u32, 1, 2, 7, 9, 10, 11, 12, 19, 20, 29, 101];
    for case in 0..cases(rounds.len()) {
        let number = rounds.get(case).copied().unwrap_or_else(|| u32::try_from(seeded.below(60)).unwrap());
        // Additions carry most where all bits are set.
        let mut input = if case % 4 == 3 { vec![0xff; 213] } else { seeded.bytes(213) };
        input[..4].copy_from_slice(&number.to_be_bytes());
        input[212] = u8::try_from(case % 2).unwrap();
        returned_everywhere(&mut compiled, &input, &expected(&input), &format!("{number} rounds"));
        for bad in [&input[..212], &[&input[..], &[0]].concat(), &[&input[..212], &[2]].concat(), &[]] {
            assert!(residue_workbench::native(contract, bad).unwrap().is_err());
            refused_everywhere(&mut compiled, bad, &format!("{} bytes", bad.len()));
        }
    }
}
