//! The harness: subjects run in turn, round after round, in one process on one core, and every answer is checked.
//!
//! All subjects of a round meet the same clock and the same neighbours, so that their ratios hold where their times do not. Each runs
//! twice in its turn and the second run counts: what the subject before it left in caches and branch predictors is no property of
//! its own.

use std::sync::LazyLock;
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use core_affinity::CoreId;
use thiserror::Error;
use web_time::Instant;

/// Something to measure, which computes a known answer.
pub struct Subject<'a> {
    /// `layer/operation/width`.
    pub name: String,
    /// Required output of every call of `run`.
    pub expected: Vec<u8>,
    /// One execution.
    pub run: Box<dyn FnMut() -> Vec<u8> + 'a>,
}

/// The times of one subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Name of the subject.
    pub name: String,
    /// Its time in each round.
    pub times_ns: Vec<f64>,
}

/// A subject did not compute what it should; its times are worth nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{subject} answered 0x{} and not 0x{}", hex::encode(got), hex::encode(expected))]
pub struct WrongAnswer {
    /// Name of the subject.
    pub subject: String,
    /// The answer that is right.
    pub expected: Vec<u8>,
    /// Its answer.
    pub got: Vec<u8>,
}

/// Number of rounds of a measurement: as many as there is time for, between bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rounds {
    /// So many are made, even if they take longer than the budget.
    pub least: usize,
    /// So many are enough.
    pub most: usize,
    /// Time for rounds beyond the least.
    pub budget: Duration,
    /// After this not even the least are made, except the first.
    pub patience: Duration,
}

impl Rounds {
    /// Half a second, for one number beside another.
    pub const BRIEF: Self =
        Self { least: 5, most: 1001, budget: Duration::from_millis(500), patience: Duration::from_secs(10) };

    /// Makes rounds; the results in order. The first error ends them.
    pub fn collect<T, E>(self, mut round: impl FnMut(usize) -> Result<T, E>) -> Result<Vec<T>, E> {
        let begun = Instant::now();
        let mut results = Vec::new();
        while !self.is_over(results.len(), begun.elapsed()) {
            results.push(round(results.len())?);
        }
        Ok(results)
    }

    fn is_over(self, made: usize, elapsed: Duration) -> bool {
        made >= self.most || (made >= self.least && elapsed >= self.budget) || (made > 0 && elapsed > self.patience)
    }
}

impl From<usize> for Rounds {
    /// Exactly so many.
    fn from(count: usize) -> Self {
        Self { least: count, most: count, budget: Duration::ZERO, patience: Duration::MAX }
    }
}

impl<'a> Subject<'a> {
    /// A subject from its parts.
    pub fn new(name: impl Into<String>, expected: &[u8], run: impl FnMut() -> Vec<u8> + 'a) -> Self {
        Self { name: name.into(), expected: expected.to_vec(), run: Box::new(run) }
    }

    /// Runs once, and tells the time in nanoseconds if the answer is right.
    fn measure(&mut self) -> Result<f64, WrongAnswer> {
        let (got, time_ns) = time_ns(&mut self.run);
        if got == self.expected {
            return Ok(time_ns);
        }
        let (subject, expected) = (self.name.clone(), self.expected.clone());
        Err(WrongAnswer { subject, expected, got })
    }
}

