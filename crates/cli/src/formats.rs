//! The values of `--format`: a build printed, written to a file, or as a part of JSON.

use std::path::Path;

use anyhow::{Result, bail};
use clap::ValueEnum;
use residue_workbench::formats::Artifact;
use serde_json::Value;

use crate::output;

/// The values of `--format`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The code in hexadecimal.
    #[default]
    Hex,
    /// The code as raw bytes.
    Bin,
    /// In hexadecimal, code that deploys the code.
    Creation,
    /// A Yul object with the code as `verbatim`, for `solc --strict-assembly`.
    Yul,
    /// A Solidity library that calls the contract, and deploys it or knows where it is.
    Solidity,
    /// An artifact with ABI, creation code, code and source map, compact.
    Json,
}

impl Format {
    /// The ending of the names of its files.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Hex => "hex",
            Self::Bin => "bin",
            Self::Creation => "creation.hex",
            Self::Yul => "yul",
            Self::Solidity => "sol",
            Self::Json => "json",
        }
    }

    /// Prints a build.
    pub fn print(self, artifact: &Artifact<'_>) -> Result<()> {
        match self {
            Self::Hex => output::result(&output::hex(&artifact.compiled.code)),
            Self::Bin => output::bytes(&artifact.compiled.code),
            Self::Creation => output::result(&output::hex(&artifact.creation()?)),
            Self::Yul | Self::Solidity | Self::Json => output::result(&self.text(artifact)?),
        }
    }

    /// Writes it to a file. Hexadecimal becomes raw bytes where the name ends in `.bin`.
    pub fn write(self, artifact: &Artifact<'_>, path: &Path) -> Result<()> {
        match self {
            Self::Hex => output::code_file(path, &artifact.compiled.code),
            Self::Bin => output::file(path, &artifact.compiled.code),
            Self::Creation => output::code_file(path, &artifact.creation()?),
            Self::Yul | Self::Solidity | Self::Json => output::file(path, self.text(artifact)?.as_bytes()),
        }
    }

    /// It as a part of a JSON object.
    pub fn value(self, artifact: &Artifact<'_>) -> Result<Value> {
        Ok(match self {
            Self::Hex => output::hex(&artifact.compiled.code).into(),
            Self::Creation => output::hex(&artifact.creation()?).into(),
            Self::Yul | Self::Solidity => self.text(artifact)?.into(),
            Self::Json => artifact.json()?,
            Self::Bin => bail!("raw bytes have no place in JSON: --format bin and --json need --output"),
        })
    }

    fn text(self, artifact: &Artifact<'_>) -> Result<String> {
        Ok(match self {
            Self::Yul => artifact.yul(),
            Self::Solidity => artifact.solidity()?,
            _ => format!("{}\n", artifact.json()?),
        })
    }
}
