//! Job of a memory measurement in a process of its own: one engine, one code, one input.

use residue_engine::{Engine, EngineConfig};
use residue_ir::Outcome;
use residue_isa::Revision;
use residue_wasm::{EngineKind, MAIN, Prepared};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::bench::operations::outside::engine_of;
use crate::bench::operations::{library, precompile_of};
use crate::bench::process::{SILENT, Told, peak_bytes, refused, resident_bytes};
use crate::bench::subjects::BATCHINGS;
use crate::error::LabError;

/// Executions by an engine: enough that every block that is entered in each of them has its plan.
const EXECUTIONS: usize = 8;
/// Gas that no code here uses up.
const GAS: u64 = 1 << 44;

/// Prefix of the names of the specification's layers; the revision follows.
pub(super) const SPECIFICATION: &str = "spec";

/// The output of the executable specification: of a revision, a code, its input, and so much gas.
pub type Specification = dyn Fn(Revision, &[u8], &[u8], u64) -> Result<Vec<u8>, String>;

/// Job of one process: the code of a layer on an input, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errand {
    layer: String,
    task: String,
    code: String,
    input: String,
}

impl Errand {
    /// A layer's code or module on an input; a library has none and does the task of this name.
    pub(super) fn new(layer: &str, task: &str, code: &[u8], input: &[u8]) -> Self {
        let [code, input] = [code, input].map(hex::encode);
        Self { layer: layer.to_owned(), task: task.to_owned(), code, input }
    }

    /// As one process writes it for the other.
    pub(super) fn to_json(&self) -> String {
        json!({ "errand": self }).to_string()
    }

    /// Does it, and says what it took. The specification is nothing that this crate knows.
    pub(crate) fn run(&self, specification: &Specification) -> Result<Told, LabError> {
        let [code, input] = [&self.code, &self.input].map(hex::decode);
        let wrong = |error: hex::FromHexError| refused(error.to_string());
        let (code, input) = (code.map_err(wrong)?, input.map_err(wrong)?);
        let before = resident_bytes();
        let output = hex::encode(self.output(&code, &input, specification)?);
        let (Some(before_bytes), Some(peak_bytes)) = (before, peak_bytes()) else {
            return Err(refused(SILENT.to_owned()));
        };
        Ok(Told { before_bytes, peak_bytes, output })
    }

    fn output(&self, code: &[u8], input: &[u8], specification: &Specification) -> Result<Vec<u8>, LabError> {
        let (name, kind) = self.layer.split_once(':').unwrap_or((&self.layer, ""));
        if name == SPECIFICATION {
            let revision = kind.parse().map_err(|_| refused(format!("there is no revision {kind:?}")))?;
            return specification(revision, code, input, GAS).map_err(refused);
        }
        if let Ok(revision) = name.parse::<Revision>() {
            return self.output_of_code(revision, kind, code, input);
        }
        let module = name.parse::<EngineKind>().ok().map(|engine| (engine, MAIN));
        if let Some((engine, function)) = module.or_else(|| Some((engine_of(name)?, self.task.as_str()))) {
            let wrong = |error| LabError::Module { subject: self.layer.clone(), error };
            let compiled = engine.compile(code, None).map_err(wrong)?;
            return match Prepared::instance(compiled.as_ref(), function).map_err(wrong)?.run(input).map_err(wrong)? {
                Outcome::Returned(output) => Ok(output),
                other => Err(refused(format!("{} ended with {other:?}", self.layer))),
            };
        }
        let run = match name {
            "precompile" => precompile_of(&self.task, input),
            _ => library(&self.layer, &self.task, input),
        };
        run.map(|mut run| run()).ok_or_else(|| refused(format!("{} does not compute {}", self.layer, self.task)))
    }

    fn output_of_code(&self, revision: Revision, kind: &str, code: &[u8], input: &[u8]) -> Result<Vec<u8>, LabError> {
        let found = BATCHINGS.into_iter().find(|(_, name)| *name == kind);
        let (batching, _) = found.ok_or_else(|| refused(format!("there is no engine {:?}", self.layer)))?;
        let engine = Engine::new(EngineConfig { batching, ..EngineConfig::default_for(revision) })?;
        let mut prepared = engine.prepare(code);
        for _ in 1..EXECUTIONS {
            prepared.run_without_memory(input, GAS);
        }
        let outcome = prepared.run_without_memory(input, GAS);
        match outcome.is_success() {
            true => Ok(outcome.output),
            false => Err(LabError::Halted { subject: self.layer.clone(), halt: outcome.halt }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unspecified(revision: Revision, _: &[u8], _: &[u8], _: u64) -> Result<Vec<u8>, String> {
        Err(format!("nothing is said of {revision}"))
    }

    #[test]
    fn an_errand_tells_a_peak_that_is_no_less_than_what_was_there_before() {
        // PUSH1 7 PUSH0 MSTORE PUSH1 32 PUSH0 RETURN.
        let code = [0x60, 7, 0x5f, 0x52, 0x60, 32, 0x5f, 0xf3];
        let errand = Errand::new("eip6690-2024:plain", "code", &code, &[]);
        if peak_bytes().is_none() {
            return;
        }
        let told: Told = errand.run(&unspecified).unwrap();
        assert!(told.peak_bytes >= told.before_bytes && told.before_bytes > 0);
        assert_eq!(told.output, format!("{:064x}", 7));
    }

    #[test]
    fn errands_that_make_no_sense_are_refused_by_what_is_wrong() {
        for (layer, code, message) in [
            ("eip6690-2024:fast", "", "\"eip6690-2024:fast\""),
            ("eip6690-2024:plain", "fe", "ended with invalid_instruction"),
            ("wasmi:self-contained", "00", "wasmi:self-contained"),
            ("spec:evm384-v7", "", "nothing is said of evm384-v7"),
            ("spec:evm999", "", "\"evm999\""),
            ("mcl", "", "mcl does not compute code"),
            ("blst", "zz", "Invalid character"),
        ] {
            let [layer, task, code, input] = [layer, "code", code, ""].map(str::to_owned);
            let error = Errand { layer, task, code, input }.run(&unspecified).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
