//! The contracts against precompiles, blst, arkworks and what the documents say of them.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod aggregate;
mod as_precompiles;
mod bn254;
mod bn254_page;
mod decompress;
mod ecdsa;
mod ed25519;
mod eip2537_page;
mod evm384;
mod evm_page;
mod example_pages;
mod examples;
mod forks;
mod groth16;
mod groth16_page;
mod groups;
mod hash;
mod hashes;
mod inversion;
mod maps;
mod modexp;
mod modexp_page;
mod multiples;
mod outputs_page;
mod pairing;
mod pairing_witness;
mod plonk;
mod plonk_page;
mod point_evaluation;
mod points;
mod portable;
mod poseidon;
mod signatures;
mod support;
