//! The full program: every command of `residue`, with those that measure, search and judge, which take long to build.
//!
//! `residue` hands over to it, so its help and its messages call it `residue`. Exit codes are those of `residue`.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

mod args;
mod arranged;
mod commands;
mod recording;

use std::ffi::OsString;
use std::process::ExitCode;

use residue_command::{handover, verdict};

use args::Cli;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if handover::asks_for_one_alone(&arguments) {
        return handover::hand_over(&arguments).unwrap_or_else(|error| verdict::refused(&error));
    }
    match verdict::parsed::<Cli>() {
        Ok(parsed) => verdict::exit(commands::run(parsed)),
        Err(code) => code,
    }
}
