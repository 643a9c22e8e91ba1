//! SHA3-256 and SHAKE in words against the library, on all lengths up to some blocks and on lengths of output around those of blocks.

use crate::seeded::Seeded;
use crate::support::{cases, everywhere, refused_everywhere, returned_everywhere};
use residue_contracts::find;
use residue_contracts::hashes::sha3::OUTPUT_BYTES_MAX;
use sha3::digest::{ExtendableOutput, Update, XofReader};
use sha3::{Digest, Sha3_256, Shake128, Shake256};

/// All lengths of a message up to two blocks and more, in an order that runs of few cases have edges of blocks in too.
fn lengths() -> Vec<usize> {
    let edges = [0, 1, 7, 8, 31, 32, 33, 134, 135, 136, 137, 166, 167, 168, 169, 271, 272, 273, 335, 336, 337];
    let rest = (0..=340).filter(|length| !edges.contains(length));
    edges.into_iter().chain(rest).collect()
}

fn message(case: usize, length: usize, seeded: &mut Seeded) -> Vec<u8> {
    if case.is_multiple_of(5) { vec![0xff; length] } else { seeded.bytes(length) }
}

#[test]
fn sha3_256_is_that_of_the_library() {
    let mut compiled = everywhere(find("hashes/sha3_256").unwrap());
    let mut seeded = Seeded(63);
    for (case, length) in lengths().into_iter().take(cases(341)).enumerate() {
        let input = message(case, length, &mut seeded);
        returned_everywhere(&mut compiled, &input, &Sha3_256::digest(&input), &format!("{length} bytes"));
    }
}

fn output<H: Default + Update + ExtendableOutput>(message: &[u8], bytes: usize) -> Vec<u8> {
    let mut hash = H::default();
    hash.update(message);
    let mut output = vec![0; bytes];
    hash.finalize_xof().read(&mut output);
    output
}

/// A call for so many bytes, any number of 32 bytes.
fn call(bytes: [u8; 32], message: &[u8]) -> Vec<u8> {
    [&bytes, message].concat()
}

fn number(bytes: usize) -> [u8; 32] {
    let mut word = [0; 32];
    word[24..].copy_from_slice(&(bytes as u64).to_be_bytes());
    word
}

#[track_caller]
fn check<H: Default + Update + ExtendableOutput>(name: &str) {
    let mut compiled = everywhere(find(name).unwrap());
    let mut seeded = Seeded(64);
    let outputs = [32, 0, 1, 31, 33, 64, 135, 136, 137, 167, 168, 169, 272, 336, 337, 1_360, 2_047, 2_048];
    for (case, length) in lengths().into_iter().take(cases(341)).enumerate() {
        let input = message(case, length, &mut seeded);
        let bytes = outputs[case % outputs.len()];
        let what = format!("{length} bytes, {bytes} of output");
        returned_everywhere(&mut compiled, &call(number(bytes), &input), &output::<H>(&input, bytes), &what);
    }
    for &bytes in outputs.iter().take(cases(outputs.len())) {
        let what = format!("{bytes} of output");
        returned_everywhere(&mut compiled, &call(number(bytes), b"abc"), &output::<H>(b"abc", bytes), &what);
    }
    let most = usize::try_from(OUTPUT_BYTES_MAX).unwrap();
    let mut high = number(32);
    high[0] = 0x80;
    for bad in [
        vec![],
        vec![0],
        number(32)[..31].to_vec(),
        call(number(most + 1), b"abc"),
        call(high, b"abc"),
        call([0xff; 32], &[]),
    ] {
        refused_everywhere(&mut compiled, &bad, &format!("{} bytes", bad.len()));
    }
}

#[test]
fn shake128_is_that_of_the_library() {
    check::<Shake128>("hashes/shake128");
}

#[test]
fn shake256_is_that_of_the_library() {
    check::<Shake256>("hashes/shake256");
}
