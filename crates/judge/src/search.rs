//! A search: histories of one seed after the other, on several threads, with a tally in the order of the seeds.
//!
//! The findings of a search depend on its seeds alone, not on the number of threads or on interruptions.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use residue_isa::Revision;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::history::{History, text};
use crate::invent;
use crate::minimise::minimise;
use crate::mode::Mode;
use crate::panics::{AtWork, set_at_work};
use crate::verdict::{Difference, Judged, judge};

/// Histories that threads may be ahead of the tally.
const AHEAD_MAX: usize = 1024;
/// Interval between reports of progress.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);
/// Of so many seeds one has threads that share an engine.
const SHARED_EVERY: u64 = 16;
/// Findings that are alike and still made short, each of which takes seconds.
const ALIKE_MAX: usize = 3;

/// Parameters of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// The seed of the first history; the others follow by one.
    pub seed: u64,
    /// Shard of these seeds.
    pub shard: Shard,
    /// Histories of this revision only.
    pub revision: Option<Revision>,
    /// Modes to compare with the plain engine.
    pub modes: Vec<Mode>,
    /// Threads.
    pub threads: usize,
    /// When it ends.
    pub end: End,
    /// It ends also when so many findings are there.
    pub findings_max: usize,
}

/// When a search ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// After so many runs in all, at the end of a history.
    Runs(u64),
    /// After so long.
    Time(Duration),
}

/// Those seeds that are `number` modulo `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    number: u64,
    of: u64,
}

/// Text that is no shard.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text:?} is no shard: it is I/N with I from 0 to N - 1, such as 0/4")]
pub struct NoShard {
    text: String,
}

/// Counts and findings of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Histories judged, from the first seed of the shard on.
    pub histories: u64,
    /// Transactions compared.
    pub runs: u64,
    /// The same by revision.
    pub by_revision: BTreeMap<String, u64>,
    /// The same by mode.
    pub by_mode: BTreeMap<String, u64>,
    /// Transactions by how their outermost frame ended, on the plain engine.
    pub by_halt: BTreeMap<String, u64>,
    /// Histories at whose end a block had a plan or a trace in the default mode.
    pub planned: u64,
    /// The same by revision.
    pub planned_by_revision: BTreeMap<String, u64>,
    /// Findings.
    pub findings: Vec<Finding>,
}

/// A history in which a mode differs from the plain engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Its seed.
    pub seed: u64,
    /// The revision.
    pub revision: String,
    /// The mode.
    pub mode: String,
    /// Name of the part that differs.
    pub what: String,
    /// The history, as short as it goes unless there were some like it.
    pub text: String,
}

impl Search {
    /// All seeds and modes from a seed on, on every core.
    pub fn new(seed: u64, end: End) -> Self {
        Self {
            seed,
            shard: Shard::default(),
            revision: None,
            modes: Mode::ALL.to_vec(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            end,
            findings_max: 10,
        }
    }

    /// Goes on from what has been done; tells progress now and then.
    pub fn run(&self, mut tally: Tally, mut progress: impl FnMut(&Tally)) -> Tally {
        let begin = Instant::now();
        let (next, stop) = (AtomicU64::new(tally.histories), AtomicBool::new(self.is_done(&tally, begin)));
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(AHEAD_MAX);
            for _ in 0..self.threads.max(1) {
                let sender = sender.clone();
                scope.spawn(|| self.work(&next, &stop, sender));
            }
            drop(sender);
            let mut waiting = BTreeMap::new();
            let mut told = Instant::now();
            loop {
                match receiver.recv_timeout(PROGRESS_EVERY) {
                    Ok((number, judged)) => drop(waiting.insert(number, judged)),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                while let Some(judged) = waiting.remove(&tally.histories)
                    && !self.is_full(&tally)
                {
                    self.add(&mut tally, judged);
                }
                if self.is_done(&tally, begin) {
                    stop.store(true, Ordering::Relaxed);
                }
                if told.elapsed() >= PROGRESS_EVERY {
                    progress(&tally);
                    told = Instant::now();
                }
            }
            // What threads have finished while they were told to stop; every seed before the last is there.
            while let Some(judged) = waiting.remove(&tally.histories)
                && !self.is_full(&tally)
            {
                self.add(&mut tally, judged);
            }
        });
        progress(&tally);
        tally
    }

