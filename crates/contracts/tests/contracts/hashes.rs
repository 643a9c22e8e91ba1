//! Hash functions in words against sha2, on lengths around those of blocks.

use crate::points::Seeded;
use crate::support::{cases, everywhere, returned_everywhere};
use residue_contracts::find;
use sha2::Digest;

#[test]
fn sha512_is_that_of_sha2() {
    let mut compiled = everywhere(find("hashes/sha512").unwrap());
    let mut seeded = Seeded(41);
    let around = [0usize, 1, 31, 32, 33, 63, 64, 110, 111, 112, 113, 127, 128, 129, 239, 240, 241, 255, 256, 300];
    for case in 0..cases(around.len()) {
        let length = around.get(case).copied().unwrap_or_else(|| seeded.below(700));
        let input = seeded.bytes(length);
        returned_everywhere(&mut compiled, &input, &sha2::Sha512::digest(&input), &format!("{length} bytes"));
    }
}
