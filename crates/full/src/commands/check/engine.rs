//! `residue check engine`: histories on one engine in every mode against a plain one that remembers nothing, and against the
//! specification where it speaks.

use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use indicatif::ProgressBar;
use residue_isa::Revision;
use residue_judge::history::text;
use residue_judge::invent;
use residue_judge::mode::Mode;
use residue_judge::panics::{at_work, is_judged};
use residue_judge::saved::Saved;
use residue_judge::search::{End, Finding, Search, Shard, Tally};
use residue_judge::verdict::judge;
use serde_json::{Value, json};

use residue_command::verdict::Verdict;
use residue_command::{input, output, waiting};

/// Interval between saves of the state.
const SAVED_EVERY: Duration = Duration::from_secs(10);
/// More threads than any machine has cores.
const THREADS_MAX: u64 = 1024;

/// Options of `check engine`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  residue check engine --runs 5000 --seed 7
  residue check engine --runs 2000 --revision evm384-v7 --mode warm --json
  residue check engine --runs 5000 --shard 1/4 --resume search.json --out found")]
pub struct EngineArgs {
    /// The length of the search, in minutes.
    #[arg(long, value_name = "N", default_value = "1", value_parser = input::number, allow_hyphen_values = true)]
    minutes: u64,
    /// The least number of transactions to compare instead.
    #[arg(long, value_name = "N", conflicts_with = "minutes", value_parser = input::number, allow_hyphen_values = true)]
    runs: Option<u64>,
    /// The seed of the first history; the others follow by one.
    #[arg(long, default_value = "1", value_parser = input::number, allow_hyphen_values = true)]
    seed: u64,
    /// Only the seeds that are I modulo N, for searches on N machines.
    #[arg(long, value_name = "I/N", default_value_t = Shard::default(), allow_hyphen_values = true)]
    shard: Shard,
    /// Only histories of this revision; of every one without it.
    #[arg(long, value_name = "REVISION")]
    revision: Option<Revision>,
    /// Only this side against plain: warm, always, traces, shared or spec; all without it.
    #[arg(long, value_name = "MODE")]
    mode: Option<Mode>,
    /// Threads; one for each core without it.
    #[arg(long, value_name = "N", value_parser = input::number, allow_hyphen_values = true)]
    threads: Option<u64>,
    /// End when so many differences are found.
    #[arg(long, value_name = "N", default_value = "10", value_parser = input::number, allow_hyphen_values = true)]
    findings: u64,
    /// Go on from what this file says has been done, and save there what has been.
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Write what is found to this directory, as text that --replay runs.
    #[arg(long, value_name = "DIR", value_parser = output::directory())]
    out: Option<PathBuf>,
    /// End the process at the first panic, after saying which history it came from.
    #[arg(long)]
    abort_on_panic: bool,
    /// Instead of searching: run these histories.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 1..,
        conflicts_with_all = ["minutes", "runs", "seed", "shard", "revision", "threads", "findings", "resume", "out"]
    )]
    replay: Vec<PathBuf>,
}

/// Searches, or replays.
pub fn engine(args: &EngineArgs, json: bool) -> Result<Verdict> {
    let search = args.search()?;
    hook(args.abort_on_panic, args.out.clone());
    if args.replay.is_empty() { args.find(&search, json) } else { replay(&args.replay, &search.modes, json) }
}

impl EngineArgs {
    fn search(&self) -> Result<Search> {
        let end = match self.runs {
            Some(runs) => End::Runs(runs),
            None => End::Time(Duration::from_secs(
                self.minutes
                    .checked_mul(60)
                    .with_context(|| format!("--minutes {} is longer than any search", self.minutes))?,
            )),
        };
        ensure!(self.runs != Some(0), "--runs 0 would end before the first history");
        ensure!(self.minutes > 0, "--minutes 0 would end before the first history");
        ensure!(self.findings > 0, "--findings 0 would end before the first history");
        let mut search = Search::new(self.seed, end);
        if let Some(threads) = self.threads {
            ensure!((1..=THREADS_MAX).contains(&threads), "--threads {threads} is not between 1 and {THREADS_MAX}");
            search.threads = usize::try_from(threads)?;
        }
        search.shard = self.shard;
        search.revision = self.revision;
        search.modes = self.mode.map_or_else(|| Mode::ALL.to_vec(), |mode| vec![mode]);
        search.findings_max = usize::try_from(self.findings).unwrap_or(usize::MAX);
        Ok(search)
    }

