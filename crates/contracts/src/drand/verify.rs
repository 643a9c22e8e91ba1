//! A beacon of drand: the signature of a network for a round, of every scheme that is in use.
//!
//! The message is the SHA-256 hash of the previous signature, where the network chains them, and of the round in 8 big-endian
//! bytes: <https://docs.drand.love/docs/specification/>, “Beacon signature”. `quicknet` (`bls-unchained-g1-rfc9380`) has keys
//! in G2, the default network (`pedersen-bls-chained`) and `pedersen-bls-unchained` have them in G1. `bls-unchained-on-g1`,
//! deprecated, hashes to G1 with the tag of G2 and is not served: its beacons give 0.

use crate::Contract;
use crate::bls12_381::signature;
use residue_curves::bls12_381::constants::modulus;
use residue_ir::{Machine, Piece};

/// `drand/verify`.
pub const CONTRACT: Contract = Contract {
    name: "drand/verify",
    summary: "is this the beacon of a drand network for the round? (quicknet, the default network, and unchained ones)",
    interface: "public key and signature, compressed, 96 bytes in G2 and 48 in G1 or the other way round; the previous \
                signature if the network is chained; the round in 8 bytes; returns 32 bytes, 1 or 0",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// Bytes of a round.
const ROUND_BYTES: u32 = 8;

/// The text.
pub fn text<M: Machine>(machine: &M) {
    signature::text(machine, ROUND_BYTES, |machine, chained| {
        vec![Piece::Word { word: machine.sha256(&[chained]), size_bytes: machine.small(32) }]
    });
}

/// Round 1 of a network whose key `tests/contracts/examples.rs` knows: the key in G2, the signature in G1.
fn example() -> Vec<u8> {
    let digits: String = include_str!("beacon.hex").split_whitespace().collect();
    let key_and_signature = hex::decode(digits).expect("the file has two digits for each byte");
    [&key_and_signature[..], &1u64.to_be_bytes()].concat()
}
