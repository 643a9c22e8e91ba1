//! Falcon-512, and with Keccak-256 in place of SHAKE-256, which EIP-8052 calls the variant with a PRNG from Keccak, and others ETHFALCON.
//!
//! Specification of Falcon of 2020, §3.7, §3.10 and algorithm 16; hash to point of the variant is that of EIP-8052. A polynomial is held backwards, as x⁵¹¹·f(1/x), so that bytes of
//! signatures and hashes need no reversal: the product of s₂ so with h(1/x) is that of s₂ with h. Keys have h(1/x)/64 transformed: of each of 64
//! residues modulo x⁸ − ζ the coefficients, that of x⁷ first, in 4 bytes each. They are made by [`REGISTER`] and named by their hash.

mod register;
mod slots;
mod verify;

pub mod signer;

use crate::Contract;
use crate::ntt::residues::WORDS;
use num_bigint::BigUint;

/// Coefficients of a polynomial.
pub const DEGREE: usize = 512;
/// q.
pub const MODULUS: u64 = 12_289;
/// ⌊β²⌋, the largest norm of a signature. Falcon's specification, table 3.3, and algorithm 16, line 6.
pub const NORM_MAX: u64 = 34_034_726;
/// Bytes of a salt.
pub const SALT_BYTES: usize = 40;
/// Bytes of s₂: those of a signature of 666 without its header and salt.
pub const S2_BYTES: usize = 625;
/// Bytes of s₂ as numbers: two for each coefficient.
pub const S2_NUMBERS_BYTES: usize = 2 * DEGREE;
/// Bytes of a key as it is published, without its header.
pub const KEY_BYTES: usize = 896;
/// Bytes of a transformed key.
pub const TRANSFORMED_BYTES: usize = 2_048;

/// Lanes of a word.
const LANES: usize = 8;
/// Bits of a lane.
const LANE_BITS: u32 = 32;

/// Hash to point: 512 numbers of 16 bits that are below 5·q, of those that come of a salt and a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hash {
    /// Keccak-256 of message, salt and of counts. EIP-8052.
    Keccak,
    /// SHAKE-256 of salt and message. Falcon's specification, algorithm 3.
    Shake,
}

/// Encoding of s₂ in calldata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    /// That of signatures. Falcon's specification, algorithm 17.
    Compressed,
    /// Its coefficients modulo q, big-endian, that of 1 first.
    Numbers,
}

impl Encoding {
    const fn size_bytes(self) -> usize {
        match self {
            Self::Compressed => S2_BYTES,
            Self::Numbers => S2_NUMBERS_BYTES,
        }
    }
}

/// `falcon512/eth`.
pub const ETH: Contract = Contract {
    name: "falcon512/eth",
    summary: "is this a signature of Falcon-512 with hash to point by Keccak-256?",
    interface: "hash of the transformed key (32 bytes), transformed key (2048), message (any length), salt (40), s2 (625); returns a word, 1 or 0",
    field: || BigUint::from(3u8),
    text: |machine| verify::text(machine, Hash::Keccak, Encoding::Compressed),
    precompile: None,
    example: || signer::Signed::example(Hash::Keccak).calldata(),
};

/// `falcon512/eth_numbers`.
pub const ETH_NUMBERS: Contract = Contract {
    name: "falcon512/eth_numbers",
    summary: "is this a signature of Falcon-512 with hash to point by Keccak-256, and s2 as numbers?",
    interface: "hash of the transformed key (32 bytes), transformed key (2048), message (any length), salt (40), 2 bytes for each of 512 coefficients of s2 modulo 12289, that of 1 first; returns a word, 1 or 0",
    text: |machine| verify::text(machine, Hash::Keccak, Encoding::Numbers),
    example: || signer::Signed::example(Hash::Keccak).calldata_of_numbers(),
    ..ETH
};

/// `falcon512/shake`.
pub const SHAKE: Contract = Contract {
    name: "falcon512/shake",
    summary: "is this a signature of Falcon-512?",
    interface: "hash of the transformed key (32 bytes), transformed key (2048), salt (40), message (any length), s2 (625); returns a word, 1 or 0",
    text: |machine| verify::text(machine, Hash::Shake, Encoding::Compressed),
    example: || signer::Signed::example(Hash::Shake).calldata(),
    ..ETH
};

/// `falcon512/eth_register`.
pub const REGISTER: Contract = Contract {
    name: "falcon512/eth_register",
    summary: "a public key of Falcon-512 as falcon512/eth takes it",
    interface: "512 numbers of 14 bits, the key without its header (896 bytes); returns the transformed key (2048)",
    text: |machine| register::text(machine),
    example: || signer::packed_key(&signer::Signed::example(Hash::Keccak).key),
    ..ETH
};

fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("words and bytes are few")
}

/// A number below q, as steps of lanes have it.
fn residue(number: u64) -> u32 {
    u32::try_from(number % MODULUS).expect("it is below q")
}
