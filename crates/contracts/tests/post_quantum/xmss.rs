//! Verifiers of WOTS+ and XMSS against a second text over bytes, on signatures that are valid and on those with one thing wrong.
//!
//! `RESIDUE_CASES=2000 cargo test --release -p residue-contracts --test post_quantum xmss::` takes more messages.

use crate::Seeded;
use crate::compiled::Compiled;
use crate::support::{cases, everywhere, returned_everywhere};
use residue_contracts::find;
use residue_contracts::xmss::signer::{self, signed_calldata};
use residue_contracts::xmss::{Set, WOTS_128, WOTS_256, XMSS_10_128, XMSS_10_256};
use residue_isa::Revision;

/// Bytes of the limit of EIP-170.
const CODE_BYTES_MAX: usize = 24_576;

/// The contracts, each with its set and the most that a signature may take on average. A step takes 75 gas with a mask and 69 without, a chain 71 around them.
const CONTRACTS: [(&str, Set, u64); 4] = [
    ("wots/keccak_128", WOTS_128, 23_100),
    ("wots/keccak_256", WOTS_256, 40_500),
    ("xmss/keccak_10_128", XMSS_10_128, 24_900),
    ("xmss/keccak_10_256", XMSS_10_256, 42_300),
];

fn word(is_valid: bool) -> [u8; 32] {
    let mut word = [0; 32];
    word[31] = is_valid.into();
    word
}

/// A message of the length that the set signs.
fn message(set: Set, seeded: &mut Seeded) -> Vec<u8> {
    seeded.bytes(set.message_bytes() as usize)
}

#[test]
fn signatures_are_accepted_and_spoiled_ones_refused() {
    for (name, set, _) in CONTRACTS {
        let mut compiled = everywhere(find(name).unwrap());
        let mut seeded = Seeded(set.node_bytes + set.height);
        for number in 0..cases(12) as u64 {
            let valid = signed_calldata(set, number, &message(set, &mut seeded));
            assert!(signer::verify(set, &valid), "{name}");
            returned_everywhere(&mut compiled, &valid, &word(true), "a signature");
            for _ in 0..12 {
                let mut spoiled = valid.clone();
                let (byte, bit) = (seeded.below(valid.len()), seeded.below(8));
                spoiled[byte] ^= 1 << bit;
                assert!(!signer::verify(set, &spoiled), "{name}");
                returned_everywhere(&mut compiled, &spoiled, &word(false), &format!("byte {byte}, bit {bit}"));
            }
        }
    }
}

/// All chains whole, all of them at their ends, and one digit that differs from the others.
#[test]
fn digits_at_their_edges_are_taken() {
    for (name, set) in [("wots/keccak_128", WOTS_128), ("wots/keccak_256", WOTS_256)] {
        let mut compiled = everywhere(find(name).unwrap());
        let bytes = set.message_bytes() as usize;
        let mut last_is_one = vec![0; bytes];
        last_is_one[bytes - 1] = 1;
        for message in [vec![0; bytes], vec![0xff; bytes], vec![0xf0; bytes], last_is_one] {
            let valid = signed_calldata(set, 3, &message);
            assert!(signer::verify(set, &valid), "{name}");
            returned_everywhere(&mut compiled, &valid, &word(true), &hex::encode(message));
        }
    }
}

#[test]
fn other_lengths_and_indices_beyond_the_tree_are_refused() {
    for (name, set, _) in CONTRACTS {
        let mut compiled = everywhere(find(name).unwrap());
        let valid = signed_calldata(set, 5, &message(set, &mut Seeded(8)));
        for length in [0, 1, 32, 64, valid.len() - 1, valid.len() + 1, valid.len() + 32] {
            let mut other = valid.clone();
            other.resize(length, 0);
            assert!(!signer::verify(set, &other), "{name}");
            returned_everywhere(&mut compiled, &other, &word(false), &format!("{length} bytes"));
        }
        if set.height > 0 {
            for index in [1 << set.height, (1 << set.height) + 5, u64::from(u32::MAX)] {
                let other = signer::signed_with_index(set, (5, index), &valid[2 * set.node_bytes as usize..][..32]);
                assert!(!signer::verify(set, &other), "{name}");
                returned_everywhere(&mut compiled, &other, &word(false), "an index beyond the tree");
            }
        }
    }
}

/// A digit that is larger, with its chain a step further: that much anybody can make of a signature, and the sum's chains refuse it.
#[test]
fn larger_digits_are_refused_by_the_sum() {
    for (name, set) in [("wots/keccak_128", WOTS_128), ("wots/keccak_256", WOTS_256)] {
        let mut compiled = everywhere(find(name).unwrap());
        let n = set.node_bytes as usize;
        let signed = |message: &[u8]| signed_calldata(set, 6, message);
        let (small, large) = (signed(&vec![0x77; n]), signed(&[&[0x87], &vec![0x77; n - 1][..]].concat()));
        // Messages of one key, but the chains of the sum are those of the first.
        let mut forged = large.clone();
        let sum = forged.len() - 3 * n;
        forged[sum..].copy_from_slice(&small[sum..]);
        for (calldata, is_valid) in [(small, true), (large, true), (forged, false)] {
            assert_eq!(signer::verify(set, &calldata), is_valid, "{name}");
            returned_everywhere(&mut compiled, &calldata, &word(is_valid), "a larger digit");
        }
    }
}

#[test]
fn gas_and_code_are_within_bounds() {
    for (name, set, mean_max) in CONTRACTS {
        let compiled = Compiled::new(name, Revision::Evm);
        let mut seeded = Seeded(2);
        let count = 100;
        let gas = (0..count).map(|number| {
            let outcome = compiled.run(&signed_calldata(set, number, &message(set, &mut seeded)));
            assert_eq!(outcome.output, word(true), "{name}");
            outcome.gas_used
        });
        let mean = gas.sum::<u64>() / count;
        println!("{name}: {mean} gas on average, {} bytes", compiled.code.len());
        assert!(mean <= mean_max, "{name}: {mean} gas");
        assert!(compiled.code.len() <= CODE_BYTES_MAX, "{name}: {} bytes", compiled.code.len());
    }
}
