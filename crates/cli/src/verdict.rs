//! Verdict of a command on its subject, and its exit code.

use std::process::ExitCode;

use anyhow::{Error, Result};
use clap::Parser;
use residue_workbench::output;

use crate::tables::COLUMNS;

/// Verdict of a command that could be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// All is well.
    Good,
    /// The code under test reverted or halted exceptionally, or a comparison failed.
    Bad,
}

impl Verdict {
    /// Good if `is_good`.
    pub fn of(is_good: bool) -> Self {
        if is_good { Verdict::Good } else { Verdict::Bad }
    }
}

/// The command line, or the exit code where it asks for help (0) or is wrong (2), which is said.
pub fn parsed<T: Parser>() -> Result<T, ExitCode> {
    // Where COLUMNS is 0, as in terminals that do not know their width, help would have a letter a line.
    let has_no_width = std::env::var_os("COLUMNS").is_some_and(|columns| columns == "0");
    let command = if has_no_width { T::command().term_width(COLUMNS.into()) } else { T::command() };
    let parsed = command.try_get_matches().and_then(|mut matches| T::from_arg_matches_mut(&mut matches));
    parsed.map_err(|error| output::usage(&error.to_string(), error.use_stderr(), || error.print()))
}

/// 0 if all is well, 1 if not; 2, with a message, if the command could not be carried out.
pub fn exit(verdict: Result<Verdict>) -> ExitCode {
    match verdict {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::from(1),
        Err(error) => refused(&error),
    }
}

/// Says why a command could not be carried out: exit code 2.
pub fn refused(error: &Error) -> ExitCode {
    output::refused(&format!("{error:#}"))
}
