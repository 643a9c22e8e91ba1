//! SLH-DSA with the parameters of the draft NIST SP 800-230 for 2²⁴ signatures: FIPS 205 with one tree of 2²² leaves.
//!
//! Messages are of 32 bytes, and what is signed is 0 ‖ 0 ‖ message: the external signature of FIPS 205, algorithms 22 and 24, with an empty context.
//!
//! Its twin with Keccak-256 is that of the repository nconsigny/SPHINCS-: inputs are words, the seed, an address of 32 bytes and nodes in the high halves;
//! FORS indices and digits of a node are taken from the lowest bits up, and the message is signed as it is.

mod keccak;
mod sha2;

pub mod signer;

use crate::Contract;
use crate::hash_based::{Form, N};
use num_bigint::BigUint;

/// Levels of the tree: h.
const HEIGHT: u64 = 22;
/// Levels of a FORS tree, a, and how many there are, k.
const FORS_HEIGHT: u64 = 24;
const FORS_TREES: u64 = 6;
/// Bits of a digit of a one-time signature: log₂ w.
const DIGIT_BITS: u64 = 2;
/// Chains for a node, and for the checksum: len₁ and len₂.
const NODE_CHAINS: u64 = 128 / DIGIT_BITS;
const SUM_CHAINS: u64 = 4;
const CHAINS: u64 = NODE_CHAINS + SUM_CHAINS;
/// Bytes of the digest that are read: m.
const DIGEST_BYTES: u64 = 21;
/// Bytes of seed, root and message.
const HEAD_BYTES: u64 = 64;
/// Places of the parts of calldata.
const FORS_AT: u64 = HEAD_BYTES + N;
const CHAINS_AT: u64 = FORS_AT + FORS_TREES * N * (1 + FORS_HEIGHT);
const PATH_AT: u64 = CHAINS_AT + N * CHAINS;
const CALLDATA_BYTES: u64 = PATH_AT + N * HEIGHT;
/// Bytes of a signature.
pub const SIGNATURE_BYTES: usize = (CALLDATA_BYTES - HEAD_BYTES) as usize; // 3856
const _: () = assert!(SIGNATURE_BYTES == 3856 && FORS_HEIGHT * FORS_TREES + HEIGHT <= 8 * DIGEST_BYTES);

/// `slh_dsa/sha2_128_24`.
pub const SHA2_128_24: Contract = Contract {
    name: "slh_dsa/sha2_128_24",
    summary: "is this a signature of SLH-DSA-SHA2-128-24? (FIPS 205, SP 800-230)",
    interface: "seed (16 bytes), root (16), message (32), signature (3856); returns a word, 1 or 0",
    field: || BigUint::from(3u8),
    text: |machine| sha2::text(machine, Form::Unrolled),
    precompile: None,
    example: || signer::example(signer::SHA2_128_24),
};

/// `slh_dsa/sha2_128_24_rolled`.
pub const SHA2_128_24_ROLLED: Contract = Contract {
    name: "slh_dsa/sha2_128_24_rolled",
    summary: "the same in less than 4 KB of code",
    text: |machine| sha2::text(machine, Form::Rolled),
    ..SHA2_128_24
};

/// `slh_dsa/keccak_128_24`.
pub const KECCAK_128_24: Contract = Contract {
    name: "slh_dsa/keccak_128_24",
    summary: "is this a signature of SLH-DSA-Keccak-128-24?",
    text: |machine| keccak::text(machine),
    example: || signer::example(signer::KECCAK_128_24),
    ..SHA2_128_24
};
