//! Subject of a command: a contract, a program of the user's or the code of a file, with its calldata.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use residue_compiler::SourceMap;
use residue_contracts::linked::Part;
use residue_contracts::{CallError, Contract, KeyError, PROOF_SYSTEMS, ProofSystem, Source, Verifier, VerifierOptions};
use residue_isa::{Fork, GasSchedule, Revision};

use crate::formulas::Formulas;
use crate::options::CodeRules;
use crate::takers::{self, Kind};
use crate::{input, output, program_file};

/// The key of a contract that is made of one.
#[derive(Debug, Clone, Default, Args)]
pub struct KeyOptions {
    /// For a verifier: its verifying key, the JSON that snarkjs, gnark, ZoKrates or garaga writes.
    #[arg(long, value_name = "FILE")]
    pub key: Option<String>,
    /// With --key: a verifier that also takes a residue witness, which spares it the final exponentiation.
    #[arg(long, requires = "key")]
    pub witness: bool,
    /// With --key: take a key for which proofs can be made up too, for experiments.
    #[arg(long, requires = "key")]
    pub allow_unsafe_key: bool,
}

/// A proof for a verifier.
#[derive(Debug, Clone, Default, Args)]
pub struct ProofOptions {
    /// With --key: a proof, in JSON as the key, in place of --input; with --witness its witness too.
    #[arg(long, value_name = "FILE", requires = "key")]
    pub proof: Option<String>,
    /// With --proof: its inputs, a list of numbers in JSON, where they are not in the file of the proof.
    #[arg(long, value_name = "FILE", requires = "proof")]
    pub public: Option<String>,
}

/// A contract that commands were asked for.
#[derive(Debug, Clone)]
pub enum Chosen {
    /// One of the list.
    Listed(&'static Contract),
    /// One that a key makes.
    Keyed(Arc<dyn Verifier>),
    /// A code of one in linked form.
    Part(Arc<Part>),
}

impl KeyOptions {
    /// The options, and whether each is given.
    pub fn given(&self) -> [(&'static str, bool); 3] {
        let unsafe_key = ("--allow-unsafe-key", self.allow_unsafe_key);
        [("--key", self.key.is_some()), ("--witness", self.witness), unsafe_key]
    }
}

impl ProofOptions {
    /// The options, and whether each is given.
    pub fn given(&self) -> [(&'static str, bool); 2] {
        [("--proof", self.proof.is_some()), ("--public", self.public.is_some())]
    }
}

impl Chosen {
    /// The contract of this name, or the verifier of the proof system for its key.
    pub fn named(name: &str, options: &KeyOptions) -> Result<Self> {
        let system = PROOF_SYSTEMS.iter().find(|system| system.name.eq_ignore_ascii_case(name));
        match (system, &options.key) {
            (Some(system), Some(key)) => Ok(Self::Keyed(verifier(system, key, options)?)),
            (Some(_), None) => bail!("{name} is made of a verifying key: --key FILE"),
            (None, _) => Ok(Self::Listed(residue_contracts::named(name)?)),
        }
    }

    /// Source to compile.
    pub fn source(&self) -> &dyn Source {
        match self {
            Self::Listed(contract) => *contract,
            Self::Keyed(verifier) => &**verifier,
            Self::Part(part) => &**part,
        }
    }

