//! `residue lab figures`: runs the published programs and shows every published table and figure beside them.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use residue_isa::UnknownName;
use residue_lab::programs::measure_programs;
use residue_lab::render::figures::{Figure, Records, figures as all_figures};
use serde_json::json;

use super::report::write_markdown;
use crate::arranged::arranged;
use crate::recording::Recording;
use residue_command::output;
use residue_command::verdict::Verdict;

/// Rounds of the programs' times.
const ROUNDS: usize = 31;
/// The same in a hurry.
const ROUNDS_QUICK: usize = 3;

/// Options of `lab figures`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue lab figures --quick
  residue lab figures gas --quick --json
  residue lab figures --records records --record records --out figures")]
pub struct FiguresArgs {
    /// Show only this figure.
    pub figure: Option<String>,
    /// Records of other measurements, that figures of times need.
    #[arg(long, value_name = "DIR")]
    pub records: Option<PathBuf>,
    /// Write a record of the programs to MACHINE/DATE-programs.csv below this directory.
    #[arg(long, value_name = "DIR", value_parser = output::directory())]
    pub record: Option<PathBuf>,
    /// Write the figures to this directory: Markdown with SVG files.
    #[arg(long, value_name = "DIR", value_parser = output::directory())]
    pub out: Option<PathBuf>,
    /// A few rounds.
    #[arg(long)]
    pub quick: bool,
}

/// Runs the programs and shows the figures.
pub fn figures(args: &FiguresArgs, json: bool) -> Result<Verdict> {
    let mut records = match &args.records {
        Some(directory) => Records::read(directory)?,
        None => Records::default(),
    };
    if let Some(name) = &args.figure {
        let known: Vec<&str> = all_figures(&records).iter().map(|figure| figure.id).collect();
        if !known.contains(&name.as_str()) {
            return Err(UnknownName::new("figure", name, known).into());
        }
    }
    let recording = Recording::new(args.record.as_deref());
    let rounds = if args.quick { ROUNDS_QUICK } else { ROUNDS };
    let measured = recording.measure("programs", json, |observer| measure_programs(rounds, observer))?;
    let Some(mut programs) = measured else { return Ok(Verdict::Bad) };
    recording.keep(&mut programs)?;
    records.add(programs);
    let mut shown = all_figures(&records);
    if let Some(name) = &args.figure {
        shown.retain(|figure| figure.id == name);
    }
    if let Some(directory) = &args.out {
        write_markdown(directory, &shown, &records)?;
    }
    if json {
        output::json(&json!({ "figures": shown.iter().map(|figure| figure.to_json()).collect::<Vec<_>>() }))?;
    } else {
        output::result(&shown.iter().map(to_text).collect::<Vec<_>>().join("\n\n"))?;
    }
    Ok(Verdict::Good)
}

fn to_text(figure: &Figure) -> String {
    let mut text = format!(
        "{}: {}\npublished: {}\n\n{}\n\n{}",
        figure.id,
        figure.title,
        figure.source,
        arranged(&figure.table),
        figure.explanation
    );
    for missing in &figure.missing {
        text.push_str(&format!("\nnot recorded: {missing}"));
    }
    text
}