    fn find(&self, search: &Search, json: bool) -> Result<Verdict> {
        let (begun, seconds_before) = self.saved(search)?;
        if let Some(directory) = &self.out {
            std::fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
        }
        let bar = bar(search.end);
        let (begin, mut saved_at, mut failed) = (Instant::now(), Instant::now(), Ok(()));
        let seconds = || seconds_before + begin.elapsed().as_secs();
        let (mut shown, runs_before) = (begun.findings.len(), begun.runs);
        let tally = search.run(begun, |tally| {
            show(&bar, search.end, tally, begin.elapsed());
            for finding in &tally.findings[shown..] {
                bar.suspend(|| output::message("error", &said(finding)));
            }
            shown = tally.findings.len();
            if saved_at.elapsed() >= SAVED_EVERY && failed.is_ok() {
                failed = self.save(search, tally, seconds());
                saved_at = Instant::now();
            }
        });
        bar.finish_and_clear();
        failed?;
        self.save(search, &tally, seconds())?;
        let paths = tally.findings.iter().map(|finding| self.keep(finding)).collect::<Result<Vec<_>>>()?;
        let rate = rate(tally.runs - runs_before, begin.elapsed());
        if json {
            output::json(&to_json(search, &tally, &paths, seconds(), rate))?;
        } else {
            output::result(&to_text(search, &tally, &paths, begin.elapsed(), rate))?;
        }
        Ok(Verdict::of(tally.findings.is_empty()))
    }

    /// The saved tally, and the seconds that it took.
    fn saved(&self, search: &Search) -> Result<(Tally, u64)> {
        let Some(path) = &self.resume else { return Ok((Tally::default(), 0)) };
        ensure!(path.as_os_str() != "-", "--resume - has no place to save to: it takes a file");
        if !path.try_exists().with_context(|| format!("reading {}", path.display()))? {
            return Ok((Tally::default(), 0));
        }
        let text = input::text_file(&path.to_string_lossy())?;
        let saved: Saved = serde_json::from_str(&text)
            .with_context(|| format!("{} is not what a search has saved", path.display()))?;
        let seconds = saved.seconds;
        let tally = saved.tally_for(search).with_context(|| format!("going on from {}", path.display()))?;
        Ok((tally, seconds))
    }

    fn save(&self, search: &Search, tally: &Tally, seconds: u64) -> Result<()> {
        let Some(path) = &self.resume else { return Ok(()) };
        let saved = Saved::new(search, tally.clone(), seconds);
        output::file(path, format!("{}\n", serde_json::to_string_pretty(&saved)?).as_bytes())
    }

    /// Writes a finding where it is wanted.
    fn keep(&self, finding: &Finding) -> Result<Option<PathBuf>> {
        let Some(directory) = &self.out else { return Ok(None) };
        let path = directory.join(format!("{}-{}-{}.history", finding.revision, finding.mode, finding.seed));
        output::file(&path, finding.text.as_bytes())?;
        Ok(Some(path))
    }
}

/// Runs histories from files.
fn replay(files: &[PathBuf], modes: &[Mode], json: bool) -> Result<Verdict> {
    let mut replayed = Vec::new();
    for path in files {
        let shown = path.display();
        let text = input::text_file(&path.to_string_lossy()).context("reading a history")?;
        let history = text::read(&text).with_context(|| format!("{shown}"))?;
        let judged = judge(&history, modes).with_context(|| format!("{shown}"))?;
        replayed.push((path, judged));
    }
    let is_good = replayed.iter().all(|(_, judged)| judged.difference.is_none());
    if json {
        let each = replayed.iter().map(|(path, judged)| {
            json!({
                "path": path.display().to_string(),
                "runs": judged.runs.values().sum::<u64>(),
                "mode": judged.difference.as_ref().map(|difference| difference.mode.name()),
                "difference": judged.difference.as_ref().map(|difference| &difference.what),
            })
        });
        output::json(&json!({ "histories": each.collect::<Vec<_>>() }))?;
    } else {
        let line = |(path, judged): &(&PathBuf, residue_judge::verdict::Judged)| match &judged.difference {
            None => format!("{}: every side agrees with plain", path.display()),
            Some(found) => format!("{}: {}, run {}: {}", path.display(), found.mode, found.run + 1, found.what),
        };
        output::result(&replayed.iter().map(line).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(Verdict::of(is_good))
}

/// A panic of what is judged is a finding, which is said at its end; or the end of everything.
fn hook(aborts: bool, out: Option<PathBuf>) {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if aborts {
            abort(panic, out.as_deref());
        }
        if !is_judged() {
            before(panic);
        }
    }));
}

