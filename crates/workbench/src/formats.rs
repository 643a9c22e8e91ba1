//! Formats for other tools: a build as creation code, Yul, Solidity or JSON, for the command line and the page.

pub mod functions;
mod json;
mod solidity;
mod yul;

use residue_compiler::{Compiled, Dialect, creation};
use residue_contracts::{Function, Source};
use residue_engine::revm::primitives::{Address, B256, address, keccak256};
use residue_isa::assembly::AssembleError;
use serde_json::Value;
use thiserror::Error;

/// The CREATE2 factory: EIP-7997, `FACTORY_ADDRESS`.
pub const FACTORY: Address = address!("4e59b44847b379578588920ca78fbf26c0b4956c");

/// Why there is no such text.
#[derive(Debug, Error)]
pub enum FormatError {
    /// The creation code cannot be assembled.
    #[error("making the creation code: {0}")]
    Creation(#[from] AssembleError),
    /// A package is of contracts whose address is known.
    #[error("a package is of contracts with an address")]
    NoAddress,
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

/// A Solidity file of a contract in linked form with its stages: packages of all, and a library that deploys them.
pub fn solidity_of_linked(main: &Artifact<'_>, stages: &[Artifact<'_>]) -> Result<String, FormatError> {
    solidity::linked(main, stages)
}

impl Artifact<'_> {
    /// A Yul object with the code as `verbatim`, for `solc --strict-assembly`.
    pub fn yul(&self) -> String {
        yul::object(self)
    }

    /// A Solidity library that calls the contract, and deploys it or knows where it is.
    pub fn solidity(&self) -> Result<String, FormatError> {
        solidity::library(self)
    }

    /// An artifact with ABI, creation code, code and source map.
    pub fn json(&self) -> Result<Value, FormatError> {
        json::artifact(self)
    }

    /// A Solidity library of a contract that anybody may deploy to its address, with the code that does.
    pub fn package(&self) -> Result<String, FormatError> {
        solidity::package(self)
    }

    /// Code that deploys the code.
    pub fn creation(&self) -> Result<Vec<u8>, FormatError> {
        Ok(creation(&self.compiled.code, self.compiled.revision, self.dialect.fork)?)
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
