//! `residue lab baselines`: the tables of the page of the baselines, from the record of the comparison alone.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use residue_lab::render::baselines::{page_with_tables, tables};
use residue_lab::render::figures::Records;
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

/// Prints the tables, or writes them into a page.
pub fn baselines(args: &BaselinesArgs, json: bool) -> Result<Verdict> {
    let records = Records::read(&args.records)?;
    let markdown = tables(&records)?;
    if let Some(path) = &args.page {
        let name = path.to_string_lossy();
        let page = input::text_file(&name)?;
        let page = page_with_tables(&page, &records).with_context(|| name.to_string())?;
        output::file(path, page.as_bytes())?;
    }
    if json {
        output::json(&json!({ "markdown": markdown, "page": args.page.as_ref().map(|page| page.to_string_lossy()) }))?;
    } else if let Some(page) = &args.page {
        output::result(&format!("{} has the tables of its record", page.display()))?;
    } else {
        output::result(markdown.trim_end())?;
    }
    Ok(Verdict::Good)
}
