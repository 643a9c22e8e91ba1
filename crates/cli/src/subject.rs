//! What a command runs: a contract, a program of the user's or the code of a file, with its calldata.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use residue_compiler::{Dialect, SourceMap};
use residue_contracts::Contract;
use residue_isa::{GasSchedule, Revision};

use crate::formulas::Formulas;
use crate::{input, program_file};

/// Code with its calldata.
#[derive(Debug)]
pub struct Subject {
    /// The contract that the code was compiled from; none for a file.
    pub contract: Option<&'static Contract>,
    /// What messages call it.
    pub name: String,
    /// The code.
    pub code: Vec<u8>,
    /// Where the code comes from, if it was compiled.
    pub source_map: Option<SourceMap>,
    /// The calldata.
    pub calldata: Vec<u8>,
}

impl Subject {
    /// Reads or compiles what `name` means: a file, which is a program if it ends in `.ir`, or a contract if there is no such file. `calldata` says what the calldata
    /// is, given the contract.
    pub fn new(
        name: &str,
        (formulas, dialect): (&Formulas, Dialect),
        revision: Revision,
        schedule: &GasSchedule,
        calldata: impl FnOnce(Option<&'static Contract>) -> Result<Vec<u8>>,
    ) -> Result<Self> {
        let contract = residue_contracts::find(name).filter(|_| !Path::new(name).exists());
        let (code, source_map) = match contract {
            Some(contract) => {
                let compiled = formulas.compile(contract, revision, schedule, dialect)?.compiled;
                (compiled.code, Some(compiled.source_map))
            }
            None if formulas.f2mul.is_some() => bail!("--f2mul needs a contract, and {name:?} is none"),
            None if program_file::is_program(name) => {
                let multiples = formulas.multiples_of_program();
                let compiled = program_file::compile(name, revision, schedule, multiples, dialect)?;
                (compiled.code, Some(compiled.source_map))
            }
            None if formulas.multiples.is_some() => {
                bail!("--multiples needs a contract or a program, and {name:?} is code")
            }
            None => (code(name)?, None),
        };
        Ok(Self { contract, name: name.to_owned(), code, source_map, calldata: calldata(contract)? })
    }
}

/// The calldata given, else the example of the contract, else nothing.
pub fn given_or_example(given: Option<&str>, contract: Option<&Contract>) -> Result<Vec<u8>> {
    match (given, contract) {
        (Some(given), _) => input::calldata(given),
        (None, Some(contract)) => Ok((contract.example)()),
        (None, None) => Ok(Vec::new()),
    }
}

/// The contract of this name.
pub fn contract_named(name: &str) -> Result<&'static Contract> {
    residue_contracts::find(name)
        .ok_or_else(|| anyhow!("{name:?} is no contract; `residue list contracts` has those there are"))
}

fn code(path: &str) -> Result<Vec<u8>> {
    if path != "-" && !Path::new(path).exists() {
        bail!("{path:?} is neither a file nor a contract; `residue list contracts` has those there are");
    }
    input::code(path)
}
