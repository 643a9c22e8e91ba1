//! The bytes that code may have: what `--code-limit` refuses, and what is said of code that accounts of the fork do not hold.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Result, anyhow};
use residue_engine::{Fork, accounts};
use residue_workbench::{Trial, report};

use crate::tables::grouped;
use crate::{input, output};

/// The value of `--code-limit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeLimit {
    /// Limit of the hard fork's accounts.
    Fork,
    /// So many bytes.
    Bytes(usize),
}

/// Code that is longer than was asked for.
#[derive(Debug)]
pub struct TooLong(String);

impl CodeLimit {
    /// The limit in bytes, and its name in messages.
    fn of(self, fork: Fork) -> Result<(usize, String)> {
        match self {
            Self::Bytes(bytes) => Ok((bytes, format!("--code-limit {bytes}"))),
            Self::Fork => {
                let bytes = accounts::code_bytes_max(fork).with_context(|| {
                    format!(
                        "--code-limit fork: accounts of {fork} hold code of any length; --code-limit BYTES names one"
                    )
                })?;
                let eip = accounts::code_limit_eip(fork);
                Ok((bytes, format!("--code-limit fork, which is {bytes} bytes (EIP-{eip}, {fork})")))
            }
        }
    }

    /// Refuses code of so many bytes if that is too many.
    pub fn ensure(self, fork: Fork, name: &str, bytes: usize) -> Result<()> {
        let (limit, called) = self.of(fork)?;
        match bytes <= limit {
            true => Ok(()),
            false => Err(anyhow!(TooLong(format!("{name} has {bytes} bytes of code, more than {called}")))),
        }
    }

    /// Moves the first variant that is short enough to the front: the cheapest of those, as they come by gas. Refused with the length
    /// of the shortest if there is none.
    pub fn choose(self, fork: Fork, name: &str, trials: &mut [Trial]) -> Result<()> {
        let (limit, _) = self.of(fork)?;
        match trials.iter().position(|trial| trial.compiled.code.len() <= limit) {
            Some(place) => trials[..=place].rotate_right(1),
            None => {
                let shortest = trials.iter().map(|trial| trial.compiled.code.len()).min();
                self.ensure(fork, name, shortest.expect("there is a variant at least"))?;
            }
        }
        Ok(())
    }
}

impl FromStr for CodeLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("fork") {
            return Ok(Self::Fork);
        }
        let bytes = input::number(text).map_err(|error| format!("{error}; a number of bytes or fork is asked for"))?;
        Ok(Self::Bytes(usize::try_from(bytes).unwrap_or(usize::MAX)))
    }
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TooLong {}

/// Says of code that accounts of the fork do not hold how long it is, and what it would cost there.
pub fn note(fork: Fork, name: &str, bytes: usize) {
    let Some(bytes_max) = accounts::code_bytes_max(fork).filter(|_| !report::fits(bytes, fork)) else { return };
    let (eip, price) = (accounts::code_limit_eip(fork), accounts::gas_per_code_byte(fork));
    let gas = grouped(report::deployment_gas(bytes, fork));
    output::message(
        "note",
        &format!(
            "{name} has {bytes} bytes of code; an account of {fork} holds {bytes_max} (EIP-{eip}), and would take {gas} gas for it at {price} a byte"
        ),
    );
}
