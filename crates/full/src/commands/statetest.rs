//! `residue statetest`: general state tests on revm as it is, and on the engine with every revision switched on.

mod names;
mod report;

use std::io::{self, BufWriter, ErrorKind};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

use anyhow::{Result, anyhow, bail, ensure};
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use residue_engine::Batching;
use residue_isa::{Revision, did_you_mean};
use residue_statetest::{
    EXAMPLE, Filter, Indexes, Options, Progress, Report, Source, Subject, TraceError, Traced, find, fork_names, run,
    trace,
};

use residue_command::options::DEFAULT_REVISION;
use residue_command::verdict::Verdict;
use residue_command::{output, waiting};

/// Entries that execute more instructions run under one revision of each family unless all are asked for.
const STEPS_MAX: u64 = 50_000_000;

/// Options of `statetest`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue statetest --example | tee example.json
  residue statetest example.json
  residue statetest example.json --revision eip6690-2024 --test square --fork Osaka --trace
  residue statetest . --revision evm384-v7,eip6690-2024 --batching off,always --json
  ls *.json | residue statetest -")]
pub struct StatetestArgs {
    /// Files with state tests, or folders of them; - for standard input: JSON, one document after the other, or names of files, one a line. Each
    /// name is answered by a line of JSON before the next is read.
    #[arg(value_name = "PATH", required_unless_present = "example")]
    pub paths: Vec<PathBuf>,
    /// Besides revm as it is: the interface revisions to switch on, one after the other; all, or stock for none. Without it all,
    /// except that entries of more than 50 000 000 instructions run under one revision of each family. With --trace whose rules to
    /// trace under, eip6690-2024 without it.
    #[arg(long, value_name = "REVISION|all|stock", value_delimiter = ',')]
    pub revision: Vec<RuleSets>,
    /// When blocks of field instructions run as plans: each revision runs in all of these ways, whose results must agree; off,warm
    /// without it.
    #[arg(long, value_enum, value_name = "WHEN", value_delimiter = ',')]
    pub batching: Vec<BatchingKind>,
    /// Only entries of these forks, named as in the files.
    #[arg(long, value_name = "FORK", value_delimiter = ',')]
    pub fork: Vec<String>,
    /// Only tests whose name contains this.
    #[arg(long, value_name = "TEXT")]
    pub test: Option<String>,
    /// Only this variant of each transaction: positions in its lists of data, gas limits and values.
    #[arg(long, value_name = "DATA,GAS,VALUE")]
    pub index: Option<Indexes>,
    /// Threads; as many as the machine has without it.
    #[arg(long, value_name = "N", conflicts_with = "trace")]
    pub jobs: Option<NonZeroUsize>,
    /// Print a line of JSON for every instruction and for every transaction (EIP-3155) instead of the results.
    #[arg(long)]
    pub trace: bool,
    /// Print a file with two small tests.
    #[arg(long, conflicts_with_all = ["paths", "trace", "revision", "batching", "fork", "test", "index", "jobs"])]
    pub example: bool,
}

/// Rule sets beside those of revm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleSets {
    /// A revision switched on.
    Revision(Revision),
    /// Every revision, one after the other.
    All,
    /// None.
    Stock,
}

/// When blocks run as plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BatchingKind {
    /// Never.
    Off,
    /// If it is faster, as `residue run` does.
    Warm,
    /// From the first entry, whatever it costs.
    Always,
    /// As scalar traces from the first entry.
    Traces,
    /// In all of these ways, one after the other.
    All,
}

impl FromStr for RuleSets {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "all" => Ok(Self::All),
            "stock" => Ok(Self::Stock),
            _ => match text.parse() {
                Ok(revision) => Ok(Self::Revision(revision)),
                Err(error) => Err(anyhow!("{error}, beside all and stock")),
            },
        }
    }
}

/// Runs or traces the tests.
pub fn statetest(args: &StatetestArgs, json: bool) -> Result<Verdict> {
    ensure!(
        args.batching.is_empty() || args.revision.is_empty() || args.revision.iter().any(|set| *set != RuleSets::Stock),
        "--batching has no effect with --revision stock, under which there are no field instructions"
    );
    if args.example {
        output::result(EXAMPLE)?;
        return Ok(Verdict::Good);
    }
    let filter = Filter { forks: args.fork.clone(), test: args.test.clone(), indexes: args.index };
    let batchings = batchings(&args.batching);
    if args.trace {
        ensure!(!json, "--trace prints lines of JSON by itself: leave out --json");
        let traced = |paths: &[PathBuf]| trace_all(&find(paths)?, &filter, &args.revision, &batchings);
        return match has_names(&args.paths)? {
            true => names::answer(&|paths| Ok((traced(paths)?, None))),
            false => traced(&args.paths),
        };
    }
    let revisions = if args.revision.is_empty() { Revision::ALL.to_vec() } else { revisions(&args.revision) };
    let options = Options {
        subjects: revisions.iter().map(|revision| Subject::new(*revision, &batchings)).collect::<Result<_, _>>()?,
        filter: filter.clone(),
        steps_max: args.revision.is_empty().then_some(STEPS_MAX),
        jobs: args.jobs.map_or_else(std::thread::available_parallelism, Ok)?,
    };
    if has_names(&args.paths)? {
        return names::answer(&|paths| {
            let started = Instant::now();
            let report = run(&find(paths)?, &options, &|_| ());
            let verdict = verdict(&report, &filter)?;
            Ok((verdict, Some(report::json(&report, &options.subjects, started.elapsed().as_secs_f64()))))
        });
    }
    let sources = find(&args.paths)?;
    let started = Instant::now();
    let bar = bar();
    let report = run(&sources, &options, &|progress| show(&bar, progress));
    bar.finish_and_clear();
    let seconds = started.elapsed().as_secs_f64();
    if report.total.all() > 0 {
        match json {
            true => output::json(&report::json(&report, &options.subjects, seconds))?,
            false => output::result(&report::text(&report, &options.subjects, seconds))?,
        }
    }
    verdict(&report, &filter)
}

