//! `residue` without a command: the pairing contract checks a BLS signature under the revisions that are measured, beside
//! the native library on the same input in the same run. All is well only if every output is the native one.

use anyhow::{Result, anyhow};
use residue_compiler::Dialect;
use residue_contracts::Contract;
use residue_engine::Fork;
use residue_engine::native::NativeOutput;
use residue_isa::Revision;
use residue_workbench::execution::NativeTimes;
use residue_workbench::{EngineKind, Execution, Job, Setup, native};
use residue_workbench::{MEASURED, Machine};
use serde_json::{Value, json};

use crate::formulas::Formulas;
use crate::options::{InterfaceRules, Rules};
use crate::tables::{duration, grouped, right, short_hex, table, times_as_long, verdict};
use crate::verdict::Verdict;
use crate::{output, report};

/// The contract that is run.
const CONTRACT: &str = "bls12_381/pairing";
/// More gas than any revision needs.
const GAS: u64 = 1_000_000_000;
/// The instructions executed most often that are shown.
const OPS_SHOWN: usize = 6;

/// The contract under one revision.
struct Attempt {
    setup: Setup,
    execution: Execution,
    agrees: bool,
}

/// Runs the contract under the revisions that are measured and compares.
pub fn main_job(json: bool) -> Result<Verdict> {
    let contract = residue_contracts::find(CONTRACT).ok_or_else(|| anyhow!("there is no contract {CONTRACT}"))?;
    let input = (contract.example)();
    let native = native(contract, &input).ok_or_else(|| anyhow!("{CONTRACT} replaces no precompile"))??;
    let attempts = MEASURED.iter().map(|&revision| attempt(contract, revision, &input, &native));
    let attempts = attempts.collect::<Result<Vec<_>>>()?;
    let all_agree = attempts.iter().all(|attempt| attempt.agrees);

    let machine = Machine::this();
    if json {
        output::json(&to_json(contract, &input, &native, &attempts, &machine))?;
    } else {
        output::result(&to_text(contract, &input, &native, &attempts, &machine))?;
    }
    if !all_agree {
        output::message("error", "not every output is that of the native library");
    }
    Ok(Verdict::of(all_agree))
}

fn attempt(contract: &Contract, revision: Revision, input: &[u8], native: &NativeOutput) -> Result<Attempt> {
    let interface = InterfaceRules { revision, schedule: None };
    let setup = Rules { interface, fork: Fork::default() }.setup(EngineKind::Batch)?;
    let code = Formulas::default().compile(contract, revision, &setup.schedule, Dialect::default())?.compiled.code;
    let execution = setup.execute(Job {
        code: &code,
        input,
        gas: GAS,
        timed: true,
        explained: false,
        native: contract.precompile,
    })?;
    let ended = &execution.ended;
    let agrees = ended.is_success && ended.output == native.output && execution.disagreement.is_none();
    Ok(Attempt { setup, execution, agrees })
}

fn native_of(attempt: &Attempt) -> Option<NativeTimes> {
    attempt.execution.times.and_then(|times| times.native)
}

fn to_json(contract: &Contract, input: &[u8], native: &NativeOutput, attempts: &[Attempt], machine: &Machine) -> Value {
    let runs: Vec<Value> = attempts
        .iter()
        .map(|Attempt { setup, execution, agrees }| {
            let mut object = report::to_json(setup, execution, None, machine);
            object["agrees"] = (*agrees).into();
            object
        })
        .collect();
    json!({
        "success": attempts.iter().all(|attempt| attempt.agrees),
        "contract": contract.name,
        "input_bytes": input.len(),
        "native": { "output": output::hex(&native.output), "gas_used": native.gas_used },
        "runs": runs,
        "machine": machine.to_json(),
    })
}

fn to_text(
    contract: &Contract,
    input: &[u8],
    native: &NativeOutput,
    attempts: &[Attempt],
    machine: &Machine,
) -> String {
    let headings: Vec<&str> =
        std::iter::once("").chain(attempts.iter().map(|attempt| attempt.setup.revision.name())).collect();
    let mut rows = table(&headings);
    let mut row = |name: &str, of: &dyn Fn(&Attempt) -> comfy_table::Cell| {
        rows.add_row(std::iter::once(name.into()).chain(attempts.iter().map(of)).collect::<Vec<_>>());
    };
    row("gas schedule", &|attempt| right(attempt.setup.schedule.name()));
    row("halt", &|attempt| right(attempt.execution.ended.halt));
    row("result", &|Attempt { execution, agrees, .. }| {
        let output = trimmed(&execution.ended.output);
        let text = if *agrees { format!("{output}, as native") } else { format!("{output}, NOT as native") };
        verdict(&text, *agrees).set_alignment(comfy_table::CellAlignment::Right)
    });
    row("gas", &|attempt| right(grouped(attempt.execution.ended.gas_used)));
    type Part = fn(&residue_engine::GasSplit) -> u64;
    let parts: [(&str, Part); 4] = [
        ("  arithmetic", |split| split.arithmetic),
        ("  transfer", |split| split.transfer),
        ("  memory", |split| split.memory),
        ("  control", |split| split.control),
    ];
    for (name, part) in parts {
        row(name, &|attempt| number(attempt.execution.counted.as_ref().map(|counted| part(&counted.gas_split))));
    }
    row("instructions executed", &|attempt| {
        number(attempt.execution.counted.as_ref().map(|counted| counted.ops.iter().map(|&(_, count)| count).sum()))
    });
    row("  most often", &|attempt| right(most_often(attempt)));
    row("code, bytes", &|attempt| number(u64::try_from(attempt.execution.code_bytes).ok()));
    row("memory, bytes", &|attempt| number(u64::try_from(attempt.execution.ended.memory.len()).ok()));
    row("time", &|attempt| right(attempt.execution.times.map_or(String::new(), |times| duration(times.time_ns))));
    row("native time", &|attempt| right(native_of(attempt).map_or(String::new(), |native| duration(native.time_ns))));
    row("time / native", &|attempt| {
        right(native_of(attempt).map_or(String::new(), |native| times_as_long(native.ratio)))
    });
    format!(
        "{}: {}\ninput of {} bytes; the native precompile returns {} and charges {} gas\n\n{}\n\n{}",
        contract.name,
        contract.summary,
        grouped(input.len() as u64),
        trimmed(&native.output),
        grouped(native.gas_used),
        rows.trim_fmt(),
        machine.to_line(),
    )
}

/// A number, or nothing where it is not known.
fn number(number: Option<u64>) -> comfy_table::Cell {
    right(number.map_or(String::new(), grouped))
}

/// The instructions executed most often, one a line.
fn most_often(attempt: &Attempt) -> String {
    let mut ops = attempt.execution.counted.as_ref().map_or(Vec::new(), |counted| counted.ops.clone());
    ops.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let lines: Vec<String> =
        ops.iter().take(OPS_SHOWN).map(|&(mnemonic, count)| format!("{mnemonic} {}", grouped(count))).collect();
    lines.join("\n")
}

/// A small word as a number, other bytes as hexadecimal.
fn trimmed(output: &[u8]) -> String {
    match output {
        [zeros @ .., last] if output.len() == 32 && zeros.iter().all(|&byte| byte == 0) => last.to_string(),
        _ => short_hex(output),
    }
}
