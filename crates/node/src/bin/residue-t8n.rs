//! The `residue-t8n` binary: one state transition, which `residue t8n` starts.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use residue_node::t8n::Options;
use residue_workbench::output;

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => return output::usage(&error.to_string(), error.use_stderr(), || error.print()),
    };
    match options.run() {
        Ok(()) => ExitCode::SUCCESS,
        // The command line or a file is at fault, or what comes out cannot be written.
        Err(error) => output::refused(&format!("{error:#}")),
    }
}
