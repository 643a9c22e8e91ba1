//! Certificates of code that leaves the compiler: the gas from which on it is proved to end as its program does for all calldata, or the reason why
//! runs judge it beside the checks of its blocks. docs/certificates.md has what certificates know.

use std::path::Path;

use anyhow::{Context, Result};
use residue_ir::Program;
use residue_isa::{GasSchedule, Revision};
use residue_proof::{Certificate, Semantics, Unproved};
use serde_json::{Value, json};

use crate::output;
use crate::tables::grouped;

/// Verdict on code: its certificate, or the reason why there is none.
pub struct Proof(Result<Box<Certificate>, Unproved>);

impl Proof {
    /// Judges code by its program as it was recorded.
    pub fn of(revision: Revision, schedule: &GasSchedule, recorded: impl FnOnce() -> Program, code: &[u8]) -> Self {
        let semantics = Semantics::of(revision, schedule).map_err(Unproved::from);
        Self(semantics.and_then(|semantics| Certificate::new(&recorded(), semantics, code)).map(Box::new))
    }

    /// Writes the certificate to a file; refused where there is none.
    pub fn write(&self, name: &str, path: &Path) -> Result<()> {
        match &self.0 {
            Ok(certificate) => output::file(path, certificate.print().as_bytes()),
            Err(reason) => Err(reason.clone()).with_context(|| format!("the certificate of {name}")),
        }
    }

    /// Adds `proof`, an object with the gas and that of a turn or null, and `unproved`, the reason or null.
    pub fn add_to(&self, object: &mut Value) {
        object["proof"] = match &self.0 {
            Ok(certificate) => json!({ "gas": certificate.gas, "turn_gas": certificate.turn_gas }),
            Err(_) => Value::Null,
        };
        object["unproved"] = self.0.as_ref().err().map(Unproved::to_string).into();
    }

    /// The verdict as a line.
    pub fn describe(&self) -> String {
        match &self.0 {
            Ok(certificate) => format!("proved for all calldata, with {}", enough(certificate)),
            Err(reason) => format!("not proved whole: {reason}; blocks are checked"),
        }
    }
}

/// The gas that is enough.
pub fn enough(certificate: &Certificate) -> String {
    let gas = format!("{} gas or more", grouped(certificate.gas));
    certificate.turn_gas.map_or(gas.clone(), |turn| format!("{gas}, and {} for each turn of its loop", grouped(turn)))
}
