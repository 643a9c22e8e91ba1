//! The commands as a user calls them.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod choices;
mod compare;
mod deployable;
mod dialects;
mod flags;
mod formats;
mod formulas;
mod fractional;
mod fronts;
mod gas;
mod handover;
mod inputs;
mod interfaces;
mod main_job;
mod names;
mod outputs;
mod program;
mod proofs;
mod raw_code;
mod run;
mod support;
mod text;
mod trace_profile;
mod usage;
mod verifiers;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_residue");
