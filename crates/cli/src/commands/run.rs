//! `residue run`: code from a file or a contract, in a frame of its own.

mod linked;

use anyhow::{Result, bail, ensure};
use clap::Args;
use residue_contracts::CONTRACTS;
use residue_engine::Replacement;
use residue_isa::Family;
use residue_workbench::Machine;
use residue_workbench::{EngineKind, Job, Setup};

use crate::formulas::{Formulas, is_inexpressible};
use crate::input::MemoryRange;
use crate::options::{CodeRules, Rules, engine_kinds};
use crate::subject::{KeyOptions, ProofOptions, Subject};
use crate::takers::{self, Kind, Reads};
use crate::verdict::Verdict;
use crate::{input, output, report};

/// Options of `run`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  echo 0x600660070260005260206000f3 | residue run - --no-time
  residue run bls12_381/fp2_mul --example --revision evm384-v7 --json
  residue run bls12_381/fp2_mul --example --as-precompiles --no-time
  residue run modexp/words --linked --example --no-time
  residue run examples/ir/polynomial.ir --input @examples/ir/polynomial.hex --no-time
  residue run groth16 --key examples/groth16/key.json --example --no-time
  echo 'PUSH 7 PUSH 0 MSTORE STOP' | residue asm - | residue run - --gas 10000 --memory 0:32")]
pub struct RunArgs {
    /// File with the code: hexadecimal text, or raw bytes if the name ends in .bin; - for standard input; a program if the name ends in .ir;
    /// or a contract, or with --key a proof system.
    pub file: String,
    /// The interface and its prices.
    #[command(flatten)]
    pub rules: Rules,
    /// Gas for the frame.
    #[arg(long, value_name = "GAS", default_value = "1000000000", value_parser = input::number, allow_hyphen_values = true)]
    pub gas: u64,
    /// The executor: the engine, or the executable specification, which is slow.
    #[arg(long, default_value = "batch", value_parser = engine_kinds())]
    pub engine: EngineKind,
    /// Calldata: hexadecimal, or a file of it (raw bytes if the name ends in .bin).
    #[arg(
        long,
        value_name = "HEX|@FILE",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true,
        conflicts_with = "proof"
    )]
    pub input: String,
    /// With a contract: the input that comes with it.
    #[arg(long, conflicts_with_all = ["input", "proof"])]
    pub example: bool,
    /// For a verifier: its key.
    #[command(flatten)]
    pub key: KeyOptions,
    /// For a verifier: a proof.
    #[command(flatten)]
    pub proof: ProofOptions,
    /// With a contract: its formulas.
    #[command(flatten)]
    pub formulas: Formulas,
    /// With what is compiled: which engines it is for.
    #[command(flatten)]
    pub code: CodeRules,
    /// With a contract: in linked form, with all its stages in their accounts. The gas is that of a first call in a transaction, beside it that of later ones.
    #[arg(long, conflicts_with_all = ["as_precompiles", "explain"])]
    pub linked: bool,
    /// Put the contracts that replace precompiles at the addresses of those, so that calls run them instead.
    #[arg(long)]
    pub as_precompiles: bool,
    /// Show these bytes of the frame's memory at its end; zeros beyond the end.
    #[arg(long, value_name = "FROM:TO", value_parser = input::memory_range, allow_hyphen_values = true)]
    pub memory: Option<MemoryRange>,
    /// Show the blocks of field instructions and the plans that the batch engine makes of them.
    #[arg(long)]
    pub explain: bool,
    /// Skip timing.
    #[arg(long)]
    pub no_time: bool,
}

/// Runs the code and reports how it ended.
pub fn run(args: &RunArgs, json: bool) -> Result<Verdict> {
    let kind = kind(args)?;
    if args.linked {
        return linked::run(args, json);
    }
    let setup = setup(args)?;
    let subject = Subject::new(
        kind,
        (&args.file, &args.key),
        (&args.formulas, args.code, setup.fork),
        setup.revision,
        &setup.schedule,
        |contract| match contract {
            Some(contract) if args.example => Ok(contract.source().example()),
            Some(contract) => contract.call(&args.proof)?.map_or_else(|| input::calldata(&args.input), Ok),
            None => input::calldata(&args.input),
        },
    )?;
    let Subject { contract, code, calldata, .. } = subject;
    let execution = setup.execute(Job {
        code: &code,
        input: &calldata,
        gas: args.gas,
        timed: !args.no_time,
        explained: args.explain,
        native: contract.and_then(|contract| contract.source().precompile()),
    })?;

    if let Some(disagreement) = &execution.disagreement {
        output::message("error", &format!("two engines end this code differently: {disagreement}"));
    }
    let machine = Machine::this();
    if json {
        output::json(&report::to_json(&setup, &execution, args.memory.as_ref(), &machine))?;
    } else {
        output::result(&report::to_text(&setup, &execution, args.memory.as_ref(), &machine))?;
    }
    Ok(Verdict::of(execution.ended.is_success && execution.disagreement.is_none()))
}

/// The subject to run; every given option has an effect on it.
fn kind(args: &RunArgs) -> Result<Kind> {
    let kind = Kind::of(&args.file, &args.key, Reads::Code)?;
    let given: [&[_]; 4] = [
        &args.key.given(),
        &args.proof.given(),
        &args.formulas.given(),
        &[("--example", args.example), ("--linked", args.linked)],
    ];
    kind.ensure_takes(&args.file, &given)?;
    let revision = args.rules.interface.revision;
    if args.as_precompiles {
        takers::ensure_portable(args.code, &[revision])?;
    } else {
        kind.ensure_takes(&args.file, &[&args.code.given()])?;
    }
    if args.explain {
        ensure!(
            args.engine == EngineKind::Batch && revision.family() != Family::Words,
            "--explain has no effect with --engine {} under {revision}: it shows what the batch engine makes of field instructions",
            args.engine.name()
        );
    }
    Ok(kind)
}

/// The rules, with contracts in place of precompiles if that was asked for.
fn setup(args: &RunArgs) -> Result<Setup> {
    let setup = args.rules.setup(args.engine)?;
    if !args.as_precompiles {
        return Ok(setup);
    }
    if args.engine == EngineKind::Spec {
        bail!("--as-precompiles needs one of the engines: the specification has no precompiles to replace");
    }
    let dialect = args.code.dialect(setup.fork);
    let mut replacements = Vec::new();
    for (contract, address) in CONTRACTS.iter().filter_map(|contract| Some((contract, contract.precompile?))) {
        match Formulas::default().compile(contract, setup.revision, &setup.schedule, dialect) {
            Err(error) if is_inexpressible(&error) => {
                output::message("note", &format!("{} stays a precompile: {}", contract.name, error.root_cause()));
            }
            trial => replacements.push(Replacement { address, code: trial?.compiled.code }),
        }
    }
    Ok(setup.with_replacements(replacements)?)
}
