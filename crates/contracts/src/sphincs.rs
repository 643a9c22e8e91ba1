//! The C sets of SPHINCS-: WOTS+C and FORS+C with Keccak-256 and the 32-byte addresses of FIPS 205, §4.2.
//!
//! WOTS+C and FORS+C: Hülsing, Kudinov, Ronen and Yogev 2023, "SPHINCS+C: compressing SPHINCS+ with (almost) no cost", §4 and §5: the signer searches
//! counts until the last FORS index is 0 and the digits of a node have one sum, so neither the last tree's path nor checksum chains are there.
//! The sets and their encoding are those of the repository nconsigny/SPHINCS-: inputs of Keccak-256 are words, the seed, an address, then nodes in the high
//! halves; FORS indices are taken from the lowest bits of the digest up.

mod verify;

pub mod signer;

use crate::Contract;
use crate::hash_based::{Form, N};
use num_bigint::BigUint;
use signer::Known;

/// Chains of a one-time signature: digits to the base 8 of 128 bits. There are no others, as their sum is fixed.
pub const CHAINS: u64 = 43;
/// Bytes of a seed, a root and a message before the signature.
pub const HEAD_BYTES: u64 = 64;
/// Bytes of the count that makes the sum of a node's digits.
const COUNT_BYTES: u64 = 4;

/// A set of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Set {
    /// Levels of all trees above FORS, h.
    pub height: u64,
    /// Layers of trees, d.
    pub layers: u64,
    /// Levels of a FORS tree, a.
    pub fors_height: u64,
    /// FORS trees, k.
    pub fors_trees: u64,
    /// The sum of a node's digits.
    pub digit_sum: u64,
}

/// C13.
pub const C13_SET: Set = Set { height: 22, layers: 2, fors_height: 19, fors_trees: 7, digit_sum: 208 };
/// C7.
pub const C7_SET: Set = Set { height: 24, layers: 2, fors_height: 16, fors_trees: 8, digit_sum: 151 };
/// C11.
pub const C11_SET: Set = Set { height: 16, layers: 2, fors_height: 11, fors_trees: 13, digit_sum: 203 };

impl Set {
    /// Levels of a tree.
    pub const fn tree_height(self) -> u64 {
        self.height / self.layers
    }

    /// Bytes of the signature before the first layer: R, secrets and paths of all FORS trees but the last.
    pub const fn fors_bytes(self) -> u64 {
        N * (1 + self.fors_trees + self.fors_height * (self.fors_trees - 1))
    }

    /// Bytes of a layer: chains, a count, a path.
    pub const fn layer_bytes(self) -> u64 {
        N * CHAINS + COUNT_BYTES + N * self.tree_height()
    }

    /// Bytes of a signature.
    pub const fn signature_bytes(self) -> u64 {
        self.fors_bytes() + self.layers * self.layer_bytes()
    }
}

/// `sphincs/c13`.
pub const C13: Contract = Contract {
    name: "sphincs/c13",
    summary: "is this a signature of SPHINCS- with the set C13?",
    interface: "seed (16 bytes), root (16), message (32), signature (3688); returns a word, 1 or 0",
    field: || BigUint::from(3u8),
    text: |machine| verify::text(machine, C13_SET, Form::Unrolled),
    precompile: None,
    example: || signer::example(C13_SET, &C13_KNOWN),
};

/// `sphincs/c13_rolled`.
pub const C13_ROLLED: Contract = Contract {
    name: "sphincs/c13_rolled",
    summary: "the same in less than 4 KB of code",
    text: |machine| verify::text(machine, C13_SET, Form::Rolled),
    ..C13
};

/// `sphincs/c7`.
pub const C7: Contract = Contract {
    name: "sphincs/c7",
    summary: "is this a signature of SPHINCS- with the set C7?",
    interface: "seed (16 bytes), root (16), message (32), signature (3704); returns a word, 1 or 0",
    text: |machine| verify::text(machine, C7_SET, Form::Unrolled),
    example: || signer::example(C7_SET, &C7_KNOWN),
    ..C13
};

/// `sphincs/c11`.
pub const C11: Contract = Contract {
    name: "sphincs/c11",
    summary: "is this a signature of SPHINCS- with the set C11?",
    interface: "seed (16 bytes), root (16), message (32), signature (3976); returns a word, 1 or 0",
    text: |machine| verify::text(machine, C11_SET, Form::Unrolled),
    example: || signer::example(C11_SET, &C11_KNOWN),
    ..C13
};

/// Made by [`signer::Signer::new`], as a test does again.
const C13_KNOWN: Known = Known {
    root: "f354ca9a4d62bfeb7fbe5dc3dab9f196",
    path: "d278e99020d994b3f4865f924fb5a6318d6f8298aab4fe123dd72d525d7c955e0640bad0e988f9b8240d0ce0e3191efa\
        0803b341b8835b6ebb64a9b677df93ce53a6c2c14d6a9b36fa2dd0691a74d0c76a6de23c75f64b1bafc631e2f2d582d8\
        964a3b4e255a2885e3e53c184ccba8334d381c0c6165262daf585716cbbcbf17aa0a38e7e6bbd1bc7b56de1468b5ca3a\
        70ccba95d6f13c24535116bc20b9095350592f3f1556cf318ac0a50c45ac0c0e",
    r: 1_250_026,
    counts: [58_841, 48_277],
};

/// Made by [`signer::Signer::new`], as a test does again.
const C7_KNOWN: Known = Known {
    root: "d221a343a17cc4ab27bbf89c4a708d13",
    path: "44901728612faccedd7a9c718328e1441f2b8c9c4042290f3844b3d7f278fd5edd8b02416647c805266386b1f21cd4e1\
        0c92e54d6aafdc9682098352e39f68e9ad17a8dbaf5619f8c08f34bf402608883a33c261f8c3119f06b7b3f68cb232ec\
        e25f5a3323d0194d38c189f95ab45d850e4f09c08f9636b6bf50d3f5fff2b1127f2d064fe947604bcc3064c0ccdcfb38\
        8cff1b37d20afcb3ef3aff562c6029aaefbb93ebe70878490ff17e56a12d3f64f354ca9a4d62bfeb7fbe5dc3dab9f196",
    r: 145_085,
    counts: [30, 23],
};

/// Made by [`signer::Signer::new`], as a test does again.
const C11_KNOWN: Known = Known {
    root: "7eee074ab7b1f9f6b6c3f5ecba0f99c2",
    path: "e0bec89f73aa8b0e4528cbbf1e1c081c7616cd84fbfb7893800fe8dbe4ab0097b692e178df2df53fd96afd4977072159\
        1f693bc267793ceb289a93c04166347358a04d211a40c15e5cae7038ba20af3e64ec3fbb2b1544d216d05f7ce94c6d9e\
        315af2baa536ee3824c17ee2d07366f15680f97ff1b94380ce3c10728201dbab",
    r: 595,
    counts: [191, 9_301],
};

/// The key that a contract's example is made with.
pub fn example_signer(set: Set) -> signer::Signer {
    let known = match set {
        C13_SET => &C13_KNOWN,
        C7_SET => &C7_KNOWN,
        _ => &C11_KNOWN,
    };
    signer::Signer::known(set, known)
}
