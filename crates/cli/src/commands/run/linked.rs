//! `residue run --linked`: a contract with all its stages in their accounts.

use anyhow::{Result, ensure};
use residue_workbench::{EngineKind, Job, Machine, Setup};
use serde_json::json;

use super::RunArgs;
use crate::deployable::DeployableOptions;
use crate::tables::{grouped, right, table};
use crate::verdict::Verdict;
use crate::{input, output, report};

/// Runs the contract twice: as the first call of a transaction, and as a later one, for which stages are warm.
pub fn run(args: &RunArgs, json: bool) -> Result<Verdict> {
    ensure!(
        args.engine != EngineKind::Spec,
        "--linked needs one of the engines: the specification has no accounts but that of the code"
    );
    let options = DeployableOptions {
        revision: args.rules.interface.revision,
        schedule: args.rules.interface.schedule.clone(),
        fork: args.rules.fork,
        key: args.key.clone(),
        formulas: args.formulas,
        code: args.code,
        linked: true,
        salt: None,
    };
    let deployable = options.compiled(&args.file)?;
    let calldata = match args.example {
        true => deployable.contract.source().example(),
        false => input::calldata(&args.input)?,
    };
    let setup = |is_warm: bool| -> Result<Setup> {
        Ok(args.rules.setup(args.engine)?.with_accounts(deployable.installed(is_warm))?)
    };
    let execute = |setup: &Setup, timed: bool| {
        setup.execute(Job {
            code: &deployable.compiled.code,
            input: &calldata,
            gas: args.gas,
            timed,
            explained: false,
            native: deployable.contract.source().precompile(),
        })
    };
    let setup_of_first = setup(false)?;
    let execution = execute(&setup_of_first, !args.no_time)?;
    let later = execute(&setup(true)?, false)?;
    for disagreement in [&execution.disagreement, &later.disagreement].into_iter().flatten() {
        output::message("error", &format!("two engines end this code differently: {disagreement}"));
    }
    let machine = Machine::this();
    if json {
        let mut object = report::to_json(&setup_of_first, &execution, args.memory.as_ref(), &machine);
        object["gas_used_warm"] = later.ended.gas_used.into();
        let stages = deployable.stages.iter().map(|stage| {
            json!({
                "name": stage.stage_name(),
                "address": stage.address().to_checksum(None),
                "code_bytes": stage.compiled.code.len(),
            })
        });
        object["stages"] = stages.collect();
        output::json(&object)?;
    } else {
        let mut rows = table(&["stage", "code bytes", "address"]);
        for stage in &deployable.stages {
            let bytes = right(grouped(stage.compiled.code.len() as u64)); // usize to u64 widens
            rows.add_row(vec![stage.stage_name().into(), bytes, stage.address().to_checksum(None).into()]);
        }
        let text = report::to_text(&setup_of_first, &execution, args.memory.as_ref(), &machine);
        let warm = grouped(later.ended.gas_used);
        output::result(&format!("{text}\n\n{}\n\ngas used where the stages are warm: {warm}", rows.trim_fmt()))?;
    }
    let is_good = execution.ended.is_success && execution.disagreement.is_none() && later.disagreement.is_none();
    Ok(Verdict::of(is_good))
}
