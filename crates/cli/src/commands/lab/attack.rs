//! `residue lab attack`: searches for code that takes longest for its gas.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use residue_lab::attack::{Findings, Found, Search, attack as search_for};
use residue_lab::environment::commit_around;
use serde_json::{Value, json};

use crate::args::InterfaceRules;
use crate::commands::Verdict;
use crate::commands::bench::{progress_bar, warn_unless_release};
use crate::tables::{grouped, right, table};
use crate::{input, output};

/// Candidates and generations: thorough, and in a hurry.
const THOROUGH: (usize, usize) = (36, 30);
const QUICK: (usize, usize) = (12, 4);

/// Options of `lab attack`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue lab attack --quick
  residue lab attack --revision evm384-v7 --schedule model-b --seed 7 --out found --record records")]
pub struct AttackArgs {
    /// The interface and its prices.
    #[command(flatten)]
    pub rules: InterfaceRules,
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
    let search = Search {
        revision: args.rules.revision,
        schedule: args.rules.schedule()?,
        seed: args.seed,
        population,
        generations,
        gas: args.gas,
        code_bytes_max: usize::try_from(code_bytes)?,
        rounds: 3,
    };
    search.check()?;
    warn_unless_release();
    let commit = args.record.as_deref().and_then(commit_around);
    let bar = progress_bar("attack");
    let searched = search_for(&search, &mut |progress| bar.show(progress));
    bar.finish();
    let (findings, mut record) = searched?;
    if let Some(commit) = commit {
        record.environment.set("commit", &commit);
    }
    if let Some(directory) = &args.record {
        output::message("note", &format!("recorded in {}", record.write(directory)?.display()));
    }
    if let Some(directory) = &args.out {
        std::fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
        for found in findings.anywhere.iter().chain(&findings.bounded) {
            let name = found.name.replace([':', '/'], "-");
            output::code_file(&directory.join(format!("{name}.hex")), &found.code)?;
            output::code_file(&directory.join(format!("{name}.input.hex")), &found.input)?;
        }
        output::message("note", &format!("the code is in {}", directory.display()));
    }
    if json {
        output::json(&to_json(&search, &findings))?;
    } else {
        output::result(&to_text(&findings))?;
    }
    Ok(Verdict::Good)
}

fn all(findings: &Findings) -> impl Iterator<Item = &Found> {
    findings.anywhere.iter().chain(&findings.bounded).chain(&findings.honest)
}

fn to_text(findings: &Findings) -> String {
    let mut rows = table(&["program", "first time, ns per gas", "later", "gas", "code bytes", "made of"]);
    for found in all(findings) {
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
        "programs": all(findings).map(object).collect::<Vec<_>>(),
    })
}
