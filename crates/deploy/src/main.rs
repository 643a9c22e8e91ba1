//! The `residue-deploy` binary, which `residue deploy` and `residue verify` start.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use residue_command::verdict;
use residue_deploy::{Cli, run};

fn main() -> ExitCode {
    match verdict::parsed::<Cli>() {
        Ok(cli) => verdict::exit(run(cli)),
        Err(code) => code,
    }
}
