//! blst with safe functions around it: the only place of this crate that calls foreign code.
//!
//! The twins of these routines are `residue_modular::evm384` and the precompile of revm; tests and every measurement
//! compare their answers.

pub mod field;
pub mod group;
pub mod pairing;