fn abort(panic: &PanicHookInfo<'_>, out: Option<&Path>) -> ! {
    output::message("error", &panic.to_string());
    if let Some(at_work) = at_work() {
        let text = text::write(&invent::history(at_work.seed, at_work.revision));
        output::message("error", &format!("it came from the history of seed {}", at_work.seed));
        let path = out.map(|out| out.join(format!("panic-{}.history", at_work.seed)));
        match path {
            Some(path) => match output::file(&path, text.as_bytes()) {
                Ok(()) => output::message("note", &format!("the history is in {}", path.display())),
                Err(error) => output::message("error", &format!("{error:#}")),
            },
            None => output::message("note", &text),
        }
    }
    std::process::abort()
}

fn bar(end: End) -> ProgressBar {
    let (template, length) = match end {
        End::Runs(runs) => ("check engine: {wide_bar} {pos}/{len} runs, {msg}", runs),
        End::Time(time) => ("check engine: {wide_bar} {pos}/{len} s, {msg}", time.as_secs()),
    };
    waiting::bar(length, template)
}

fn show(bar: &ProgressBar, end: End, tally: &Tally, elapsed: Duration) {
    let findings = tally.findings.len();
    match end {
        End::Runs(_) => {
            bar.set_position(tally.runs);
            bar.set_message(format!("{findings} found"));
        }
        End::Time(_) => {
            bar.set_position(elapsed.as_secs());
            bar.set_message(format!("{} runs, {findings} found", tally.runs));
        }
    }
}

fn said(finding: &Finding) -> String {
    let Finding { seed, revision, mode, what, .. } = finding;
    format!("{revision}, {mode}, seed {seed}: {what}")
}

/// Runs a second.
fn rate(runs: u64, elapsed: Duration) -> u64 {
    let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).max(1);
    runs.saturating_mul(1000) / millis
}

fn to_text(search: &Search, tally: &Tally, paths: &[Option<PathBuf>], elapsed: Duration, rate: u64) -> String {
    let mut lines = vec![format!(
        "{} runs of {} histories in {:.1} s, {rate} a second; seeds {} to {}, shard {}; {} histories came to plans or traces",
        tally.runs,
        tally.histories,
        elapsed.as_secs_f64(),
        search.seed_of(0),
        search.seed_of(tally.histories),
        search.shard,
        tally.planned,
    )];
    for (finding, path) in tally.findings.iter().zip(paths) {
        lines.push(format!("\n{}", said(finding)));
        lines.push(path.as_ref().map_or_else(|| finding.text.clone(), |path| format!("  {}", path.display())));
    }
    if tally.findings.is_empty() {
        lines.push("every side agrees with plain".to_owned());
    }
    lines.join("\n")
}

fn to_json(search: &Search, tally: &Tally, paths: &[Option<PathBuf>], seconds: u64, rate: u64) -> Value {
    let findings = tally.findings.iter().zip(paths).map(|(finding, path)| {
        json!({
            "seed": finding.seed,
            "revision": finding.revision,
            "mode": finding.mode,
            "what": finding.what,
            "path": path.as_ref().map(|path| path.display().to_string()),
            "text": finding.text,
        })
    });
    json!({
        "runs": tally.runs,
        "histories": tally.histories,
        "by_revision": tally.by_revision,
        "by_mode": tally.by_mode,
        "by_halt": tally.by_halt,
        "histories_with_plans": tally.planned,
        "findings": findings.collect::<Vec<_>>(),
        "seconds": seconds,
        "runs_per_second": rate,
        "seeds": {
            "first": search.seed_of(0),
            "next": search.seed_of(tally.histories),
            "shard": search.shard.to_string(),
        },
    })
}