    /// The seed of a history by its number.
    pub fn seed_of(&self, number: u64) -> u64 {
        let Shard { number: rest, of } = self.shard;
        let first = self.seed.wrapping_add((rest + of - self.seed % of) % of);
        first.wrapping_add(number.wrapping_mul(of))
    }

    fn work(&self, next: &AtomicU64, stop: &AtomicBool, sender: SyncSender<(u64, (Revision, Judged))>) {
        while !stop.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let seed = self.seed_of(number);
            let history = invent::history(seed, self.revision);
            set_at_work(Some(AtWork { seed, revision: self.revision }));
            let judged = judge(&history, &self.modes_of(seed));
            set_at_work(None);
            let judged = judged.expect("histories that are invented can be run");
            if sender.send((number, (history.revision, judged))).is_err() {
                return;
            }
        }
    }

    /// The modes for a seed: threads take long to begin, so they share an engine in some histories only.
    fn modes_of(&self, seed: u64) -> Vec<Mode> {
        let is_taken =
            |mode: &&Mode| **mode != Mode::Shared || self.modes.len() == 1 || seed.is_multiple_of(SHARED_EVERY);
        self.modes.iter().filter(is_taken).copied().collect()
    }

    /// True if the limit of runs or findings is reached, whatever the time.
    fn is_full(&self, tally: &Tally) -> bool {
        tally.findings.len() >= self.findings_max || matches!(self.end, End::Runs(runs) if tally.runs >= runs)
    }

    fn is_done(&self, tally: &Tally, begin: Instant) -> bool {
        self.is_full(tally) || matches!(self.end, End::Time(time) if begin.elapsed() >= time)
    }

    fn add(&self, tally: &mut Tally, (revision, judged): (Revision, Judged)) {
        let seed = self.seed_of(tally.histories);
        let revision = revision.name();
        tally.histories += 1;
        for (mode, runs) in judged.runs {
            tally.runs += runs;
            *tally.by_mode.entry(mode.name().to_owned()).or_default() += runs;
            *tally.by_revision.entry(revision.to_owned()).or_default() += runs;
        }
        for (halt, runs) in judged.by_halt {
            *tally.by_halt.entry(halt.to_owned()).or_default() += runs;
        }
        if judged.blocks_made > 0 {
            tally.planned += 1;
            *tally.planned_by_revision.entry(revision.to_owned()).or_default() += 1;
        }
        if let Some(difference) = judged.difference {
            tally.findings.push(self.finding(tally, seed, difference));
        }
    }

    fn finding(&self, tally: &Tally, seed: u64, difference: Difference) -> Finding {
        let history = invent::history(seed, self.revision);
        let alike = |finding: &&Finding| {
            (&*finding.revision, &*finding.mode) == (history.revision.name(), difference.mode.name())
        };
        let is_new = tally.findings.iter().filter(alike).count() < ALIKE_MAX;
        let (history, difference) = if is_new { shortest(&history, difference) } else { (history, difference) };
        let Difference { mode, what, .. } = difference;
        let head = format!("; seed {seed}, mode {mode}: {}\n", what.lines().next().unwrap_or_default());
        Finding {
            seed,
            revision: history.revision.name().to_owned(),
            mode: mode.name().to_owned(),
            text: head + &text::write(&history),
            what,
        }
    }
}

/// A history made short as long as its mode differs from the plain engine.
pub fn shortest(history: &History, difference: Difference) -> (History, Difference) {
    let mode = difference.mode;
    let mut find = |history: &History| judge(history, &[mode]).ok()?.difference;
    minimise(history, &mut find).unwrap_or_else(|| (history.clone(), difference))
}

impl Default for Shard {
    /// All seeds.
    fn default() -> Self {
        Self { number: 0, of: 1 }
    }
}

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Self, NoShard> {
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let shard = parts.map(|(number, of)| Self { number, of }).filter(|shard| shard.number < shard.of);
        shard.ok_or_else(|| NoShard { text: text.to_owned() })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}
