//! Contracts: field programs that take calldata and return bytes, one file each.
//!
//! [`CONTRACTS`] lists them by name. A contract is a program; the compiler makes code of it for any revision that can
//! express it.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

pub mod bls12_381;

use residue_engine::Fork;
use residue_engine::native;
use residue_ir::Program;

/// A contract of ours.
#[derive(Debug, Clone, Copy)]
pub struct Contract {
    /// Its name, as commands take it.
    pub name: &'static str,
    /// One line: what it computes.
    pub summary: &'static str,
    /// What it takes as calldata and what it returns.
    pub interface: &'static str,
    /// Its program, recorded anew.
    pub program: fn() -> Program,
    /// The precompile that it replaces byte for byte.
    pub precompile: Option<u16>,
    /// An input to try it with, and to measure.
    pub example: fn() -> Vec<u8>,
}

/// Every contract.
pub const CONTRACTS: &[Contract] = &[bls12_381::pairing::CONTRACT, bls12_381::fp2_mul::CONTRACT];

/// The contract named `name`.
pub fn find(name: &str) -> Option<&'static Contract> {
    CONTRACTS.iter().find(|contract| contract.name == name)
}

impl Contract {
    /// What the precompile that this contract replaces makes of `input`: its output, or nothing where it fails.
    /// `None` if the contract replaces no precompile.
    pub fn native(&self, input: &[u8]) -> Option<Result<native::NativeOutput, native::NativeError>> {
        self.precompile.map(|address| native::precompile(Fork::default(), address, input, u64::MAX))
    }
}
