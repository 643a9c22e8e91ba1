//! ML-DSA (FIPS 204), and with Keccak-256 in place of SHAKE, which EIP-8051 calls ML-DSA-ETH.
//!
//! Keys are transformed: of the matrix Â and of −t₁·2ᵈ, both divided by 64, the residues modulo x⁴ − ζ for each of 64 ζ, and tr, the hash of the published
//! key. A transformed key is made by `register` and named by its hash. A residue is a word of four numbers of 64 bits, that of 1 the lowest. Those of row i
//! are Âᵢ₀ … and −t₁ᵢ·2ᵈ; of two polynomials that follow each other the numbers stand side by side in 32 bits each, the first one in the lower half.

mod register;
mod verify;

pub mod signer;

use crate::Contract;
use num_bigint::BigUint;

/// q.
pub const MODULUS: u64 = 8_380_417;
/// Coefficients of a polynomial.
pub const DEGREE: usize = 256;
/// d: low bits of t that a published key is without.
pub const DROPPED_BITS: u32 = 13;

/// A set of parameters. FIPS 204, §4, tables 1 and 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheme {
    /// k, rows of the matrix.
    pub rows: usize,
    /// ℓ, columns.
    pub columns: usize,
    /// 1 + log₂ γ₁: bits of a coefficient of z.
    pub mask_bits: u32,
    /// γ₂.
    pub low_range: u64,
    /// τ, coefficients of c that are not 0.
    pub weight: usize,
    /// β = τ·η.
    pub slack: u64,
    /// η, the greatest coefficient of secrets.
    pub secret_max: u64,
    /// ω, hints at most.
    pub hints_max: usize,
    /// λ / 4, bytes of c̃.
    pub challenge_bytes: usize,
}

/// ML-DSA-44.
pub const ML_DSA_44: Scheme = Scheme {
    rows: 4,
    columns: 4,
    mask_bits: 18,
    low_range: (MODULUS - 1) / 88,
    weight: 39,
    slack: 78,
    secret_max: 2,
    hints_max: 80,
    challenge_bytes: 32,
};

/// ML-DSA-65.
pub const ML_DSA_65: Scheme = Scheme {
    rows: 6,
    columns: 5,
    mask_bits: 20,
    low_range: (MODULUS - 1) / 32,
    weight: 49,
    slack: 196,
    secret_max: 4,
    hints_max: 55,
    challenge_bytes: 48,
};

impl Scheme {
    /// γ₁.
    pub const fn mask_range(self) -> u64 {
        1 << (self.mask_bits - 1)
    }

    /// Bits of a coefficient of w₁: of numbers below (q − 1) / 2γ₂.
    pub const fn high_bits(self) -> u32 {
        ((MODULUS - 1) / (2 * self.low_range) - 1).ilog2() + 1
    }

    /// Bytes of z and of one of its polynomials.
    pub const fn polynomial_bytes(self) -> usize {
        DEGREE / 8 * self.mask_bits as usize // u32 to usize widens
    }

    /// Bytes of hints: their places, and a count for each row.
    pub const fn hint_bytes(self) -> usize {
        self.hints_max + self.rows
    }

    /// Bytes of a signature.
    pub const fn signature_bytes(self) -> usize {
        self.challenge_bytes + self.columns * self.polynomial_bytes() + self.hint_bytes()
    }

    /// Bytes of a key as it is published: ρ and t₁.
    pub const fn key_bytes(self) -> usize {
        32 + self.rows * DEGREE * 10 / 8
    }

    /// Bytes of a transformed key.
    pub const fn transformed_bytes(self) -> usize {
        4 * DEGREE * self.rows * (self.columns + 1) + TR_BYTES
    }
}

/// Bytes of tr.
pub const TR_BYTES: usize = 64;

/// Functions that have output of any length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hash {
    /// Keccak-256 of the input, and then of that hash with a count of 8 bytes, from 0 on: EIP-8051's Keccak-PRNG.
    Keccak,
    /// SHAKE256, and SHAKE128 for the matrix. FIPS 204, §3.7.
    Shake,
}

/// `mldsa44/eth`.
pub const ETH_44: Contract = Contract {
    name: "mldsa44/eth",
    summary: "is this a signature of ML-DSA-44 with Keccak-256 in place of SHAKE?",
    interface: "hash of the transformed key (32 bytes), transformed key (20544), 0 (1), bytes of the context (1), context, message (any length), signature (2420); returns a word, 1 or 0",
    field: || ML_DSA_44.lane_modulus(),
    text: |machine| verify::text(machine, ML_DSA_44, Hash::Keccak),
    precompile: None,
    example: || signer::Signed::example(ML_DSA_44, Hash::Keccak).calldata(),
};

/// `mldsa44/fips`.
pub const FIPS_44: Contract = Contract {
    name: "mldsa44/fips",
    summary: "is this a signature of ML-DSA-44?",
    text: |machine| verify::text(machine, ML_DSA_44, Hash::Shake),
    example: || signer::Signed::example(ML_DSA_44, Hash::Shake).calldata(),
    ..ETH_44
};

/// `mldsa65/fips`.
pub const FIPS_65: Contract = Contract {
    name: "mldsa65/fips",
    summary: "is this a signature of ML-DSA-65?",
    field: || ML_DSA_65.lane_modulus(),
    interface: "hash of the transformed key (32 bytes), transformed key (36928), 0 (1), bytes of the context (1), context, message (any length), signature (3309); returns a word, 1 or 0",
    text: |machine| verify::text(machine, ML_DSA_65, Hash::Shake),
    example: || signer::Signed::example(ML_DSA_65, Hash::Shake).calldata(),
    ..ETH_44
};

/// `mldsa44/eth_register`.
pub const ETH_REGISTER_44: Contract = Contract {
    name: "mldsa44/eth_register",
    summary: "a public key of ML-DSA-44 as mldsa44/eth takes it",
    interface: "rho and t1, the public key (1312 bytes); returns the transformed key (20544)",
    field: || BigUint::from(3u8),
    text: |machine| register::text(machine, ML_DSA_44, Hash::Keccak),
    example: || signer::Signed::example(ML_DSA_44, Hash::Keccak).key,
    ..ETH_44
};

/// `mldsa44/register`.
pub const REGISTER_44: Contract = Contract {
    name: "mldsa44/register",
    summary: "a public key of ML-DSA-44 as mldsa44/fips takes it",
    text: |machine| register::text(machine, ML_DSA_44, Hash::Shake),
    example: || signer::Signed::example(ML_DSA_44, Hash::Shake).key,
    ..ETH_REGISTER_44
};

/// `mldsa65/register`.
pub const REGISTER_65: Contract = Contract {
    name: "mldsa65/register",
    summary: "a public key of ML-DSA-65 as mldsa65/fips takes it",
    interface: "rho and t1, the public key (1952 bytes); returns the transformed key (36928)",
    text: |machine| register::text(machine, ML_DSA_65, Hash::Shake),
    example: || signer::Signed::example(ML_DSA_65, Hash::Shake).key,
    ..ETH_REGISTER_44
};

/// A number of bytes or words, or a place in scratch memory.
fn narrow(number: u64) -> u32 {
    u32::try_from(number).expect("words and bytes are few")
}
