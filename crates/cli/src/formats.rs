//! Output formats for other tools: a build as hexadecimal, raw bytes, creation code, Yul, Solidity or JSON.

pub mod functions;
mod json;
mod solidity;
mod yul;

use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use residue_compiler::{Compiled, Dialect, creation};
use residue_contracts::{Function, Source};
use residue_engine::revm::primitives::{Address, B256, keccak256};
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
}

/// A build, and what is said of it.
#[derive(Debug)]
pub struct Artifact<'a> {
    /// The contract's name, or that of a program's file.
    pub name: &'a str,
    /// The contract, if it is one of ours.
    pub contract: Option<&'a dyn Source>,
    /// The code.
    pub compiled: &'a Compiled,
    /// The gas schedule that decided between variants.
    pub schedule: &'a str,
    /// Restrictions of the code.
    pub dialect: Dialect,
    /// Address of the contract, if known.
    pub address: Option<Address>,
}

impl Artifact<'_> {
    /// Prints it.
    pub fn print(&self, format: Format) -> Result<()> {
        match format {
            Format::Hex => output::result(&output::hex(&self.compiled.code)),
            Format::Bin => output::bytes(&self.compiled.code),
            Format::Creation => output::result(&output::hex(&self.creation()?)),
            Format::Yul | Format::Solidity | Format::Json => output::result(&self.text(format)?),
        }
    }

    /// Writes it to a file. Hexadecimal becomes raw bytes where the name ends in `.bin`.
    pub fn write(&self, format: Format, path: &Path) -> Result<()> {
        match format {
            Format::Hex => output::code_file(path, &self.compiled.code),
            Format::Bin => output::file(path, &self.compiled.code),
            Format::Creation => output::code_file(path, &self.creation()?),
            Format::Yul | Format::Solidity | Format::Json => output::file(path, self.text(format)?.as_bytes()),
        }
    }

    /// It as a part of a JSON object.
    pub fn value(&self, format: Format) -> Result<Value> {
        Ok(match format {
            Format::Hex => output::hex(&self.compiled.code).into(),
            Format::Creation => output::hex(&self.creation()?).into(),
            Format::Yul | Format::Solidity => self.text(format)?.into(),
            Format::Json => json::artifact(self)?,
            Format::Bin => bail!("raw bytes have no place in JSON: --format bin and --json need --output"),
        })
    }

    fn text(&self, format: Format) -> Result<String> {
        Ok(match format {
            Format::Yul => yul::object(self),
            Format::Solidity => solidity::library(self)?,
            _ => format!("{}\n", json::artifact(self)?),
        })
    }

    /// A Solidity library of a contract that anybody may deploy to its address, with the code that does.
    pub fn package(&self) -> Result<String> {
        solidity::package(self)
    }

    fn creation(&self) -> Result<Vec<u8>> {
        creation(&self.compiled.code, self.compiled.revision, self.dialect.fork).context("making the creation code")
    }

    fn functions(&self) -> Vec<Function> {
        self.contract.map_or_else(Vec::new, Source::functions)
    }

    fn code_hash(&self) -> B256 {
        keccak256(&self.compiled.code)
    }

    /// Description and purpose of the code, a line each.
    fn about(&self) -> Vec<String> {
        let Compiled { revision, .. } = self.compiled;
        let Dialect { fork, portable, precompiles, deployment, .. } = self.dialect;
        let mut lines = vec![printable(self.name)];
        lines.extend(
            self.contract.into_iter().flat_map(|contract| [contract.summary(), contract.interface()]).map(printable),
        );
        let portable = if portable { ", portable" } else { "" };
        let precompiles = if precompiles { " and its precompiles" } else { "" };
        let deployment = deployment.map_or_else(String::new, |deployment| format!(", {} calls", deployment.calls));
        lines.push(format!(
            "Code for {revision}, hard fork {fork}{precompiles}{portable}{deployment}, gas schedule {}.",
            printable(self.schedule)
        ));
        lines
    }

    /// The name as one of Solidity: `bls12_381/pairing` is `Bls12381Pairing`.
    pub fn identifier(&self) -> String {
        let words = self.name.split(|char: char| !char.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let capital = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
        let name: String = words.map(capital).collect();
        match name.chars().next() {
            Some(first) if !first.is_ascii_digit() => name,
            _ => format!("Program{name}"),
        }
    }

    /// As SPDX has it: that of our contracts, and none that we knew for others.
    fn license(&self) -> &'static str {
        if self.contract.is_some() { "MIT OR Apache-2.0" } else { "NOASSERTION" }
    }
}

/// Text for a comment of one line.
fn printable(text: &str) -> String {
    text.chars().map(|char| if char.is_ascii_graphic() { char } else { ' ' }).collect()
}
