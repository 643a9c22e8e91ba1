//! Runs all entries of all files, on several threads.

use std::any::Any;
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use residue_engine::{Batching, Engine, EngineConfig, EngineError, has_blocks};
use residue_isa::{GasSchedule, Revision, ScheduleError};
use thiserror::Error;

use crate::file::{FileError, FurtherTest, StateTest, parse, read};
use crate::filter::Filter;
use crate::format::{Indexes, Post};
use crate::judge::{Entry, Failure, Fault, Judged, Rules, Subject, Verdict};
use crate::report::{ForkName, Place, Report};
use crate::sources::Source;

/// Options of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The revisions; none for stock revm alone.
    pub subjects: Vec<Subject>,
    /// Selection of entries.
    pub filter: Filter,
    /// An entry that executes more instructions runs under one revision of each family, and not under every one.
    pub steps_max: Option<u64>,
    /// Threads.
    pub jobs: NonZeroUsize,
}

/// Progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Files that have been read.
    pub files_read: usize,
    /// Files in all.
    pub files: usize,
    /// Entries done so far.
    pub entries: u64,
    /// Entries that failed so far.
    pub failed: u64,
}

/// A revision that cannot be made ready.
#[derive(Debug, Error)]
pub enum SubjectError {
    /// Its schedule.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// Its engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl Subject {
    /// A revision with an engine for each batching. Its opcodes cost what its own schedule says, and those of the EVM what the fork
    /// says.
    pub fn new(revision: Revision, batchings: &[Batching]) -> Result<Self, SubjectError> {
        let config = EngineConfig::new(revision, GasSchedule::default_for(revision)?.with_stock_evm());
        let engine = |&batching| Engine::new(EngineConfig { batching, ..config.clone() });
        // Where there are no blocks, batching changes nothing at all.
        let differing = if has_blocks(revision) { batchings.len() } else { 1 };
        let engines = batchings.iter().take(differing).map(engine).collect::<Result<Vec<_>, _>>()?;
        let batching = engines.first().map_or(Batching::Off, |engine| engine.config().batching);
        let unlimited = Engine::new(EngineConfig { batching, memory_limit_bytes: u64::MAX, ..config })?;
        Ok(Self { revision, engines, unlimited })
    }
}

/// Runs the entries of the files. `observer` is told now and then how far it is.
pub fn run(sources: &[Source], options: &Options, observer: &(dyn Fn(Progress) + Sync)) -> Report {
    let work = Work {
        sources: sources.iter().cloned().map(Arc::new).collect(),
        state: Mutex::default(),
        changed: Condvar::new(),
        options,
        observer,
    };
    thread::scope(|scope| {
        for _ in 0..options.jobs.get() {
            scope.spawn(|| work.go());
        }
    });
    let mut report = work.state.into_inner().unwrap_or_else(PoisonError::into_inner).report;
    report.sort();
    report
}

/// Runs the entries of a file that is not written yet, on this thread. `source` says where it is to be.
pub fn run_text(source: Source, text: &str, subjects: &[Subject]) -> Result<Report, FileError> {
    let source = Arc::new(source);
    let content = parse(&source, text)?;
    let mut report = Report { files: 1, ..Report::default() };
    for (position, test) in content.further.iter().enumerate() {
        report.tests += 1;
        let place = test.place(0, position);
        report.note(&source.folder, place, None, test.judge(subjects));
    }
    for (position, test) in content.tests.iter().enumerate() {
        report.tests += 1;
        for place in places(0, position, test, &Filter::default()) {
            if let Some(post) = post(test, &place) {
                let judged = Entry { test, fork: &place.fork.name, post }.judge(subjects, None);
                report.note(&source.folder, place.clone(), post.exception(), judged);
            }
        }
    }
    Ok(report)
}

/// State shared by the threads.
struct Work<'a> {
    sources: Vec<Arc<Source>>,
    state: Mutex<Shared>,
    /// Entries were added, or a file had none.
    changed: Condvar,
    options: &'a Options,
    observer: &'a (dyn Fn(Progress) + Sync),
}

#[derive(Default)]
struct Shared {
    next_file: usize,
    /// Files that threads are reading.
    reading: usize,
    due: VecDeque<Due>,
    report: Report,
}

/// An entry to run.
enum Due {
    Entry { test: Arc<StateTest>, place: Place },
    Further { test: Arc<FurtherTest>, place: Place },
}

enum Task {
    Read(usize),
    Run(Box<Due>),
}

