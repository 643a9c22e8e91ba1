//! `residue lab attack`: searches for transactions that take longest, or most memory, for their gas.

mod measured;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use residue_isa::{Family, GasSchedule, Revision};
use residue_lab::Record;
use residue_lab::attack::scene::Scene;
use residue_lab::attack::{
    CODE_BYTES_MAX, Effort, Findings, Found, Part, Search, attack as search_for, joined, replay,
};
use serde_json::{Value, json};

use crate::recording::Recording;
use residue_command::options::{DEFAULT_REVISION, InterfaceRules};
use residue_command::tables::{grouped, right, table};
use residue_command::verdict::Verdict;
use residue_command::{input, output};

/// Candidates and generations: thorough, and in a hurry.
const THOROUGH: (usize, usize) = (36, 30);
const QUICK: (usize, usize) = (12, 4);

/// Options of `lab attack`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue lab attack --quick
  residue lab attack --revision evm384-v7 --schedule model-b --seed 7 --out found
  residue lab attack --revision eip6690-2024,evmone-2025 --minutes 30 --parts time,memory --record records
  residue lab attack --replay found/eip6690-2024-anywhere-found-1.json
  residue lab attack --cycle --revision eip6690-2024
  residue lab attack --instructions --revision eip7747,evm384-v12")]
pub struct AttackArgs {
    /// The interface revisions, one search each.
    #[arg(long, value_name = "REVISION", value_delimiter = ',', default_values_t = [DEFAULT_REVISION])]
    pub revision: Vec<Revision>,
    /// The gas schedule: a name of `residue list schedules`, or a TOML file as @FILE or a path. Each revision's own without it.
    #[arg(long, value_name = "NAME|FILE")]
    pub schedule: Option<String>,
    /// The parts to search.
    #[arg(long, value_name = "PART", value_delimiter = ',', value_enum, default_values_t = PartName::ALL)]
    pub parts: Vec<PartName>,
    /// All choices of the search come of it.
    #[arg(long, default_value = "1", value_parser = input::number, allow_hyphen_values = true)]
    pub seed: u64,
    /// Gas of a transaction; thirty times as much where memory is searched.
    #[arg(long, value_name = "GAS", default_value = "2000000", value_parser = input::number, allow_hyphen_values = true)]
    pub gas: u64,
    /// The most bytes of code.
    #[arg(long, value_name = "BYTES", default_value = "24576", value_parser = input::number, allow_hyphen_values = true)]
    pub code_bytes: u64,
    /// Fewer candidates and generations.
    #[arg(long)]
    pub quick: bool,
    /// The time of all searches together, in place of a number of generations.
    #[arg(long, value_name = "MINUTES", value_parser = input::number, allow_hyphen_values = true, conflicts_with = "quick")]
    pub minutes: Option<u64>,
    /// Begin with random candidates alone, without the attacks that are known.
    #[arg(long)]
    pub from_nothing: bool,
    /// Measure once more what a search has written to this file, and search for nothing.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["out", "record", "revision", "schedule", "parts", "seed", "gas", "code_bytes", "quick", "minutes", "from_nothing"]
    )]
    pub replay: Option<PathBuf>,
    /// Measure cycles through 2,000 contracts, batched beside plain, and search for nothing.
    #[arg(
        long,
        conflicts_with_all = ["replay", "instructions", "out", "parts", "seed", "gas", "code_bytes", "minutes", "from_nothing"]
    )]
    pub cycle: bool,
    /// Measure each instruction by itself at the ends of its operands, without blocks, and search for nothing.
    #[arg(long, conflicts_with_all = ["replay", "out", "parts", "seed", "code_bytes", "minutes", "from_nothing"])]
    pub instructions: bool,
    /// Write what was found to this directory: the code, for `residue run`, and all of it, for `--replay`.
    #[arg(long, value_name = "DIR", value_parser = output::directory())]
    pub out: Option<PathBuf>,
    /// Write a record to MACHINE/DATE-attack.csv below this directory; DATE-cycle.csv or DATE-extremes.csv without a search.
    #[arg(long, value_name = "DIR", value_parser = output::directory())]
    pub record: Option<PathBuf>,
}