/// Runs every subject in each round, once unmeasured and once measured; each round begins with another subject.
/// The samples come in the order of the subjects. `after_round` is told after each round.
pub fn interleave(
    subjects: &mut [Subject<'_>],
    rounds: impl Into<Rounds>,
    mut after_round: impl FnMut(),
) -> Result<Vec<Sample>, WrongAnswer> {
    let mut samples: Vec<Sample> =
        subjects.iter().map(|subject| Sample { name: subject.name.clone(), times_ns: Vec::new() }).collect();
    rounds.into().collect(|round| {
        for turn in 0..subjects.len() {
            let subject = (round + turn) % subjects.len();
            subjects[subject].measure()?;
            samples[subject].times_ns.push(subjects[subject].measure()?);
        }
        after_round();
        Ok(())
    })?;
    Ok(samples)
}

/// Result of `execution` and its time in nanoseconds.
pub fn time_ns<T>(execution: impl FnOnce() -> T) -> (T, f64) {
    let begin = Instant::now();
    let result = execution();
    (result, begin.elapsed().as_secs_f64() * 1e9)
}

/// The cores that this process may use, seen before any of its threads is tied to one.
static CORES: LazyLock<Vec<CoreId>> = LazyLock::new(|| core_affinity::get_core_ids().unwrap_or_default());

/// Number of cores that this process may use, at least one.
pub fn core_count() -> usize {
    CORES.len().max(1)
}

/// Runs `work` in a thread that stays on one core, the last one that this process may use; `work` is told its number,
/// or none if the system does not let threads be tied.
pub fn on_one_core<T: Send>(work: impl FnOnce(Option<usize>) -> T + Send) -> T {
    let core = CORES.last().copied();
    thread::scope(|scope| joined(scope.spawn(move || work(tie(core)))))
}

/// Runs `work` in `count` threads at once, each tied to a core of its own as long as there are cores, from the last one down.
/// `work` is told which thread it is in; the results come in that order.
pub fn on_cores<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let work = &work;
    let core = |number: usize| CORES.iter().rev().nth(number % core_count()).copied();
    thread::scope(|scope| {
        let run = |number: usize| {
            scope.spawn(move || {
                tie(core(number));
                work(number)
            })
        };
        let threads: Vec<_> = (0..count).map(run).collect();
        threads.into_iter().map(joined).collect()
    })
}

/// Ties this thread to a core; the number of the core if that was possible.
fn tie(core: Option<CoreId>) -> Option<usize> {
    core.filter(|&core| core_affinity::set_for_current(core)).map(|core| core.id)
}

fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    match thread.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn subjects_take_turns_and_rounds_begin_with_another() {
        let order = RefCell::new(Vec::new());
        let subject = |name: &'static str| {
            let order = &order;
            Subject::new(name, b"done", move || {
                order.borrow_mut().push(name);
                b"done".to_vec()
            })
        };
        let mut rounds_told = 0;
        let samples = interleave(&mut [subject("a"), subject("b")], 3, || rounds_told += 1).unwrap();
        assert_eq!(order.into_inner(), ["a", "a", "b", "b", "b", "b", "a", "a", "a", "a", "b", "b"]);
        assert_eq!(rounds_told, 3);
        let names: Vec<&str> = samples.iter().map(|sample| sample.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(samples.iter().all(|sample| sample.times_ns.len() == 3));
    }

    #[test]
    fn rounds_end_by_number_or_by_time() {
        let made = |rounds: Rounds| rounds.collect(Ok::<_, ()>).unwrap().len();
        assert_eq!(made(7.into()), 7);
        let (never, at_once) = (Duration::MAX, Duration::ZERO);
        assert_eq!(made(Rounds { least: 3, most: 9, budget: never, patience: never }), 9);
        assert_eq!(made(Rounds { least: 3, most: 9, budget: at_once, patience: never }), 3);
        assert_eq!(made(Rounds { least: 3, most: 9, budget: never, patience: at_once }), 1);
        assert_eq!(Rounds::BRIEF.collect(|round| if round < 2 { Ok(round) } else { Err("enough") }), Err("enough"));
    }

    #[test]
    fn a_wrong_answer_in_any_round_ends_the_measurement() {
        let mut runs = 0_u8;
        let mut subject = [Subject::new("layer/operation/8", &[1], || {
            runs += 1;
            vec![u8::from(runs < 4)]
        })];
        let error = interleave(&mut subject, 10, || ()).unwrap_err();
        assert_eq!(error.to_string(), "layer/operation/8 answered 0x00 and not 0x01");
        drop(subject);
        assert_eq!(runs, 4);
    }

    #[test]
    fn every_thread_works_and_results_come_in_order() {
        assert_eq!(on_cores(3, |number| number * number), [0, 1, 4]);
        // A thread that is tied to one core starts others on all of them.
        assert_eq!(on_one_core(|_| on_cores(2, |number| number)), [0, 1]);
    }

    #[test]
    fn work_on_one_core_returns_its_result() {
        let core = on_one_core(|core| core);
        let cores = core_affinity::get_core_ids();
        assert_eq!(core.is_some(), cores.is_some_and(|cores| !cores.is_empty()));
    }
}
