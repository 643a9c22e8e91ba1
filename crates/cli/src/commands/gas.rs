//! `residue gas`: gas of the contracts' examples, written to a file, checked against it, or compared with it.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;
use residue_compiler::Dialect;
use residue_contracts::{CONTRACTS, Contract, PROOF_SYSTEMS};
use residue_isa::{GasSchedule, Revision};
use serde_json::{Value, json};

use crate::formulas::{Formulas, is_inexpressible};
use crate::options::{DEFAULT_REVISION, InterfaceRules};
use crate::output::Target;
use crate::tables::{grouped, right, table};
use crate::verdict::Verdict;
use crate::{input, output};

/// Options of `gas`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue gas bls12_381/fp2_mul bls12_381/g1_add --snapshot gas.txt
  residue gas --check gas.txt --tolerance 0.5
  residue gas --diff gas.txt")]
pub struct GasArgs {
    /// Contracts; every one that a revision can express without it.
    pub contracts: Vec<String>,
    /// The interface revisions, each under its own schedule.
    #[arg(long, value_name = "REVISION", value_delimiter = ',', default_values_t = [DEFAULT_REVISION])]
    pub revisions: Vec<Revision>,
    /// Write what was found to this file; - for standard output, in place of the table.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "diff"])]
    pub snapshot: Option<Target>,
    /// Hold what is in this file to what is found today: exit code 1 if gas differs.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["diff", "contracts", "revisions"])]
    pub check: Option<String>,
    /// Print what is in this file beside what is found today, as a table in Markdown.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["contracts", "revisions"])]
    pub diff: Option<String>,
    /// With --check: percent that gas may differ by, 0 without it.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub tolerance: Option<f64>,
}

/// A contract under a revision and its own schedule.
#[derive(Debug, Clone)]
struct Entry {
    contract: &'static Contract,
    revision: Revision,
    gas: u64,
    code_bytes: usize,
}

/// Gas of an entry in a file and today.
struct Change {
    before: Entry,
    after: Entry,
}

impl Change {
    /// Percent more than before.
    fn percent(&self) -> f64 {
        100.0 * (self.after.gas as f64 - self.before.gas as f64) / self.before.gas as f64 // exact below 2⁵³
    }
}

/// Measures, and writes, checks or compares.
pub fn gas(args: &GasArgs, json: bool) -> Result<Verdict> {
    // That --check excludes contracts keeps clap from asking for it.
    ensure!(args.tolerance.is_none() || args.check.is_some(), "--tolerance has no effect without --check");
    if let Some(path) = &args.check {
        return check(&changes(path)?, args.tolerance.unwrap_or(0.0), json);
    }
    if let Some(path) = &args.diff {
        return diff(&changes(path)?, json);
    }
    let entries = measured(args)?;
    if let Some(target) = &args.snapshot {
        target.write("--snapshot", &to_text(&entries), json)?;
    }
    if json {
        let path = args.snapshot.as_ref().and_then(Target::file).map(Path::to_string_lossy);
        output::json(&json!({ "entries": entries.iter().map(to_json).collect::<Vec<_>>(), "path": path }))?;
    } else if !args.snapshot.as_ref().is_some_and(Target::is_stdout) {
        let mut rows = table(&["contract", "revision", "gas of the example", "code bytes"]);
        for entry in &entries {
            let (gas, code_bytes) = (right(grouped(entry.gas)), right(grouped(entry.code_bytes as u64)));
            rows.add_row(vec![entry.contract.name.into(), entry.revision.name().into(), gas, code_bytes]);
        }
        output::result(&rows.trim_fmt())?;
    }
    Ok(Verdict::Good)
}

/// The contract of the list with this name.
fn contract_named(name: &str) -> Result<&'static Contract> {
    if PROOF_SYSTEMS.iter().any(|system| system.name.eq_ignore_ascii_case(name)) {
        bail!(
            "{name:?} is made of a key, so there is no one gas of it: `residue run {name} --key FILE` says what its example costs"
        );
    }
    Ok(residue_contracts::named(name)?)
}

/// Every contract that was asked for under every revision; of all contracts those that the revision can express.
fn measured(args: &GasArgs) -> Result<Vec<Entry>> {
    let asked = args.contracts.iter().map(|name| contract_named(name)).collect::<Result<Vec<_>>>()?;
    let mut entries = Vec::new();
    for &revision in &args.revisions {
        for contract in if asked.is_empty() { CONTRACTS.iter().collect() } else { asked.clone() } {
            match measure(contract, revision) {
                Err(error) if asked.is_empty() && is_inexpressible(&error) => {}
                entry => entries.push(entry?),
            }
        }
    }
    ensure!(!entries.is_empty(), "no contract is expressed by any of the revisions");
    Ok(entries)
}

