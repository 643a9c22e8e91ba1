//! `residue lab measure`: times of every opcode, a record of them, and the input of evm-gasfit.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use residue_isa::Revision;
use residue_lab::opcodes::{MeasureEffort, Measured, gasfit_files, measure as measure_opcodes};
use residue_lab::record::table;
use residue_lab::{Column, Quantity, Record};

use crate::arranged::arranged;
use crate::recording::Recording;
use residue_command::output;
use residue_command::verdict::Verdict;

/// Options of `lab measure`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue lab measure --quick
  residue lab measure --revisions evm384-v7,eip6690-2024 --record records --gasfit gasfit")]
pub struct MeasureArgs {
    /// The interface revisions; all without it. The EVM's own opcodes are always measured.
    #[arg(long, value_name = "REVISION", value_delimiter = ',')]
    pub revisions: Vec<Revision>,
    /// Fewer rounds, widths and classes, in less than a minute.
    #[arg(long)]
    pub quick: bool,
    /// Write a record to MACHINE/DATE-opcodes.csv below this directory, replacing one of the same day.
    #[arg(long, value_name = "DIR", value_parser = output::directory())]
    pub record: Option<PathBuf>,
    /// Write the input of evm-gasfit to this directory: runtimes.csv, opcounts.json, tests.yaml.
    #[arg(long, value_name = "DIR", value_parser = output::directory())]
    pub gasfit: Option<PathBuf>,
}

/// Measures.
pub fn measure(args: &MeasureArgs, json: bool) -> Result<Verdict> {
    let recording = Recording::new(args.record.as_deref());
    let effort = if args.quick { MeasureEffort::QUICK } else { MeasureEffort::FULL };
    let revisions = if args.revisions.is_empty() { Revision::ALL.to_vec() } else { args.revisions.clone() };
    let measured = recording.measure("opcodes", json, |observer| measure_opcodes(&effort, &revisions, observer))?;
    let Some(Measured { mut record, observations }) = measured else { return Ok(Verdict::Bad) };
    recording.keep(&mut record)?;
    if let Some(directory) = &args.gasfit {
        std::fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
        let files = gasfit_files(&observations);
        let write = |name: &str, text: &str| output::file(&Path::new(directory).join(name), text.as_bytes());
        write("runtimes.csv", &files.runtimes_csv)?;
        write("opcounts.json", &files.opcounts_json)?;
        write("tests.yaml", &files.tests_yaml)?;
        output::message("note", &format!("the input of evm-gasfit is in {}", directory.display()));
    }
    if json {
        output::json(&record.to_json())?;
    } else {
        output::result(&to_text(&record))?;
    }
    Ok(Verdict::Good)
}

fn to_text(record: &Record) -> String {
    let columns = [Column::nanoseconds("ns", Quantity::Time), Column::microseconds("cold µs", Quantity::Cold)];
    let of = |name| record.environment.get(name).unwrap_or("unknown");
    format!(
        "layer/opcode/width/class; {}, {} measured; median [quartiles]\n\n{}\n\nleft out: {}",
        of("cpu"),
        of("clock measured"),
        arranged(&table::Table::of(record, &columns)),
        of("left out")
    )
}
