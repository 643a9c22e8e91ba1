//! `residue run`: code from a file or a contract, in a frame of its own.

use anyhow::{Result, bail};
use residue_contracts::{CONTRACTS, Contract};
use residue_engine::Replacement;
use residue_lab::Machine;
use residue_workbench::{EngineKind, Job, Setup};

use super::Verdict;
use crate::args::RunArgs;
use crate::formulas::Formulas;
use crate::subject::Subject;
use crate::{input, output, report};

/// Runs the code and reports how it ended.
pub fn run(args: &RunArgs, json: bool) -> Result<Verdict> {
    let setup = setup(args)?;
    let subject =
        Subject::new(&args.file, &args.formulas, setup.revision, &setup.schedule, |contract| match contract {
            Some(contract) if args.example => Ok((contract.example)()),
            None if args.example => bail!("--example needs a contract, and {:?} is none", args.file),
            _ => input::calldata(&args.input),
        })?;
    let Subject { contract, code, calldata, .. } = subject;
    let execution = setup.execute(Job {
        code: &code,
        input: &calldata,
        gas: args.gas,
        timed: !args.no_time,
        explained: args.explain,
        native: contract.and_then(|contract| contract.precompile),
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

/// The rules, with contracts in place of precompiles if that was asked for.
fn setup(args: &RunArgs) -> Result<Setup> {
    let setup = args.rules.setup(args.engine)?;
    if !args.as_precompiles {
        return Ok(setup);
    }
    if args.engine == EngineKind::Spec {
        bail!("--as-precompiles needs one of the engines: the specification has no precompiles to replace");
    }
    let replacement = |contract: &'static Contract| {
        let code = |address| -> Result<Replacement> {
            let trial = Formulas::default().compile(contract, setup.revision, &setup.schedule)?;
            Ok(Replacement { address, code: trial.compiled.code })
        };
        contract.precompile.map(code)
    };
    let replacements = CONTRACTS.iter().filter_map(replacement).collect::<Result<Vec<_>>>()?;
    Ok(setup.with_replacements(replacements)?)
}