    /// The calldata for the proof that was given, with its witness if the verifier takes one; `None` without a proof.
    pub fn call(&self, options: &ProofOptions) -> Result<Option<Vec<u8>>> {
        let (Self::Keyed(verifier), Some(proof)) = (self, &options.proof) else {
            return Ok(None);
        };
        let proof_text = key_text(proof, "the proof")?;
        let inputs = match &options.public {
            Some(path) => key_text(path, "the inputs")?,
            None => proof_text.clone(),
        };
        let mut calldata = verifier.call(&proof_text, &inputs).map_err(|error| match error {
            CallError::Proof(error) => anyhow!(error).context(format!("the proof in {}", input::shown(proof))),
            CallError::Inputs(error) => match &options.public {
                Some(path) => anyhow!(error).context(format!("the inputs in {}", input::shown(path))),
                None => anyhow!(error).context(format!(
                    "the inputs in {}, the file of the proof, without --public FILE",
                    input::shown(proof)
                )),
            },
        })?;
        let witness = verifier.witness_for(&calldata);
        if witness.is_none() && verifier.takes_witness() {
            output::message("note", "the proof does not hold, and so it has no witness");
        }
        calldata.extend(witness.unwrap_or_default());
        Ok(Some(calldata))
    }
}

fn verifier(system: &ProofSystem, path: &str, options: &KeyOptions) -> Result<Arc<dyn Verifier>> {
    let text = key_text(path, "the key")?;
    let wanted = VerifierOptions { takes_witness: options.witness, allows_unsafe_key: options.allow_unsafe_key };
    (system.verifier)(&text, wanted).map_err(|error| {
        let is_unsafe = matches!(error, KeyError::Unsafe { .. });
        let error = anyhow!(error);
        let error = if is_unsafe { anyhow!("{error}; --allow-unsafe-key takes it, for experiments") } else { error };
        error.context(format!("the key in {}", input::shown(path)))
    })
}

/// The text of a file of a key, a proof or inputs.
fn key_text(path: &str, what: &str) -> Result<String> {
    input::text_file(path).with_context(|| format!("reading {what}"))
}

/// Code with its calldata.
#[derive(Debug)]
pub struct Subject {
    /// The contract that the code was compiled from; none for a file.
    pub contract: Option<Chosen>,
    /// Name in messages.
    pub name: String,
    /// The code.
    pub code: Vec<u8>,
    /// Source map of the code, if it was compiled.
    pub source_map: Option<SourceMap>,
    /// The calldata.
    pub calldata: Vec<u8>,
}

impl Subject {
    /// Reads or compiles what `name` means, which is of this kind. `calldata` says what the calldata is, given the contract.
    pub fn new(
        kind: Kind,
        (name, key): (&str, &KeyOptions),
        (formulas, code_rules, fork): (&Formulas, CodeRules, Fork),
        revision: Revision,
        schedule: &GasSchedule,
        calldata: impl FnOnce(Option<&Chosen>) -> Result<Vec<u8>>,
    ) -> Result<Self> {
        let dialect = code_rules.dialect(fork);
        let contract = match kind {
            Kind::Contract | Kind::All | Kind::Verifier => Some(Chosen::named(name, key)?),
            Kind::Program | Kind::Code => None,
        };
        let (code, source_map) = match (&contract, kind) {
            (Some(contract), _) => {
                let source = contract.source();
                takers::ensure_formulas(formulas, name, |product| source.program_with(product))?;
                takers::ensure_code_rules(code_rules, name, &[revision], || source.program())?;
                let compiled = formulas.compile(source, revision, schedule, dialect)?.compiled;
                (compiled.code, Some(compiled.source_map))
            }
            (None, Kind::Code) => (input::code(name)?, None),
            (None, _) => {
                let program = program_file::read(name)?;
                takers::ensure_code_rules(code_rules, name, &[revision], || program.clone())?;
                let multiples = formulas.multiples_of_program();
                let compiled = program_file::compile(name, &program, revision, schedule, multiples, dialect)?;
                (compiled.code, Some(compiled.source_map))
            }
        };
        let calldata = calldata(contract.as_ref())?;
        Ok(Self { contract, name: name.to_owned(), code, source_map, calldata })
    }
}

/// The calldata given, else that of the proof given, else the example of the contract, else nothing.
pub fn given_or_example(given: Option<&str>, proof: &ProofOptions, contract: Option<&Chosen>) -> Result<Vec<u8>> {
    match (given, contract) {
        (Some(given), _) => input::calldata(given),
        (None, Some(contract)) => Ok(contract.call(proof)?.unwrap_or_else(|| contract.source().example())),
        (None, None) => Ok(Vec::new()),
    }
}
