//! Verifiers of Groth16 proofs (Groth 2016, 2016/260, §3.2), made of a verifying key.
//!
//! The check is e(A, B) = e(α, β)·e(IC₀ + Σ sᵢ·ICᵢ, γ)·e(C, δ) for a proof (A, B, C) and inputs sᵢ. Only A, B, C and the inputs come with a
//! call: e(α, β) is a constant, the lines of γ and δ are, and the sum is one of constant points; for few inputs e(ICᵢ, γ) are constants too, and the loop makes their
//! powers. [`json`] reads keys and proofs, [`verifier`] is the contract on each [`curve`].

pub mod curve;
mod form;
pub mod json;
pub mod key;
mod loops;
mod many;
mod safety;
pub mod verifier;

pub use curve::ProofCurve;
pub use key::{Key, Proof};
pub use verifier::Verifier;

use crate::verifier::{self as any, KeyError, ProofSystem, VerifierOptions};
use json::KeyFile;
use residue_curves::bls12_381::Bls12_381;
use residue_curves::bn254::Bn254;
use std::sync::Arc;

/// `groth16`.
pub const SYSTEM: ProofSystem = ProofSystem {
    name: "groth16",
    summary: "does a Groth16 proof hold for a key? (BN254, BLS12-381)",
    interface: "on BN254 a call of verifyProof(uint256[2],uint256[2][2],uint256[2],uint256[N]) as snarkjs encodes it, on BLS12-381 of \
                verifyProof(uint256[4],uint256[8],uint256[4],uint256[N]) with elements as in EIP-2537; returns 32 bytes, 1 or 0",
    verifier: |key, options| {
        let file = KeyFile::new(key)?;
        if file.is_of::<Bn254>()? { verifier::<Bn254>(&file, options) } else { verifier::<Bls12_381>(&file, options) }
    },
};

fn verifier<C: ProofCurve>(file: &KeyFile, options: VerifierOptions) -> Result<Arc<dyn any::Verifier>, KeyError> {
    let key = if options.allows_unsafe_key { file.any_key()? } else { file.key()? };
    Ok(Arc::new(Verifier::<C>::new(key, options.takes_witness)))
}
