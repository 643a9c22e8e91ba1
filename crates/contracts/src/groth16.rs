//! Verifiers of Groth16 proofs (Groth 2016, 2016/260, §3.2), made of a verifying key.
//!
//! The check is e(A, B) = e(α, β)·e(IC₀ + Σ sᵢ·ICᵢ, γ)·e(C, δ) for a proof (A, B, C) and inputs sᵢ. Only A, B, C and the inputs come with a
//! call: e(α, β) is a constant, the lines of γ and δ are, and the sum is one of constant points. [`key`] reads keys and proofs.

pub mod bn254;
pub mod json;
pub mod key;

pub use key::{Key, KeyError, Proof};

use crate::verifier::ProofSystem;
use std::sync::Arc;

/// `groth16`.
pub const SYSTEM: ProofSystem = ProofSystem {
    name: "groth16",
    summary: "does a Groth16 proof hold for a key? (BN254)",
    interface: "a call of verifyProof(uint256[2],uint256[2][2],uint256[2],uint256[N]) as snarkjs encodes it; returns 32 bytes, 1 or 0",
    verifier: |key, takes_witness| Ok(Arc::new(bn254::Verifier::new(bn254::key(key)?, takes_witness))),
};
