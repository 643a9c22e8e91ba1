//! Verifiers of PLONK proofs on BN254 (Gabizon, Williamson and Ciobotaru 2019, 2019/953), as snarkjs makes them, for a verifying key.
//!
//! The check is e(−(W + u·W′), [x]₂)·e(ξ·W + u·ξ·ω·W′ + F − E, [1]₂) = 1. Both points of G2 are constants, and so are their lines; F and E are sums
//! of points of the key, which are constants, and of the proof. What multiplies them follows from Keccak-256 hashes of the proof by
//! arithmetic modulo the order r: [`scalars`].

pub mod key;
mod layout;
mod safety;
mod scalars;
pub mod verifier;

pub use key::{Key, Proof};
pub use verifier::Verifier;

use crate::verifier::ProofSystem;
use std::sync::Arc;

/// `plonk`.
pub const SYSTEM: ProofSystem = ProofSystem {
    name: "plonk",
    summary: "does a PLONK proof of snarkjs hold for a key? (BN254)",
    interface: "a call of verifyProof(uint256[24],uint256[N]) as snarkjs encodes it; returns 32 bytes, 1 or 0",
    verifier: |key, options| {
        let key = if options.allows_unsafe_key { key::any_key(key)? } else { key::key(key)? };
        Ok(Arc::new(Verifier::new(key, options.takes_witness)?))
    },
};
