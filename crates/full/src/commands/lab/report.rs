//! `residue lab report`: the figures as files, from records alone.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use residue_lab::render::figures::{Figure, Records, figures};
use residue_lab::render::report::{to_html, to_markdown};
use serde_json::json;

use residue_command::output;
use residue_command::verdict::Verdict;

/// Options of `lab report`.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  residue lab report --records records --out report")]
pub struct ReportArgs {
    /// The records: of `lab measure`, `lab figures`, `lab attack` and `bench`. Nothing is measured.
    #[arg(long, value_name = "DIR", default_value = "records")]
    pub records: PathBuf,
    /// Write report.html and report.md with its files to this directory.
    #[arg(long, value_name = "DIR", default_value = "report", value_parser = output::directory())]
    pub out: PathBuf,
}

/// Writes the report.
pub fn report(args: &ReportArgs, json: bool) -> Result<Verdict> {
    let records = Records::read(&args.records)?;
    if records.all().next().is_none() {
        bail!("{} has no records; `residue lab measure --record` makes some", args.records.display());
    }
    let figures = figures(&records);
    write_markdown(&args.out, &figures, &records)?;
    let page = args.out.join("report.html");
    output::file(&page, to_html(&figures, &records).as_bytes())?;
    let groups: Vec<String> = records.all().map(|record| format!("{} of {}", record.group, record.date)).collect();
    if json {
        output::json(&json!({
            "html": page.to_string_lossy(),
            "markdown": args.out.join("report.md").to_string_lossy(),
            "records": groups,
            "figures": figures.iter().map(Figure::to_json).collect::<Vec<_>>(),
        }))?;
    } else {
        let missing: usize = figures.iter().map(|figure| figure.missing.len()).sum();
        output::result(&format!(
            "{} and report.md beside it: {} figures from the records {}; {missing} things are not recorded",
            page.display(),
            figures.len(),
            groups.join(", ")
        ))?;
    }
    Ok(Verdict::Good)
}

/// Writes the Markdown with its drawings and records.
pub fn write_markdown(directory: &Path, figures: &[Figure], records: &Records) -> Result<()> {
    std::fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    let (text, files) = to_markdown(figures, records);
    for (name, content) in files.iter().chain([&("report.md".to_owned(), text)]) {
        output::file(&directory.join(name), content.as_bytes())?;
    }
    Ok(())
}
