//! `residue lab design`: savings of each instruction over all contracts, alone and together.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use residue_contracts::{CONTRACTS, Contract};
use residue_isa::Revision;
use residue_lab::bench::group::record_of;
use residue_lab::design::weights::Weights;
use residue_lab::design::{Ablation, Added, GROUP, LEFT_OUT, adds, compile, experiments, measure};
use residue_lab::render::design::Ablated;
use residue_lab::render::figures::Records;
use residue_lab::{Record, opcodes};

use super::tables::finish;
use crate::recording::Recording;
use residue_command::options::DEFAULT_REVISION;
use residue_command::verdict::Verdict;
use residue_command::{input, output};

/// Options of `lab design`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue lab design --contracts bls12_381/fp2_mul,bn254/add
  residue lab design --times --record records --page docs/design.md
  residue lab design --from records/MACHINE/DATE-design.csv --page docs/design.md")]
pub struct DesignArgs {
    /// The revision that instructions are added to.
    #[arg(long, value_name = "REVISION", default_value_t = DEFAULT_REVISION)]
    pub base: Revision,
    /// Revisions that add instructions to the base; all experiments on it without it.
    #[arg(long, value_name = "REVISION", value_delimiter = ',')]
    pub revisions: Vec<Revision>,
    /// Only contracts whose name contains one of these.
    #[arg(long, value_name = "TEXT", value_delimiter = ',')]
    pub contracts: Vec<String>,
    /// A TOML file with calls of each contract, `[calls]` and `\"name\" = number`; those of mainnet without it.
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// Take times too, plain and with batches.
    #[arg(long)]
    pub times: bool,
    /// The folder with the times of opcodes, for measured prices: the newest record of `residue lab measure`, if there
    /// is one.
    #[arg(long, value_name = "DIR", default_value = "records")]
    pub records: PathBuf,
    /// Write a record to MACHINE/DATE-design.csv below this directory, replacing one of the same day.
    #[arg(long, value_name = "DIR", value_parser = output::directory())]
    pub record: Option<PathBuf>,
    /// Make the tables of this record and run nothing.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "records", "times", "revisions", "contracts", "base"])]
    pub from: Option<PathBuf>,
    /// Write the tables into this page, in place of those that it has, and the figure beside it, as .svg.
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
}

/// Runs or reads everything, and shows it.
pub fn design(args: &DesignArgs, json: bool) -> Result<Verdict> {
    let weights = match &args.weights {
        Some(path) => {
            let name = path.to_string_lossy();
            Weights::read(&input::text_file(&name)?).with_context(|| name.to_string())?
        }
        None => Weights::default(),
    };
    let record = match &args.from {
        Some(path) => {
            let record = Record::read(path)?;
            ensure!(
                record.group == GROUP,
                "{}: it is a record of {:?}, not of {GROUP:?}",
                path.display(),
                record.group
            );
            record
        }
        None => match run(args, json)? {
            Some(record) => record,
            None => return Ok(Verdict::Bad),
        },
    };
    let ablated = Ablated::new(&record, &weights)?;
    let figure = args.page.as_ref().map(|page| (page.with_extension("svg"), ablated.figure()));
    finish(&ablated.tables(), args.page.as_ref(), |page| ablated.page_with_tables(page), figure, json)
}

/// None if a subject answered wrongly, which is said.
fn run(args: &DesignArgs, json: bool) -> Result<Option<Record>> {
    let others = if args.revisions.is_empty() { experiments(args.base) } else { args.revisions.clone() };
    ensure!(
        !others.is_empty(),
        "no revision adds instructions to {} as an experiment: name some with --revisions",
        args.base
    );
    for &revision in &others {
        ensure!(
            adds(revision, args.base),
            "{revision} does not add opcodes to {}: it changes some, or has no others",
            args.base
        );
    }
    let is_wanted = |contract: &&Contract| {
        args.contracts.is_empty() || args.contracts.iter().any(|part| contract.name.contains(part.as_str()))
    };
    let contracts: Vec<&'static Contract> = CONTRACTS.iter().filter(is_wanted).collect();
    ensure!(!contracts.is_empty(), "no contract has {} in its name", args.contracts.join(" or "));
    let opcodes = Records::newest(&args.records, opcodes::GROUP).ok();
    let recording = Recording::new(args.record.as_deref());
    let measured = recording.measure(GROUP, json, |observer| {
        let ablation = Ablation { base: args.base, others: &others, contracts: &contracts, opcodes: opcodes.as_ref() };
        // Before a thread is tied to a core.
        let compiled = compile(&ablation, observer)?;
        Ok((record_of(GROUP, || measure(&compiled, args.times, observer))?, compiled.left_out()))
    })?;
    let Some((mut record, left_out)) = measured else { return Ok(None) };
    if let Some(left_out) = left_out {
        record.environment.set(LEFT_OUT, &left_out);
    }
    record.environment.set("base", args.base.name());
    for &revision in &others {
        record.environment.set(&Added::header(revision.name()), &Added::line(revision, args.base));
    }
    if let Some(opcodes) = &opcodes {
        let machine = opcodes.environment.get("machine").unwrap_or("an unknown machine");
        record.environment.set("measured prices", &format!("times of {machine}, {}, at 10 ns a gas", opcodes.date));
    }
    recording.keep(&mut record)?;
    Ok(Some(record))
}