fn measure(contract: &'static Contract, revision: Revision) -> Result<Entry> {
    let schedule: GasSchedule = InterfaceRules { revision, schedule: None }.schedule()?;
    let trial = Formulas::default().compile(contract, revision, &schedule, Dialect::default())?;
    Ok(Entry { contract, revision, gas: trial.gas, code_bytes: trial.compiled.code.len() })
}

/// A line for each entry: contract, revision, gas, bytes of code.
fn to_text(entries: &[Entry]) -> String {
    let mut text = "# residue gas: contract, revision, gas of the example, bytes of code\n".to_owned();
    for Entry { contract, revision, gas, code_bytes } in entries {
        writeln!(text, "{} {revision} {gas} {code_bytes}", contract.name).expect("a string takes any text");
    }
    text
}

/// The entries of a file, and what they are today.
fn changes(path: &str) -> Result<Vec<Change>> {
    let text = input::text_file(path).context("reading the snapshot")?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let entries = lines.map(|(number, line)| {
        entry(line)
            .with_context(|| format!("{}:{}: {line:?} is no entry of a snapshot", input::shown(path), number + 1))
    });
    let entries = entries.collect::<Result<Vec<Entry>>>()?;
    ensure!(!entries.is_empty(), "{} has no entry", input::shown(path));
    let change = |before: Entry| Ok(Change { after: measure(before.contract, before.revision)?, before });
    entries.into_iter().map(change).collect()
}

fn entry(line: &str) -> Result<Entry> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [contract, revision, gas, code_bytes] = words[..] else {
        bail!("it has {} words: not contract, revision, gas and bytes", words.len());
    };
    let gas = input::number(gas)?;
    ensure!(gas > 0, "gas is 0");
    Ok(Entry {
        contract: contract_named(contract)?,
        revision: revision.parse().map_err(|error| anyhow!("{error}"))?,
        gas,
        code_bytes: usize::try_from(input::number(code_bytes)?)?,
    })
}

fn check(changes: &[Change], tolerance: f64, json: bool) -> Result<Verdict> {
    let is_within = |change: &&Change| change.percent().abs() <= tolerance;
    let outside: Vec<&Change> = changes.iter().filter(|change| !is_within(change)).collect();
    if json {
        let outside: Vec<Value> = outside.iter().map(|change| changed(change)).collect();
        output::json(&json!({ "success": outside.is_empty(), "entries": changes.len(), "differ": outside }))?;
    } else if outside.is_empty() {
        output::result(&format!("{} entries cost what the snapshot says", changes.len()))?;
    } else {
        output::result(&markdown(&outside))?;
        output::message("error", &format!("entries that differ: {} of {}", outside.len(), changes.len()));
    }
    Ok(Verdict::of(outside.is_empty()))
}

fn diff(changes: &[Change], json: bool) -> Result<Verdict> {
    if json {
        output::json(&json!({ "entries": changes.iter().map(changed).collect::<Vec<_>>() }))?;
    } else {
        output::result(&markdown(&changes.iter().collect::<Vec<_>>()))?;
    }
    Ok(Verdict::Good)
}

fn markdown(changes: &[&Change]) -> String {
    let mut lines = vec![
        "| contract | revision | gas before | gas now | % | code bytes before | now |".to_owned(),
        "|---|---|---:|---:|---:|---:|---:|".to_owned(),
    ];
    for change in changes {
        let Change { before, after } = change;
        let [gas_before, gas_after] = [before.gas, after.gas].map(grouped);
        let [bytes_before, bytes_after] = [before, after].map(|entry| grouped(entry.code_bytes as u64));
        lines.push(format!(
            "| {} | {} | {gas_before} | {gas_after} | {:+.2} | {bytes_before} | {bytes_after} |",
            before.contract.name,
            before.revision,
            change.percent()
        ));
    }
    lines.join("\n")
}

fn to_json(entry: &Entry) -> Value {
    json!({
        "contract": entry.contract.name,
        "revision": entry.revision.name(),
        "gas": entry.gas,
        "code_bytes": entry.code_bytes,
    })
}

fn changed(change: &Change) -> Value {
    let mut object = to_json(&change.after);
    object["gas_before"] = change.before.gas.into();
    object["code_bytes_before"] = change.before.code_bytes.into();
    object["percent"] = change.percent().into();
    object
}

/// A number of percent that is not negative.
fn percent(text: &str) -> Result<f64> {
    let value: f64 = text.trim_end_matches('%').parse().map_err(|_| anyhow!("{text:?} is not a number of percent"))?;
    ensure!(value.is_finite() && value >= 0.0, "{text} percent is not a tolerance");
    Ok(value)
}