/// True if standard input is all there is to read, and has names of files.
fn has_names(paths: &[PathBuf]) -> Result<bool> {
    Ok(matches!(paths, [path] if path == Path::new("-")) && names::are_there()?)
}

/// Traces one entry after the other.
fn trace_all(sources: &[Source], filter: &Filter, sets: &[RuleSets], batchings: &[Batching]) -> Result<Verdict> {
    let sets = if sets.is_empty() { &[RuleSets::Revision(DEFAULT_REVISION)] } else { sets };
    let subject = |revision: &Revision| Subject::new(*revision, batchings);
    let subjects = revisions(sets).iter().map(subject).collect::<Result<Vec<_>, _>>()?;
    let stock = sets.contains(&RuleSets::Stock).then_some(Traced::Stock);
    let traced: Vec<Traced<'_>> = stock.into_iter().chain(subjects.iter().map(Traced::Subject)).collect();
    let report = match trace(sources, filter, &traced, &mut BufWriter::new(io::stdout().lock())) {
        Ok(report) => report,
        // A reader that has gone away has seen what it wanted.
        Err(TraceError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => return Ok(Verdict::Good),
        Err(error) => return Err(error.into()),
    };
    output::message("note", &report::sentence(&report));
    verdict(&report, filter)
}

/// Bad input goes before failures: what could not be read may have failed too.
fn verdict(report: &Report, filter: &Filter) -> Result<Verdict> {
    if let [first, others @ ..] = &report.unreadable[..] {
        match others.len() {
            0 => bail!("{first}"),
            more => bail!("{first}\nand {more} more files that cannot be read"),
        }
    }
    if report.total.all() == 0 {
        match report.others.first() {
            Some((path, what)) if report.files == 0 => bail!("no state test: {}: {what}", path.display()),
            _ => bail!(
                "no entry of {} files with state tests is of that fork, test and index{}",
                report.files,
                unknown_fork(filter)
            ),
        }
    }
    Ok(Verdict::of(report.total.failed == 0))
}

/// A fork that is asked for and that none knows, with the nearest names; nothing if all are known.
fn unknown_fork(filter: &Filter) -> String {
    let is_unknown = |fork: &&String| !fork_names().any(|name| name.eq_ignore_ascii_case(fork));
    let unknown = filter.forks.iter().find(is_unknown);
    unknown.map_or_else(String::new, |fork| format!(": {fork:?} is no fork{}", did_you_mean(fork, fork_names())))
}

fn revisions(sets: &[RuleSets]) -> Vec<Revision> {
    let is_asked_for =
        |revision: &Revision| sets.iter().any(|set| *set == RuleSets::All || *set == RuleSets::Revision(*revision));
    Revision::ALL.iter().copied().filter(is_asked_for).collect()
}

fn batchings(kinds: &[BatchingKind]) -> Vec<Batching> {
    let all = [
        (BatchingKind::Off, Batching::Off),
        (BatchingKind::Warm, Batching::Warm),
        (BatchingKind::Always, Batching::Always),
        (BatchingKind::Traces, Batching::Traces),
    ];
    let kinds = if kinds.is_empty() { &[BatchingKind::Off, BatchingKind::Warm] } else { kinds };
    let is_asked_for = |kind| kinds.contains(&kind) || kinds.contains(&BatchingKind::All);
    all.into_iter().filter(|(kind, _)| is_asked_for(*kind)).map(|(_, batching)| batching).collect()
}

/// A bar that is never shown if stderr is no terminal.
fn bar() -> ProgressBar {
    waiting::bar(0, "{wide_bar} {pos}/{len} files, {msg}")
}

fn show(bar: &ProgressBar, progress: Progress) {
    bar.set_length(progress.files as u64); // Widens.
    bar.set_position(progress.files_read as u64); // Widens.
    bar.set_message(format!("{} entries, {} failed", progress.entries, progress.failed));
}
