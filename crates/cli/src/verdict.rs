//! What a command says of what it was asked about, and the exit code that it becomes.

use std::process::ExitCode;

use anyhow::{Error, Result};

use crate::output;

/// How a command ended that could be carried out.
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
    output::message("error", &format!("{error:#}"));
    ExitCode::from(2)
}
