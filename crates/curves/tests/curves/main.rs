//! Curves against blst, arkworks and their published counts.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]
#![allow(clippy::duplicate_mod, reason = "towers are tested once more on numbers that ask for sums")]

mod bls12_377;
mod bn254;
mod bw6_761;
mod counts;
mod groups;
mod in_sums;
mod judges;
mod maps;
mod pairing;
mod recorded;
mod tower;
mod towers;
mod weierstrass;
