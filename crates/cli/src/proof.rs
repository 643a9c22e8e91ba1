//! Certificates of code that leaves the compiler: the gas from which on it is proved to end as its program does for all calldata, or the reason why
//! runs judge it beside the checks of its blocks. docs/certificates.md has what certificates know.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use residue_ir::Program;
use residue_isa::Revision;
use residue_proof::{Certificate, Unproved};
use serde_json::{Value, json};

use crate::output;
use crate::tables::grouped;

/// Verdict on code.
pub enum Proof {
    /// Proved whole.
    Whole(Box<Certificate>),
    /// A construct that certificates do not know, or code that is not shown to do what its program does.
    Unproved(Unproved),
    /// Code with instructions that certificates do not know.
    Revision(Revision),
}

impl Proof {
    /// Judges code by its program as it was recorded.
    pub fn of(revision: Revision, recorded: impl FnOnce() -> Program, code: &[u8]) -> Self {
        if revision != Revision::Evm {
            return Self::Revision(revision);
        }
        match Certificate::new(&recorded(), code) {
            Ok(certificate) => Self::Whole(Box::new(certificate)),
            Err(reason) => Self::Unproved(reason),
        }
    }

    /// Writes the certificate to a file; refused where there is none.
    pub fn write(&self, name: &str, path: &Path) -> Result<()> {
        match self {
            Self::Whole(certificate) => output::file(path, certificate.print().as_bytes()),
            Self::Unproved(reason) => Err(reason.clone()).with_context(|| format!("the certificate of {name}")),
            Self::Revision(revision) => Err(anyhow!(
                "--certificate needs --revision {}: certificates know no field instructions yet, which {revision} has",
                Revision::Evm
            )),
        }
    }

    /// Adds `proof`, an object with the gas or null, and `unproved`, the reason or null.
    pub fn add_to(&self, object: &mut Value) {
        let reason = self.reason();
        object["proof"] = match self {
            Self::Whole(certificate) => json!({ "gas": certificate.gas }),
            Self::Unproved(_) | Self::Revision(_) => Value::Null,
        };
        object["unproved"] = reason.into();
    }

    /// The verdict as a line.
    pub fn describe(&self) -> String {
        match (self, self.reason()) {
            (Self::Whole(certificate), _) => {
                format!("proved for all calldata, with {} gas or more", grouped(certificate.gas))
            }
            (_, reason) => format!("not proved whole: {}; blocks are checked", reason.unwrap_or_default()),
        }
    }

    fn reason(&self) -> Option<String> {
        match self {
            Self::Whole(_) => None,
            Self::Unproved(reason) => Some(reason.to_string()),
            Self::Revision(revision) => {
                Some(format!("certificates know no field instructions yet, which {revision} has"))
            }
        }
    }
}
