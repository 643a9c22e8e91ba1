//! Properties across crates: the engine and the compiler against the specification, and the house against its rules.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod compiled_programs;
mod contracts_on_spec;
mod differential;
mod documents;
mod gallery;
mod hash_to_curve;
mod layers;
mod memory_of_parts;
mod modexp;
mod point_evaluation;
mod post_quantum;
mod signatures;
mod spilling;
mod style;
mod vectors;
mod verifiers;
