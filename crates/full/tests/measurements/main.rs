//! The commands that measure, as a user calls them. They take a minute, so they are not among the tests that `cargo test` runs:
//! `cargo test -p residue-full --test measurements`.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod bench;
mod measured;
mod opcodes;
mod report;

#[allow(dead_code, reason = "the commands of `residue` assemble, these need not")]
#[path = "../../../cli/tests/commands/support.rs"]
mod support;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_residue-full");