/// Parts to search, by name.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum PartName {
    /// Time for a gas, operands anywhere.
    Time,
    /// Time for a gas, with operands in 64 KiB of memory or in 64 slots of each field context.
    Bounded,
    /// Time as a multiple of the time without blocks.
    OverPlain,
    /// Resident memory beyond the EVM's own.
    Memory,
}

impl PartName {
    const ALL: [Self; 4] = [Self::Time, Self::Bounded, Self::OverPlain, Self::Memory];

    fn part(self) -> Part {
        match self {
            Self::Time => Part::Time,
            Self::Bounded => Part::Bounded,
            Self::OverPlain => Part::OverPlain,
            Self::Memory => Part::Memory,
        }
    }
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
    let minutes = args.minutes.unwrap_or(1);
    anyhow::ensure!((1..=100_000).contains(&minutes), "--minutes {minutes} is not between 1 and 100000");
    if let Some(file) = &args.replay {
        return again(file, json);
    }
    let without = args.revision.iter().find(|revision| revision.family() == Family::Words);
    if let Some(revision) = without {
        anyhow::bail!("{revision} has no field instructions to attack with");
    }
    if args.cycle {
        return measured::cycle(args, json);
    }
    if args.instructions {
        return measured::instructions(args, json);
    }
    let searches = searches(args)?;
    let recording = Recording::new(args.record.as_deref());
    let mut findings = Vec::new();
    let mut whole: Option<Record> = None;
    for search in &searches {
        let searched = recording.measure("attack", json, |observer| search_for(search, observer))?;
        let Some((found, record)) = searched else { return Ok(Verdict::Bad) };
        // An hour of searches loses nothing of those that are over when it is cut short.
        let mut record = match whole.take() {
            Some(whole) => joined(whole, record),
            None => record,
        };
        recording.write(&mut record)?;
        whole = Some(record);
        if let Some(directory) = &args.out {
            write(directory, &found)?;
        }
        findings.push(found);
    }
    if let Some(mut record) = whole {
        recording.keep(&mut record)?;
    }
    if let Some(directory) = &args.out {
        output::message("note", &format!("what was found is in {}", directory.display()));
    }
    let each = searches.iter().zip(&findings);
    if json {
        output::json(&json!({ "searches": each.map(|(search, found)| to_json(search, found)).collect::<Vec<_>>() }))?;
    } else {
        output::result(&each.map(|(_, findings)| to_text(findings)).collect::<Vec<_>>().join("\n\n"))?;
    }
    Ok(Verdict::Good)
}

/// The schedules of the revisions asked for.
fn rules(args: &AttackArgs) -> Result<Vec<(Revision, GasSchedule)>> {
    let rules =
        |&revision: &Revision| Ok((revision, InterfaceRules { revision, schedule: args.schedule.clone() }.schedule()?));
    args.revision.iter().map(rules).collect()
}

fn searches(args: &AttackArgs) -> Result<Vec<Search>> {
    let (population, generations) = if args.quick { QUICK } else { THOROUGH };
    let parts: Vec<Part> = args.parts.iter().map(|name| name.part()).collect();
    // Each part of each search has the same share.
    let shares = u32::try_from(parts.len() * args.revision.len())?;
    let time = args.minutes.map(|minutes| Duration::from_secs(60 * minutes) / shares.max(1));
    let begins_with_known = !args.from_nothing;
    let effort = Effort { seed: args.seed, population, generations, time, begins_with_known };
    let code_bytes_max = usize::try_from(args.code_bytes)?;
    let search = |(revision, schedule)| {
        let parts = parts.clone();
        Search { revision, schedule, gas: args.gas, code_bytes_max, rounds: 3, parts, effort }
    };
    Ok(rules(args)?.into_iter().map(search).collect())
}

