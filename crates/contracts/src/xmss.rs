//! WOTS+ and XMSS of FIPS 205, §5 and §6, by themselves, with Keccak-256: signatures for one message, and for 2^h of them by a signer that counts.
//!
//! Inputs of Keccak-256 are words: the seed, an address of 32 bytes (FIPS 205, §4.2) and nodes, those of 16 bytes in the high halves. Digits have four
//! bits, w = 16. Layer and tree are 0, and so is the key pair of WOTS+ alone.
//!
//! The node that XMSS signs is Keccak-256 of five words, the seed, the root, R, the index and the message, cut to a node: RFC 8391, §4.1.9, with the seed.
//! WOTS+ signs a node. This node has to be a hash that the signer alone can choose.

mod verify;

pub mod signer;

use crate::Contract;
use num_bigint::BigUint;

/// Bits of a digit: log₂ w.
const DIGIT_BITS: u64 = 4;
/// Digits of the sum: len₂.
const SUM_CHAINS: u64 = 3;
/// Bytes of a message of XMSS.
const MESSAGE_BYTES: u64 = 32;
/// Bytes of an index.
const INDEX_BYTES: u64 = 4;

/// A set of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Set {
    /// Bytes of a node, 16 or 32: n.
    pub node_bytes: u64,
    /// Levels of the tree, h, or 0 for WOTS+ alone.
    pub height: u64,
}

/// WOTS+ with nodes of 16 bytes.
pub const WOTS_128: Set = Set { node_bytes: 16, height: 0 };
/// WOTS+ with nodes of 32 bytes.
pub const WOTS_256: Set = Set { node_bytes: 32, height: 0 };
/// XMSS with nodes of 16 bytes and 2¹⁰ leaves.
pub const XMSS_10_128: Set = Set { node_bytes: 16, height: 10 };
/// XMSS with nodes of 32 bytes and 2¹⁰ leaves.
pub const XMSS_10_256: Set = Set { node_bytes: 32, height: 10 };

impl Set {
    /// Digits of a node: len₁.
    const fn node_chains(self) -> u64 {
        8 * self.node_bytes / DIGIT_BITS
    }

    /// Chains of a signature: len.
    const fn chains(self) -> u64 {
        self.node_chains() + SUM_CHAINS
    }

    /// Bytes that are signed.
    pub const fn message_bytes(self) -> u64 {
        if self.height == 0 { self.node_bytes } else { MESSAGE_BYTES }
    }

    /// Bytes of calldata before the signature: the seed, the root, what is signed.
    pub const fn head_bytes(self) -> u64 {
        2 * self.node_bytes + self.message_bytes()
    }

    /// Place of the chains in calldata: an index and R stand before them in a signature of XMSS.
    const fn chains_at(self) -> u64 {
        self.head_bytes() + if self.height == 0 { 0 } else { INDEX_BYTES + self.node_bytes }
    }

    /// Place of the path in calldata.
    const fn path_at(self) -> u64 {
        self.chains_at() + self.node_bytes * self.chains()
    }

    /// Bytes of calldata.
    pub const fn calldata_bytes(self) -> u64 {
        self.path_at() + self.node_bytes * self.height
    }
}

/// `wots/keccak_128`.
pub const WOTS_KECCAK_128: Contract = Contract {
    name: "wots/keccak_128",
    summary: "is this a signature of WOTS+ with Keccak-256, w = 16 and nodes of 16 bytes? (FIPS 205, §5)",
    interface: "seed (16 bytes), key (16), node that is signed (16), signature (560); returns a word, 1 or 0",
    field: || BigUint::from(3u8),
    text: |machine| verify::text(machine, WOTS_128),
    precompile: None,
    example: || signer::example(WOTS_128),
};

/// `wots/keccak_256`.
pub const WOTS_KECCAK_256: Contract = Contract {
    name: "wots/keccak_256",
    summary: "the same with nodes of 32 bytes",
    interface: "seed (32 bytes), key (32), node that is signed (32), signature (2144); returns a word, 1 or 0",
    text: |machine| verify::text(machine, WOTS_256),
    example: || signer::example(WOTS_256),
    ..WOTS_KECCAK_128
};

/// `xmss/keccak_10_128`.
pub const XMSS_KECCAK_10_128: Contract = Contract {
    name: "xmss/keccak_10_128",
    summary: "is this a signature of XMSS with Keccak-256, 2^10 leaves and nodes of 16 bytes? (FIPS 205, §6)",
    interface: "seed (16 bytes), root (16), message (32), signature (740): index (4), R (16), chains (560), path (160); \
                returns a word, 1 or 0",
    text: |machine| verify::text(machine, XMSS_10_128),
    example: || signer::example(XMSS_10_128),
    ..WOTS_KECCAK_128
};

/// `xmss/keccak_10_256`.
pub const XMSS_KECCAK_10_256: Contract = Contract {
    name: "xmss/keccak_10_256",
    summary: "the same with nodes of 32 bytes",
    interface: "seed (32 bytes), root (32), message (32), signature (2500): index (4), R (32), chains (2144), path (320); \
                returns a word, 1 or 0",
    text: |machine| verify::text(machine, XMSS_10_256),
    example: || signer::example(XMSS_10_256),
    ..WOTS_KECCAK_128
};
