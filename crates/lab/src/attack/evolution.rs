//! The search: candidates of a generation beside survivors of those before, the worst of all survive.
//!
//! All choices come of a seed; which candidates survive is decided by what was measured, so two runs may part where two
//! candidates are about as bad.

use std::time::{Duration, Instant};

use super::genome::Genome;
use super::ground::Ground;
use super::scene::seeded;
use super::{Effort, below};
use crate::bench::effort::{Observer, Progress};
use crate::error::LabError;

/// A candidate that survives.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub genome: Genome,
    /// Fitness: greater is worse for the engine.
    pub fitness: f64,
    /// The generation that it appeared in.
    pub born: usize,
    /// The name of the known attack that it is.
    pub name: Option<String>,
}

/// Objective of a search. If it is a time, survivors are measured again, so that candidates that were slow by accident
/// do not live on.
pub struct Fitness<'a> {
    pub of: &'a mut dyn FnMut(&Genome) -> Result<f64, LabError>,
    pub is_time: bool,
}

/// The worst candidates of a search, the worst first.
pub fn evolve(
    effort: &Effort,
    ground: &Ground,
    step: &str,
    first: Vec<(String, Genome)>,
    fitness: Fitness<'_>,
    observer: &mut Observer<'_>,
) -> Result<Vec<Candidate>, LabError> {
    let mut random = seeded(effort.seed);
    let mut alive: Vec<Candidate> = Vec::new();
    let mut next: Vec<(Option<String>, Genome)> = first.into_iter().map(|(name, known)| (Some(name), known)).collect();
    let begun = Instant::now();
    for generation in 0.. {
        observer(effort.progress(step, generation, begun.elapsed()));
        for _ in 0..effort.population {
            let genome = match alive.len() {
                0 => Genome::random(&mut random, ground),
                survivors => {
                    let parents = [0, 1].map(|_| &alive[below(&mut random, survivors)].genome);
                    parents[0].child(parents[1], &mut random, ground)
                }
            };
            next.push((None, genome));
        }
        if fitness.is_time {
            for candidate in &mut alive {
                candidate.fitness = candidate.fitness.min((fitness.of)(&candidate.genome)?);
            }
        }
        for (name, genome) in next.drain(..) {
            // Those that are known are always tried; of the others as many as there is time for.
            let is_late = effort.time.is_some_and(|time| begun.elapsed() >= time);
            if is_late && name.is_none() && alive.len() >= effort.survivors() {
                break;
            }
            // The same again is no news.
            if alive.iter().any(|candidate| candidate.genome == genome) {
                continue;
            }
            let fitness = (fitness.of)(&genome)?;
            alive.push(Candidate { genome, fitness, born: generation, name });
        }
        alive.sort_by(|a, b| b.fitness.total_cmp(&a.fitness));
        alive.truncate(effort.survivors());
        if effort.is_over(generation, begun.elapsed()) {
            break;
        }
    }
    Ok(alive)
}

impl Effort {
    /// Number of survivors of a generation.
    fn survivors(&self) -> usize {
        (self.population / 3).max(2)
    }

    fn is_over(&self, generation: usize, elapsed: Duration) -> bool {
        match self.time {
            Some(time) => elapsed >= time,
            None => generation >= self.generations,
        }
    }

    fn progress<'a>(&self, step: &'a str, generation: usize, elapsed: Duration) -> Progress<'a> {
        match self.time {
            // Whole seconds of a search are few.
            Some(time) => Progress { step, done: elapsed.as_secs() as usize, total: time.as_secs() as usize },
            None => Progress { step, done: generation, total: self.generations },
        }
    }
}
