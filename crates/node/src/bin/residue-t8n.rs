//! The `residue-t8n` binary: one state transition, which `residue t8n` starts.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use residue_node::t8n::Options;

/// What the shell is told when the command line or a file is at fault.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    match Options::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(USAGE)
        }
    }
}
