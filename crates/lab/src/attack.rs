//! `lab attack`: an evolutionary search for the code that takes longest for its gas.
//!
//! A candidate is executed by an engine that has never seen it, so analysis and planning, which nobody pays gas for, are in
//! its time. All choices of the search come from a seed; which candidates survive is decided by times, so two runs may part
//! where two candidates are about as bad. What is found is code, and code can be run again.

mod genome;
mod ground;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use residue_engine::{EXECUTIONS_TO_WARM, Engine, EngineConfig};
use residue_isa::{GasSchedule, Revision};

use crate::error::LabError;
use crate::group::{Observer, Progress, record_of};
use crate::harness::time_ns;
use crate::record::{Quantity, Record, Row};
use crate::statistics::Spread;
use genome::Genome;
use ground::{Bounds, Ground};

/// Name of the records.
pub const GROUP: &str = "attack";
/// Bytes that two-byte offsets reach: the bound of later proposals for memory.
pub const BOUND_BYTES: u32 = 65_536;
/// Found programs that are shown of each search.
const SHOWN: usize = 3;
/// Programs that do useful work, to stand beside.
const HONEST: [&str; 4] = ["bls12_381/pairing", "evm384/miller_loop", "bls12_381/g1_mul", "evm384/synthetic_loop"];

/// What is searched, and how long.
#[derive(Debug, Clone)]
pub struct Search {
    /// The revision.
    pub revision: Revision,
    /// The prices.
    pub schedule: GasSchedule,
    /// All choices come of it.
    pub seed: u64,
    /// Candidates that live at a time.
    pub population: usize,
    /// Generations after the first.
    pub generations: usize,
    /// Gas of a candidate.
    pub gas: u64,
    /// The most bytes of code.
    pub code_bytes_max: usize,
    /// Executions of a candidate; the least of its times counts.
    pub rounds: usize,
}

/// A program with what it takes.
#[derive(Debug, Clone)]
pub struct Found {
    /// What it is called.
    pub name: String,
    /// The code.
    pub code: Vec<u8>,
    /// Its calldata.
    pub input: Vec<u8>,
    /// What the code is made of, in words; empty for honest programs.
    pub description: String,
    /// Gas of an execution.
    pub gas_used: u64,
    /// First executions: nanoseconds for a gas.
    pub cold: Spread,
    /// Later executions.
    pub warm: Spread,
    cold_samples: Vec<f64>,
}

/// What a search has found.
#[derive(Debug, Clone)]
pub struct Findings {
    /// The worst programs with operands anywhere, the worst first.
    pub anywhere: Vec<Found>,
    /// The worst programs within the bound: 64 KiB of memory, or a quarter of the slots that revisions allow.
    pub bounded: Vec<Found>,
    /// Programs that do useful work.
    pub honest: Vec<Found>,
}

/// Makes each search twice, with operands anywhere and within the bound, and runs honest programs beside. One record of all.
pub fn attack(searches: &[Search], observer: &mut Observer<'_>) -> Result<(Vec<Findings>, Record), LabError> {
    let mut all = Vec::new();
    let mut record = record_of(GROUP, || {
        for search in searches {
            all.push(Findings {
                anywhere: evolve(search, Bounds::Anywhere, observer)?,
                bounded: evolve(search, Bounds::Within, observer)?,
                honest: honest(search)?,
            });
        }
        Ok(all.iter().flat_map(Findings::all).flat_map(rows).collect())
    })?;
    let about = searches.iter().zip(&all).map(|(search, findings)| {
        let Search { revision, schedule, seed, population, generations, gas, .. } = search;
        format!(
            "{revision} under {}, seed {seed}, {population} candidates over {generations} generations, {gas} gas: {}",
            schedule.name(),
            findings.verdict()
        )
    });
    record.environment.set("attack", &about.collect::<Vec<_>>().join("; "));
    Ok((all, record))
}

fn rows(found: &Found) -> Vec<Row> {
    // Gas is far below 2⁵³.
    vec![
        Row::new(&found.name, Quantity::NsPerGas, &found.cold_samples),
        Row::exact(&found.name, Quantity::Gas, found.gas_used as f64),
    ]
}

