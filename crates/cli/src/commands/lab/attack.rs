//! `residue lab attack`: searches for code that takes longest for its gas.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use residue_isa::Revision;
use residue_lab::attack::{Findings, Found, Search, attack as search_for};
use serde_json::{Value, json};

use crate::args::{DEFAULT_REVISION, InterfaceRules};
use crate::commands::Verdict;
use crate::recording::Recording;
use crate::tables::{grouped, right, table};
use crate::{input, output};

/// Candidates and generations: thorough, and in a hurry.
const THOROUGH: (usize, usize) = (36, 30);
const QUICK: (usize, usize) = (12, 4);

/// Options of `lab attack`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue lab attack --quick
  residue lab attack --revision evm384-v7 --schedule model-b --seed 7 --out found
  residue lab attack --revision evm384-v7,evm384-v9,eip5843,eip6690-2024 --record records")]
pub struct AttackArgs {
    /// The interface revisions, one search each.
    #[arg(long, value_name = "REVISION", value_delimiter = ',', default_values_t = [DEFAULT_REVISION])]
    pub revision: Vec<Revision>,
    /// The gas schedule: a name of `residue list schedules`, or a TOML file as @FILE or a path. Each revision's own without it.
    #[arg(long, value_name = "NAME|FILE")]
    pub schedule: Option<String>,
    /// All choices of the search come of it.
    #[arg(long, default_value = "1", value_parser = input::number, allow_hyphen_values = true)]
    pub seed: u64,
    /// Gas of a candidate.
    #[arg(long, value_name = "GAS", default_value = "2000000", value_parser = input::number, allow_hyphen_values = true)]
    pub gas: u64,
    /// The most bytes of code.
    #[arg(long, value_name = "BYTES", default_value = "24576", value_parser = input::number, allow_hyphen_values = true)]
    pub code_bytes: u64,
    /// Fewer candidates and generations.
    #[arg(long)]
    pub quick: bool,
    /// Write the code that was found to this directory, for `residue run`.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write a record to MACHINE/DATE-attack.csv below this directory.
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
}

/// Searches.
pub fn attack(args: &AttackArgs, json: bool) -> Result<Verdict> {
    anyhow::ensure!(
        (10_000..=1 << 32).contains(&args.gas),
        "--gas {} is not between 10000 and {}",
        args.gas,
        1_u64 << 32
    );
    let code_bytes = args.code_bytes;
    anyhow::ensure!(
        (1024..=1 << 20).contains(&code_bytes),
        "--code-bytes {code_bytes} is not between 1024 and {}",
        1 << 20
    );
    let (population, generations) = if args.quick { QUICK } else { THOROUGH };
    let search = |&revision: &Revision| {
        Ok(Search {
            revision,
            schedule: InterfaceRules { revision, schedule: args.schedule.clone() }.schedule()?,
            seed: args.seed,
            population,
            generations,
            gas: args.gas,
            code_bytes_max: usize::try_from(code_bytes)?,
            rounds: 3,
        })
    };
    let searches = args.revision.iter().map(search).collect::<Result<Vec<_>>>()?;
    let recording = Recording::new(args.record.as_deref());
    let searched = recording.measure("attack", json, |observer| search_for(&searches, observer))?;
    let Some((findings, mut record)) = searched else { return Ok(Verdict::Bad) };
    recording.keep(&mut record)?;
    if let Some(directory) = &args.out {
        std::fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
        for found in findings.iter().flat_map(|findings| findings.anywhere.iter().chain(&findings.bounded)) {
            let name = found.name.replace([':', '/'], "-");
            output::code_file(&directory.join(format!("{name}.hex")), &found.code)?;
            output::code_file(&directory.join(format!("{name}.input.hex")), &found.input)?;
        }
        output::message("note", &format!("the code is in {}", directory.display()));
    }
    let each = searches.iter().zip(&findings);
    if json {
        output::json(&json!({ "searches": each.map(|(search, found)| to_json(search, found)).collect::<Vec<_>>() }))?;
    } else {
        output::result(&each.map(|(_, findings)| to_text(findings)).collect::<Vec<_>>().join("\n\n"))?;
    }
    Ok(Verdict::Good)
}

fn to_text(findings: &Findings) -> String {
    let mut rows = table(&["program", "first time, ns per gas", "later", "gas", "code bytes", "made of"]);
    for found in findings.all() {
        rows.add_row(vec![
            found.name.as_str().into(),
            right(format!("{:.1}", found.cold.median)),
            right(format!("{:.1}", found.warm.median)),
            right(grouped(found.gas_used)),
            right(grouped(found.code.len() as u64)), // Widens.
            found.description.as_str().into(),
        ]);
    }
    format!("{}\n\n{}", rows.trim_fmt(), findings.verdict())
}

fn to_json(search: &Search, findings: &Findings) -> Value {
    let object = |found: &Found| {
        json!({
            "name": found.name,
            "cold_ns_per_gas": found.cold.median,
            "warm_ns_per_gas": found.warm.median,
            "gas_used": found.gas_used,
            "description": found.description,
            "code": output::hex(&found.code),
        })
    };
    json!({
        "revision": search.revision.name(),
        "schedule": search.schedule.name(),
        "seed": search.seed,
        "gas": search.gas,
        "verdict": findings.verdict(),
        "programs": findings.all().map(object).collect::<Vec<_>>(),
    })
}
