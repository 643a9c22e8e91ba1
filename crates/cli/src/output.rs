//! Output of the commands: results to stdout or to the files that options name, with errors that say which.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::builder::{PathBufValueParser, TypedValueParser};
use residue_workbench::output as written;
use serde_json::Value;

pub use residue_workbench::output::{colours_allowed, message, shows_progress};
pub use residue_workbench::report::hex;

/// The destination that an option names: a file, or stdout for `-`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Stdout, in place of what the command prints otherwise.
    Stdout,
    /// A file.
    File(PathBuf),
}

impl Target {
    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Stdout => None,
            Self::File(path) => Some(path),
        }
    }

    /// Writes text there. On stdout it is all that is printed, so there is no place for `--json`.
    pub fn write(&self, option: &str, text: &str, json: bool) -> Result<()> {
        match self {
            Self::Stdout => {
                ensure!(!json, "{option} - and --json both write to stdout: {option} takes a file beside --json");
                result(text)
            }
            Self::File(path) => file(path, text.as_bytes()),
        }
    }

    /// True for stdout.
    pub fn is_stdout(&self) -> bool {
        *self == Self::Stdout
    }
}

impl From<OsString> for Target {
    fn from(given: OsString) -> Self {
        if given == "-" { Self::Stdout } else { Self::File(given.into()) }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdout => f.write_str("-"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// An option's directory, which many files are written to: not `-`.
pub fn directory() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.as_os_str() == "-" {
        true => Err("many files have no place on stdout: it takes a directory"),
        false => Ok(path),
    })
}

/// Prints a result. A reader that has gone away is not an error.
pub fn result(text: &str) -> Result<()> {
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    bytes(format!("{text}{newline}").as_bytes())
}

/// Prints raw bytes, as [`result`] does.
pub fn bytes(bytes: &[u8]) -> Result<()> {
    written::to_stdout(bytes).context("writing to stdout")
}

/// Prints the one JSON object of a command.
pub fn json(object: &Value) -> Result<()> {
    result(&serde_json::to_string_pretty(object)?)
}

/// Writes code to a file: raw if its name ends in `.bin`, else a line of hexadecimal.
pub fn code_file(path: &Path, code: &[u8]) -> Result<()> {
    if path.extension().is_some_and(|extension| extension == "bin") {
        file(path, code)
    } else {
        file(path, format!("{}\n", hex(code)).as_bytes())
    }
}

/// Writes a file as a whole, or not at all.
pub fn file(path: &Path, content: &[u8]) -> Result<()> {
    written::file(path, content).with_context(|| format!("writing {}", path.display()))
}
