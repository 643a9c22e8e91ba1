//! Engines at once: a pairing check of two pairs by each of several threads, each with an engine of its own on a core of its
//! own. What is known of a code is one for all engines of the process, so they meet in it.

use std::sync::Barrier;
use std::time::Instant;

use residue_engine::Engine;
use residue_workbench::harness::{WrongAnswer, core_count, on_cores};
use residue_workbench::statistics::ratios;

use crate::bench::effort::{Effort, Observer, Progress};
use crate::bench::operations::{Engines, Job, named, word};
use crate::error::LabError;
use crate::record::{Quantity, RecordRow};
use residue_workbench::MEASURED;

/// Checks by each engine in a round.
const CHECKS: usize = 8;
/// Pairs of a check.
const PAIRS: usize = 2;
/// Gas that no check uses up.
const GAS: u64 = 1 << 40;

/// Time of a check by all engines together, and how many times as many checks they make as one engine. No more engines
/// than there are cores: they would take turns.
pub(super) fn measure(effort: &Effort, observer: &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError> {
    let task = named("pairing");
    let engines = Engines::of(task, effort, &MEASURED)?;
    let input = Job::new(task, PAIRS, &engines)?.input().to_vec();
    let counts: Vec<usize> = effort.sizes.engines.iter().copied().filter(|&count| count <= core_count()).collect();
    let mut rows = Vec::new();
    for (layer, code) in engines.bytecode() {
        let once = |count| run(count, &layer.engine, code, &input, &layer.name);
        // Everything is analysed and planned before.
        counts.iter().try_for_each(|&count| once(count).map(drop))?;
        let mut times = vec![Vec::new(); counts.len()];
        for done in 0..effort.rounds {
            observer(Progress { step: "engines at once", done, total: effort.rounds });
            for (times, &count) in times.iter_mut().zip(&counts) {
                times.push(once(count)?);
            }
        }
        for (own, count) in times.iter().zip(&counts) {
            let name = format!("{}/engines/{count}", layer.name);
            rows.push(RecordRow::new(&name, Quantity::Throughput, own));
            rows.push(RecordRow::new(&name, Quantity::Speedup, &ratios(&times[0], own)));
        }
    }
    Ok(rows)
}

/// Nanoseconds for a check where `count` engines make [`CHECKS`] each at the same time: from the first that begins to the last
/// that ends.
fn run(count: usize, engine: &Engine, code: &[u8], input: &[u8], layer: &str) -> Result<f64, LabError> {
    let own = |_| Engine::new(engine.config().clone());
    let engines: Vec<Engine> = (0..count).map(own).collect::<Result<_, _>>()?;
    let ready = Barrier::new(count);
    let results = on_cores(count, |number| {
        let mut prepared = engines[number].prepare(code);
        ready.wait();
        let begin = Instant::now();
        let outputs: Vec<Vec<u8>> = (0..CHECKS).map(|_| prepared.run_without_memory(input, GAS).output).collect();
        (begin, Instant::now(), outputs)
    });
    let expected = word(true);
    if let Some(got) = results.iter().flat_map(|(_, _, outputs)| outputs).find(|output| **output != expected) {
        let subject = format!("{layer}/engines/{count}");
        return Err(WrongAnswer { subject, expected, got: got.clone() }.into());
    }
    let begin = results.iter().map(|(begin, _, _)| *begin).min().expect("at least one engine runs");
    let end = results.iter().map(|(_, end, _)| *end).max().expect("at least one engine runs");
    // Few engines and few checks.
    Ok((end - begin).as_secs_f64() * 1e9 / (count * CHECKS) as f64)
}