impl Findings {
    /// All programs.
    pub fn all(&self) -> impl Iterator<Item = &Found> {
        self.anywhere.iter().chain(&self.bounded).chain(&self.honest)
    }

    /// The worst nanoseconds per gas of first executions: anywhere, within the bound, and of honest programs.
    pub fn worst(&self) -> [Option<f64>; 3] {
        [&self.anywhere, &self.bounded, &self.honest]
            .map(|found| found.iter().map(|found| found.cold.median).max_by(f64::total_cmp))
    }

    /// Whether the bound contains what was found, in a sentence.
    pub fn verdict(&self) -> String {
        let [Some(anywhere), Some(bounded), Some(honest)] = self.worst() else {
            return "nothing was found".to_owned();
        };
        let is_contained = bounded <= 0.8 * anywhere;
        format!(
            "the worst found takes {anywhere:.1} ns per gas, {:.1} times the worst honest program; within the bound {bounded:.1}: \
             the bound {} it",
            anywhere / honest,
            if is_contained { "contains" } else { "does not contain" }
        )
    }
}

struct Candidate {
    genome: Genome,
    ns_per_gas: f64,
}

/// The worst programs of one search.
fn evolve(search: &Search, bounds: Bounds, observer: &mut Observer<'_>) -> Result<Vec<Found>, LabError> {
    let mut random = ChaCha8Rng::seed_from_u64(search.seed);
    let ground = Ground::new(search.revision, bounds, search.gas);
    let mut alive: Vec<Candidate> = Vec::new();
    let place = if bounds == Bounds::Anywhere { "anywhere" } else { "within" };
    let step = format!("{} {place}", search.revision);
    for generation in 0..=search.generations {
        observer(Progress { step: &step, done: generation, total: search.generations });
        let mut next: Vec<Genome> = Vec::new();
        while next.len() < search.population {
            let genome = match alive.len() {
                0 => Genome::random(&mut random, &ground),
                survivors => {
                    let parents = [0, 1].map(|_| &alive[below(&mut random, survivors)].genome);
                    parents[0].child(parents[1], &mut random, &ground)
                }
            };
            next.push(genome);
        }
        // Survivors are measured again: who was slow by accident does not live on.
        for candidate in &mut alive {
            candidate.ns_per_gas = candidate.ns_per_gas.min(ns_per_gas(search, &ground, &candidate.genome)?);
        }
        for genome in next {
            let ns_per_gas = ns_per_gas(search, &ground, &genome)?;
            alive.push(Candidate { genome, ns_per_gas });
        }
        // The same code again is no news.
        alive.sort_by(|a, b| b.ns_per_gas.total_cmp(&a.ns_per_gas));
        alive.dedup_by(|a, b| a.genome == b.genome);
        alive.truncate((search.population / 3).max(2));
    }
    let found = alive.iter().take(SHOWN).enumerate().map(|(number, candidate)| {
        let program = candidate.genome.program(&ground, search.code_bytes_max)?;
        let name = format!("{}:{place}/found/{}", search.revision, number + 1);
        measured(search, name, program.code, program.input, candidate.genome.description(&ground))
    });
    found.collect()
}

/// The least of its times: what disturbs an execution only adds to it.
fn ns_per_gas(search: &Search, ground: &Ground, genome: &Genome) -> Result<f64, LabError> {
    let program = genome.program(ground, search.code_bytes_max)?;
    let (samples, _) = cold(search, &program.code, &program.input)?;
    Ok(samples.into_iter().fold(f64::INFINITY, f64::min))
}

fn honest(search: &Search) -> Result<Vec<Found>, LabError> {
    let mut all = Vec::new();
    for name in HONEST {
        let Some(contract) = residue_contracts::find(name) else { continue };
        let compiled = residue_compiler::compile(&(contract.program)(), search.revision, &search.schedule);
        let Ok(compiled) = compiled else { continue };
        let name = format!("{}:honest/{}/1", search.revision, name.rsplit('/').next().unwrap_or(name));
        let search = Search { gas: u64::MAX >> 20, ..search.clone() };
        all.push(measured(&search, name, compiled.code, (contract.example)(), String::new())?);
    }
    Ok(all)
}

