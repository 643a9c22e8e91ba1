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
mod example_pages;
mod examples;
mod forks;
mod groups;
mod hash;
mod hashes;
mod inversion;
mod maps;
mod modexp;
mod multiples;
mod outputs_page;
mod pairing;
mod pairing_witness;
mod point_evaluation;
mod points;
mod portable;
mod poseidon;
mod signatures;
mod support;
