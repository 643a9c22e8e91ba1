//! `residue lab baselines`, `residue lab evidence` and `residue lab goals`: pages whose tables are made of records alone.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use residue_lab::LabError;
use residue_lab::render::figures::Records;
use residue_lab::render::{baselines, evidence, goals};
use serde_json::json;

use residue_command::verdict::Verdict;
use residue_command::{input, output};

/// Options of `lab baselines`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue lab baselines
  residue lab baselines --page docs/baselines.md")]
pub struct BaselinesArgs {
    /// The records, of which that of `bench comparison` is used. Nothing is measured.
    #[arg(long, value_name = "DIR", default_value = "records")]
    pub records: PathBuf,
    /// Write the tables into this page, in place of those that it has.
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
}

/// Options of `lab evidence`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue lab evidence
  residue lab evidence --page docs/precompiles.md")]
pub struct EvidenceArgs {
    /// The records, of which that of `bench evidence` is used. Nothing is measured.
    #[arg(long, value_name = "DIR", default_value = "records")]
    pub records: PathBuf,
    /// Write the table into this page, in place of the one that it has, and its figure beside the page, as .svg.
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
}

/// Options of `lab goals`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue lab goals
  residue lab goals --page docs/evmmax-next.md")]
pub struct GoalsArgs {
    /// The records, of which that of `bench goals` is used. Nothing is measured.
    #[arg(long, value_name = "DIR", default_value = "records")]
    pub records: PathBuf,
    /// Write the table into this page, in place of the one that it has.
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
}

/// Prints the tables of the baselines, or writes them into a page.
pub fn baselines(args: &BaselinesArgs, json: bool) -> Result<Verdict> {
    let records = Records::read(&args.records)?;
    let markdown = baselines::tables(&records)?;
    finish(&markdown, args.page.as_ref(), |page| baselines::page_with_tables(page, &records), None, json)
}

/// Prints the table of the evidence, or writes it into a page and the figure beside that.
pub fn evidence(args: &EvidenceArgs, json: bool) -> Result<Verdict> {
    let record = evidence::newest(&args.records)?;
    let figure = args.page.as_ref().map(|page| (page.with_extension("svg"), evidence::figure(&record)));
    let markdown = evidence::table(&record);
    finish(&markdown, args.page.as_ref(), |page| evidence::page_with_table(page, &record), figure, json)
}

/// Prints the table of the goals, or writes it into a page.
pub fn goals(args: &GoalsArgs, json: bool) -> Result<Verdict> {
    let record = goals::newest(&args.records)?;
    let markdown = goals::table(&record);
    finish(&markdown, args.page.as_ref(), |page| goals::page_with_table(page, &record), None, json)
}

/// Shows the tables, or gives them to the page, and the figure to its file. Nothing is written before all is made.
pub(super) fn finish(
    markdown: &str,
    page: Option<&PathBuf>,
    with_tables: impl Fn(&str) -> Result<String, LabError>,
    figure: Option<(PathBuf, String)>,
    json: bool,
) -> Result<Verdict> {
    if let Some(path) = page {
        let name = path.to_string_lossy();
        let made = with_tables(&input::text_file(&name)?).with_context(|| name.to_string())?;
        output::file(path, made.as_bytes())?;
        if let Some((path, figure)) = figure {
            output::file(&path, figure.as_bytes())?;
        }
    }
    if json {
        output::json(&json!({ "markdown": markdown, "page": page.map(|page| page.to_string_lossy()) }))?;
    } else if let Some(page) = page {
        output::result(&format!("{} has the tables of its record", page.display()))?;
    } else {
        output::result(markdown.trim_end())?;
    }
    Ok(Verdict::Good)
}