fn measured(
    search: &Search,
    name: String,
    code: Vec<u8>,
    input: Vec<u8>,
    description: String,
) -> Result<Found, LabError> {
    let again = Search { rounds: search.rounds.max(5), ..search.clone() };
    let (cold_samples, gas_used) = cold(&again, &code, &input)?;
    let mut prepared = engine(search)?.prepare(&code);
    let per_gas = |_| time_ns(|| prepared.run_without_memory(&input, search.gas)).1 / gas_used.max(1) as f64;
    let warm: Vec<f64> = (0..EXECUTIONS_TO_WARM + again.rounds).map(per_gas).skip(EXECUTIONS_TO_WARM).collect();
    let (cold, warm) = (Spread::of(&cold_samples), Spread::of(&warm));
    Ok(Found { name, code, input, description, gas_used, cold, warm, cold_samples })
}

/// Nanoseconds per gas of first executions, and the gas of one.
fn cold(search: &Search, code: &[u8], input: &[u8]) -> Result<(Vec<f64>, u64), LabError> {
    let mut samples = Vec::with_capacity(search.rounds);
    let mut gas_used = 0;
    for _ in 0..search.rounds {
        let engine = engine(search)?;
        let (outcome, time_ns) = time_ns(|| engine.prepare(code).run_without_memory(input, search.gas));
        gas_used = outcome.gas_used;
        samples.push(time_ns / gas_used.max(1) as f64); // Gas is far below 2⁵³.
    }
    Ok((samples, gas_used))
}

fn engine(search: &Search) -> Result<Engine, LabError> {
    Ok(Engine::unshared(EngineConfig::new(search.revision, search.schedule.clone()))?)
}

/// A number below `end`, which is not 0.
pub(crate) fn below(random: &mut ChaCha8Rng, end: usize) -> usize {
    // The remainder is below `end`.
    (random.next_u64() % end as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(revision: Revision) -> Search {
        Search {
            revision,
            schedule: GasSchedule::default_for(revision).unwrap(),
            seed: 1,
            population: 6,
            generations: 1,
            gas: 200_000,
            code_bytes_max: 24_576,
            rounds: 1,
        }
    }

    #[test]
    fn a_search_finds_programs_that_use_their_gas_beside_honest_ones() {
        let searches = [Revision::Evm384V9, Revision::Eip6690_2024].map(search);
        let (all, record) = attack(&searches, &mut |_| ()).unwrap();
        for findings in all {
            for found in findings.anywhere.iter().chain(&findings.bounded) {
                assert!(found.gas_used > 1000 && found.code.len() <= 24_576, "{found:?}");
                assert!(!found.description.is_empty());
            }
            assert!(!findings.honest.is_empty() && findings.worst().iter().all(Option::is_some));
        }
        assert!(record.rows.iter().any(|row| row.quantity == Quantity::NsPerGas));
        let about = record.environment.get("attack").unwrap();
        assert!(about.contains("evm384-v9 under") && about.contains("eip6690-2024 under"), "{about}");
    }

    /// A candidate that halts early burns its gas without working for it, so that the search would not see what is slow.
    #[test]
    fn candidates_of_every_revision_work_until_their_gas_is_used_up() {
        for &revision in Revision::ALL {
            for bounds in [Bounds::Anywhere, Bounds::Within] {
                let search = search(revision);
                let ground = Ground::new(revision, bounds, search.gas);
                let mut random = ChaCha8Rng::seed_from_u64(2);
                let halts = (0..40).map(|_| {
                    let genome = Genome::random(&mut random, &ground);
                    let program = genome.program(&ground, search.code_bytes_max).unwrap();
                    let engine = engine(&search).unwrap();
                    (engine.run_code(&program.code, &program.input, search.gas).halt, genome)
                });
                for (halt, genome) in halts {
                    assert_eq!(halt, residue_engine::Halt::OutOfGas, "{revision} {bounds:?}: {genome:?}");
                }
            }
        }
    }

    #[test]
    fn the_first_generation_is_that_of_the_seed() {
        let ground = Ground::new(Revision::Eip6690_2024, Bounds::Anywhere, 1_000_000);
        let genomes = |seed| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            (0..5).map(|_| Genome::random(&mut random, &ground)).collect::<Vec<_>>()
        };
        assert_eq!(genomes(7), genomes(7));
        assert_ne!(genomes(7), genomes(8));
    }
}