/// Measures what is in a file.
fn again(file: &Path, json: bool) -> Result<Verdict> {
    let text = input::text_file(&file.to_string_lossy()).context("reading what a search has found")?;
    let scene: Scene = serde_json::from_str(&text).with_context(|| format!("{}: no candidate", file.display()))?;
    anyhow::ensure!(
        scene.code_bytes_max <= 1 << 20 && scene.gas <= 1 << 40,
        "{}: {} bytes of code and {} gas are more than can be run",
        file.display(),
        scene.code_bytes_max,
        scene.gas
    );
    let found = replay(&scene, &file.display().to_string())?;
    if json {
        output::json(&object(&found))?;
    } else {
        let mut rows = headings();
        rows.add_row(line(&found));
        output::result(&rows.trim_fmt())?;
    }
    Ok(Verdict::Good)
}

/// Files of everything that a search has found.
fn write(directory: &Path, findings: &Findings) -> Result<()> {
    std::fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    for found in findings.parts.iter().flat_map(|(_, found)| found) {
        let name = found.name.replace([':', '/'], "-");
        let numbered = |number: usize| if number == 0 { String::new() } else { format!("-{}", number + 1) };
        for (number, code) in found.codes.iter().enumerate() {
            output::code_file(&directory.join(format!("{name}{}.hex", numbered(number))), code)?;
        }
        for (number, input) in found.inputs.iter().enumerate() {
            output::code_file(&directory.join(format!("{name}.input{}.hex", numbered(number))), input)?;
        }
        if let Some(scene) = &found.scene {
            let path = directory.join(format!("{name}.json"));
            let text = serde_json::to_string_pretty(scene)?;
            output::file(&path, format!("{text}\n").as_bytes())?;
        }
    }
    Ok(())
}

fn headings() -> comfy_table::Table {
    table(&["program", "first time, ns per gas", "plain", "later", "revm", "MiB", "gas", "code bytes", "made of"])
}

fn line(found: &Found) -> Vec<comfy_table::Cell> {
    let resident = found.resident.map(|resident| format!("{:.1}", mebibytes(resident.beyond_bytes())));
    vec![
        found.name.as_str().into(),
        right(format!("{:.1}", found.cold.median)),
        right(format!("{:.1}", found.plain.median)),
        right(format!("{:.1}", found.warm.median)),
        right(found.stock.map(|stock| format!("{:.1}", stock.median)).unwrap_or_default()),
        right(resident.unwrap_or_default()),
        right(grouped(found.gas_used)),
        right(grouped(found.codes.iter().map(Vec::len).sum::<usize>() as u64)), // Widens.
        found.description.as_str().into(),
    ]
}

/// Far below 2⁵³ bytes.
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / 1_048_576.0
}

fn to_text(findings: &Findings) -> String {
    let mut rows = headings();
    for found in findings.all() {
        rows.add_row(line(found));
    }
    format!("{}\n\n{}", rows.trim_fmt(), findings.verdict())
}

fn object(found: &Found) -> Value {
    let hex = |all: &[Vec<u8>]| all.iter().map(|bytes| output::hex(bytes)).collect::<Vec<_>>();
    json!({
        "name": found.name,
        "cold_ns_per_gas": found.cold.median,
        "plain_ns_per_gas": found.plain.median,
        "warm_ns_per_gas": found.warm.median,
        "stock_ns_per_gas": found.stock.map(|stock| stock.median),
        "resident": found.resident.map(|resident| json!({
            "beyond_evm_bytes": resident.beyond_bytes(),
            "grown_bytes": resident.grown_bytes,
            "plain_bytes": resident.plain_bytes,
            "evm_bytes": resident.evm_bytes,
        })),
        "gas_used": found.gas_used,
        "description": found.description,
        "codes": hex(&found.codes),
        "scene": found.scene,
    })
}

fn to_json(search: &Search, findings: &Findings) -> Value {
    json!({
        "revision": search.revision.name(),
        "schedule": search.schedule.name(),
        "seed": search.effort.seed,
        "gas": search.gas,
        "verdict": findings.verdict(),
        "times_worst_honest": findings.ratio(),
        "times_plain": findings.over_plain(),
        "resident_beyond_evm_bytes": findings.resident_bytes(),
        "programs": findings.all().map(object).collect::<Vec<_>>(),
    })
}

/// As the search takes it.
const _: () = assert!(CODE_BYTES_MAX == 24_576, "the default of --code-bytes");
