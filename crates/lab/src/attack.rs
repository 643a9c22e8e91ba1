//! `lab attack`: an evolutionary search for the code that takes longest for its gas.
//!
//! A candidate is executed by an engine that has never seen it, so analysis and planning, which nobody pays gas for, are in
//! its time. All choices of the search come from a seed; which candidates survive is decided by times, so two runs may part
//! where two candidates are about as bad. What is found is code, and code can be run again.

mod genome;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use residue_engine::{Engine, EngineConfig};
use residue_isa::{GasSchedule, Revision};

use crate::error::LabError;
use crate::group::{Observer, Progress, record_of};
use crate::harness::time_ns;
use crate::record::{Quantity, Record, Row};
use crate::statistics::Spread;
pub use genome::{Bounds, Genome};

/// Name of the records.
pub const GROUP: &str = "attack";
/// Bytes that two-byte offsets reach: the bound of later proposals for memory.
pub const BOUND_BYTES: u32 = 65_536;
/// Found programs that are shown of each search.
const SHOWN: usize = 3;
/// Programs that do useful work, to stand beside.
const HONEST: [&str; 3] = ["bls12_381/pairing", "evm384/miller_loop", "bls12_381/g1_mul"];

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
    /// Executions of a candidate; the median counts.
    pub rounds: usize,
}

impl Search {
    /// Refuses a revision that there are no candidates for.
    pub fn check(&self) -> Result<(), LabError> {
        match genome::is_supported(self.revision) {
            true => Ok(()),
            false => Err(LabError::NoAttack { revision: self.revision }),
        }
    }
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

/// Searches twice, with operands anywhere and within the bound, and runs honest programs beside.
pub fn attack(search: &Search, observer: &mut Observer<'_>) -> Result<(Findings, Record), LabError> {
    search.check()?;
    let mut findings = Findings { anywhere: Vec::new(), bounded: Vec::new(), honest: Vec::new() };
    let mut record = record_of(GROUP, || {
        findings.anywhere = evolve(search, Bounds::Anywhere, observer)?;
        findings.bounded = evolve(search, Bounds::Within, observer)?;
        findings.honest = honest(search)?;
        let all = findings.anywhere.iter().chain(&findings.bounded).chain(&findings.honest);
        Ok(all.flat_map(rows).collect())
    })?;
    let Search { revision, schedule, seed, population, generations, gas, .. } = search;
    let about = format!(
        "{revision} under {}, seed {seed}, {population} candidates over {generations} generations, {gas} gas; {}",
        schedule.name(),
        findings.verdict()
    );
    record.environment.set("attack", &about);
    Ok((findings, record))
}

fn rows(found: &Found) -> Vec<Row> {
    // Gas is far below 2⁵³.
    vec![
        Row::new(&found.name, Quantity::NsPerGas, &found.cold_samples),
        Row::exact(&found.name, Quantity::Gas, found.gas_used as f64),
    ]
}

impl Findings {
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
    let mut alive: Vec<Candidate> = Vec::new();
    let step = if bounds == Bounds::Anywhere { "anywhere" } else { "within" };
    for generation in 0..=search.generations {
        observer(Progress { step, done: generation, total: search.generations });
        let mut next: Vec<Genome> = Vec::new();
        while next.len() < search.population {
            let genome = match alive.len() {
                0 => Genome::random(&mut random, search.revision, bounds),
                survivors => {
                    let parents = [0, 1].map(|_| &alive[below(&mut random, survivors)].genome);
                    parents[0].child(parents[1], &mut random, search.revision, bounds)
                }
            };
            next.push(genome);
        }
        for genome in next {
            let program = genome.program(search.revision, search.code_bytes_max)?;
            let (samples, _) = cold(search, &program.code, &program.input)?;
            let ns_per_gas = Spread::of(&samples).median;
            alive.push(Candidate { genome, ns_per_gas });
        }
        // The same code again is no news.
        alive.sort_by(|a, b| b.ns_per_gas.total_cmp(&a.ns_per_gas));
        alive.dedup_by(|a, b| a.genome == b.genome);
        alive.truncate((search.population / 3).max(2));
    }
    let found = alive.iter().take(SHOWN).enumerate().map(|(place, candidate)| {
        let program = candidate.genome.program(search.revision, search.code_bytes_max)?;
        let name = format!("{}:{step}/found/{}", search.revision, place + 1);
        measured(search, name, program.code, program.input, candidate.genome.description(bounds))
    });
    found.collect()
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
    // Blocks are planned when they are entered often.
    let warm: Vec<f64> = (0..8 + again.rounds).map(per_gas).skip(8).collect();
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

    #[test]
    fn a_search_finds_programs_that_use_their_gas_beside_honest_ones() {
        for revision in [Revision::Evm384V7, Revision::Eip6690_2024] {
            let schedule = GasSchedule::default_for(revision).unwrap();
            let search = Search {
                revision,
                schedule,
                seed: 1,
                population: 4,
                generations: 1,
                gas: 200_000,
                code_bytes_max: 24_576,
                rounds: 1,
            };
            let (findings, record) = attack(&search, &mut |_| ()).unwrap();
            for found in findings.anywhere.iter().chain(&findings.bounded) {
                assert!(found.gas_used > 1000 && found.code.len() <= 24_576, "{found:?}");
                assert!(!found.description.is_empty());
            }
            assert!(!findings.honest.is_empty() && findings.worst().iter().all(Option::is_some));
            assert!(record.rows.iter().any(|row| row.quantity == Quantity::NsPerGas));
        }
        let schedule = GasSchedule::default_for(Revision::Geth6601).unwrap();
        let unsupported = Search {
            revision: Revision::Geth6601,
            schedule,
            seed: 1,
            population: 2,
            generations: 0,
            gas: 1000,
            code_bytes_max: 1000,
            rounds: 1,
        };
        assert!(attack(&unsupported, &mut |_| ()).is_err());
    }

    #[test]
    fn the_first_generation_is_that_of_the_seed() {
        let genomes = |seed| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            (0..5).map(|_| Genome::random(&mut random, Revision::Eip6690_2024, Bounds::Anywhere)).collect::<Vec<_>>()
        };
        assert_eq!(genomes(7), genomes(7));
        assert_ne!(genomes(7), genomes(8));
    }
}
