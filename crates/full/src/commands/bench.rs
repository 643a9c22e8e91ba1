//! `residue bench`: measures, prints tables or JSON, and writes records.

use std::io;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use residue_engine::EngineConfig;
use residue_isa::{Revision, UnknownName};
use residue_lab::bench::groups;
use residue_lab::{Effort, GROUPS, Group, Record, Subjects, job};
use residue_workbench::specification::Specification;
use serde_json::json;

use crate::arranged::arranged;
use crate::recording::Recording;
use residue_command::output;
use residue_command::verdict::Verdict;

/// Options of `bench`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue bench instructions --quick
  residue bench comparison --quick --subjects blst,precompile,wasmtime,eip6690-2024
  residue bench scaling --quick --subjects blst,evm384-v7:batch
  residue bench pairing --quick --json --record records")]
pub struct BenchArgs {
    /// The group of measurements; everything without it.
    #[arg(value_name = "GROUP", value_parser = group_named, long_help = groups_help())]
    pub group: Option<&'static Group>,
    /// A few rounds of everything, in seconds.
    #[arg(long)]
    pub quick: bool,
    /// Only these subjects, such as blst,precompile,wasmi,eip6690-2024:batch; everybody without it.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub subjects: Vec<String>,
    /// Run what another process of this program hands over, and say how much memory it took: how memory is measured.
    #[arg(long, hide = true, exclusive = true)]
    pub errand: bool,
    /// Write a record of each group to MACHINE/DATE-GROUP.csv below this directory, replacing one of the same day.
    #[arg(long, value_name = "DIR", value_parser = output::directory())]
    pub record: Option<PathBuf>,
}

/// Measures.
pub fn bench(args: &BenchArgs, json: bool) -> Result<Verdict> {
    if args.errand {
        output::result(&job::run_text(&io::read_to_string(io::stdin())?, &specified)?)?;
        return Ok(Verdict::Good);
    }
    let subjects = Subjects::named(&args.subjects)?;
    let recording = Recording::new(args.record.as_deref());
    let effort = Effort { subjects, ..if args.quick { Effort::QUICK } else { Effort::FULL } };
    let mut records = Vec::new();
    for group in GROUPS.iter().filter(|group| args.group.is_none_or(|asked| asked.name == group.name)) {
        let measured = recording.measure(group.name, json, |observer| group.run(&effort, observer))?;
        let Some(mut record) = measured else { return Ok(Verdict::Bad) };
        recording.keep(&mut record)?;
        if !json {
            output::result(&to_text(group, &record))?;
        }
        records.push(record);
    }
    if json {
        output::json(&json!({ "records": records.iter().map(Record::to_json).collect::<Vec<_>>() }))?;
    }
    Ok(Verdict::Good)
}

/// Output of a revision's specification, for an errand.
fn specified(revision: Revision, code: &[u8], input: &[u8], gas: u64) -> Result<Vec<u8>, String> {
    let EngineConfig { schedule, fork, .. } = EngineConfig::default_for(revision);
    let ended =
        Specification::new(revision, &schedule, fork).and_then(|specification| specification.run(code, input, gas));
    let ended = ended.map_err(|error| error.to_string())?;
    if ended.is_success { Ok(ended.output) } else { Err(format!("{revision} ended with {}", ended.halt)) }
}

fn to_text(group: &Group, record: &Record) -> String {
    let environment = &record.environment;
    let of = |name| environment.get(name).unwrap_or("unknown");
    let missing = environment.get("missing").map(|missing| format!("missing: {missing}\n")).unwrap_or_default();
    format!(
        "{}: {}\n{}, {} measured, blst {}, revm {}; median [quartiles]\n\n{}\n{missing}",
        group.name,
        group.summary,
        of("cpu"),
        of("clock measured"),
        of("blst"),
        of("revm"),
        arranged(&group.table(record))
    )
}

fn group_named(name: &str) -> Result<&'static Group> {
    let known = GROUPS.iter().map(|group| group.name);
    Ok(groups::find(name).ok_or_else(|| UnknownName::new("group", name, known).listed_by("residue bench --help"))?)
}

fn groups_help() -> String {
    let group = |group: &Group| format!("\n  {}: {}", group.name, group.summary);
    format!("The group of measurements; everything without it:{}", GROUPS.iter().map(group).collect::<String>())
}
