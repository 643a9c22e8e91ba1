//! The `residue` command: its own commands, and those of the full program, which it hands over.

#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::process::ExitCode;

use residue_command::args::{Cli, Listed};
use residue_command::{handover, run, verdict};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let hand_over = || handover::hand_over(&arguments).unwrap_or_else(|error| verdict::refused(&error));
    if handover::asks_for_another(&arguments) {
        return hand_over();
    }
    let Cli { command, json } = match verdict::parsed() {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    match command {
        None => verdict::exit(run(None, json)),
        Some(Listed::Own(command)) => verdict::exit(run(Some(*command), json)),
        Some(Listed::Full(_)) => hand_over(),
    }
}
