//! The `residue` command: reads the command line, runs one command, turns its result into an exit code.
//!
//! Exit code 0: done; 1: the code under test reverted or halted exceptionally, or a comparison failed; 2: bad usage or
//! input. Results go to stdout, messages to stderr.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

mod args;
mod commands;
mod formats;
mod formulas;
mod input;
mod options;
mod output;
mod program_file;
mod recording;
mod report;
mod subject;
mod tables;
mod verdict;

use std::process::ExitCode;

use clap::Parser;

use args::Cli;
use verdict::Verdict;

fn main() -> ExitCode {
    // Bad usage ends here with exit code 2, help with 0.
    let cli = Cli::parse();
    match commands::run(cli) {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::from(1),
        Err(error) => {
            output::message("error", &format!("{error:#}"));
            ExitCode::from(2)
        }
    }
}
