//! `residue example`: the input that comes with a contract, and its expected output.

use anyhow::{Result, ensure};
use clap::Args;
use residue_compiler::Dialect;
use residue_contracts::Source;
use residue_engine::Fork;
use residue_workbench::{EngineKind, Job, native};
use serde_json::json;

use crate::formulas::Formulas;
use crate::options::{DEFAULT_REVISION, InterfaceRules, Rules};
use crate::output;
use crate::subject::{Chosen, KeyOptions, ProofOptions};
use crate::takers::{Kind, Reads};
use crate::verdict::Verdict;

/// Options of `example`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue example bls12_381/g1_add
  residue example bls12_381/pairing --json
  residue example groth16 --key examples/groth16/key.json")]
pub struct ExampleArgs {
    /// The contract. With --json its expected output stands beside the input.
    pub contract: String,
    /// For a verifier: its key.
    #[command(flatten)]
    pub key: KeyOptions,
    /// For a verifier: a proof, whose calldata is printed in place of the example.
    #[command(flatten)]
    pub proof: ProofOptions,
}

/// Gas that is enough for every example.
const GAS: u64 = 1 << 40;

/// Prints the input, with the expected output beside it as JSON.
pub fn example(args: &ExampleArgs, json: bool) -> Result<Verdict> {
    let kind = Kind::of(&args.contract, &args.key, Reads::Programs)?;
    ensure!(kind != Kind::Program, "{:?} is a program, which comes with no input", args.contract);
    kind.ensure_takes(&args.contract, &[&args.key.given(), &args.proof.given()])?;
    let chosen = Chosen::named(&args.contract, &args.key)?;
    let contract = chosen.source();
    let input = chosen.call(&args.proof)?.unwrap_or_else(|| contract.example());
    if !json {
        output::result(&output::hex(&input))?;
        return Ok(Verdict::Good);
    }
    let expected = expected(contract, &input)?;
    output::json(&json!({
        "contract": contract.name(),
        "interface": contract.interface(),
        "precompile": contract.precompile(),
        "input": output::hex(&input),
        "output": output::hex(&expected),
    }))?;
    Ok(Verdict::Good)
}

/// Output of the precompile that the contract replaces, or of the contract itself if there is none.
fn expected(contract: &dyn Source, input: &[u8]) -> Result<Vec<u8>> {
    if let Some(native) = native(contract, input) {
        return Ok(native?.output);
    }
    let interface = InterfaceRules { revision: DEFAULT_REVISION, schedule: None };
    let setup = Rules { interface, fork: Fork::default() }.setup(EngineKind::Batch)?;
    let code =
        Formulas::default().compile(contract, setup.revision, &setup.schedule, Dialect::default())?.compiled.code;
    let job = Job { code: &code, input, gas: GAS, timed: false, explained: false, native: None };
    let ended = setup.execute(job)?.ended;
    ensure!(ended.is_success, "{} ends its example with {}", contract.name(), ended.halt);
    Ok(ended.output)
}
