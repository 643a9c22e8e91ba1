//! The commands of the full program as a user calls them; those that measure are in `measurements`.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod check;
mod fixtures;
mod lab;
mod statetest;
mod usage;
mod wasm;

#[allow(dead_code, reason = "the commands of `residue` assemble, these need not")]
#[path = "../../../cli/tests/commands/support.rs"]
mod support;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_residue-full");
