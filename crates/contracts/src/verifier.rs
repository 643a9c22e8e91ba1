//! Contracts that are made of a verifying key: what proof systems they are for, and what a call of them takes.

use crate::groth16::{self, KeyError};
use crate::plonk;
use crate::source::Source;
use std::sync::Arc;

/// A verifier of the proofs of one key.
pub trait Verifier: Source {
    /// The calldata for a proof and its inputs, in the JSON of snarkjs or of gnark. Whether the proof holds is not asked.
    fn call(&self, proof: &str, inputs: &str) -> Result<Vec<u8>, KeyError>;

    /// Whether it takes a residue witness.
    fn takes_witness(&self) -> bool;

    /// What calldata goes on with in a call that has a residue witness; `None` if the proof does not hold or the verifier takes none.
    fn witness_for(&self, calldata: &[u8]) -> Option<Vec<u8>>;
}

/// A proof system with verifiers.
#[derive(Debug, Clone, Copy)]
pub struct ProofSystem {
    /// Its name, as commands take it.
    pub name: &'static str,
    /// One line: what its verifiers compute.
    pub summary: &'static str,
    /// What they take as calldata and what they return.
    pub interface: &'static str,
    /// Makes one of a key in JSON; the flag says whether it takes a residue witness.
    pub verifier: fn(&str, bool) -> Made,
}

/// A verifier, or what is wrong with its key.
pub type Made = Result<Arc<dyn Verifier>, KeyError>;

/// Every proof system. A static, as [`crate::CONTRACTS`] is.
pub static PROOF_SYSTEMS: &[ProofSystem] = &[groth16::SYSTEM, plonk::SYSTEM];