impl Work<'_> {
    fn go(&self) {
        while let Some(task) = self.task() {
            match task {
                Task::Read(file) => self.read(file),
                Task::Run(due) => self.run(*due),
            }
        }
    }

    /// Entries go before files, so that no more files are held than are needed.
    fn task(&self) -> Option<Task> {
        let mut state = self.lock();
        loop {
            if let Some(due) = state.due.pop_front() {
                return Some(Task::Run(Box::new(due)));
            }
            if state.next_file < self.sources.len() {
                state.next_file += 1;
                state.reading += 1;
                return Some(Task::Read(state.next_file - 1));
            }
            if state.reading == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn read(&self, file: usize) {
        let source = &self.sources[file];
        let content = read(source);
        let mut state = self.lock();
        state.reading -= 1;
        match content {
            Ok(content) => {
                let is_empty = content.tests.is_empty() && content.further.is_empty();
                state.report.files += u64::from(!is_empty);
                let further = content.further.into_iter().enumerate();
                let further = further.map(|(position, test)| (test.place(file, position), test));
                let further: Vec<_> = further.filter(|(place, _)| self.options.filter.lets_through(place)).collect();
                state.report.tests += further.len() as u64; // Widens.
                state.due.extend(further.into_iter().map(|(place, test)| Due::Further { test, place }));
                let others = content.others.into_iter().map(|what| (source.path.clone(), what));
                state.report.others.extend(others);
                for (position, test) in content.tests.iter().enumerate() {
                    let before = state.due.len();
                    state.due.extend(entries(file, position, test, &self.options.filter));
                    state.report.tests += u64::from(state.due.len() > before);
                }
            }
            Err(error) => state.report.unreadable.push(error),
        }
        self.changed.notify_all();
        (self.observer)(self.progress(&state));
    }

    fn run(&self, due: Due) {
        let Options { subjects, steps_max, .. } = self.options;
        let (folder, place, exception, judged) = match due {
            Due::Entry { test, place } => {
                let Some(post) = post(&test, &place) else {
                    return;
                };
                let entry = Entry { test: &test, fork: &place.fork.name, post };
                let judged = caught(|| entry.judge(subjects, *steps_max));
                (test.source.folder.clone(), place, post.exception(), judged)
            }
            Due::Further { test, place } => {
                (test.source().folder.clone(), place, None, caught(|| test.judge(subjects)))
            }
        };
        let mut state = self.lock();
        state.report.note(&folder, place, exception, judged);
        (self.observer)(self.progress(&state));
    }

    fn progress(&self, state: &Shared) -> Progress {
        let total = state.report.total;
        Progress {
            files_read: state.next_file - state.reading,
            files: self.sources.len(),
            entries: total.all(),
            failed: total.failed,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        // A panic while the state is locked would have to come from counting.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The entries of a test that a filter lets through.
fn entries<'a>(
    file: usize,
    position: usize,
    test: &'a Arc<StateTest>,
    filter: &'a Filter,
) -> impl Iterator<Item = Due> + 'a {
    places(file, position, test, filter).map(|place| Due::Entry { test: Arc::clone(test), place })
}

/// The places of those entries, the oldest fork first.
pub(crate) fn places<'a>(
    file: usize,
    position: usize,
    test: &'a StateTest,
    filter: &'a Filter,
) -> impl Iterator<Item = Place> + 'a {
    let mut forks: Vec<(ForkName, &Vec<Post>)> =
        test.unit.post.iter().map(|(fork, posts)| (ForkName::new(fork), posts)).collect();
    forks.sort_by(|a, b| a.0.cmp(&b.0));
    let places = forks.into_iter().flat_map(move |(fork, posts)| {
        posts.iter().enumerate().map(move |(entry, post)| Place {
            file,
            position,
            fork: fork.clone(),
            entry,
            indexes: post.indexes,
            path: test.source.path.clone(),
            test: test.name.clone(),
        })
    });
    places.filter(|place| filter.lets_through(place))
}

/// Expected result of an entry of a test.
pub(crate) fn post<'a>(test: &'a StateTest, place: &Place) -> Option<&'a Post> {
    test.unit.post.get(&place.fork.name)?.get(place.entry)
}

impl FurtherTest {
    fn source(&self) -> &Source {
        match self {
            Self::Chain(test) => &test.source,
            Self::Single(test) => &test.source,
        }
    }

    /// Its only entry.
    fn place(&self, file: usize, position: usize) -> Place {
        let (source, test, fork) = match self {
            Self::Chain(test) => (&test.source, &test.name, test.unit.network.as_str()),
            Self::Single(test) => (&test.source, &test.name, test.unit.fork()),
        };
        let indexes = Indexes { data: 0, gas: 0, value: 0 };
        let (path, test) = (source.path.clone(), test.clone());
        Place { file, position, fork: ForkName::new(fork), entry: 0, indexes, path, test }
    }

    fn judge(&self, subjects: &[Subject]) -> Judged {
        let verdict = match self {
            Self::Chain(test) => test.judge(subjects),
            Self::Single(test) => test.judge(),
        };
        Judged { verdict, is_spared: false }
    }
}

/// Verdict, or the fault that it is a panic.
fn caught(judge: impl FnOnce() -> Judged) -> Judged {
    catch_unwind(AssertUnwindSafe(judge)).unwrap_or_else(|panic| {
        let fault = Fault::Panic { message: message(panic.as_ref()) };
        let failure = Failure { rules: Rules::Stock, fault, differences: Vec::new() };
        Judged { verdict: Verdict::Failed(vec![failure]), is_spared: false }
    })
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".to_owned())
}
