//! `residue run`: code from a file or a contract, in a frame of its own.

use std::path::Path;

use anyhow::{Context, Result, bail};
use residue_contracts::Contract;
use residue_lab::Machine;

use super::Verdict;
use crate::args::RunArgs;
use crate::execution::{Job, Setup};
use crate::{input, output, report};

/// Runs the code and reports how it ended.
pub fn run(args: &RunArgs, json: bool) -> Result<Verdict> {
    let setup = Setup::new(&args.rules, args.engine)?;
    let contract = contract(&args.file);
    let code = match contract {
        Some(contract) => compiled(contract, &setup)?,
        None => code(&args.file)?,
    };
    let calldata = match contract {
        Some(contract) if args.example => (contract.example)(),
        None if args.example => bail!("--example needs a contract, and {:?} is none", args.file),
        _ => input::calldata(&args.input)?,
    };
    let native = || drop(std::hint::black_box(contract.and_then(|contract| contract.native(&calldata))));
    let execution = setup.execute(Job {
        code: &code,
        input: &calldata,
        gas: args.gas,
        timed: !args.no_time,
        native: contract.filter(|contract| contract.precompile.is_some()).map(|_| &native as &dyn Fn()),
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

/// The contract that a name means, unless there is a file of that name.
fn contract(name: &str) -> Option<&'static Contract> {
    residue_contracts::find(name).filter(|_| !Path::new(name).exists())
}

fn compiled(contract: &Contract, setup: &Setup) -> Result<Vec<u8>> {
    let compiled = residue_compiler::compile(&(contract.program)(), setup.revision, &setup.schedule);
    Ok(compiled.with_context(|| format!("compiling {} for {}", contract.name, setup.revision))?.code)
}

fn code(path: &str) -> Result<Vec<u8>> {
    if path != "-" && !Path::new(path).exists() {
        bail!("{path:?} is neither a file nor a contract; `residue list contracts` has those there are");
    }
    input::code(path)
}
