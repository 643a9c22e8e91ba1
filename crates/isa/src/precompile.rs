//! Addresses of precompiles: the last two bytes, all before them zero; and which fork brought each.

use crate::Fork;

/// The first hard fork with a precompile at `address`, and with STATICCALL and RETURNDATACOPY (EIP-214, EIP-211), by which code calls it; `None` if mainnet has
/// none there.
pub fn since(address: u16) -> Option<Fork> {
    match address {
        ECRECOVER..=BN254_PAIRING_CHECK => Some(Fork::Byzantium),
        BLAKE2F => Some(Fork::Istanbul),
        KZG_POINT_EVALUATION => Some(Fork::Cancun),
        BLS12_G1ADD..=BLS12_MAP_FP2_TO_G2 => Some(Fork::Prague),
        P256_VERIFY => Some(Fork::Osaka),
        _ => None,
    }
}

/// EIP-4844's point evaluation.
pub const KZG_POINT_EVALUATION: u16 = 0x0a;
/// EIP-2537 `BLS12_G1ADD`.
pub const BLS12_G1ADD: u16 = 0x0b;
/// EIP-2537 `BLS12_G1MSM`.
pub const BLS12_G1MSM: u16 = 0x0c;
/// EIP-2537 `BLS12_G2ADD`.
pub const BLS12_G2ADD: u16 = 0x0d;
/// EIP-2537 `BLS12_G2MSM`.
pub const BLS12_G2MSM: u16 = 0x0e;
/// EIP-2537 `BLS12_PAIRING_CHECK`.
pub const BLS12_PAIRING_CHECK: u16 = 0x0f;
/// EIP-2537 `BLS12_MAP_FP_TO_G1`.
pub const BLS12_MAP_FP_TO_G1: u16 = 0x10;
/// EIP-2537 `BLS12_MAP_FP2_TO_G2`.
pub const BLS12_MAP_FP2_TO_G2: u16 = 0x11;
/// EIP-196 addition on BN254.
pub const BN254_ADD: u16 = 0x06;
/// EIP-196 multiplication on BN254.
pub const BN254_MUL: u16 = 0x07;
/// EIP-197 pairing check on BN254.
pub const BN254_PAIRING_CHECK: u16 = 0x08;
/// EIP-198 modular exponentiation.
pub const MODEXP: u16 = 0x05;
/// ECRECOVER, Yellow Paper, appendix E.
pub const ECRECOVER: u16 = 0x01;
/// SHA-256, Yellow Paper, appendix E.
pub const SHA256: u16 = 0x02;
/// RIPEMD-160, Yellow Paper, appendix E.
pub const RIPEMD160: u16 = 0x03;
/// EIP-152's compression function of BLAKE2b.
pub const BLAKE2F: u16 = 0x09;
/// EIP-7951's verification of ECDSA on P-256.
pub const P256_VERIFY: u16 = 0x100;
