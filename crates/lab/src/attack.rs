//! `lab attack`: an evolutionary search for the transactions that take longest, or most memory, for their gas.
//!
//! A candidate is a world: contracts, many of them copies of one, and a history of transactions. An engine that has
//! never seen it runs it, so its time includes analysis and planning, which nobody pays gas for; the worst transaction
//! of its history counts. Resident memory is measured in a process of its own. A search begins with the known attacks,
//! each built by a test, and with instructions at the ends of their operand ranges. Each finding is a file that can be
//! run again.
//!
//! Read [`genome`] first, which says what candidates are made of; then [`ground`] and `room`, which write them for a revision,
//! and `layout`, which makes codes of them; [`scene`] runs them and `evolution` searches. [`cycle`] and [`extremes`] are
//! measurements without a search.

pub mod cycle;
mod evolution;
pub mod extremes;
mod gene;
pub mod genome;
pub mod ground;
mod known;
mod layout;
mod resident;
mod room;
pub mod scene;
#[cfg(test)]
mod tests;

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;
use residue_engine::{Batching, EXECUTIONS_TO_WARM, EngineConfig};
use residue_isa::{GasSchedule, Revision};
use residue_workbench::statistics::Spread;

use crate::bench::effort::Observer;
use crate::bench::group::record_of;
use crate::error::LabError;
use crate::record::{Quantity, Record, RecordRow};
use evolution::{Candidate, Fitness, evolve};
use genome::Genome;
use ground::{Bounds, Ground};
pub use resident::{Resident, Stay};
use scene::{Scene, Staged, Times};

/// Name of the records.
pub const GROUP: &str = "attack";
/// The groups of records that come of attacks; no figure shows them.
pub const GROUPS: [&str; 3] = [GROUP, cycle::GROUP, extremes::GROUP];
/// The most bytes of a contract's code (EIP-170).
pub const CODE_BYTES_MAX: usize = 24_576;
/// Found candidates that are shown of each part of a search.
const SHOWN: usize = 3;
/// Programs that do useful work and take longest for their gas, to stand beside.
const HONEST_SHOWN: usize = 4;
/// Programs of less gas are not among them: a transaction around them would take most of their time.
const HONEST_GAS_MIN: u64 = 25_000;
/// Gas of a transaction in a memory search as a multiple of the gas of a time search: 60 million where that is 2
/// million.
const MEMORY_GAS: u64 = 30;

/// Parts and effort of a search.
#[derive(Debug, Clone)]
pub struct Search {
    /// The revision.
    pub revision: Revision,
    /// The prices.
    pub schedule: GasSchedule,
    /// Gas of a transaction.
    pub gas: u64,
    /// The most bytes of code.
    pub code_bytes_max: usize,
    /// First executions of a candidate; the least of its times counts.
    pub rounds: usize,
    /// Parts to search.
    pub parts: Vec<Part>,
    /// Effort of each part.
    pub effort: Effort,
}

/// Size, length and seed of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// All choices come of it.
    pub seed: u64,
    /// New candidates of a generation.
    pub population: usize,
    /// Generations after the first.
    pub generations: usize,
    /// In place of a number of generations: how long.
    pub time: Option<Duration>,
    /// True if the first generation contains the known attacks.
    pub begins_with_known: bool,
}

/// Quantity that a search maximises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Time for a gas, operands anywhere.
    Time,
    /// Time for a gas within the bound: 64 KiB of memory, or 64 slots of each field context.
    Bounded,
    /// Time as a multiple of the time without blocks and plans.
    OverPlain,
    /// Resident memory.
    Memory,
}

/// Transactions with what they take.
#[derive(Debug, Clone)]
pub struct Found {
    /// Name.
    pub name: String,
    /// Content in words; empty for honest programs.
    pub description: String,
    /// Scene that runs it again; none for honest programs.
    pub scene: Option<Scene>,
    /// The codes: what is called first, then what that calls.
    pub codes: Vec<Vec<u8>>,
    /// Calldata of each transaction.
    pub inputs: Vec<Vec<u8>>,
    /// Gas of all of them.
    pub gas_used: u64,
    /// By an engine that has not seen it: nanoseconds for a gas of the worst transaction.
    pub cold: Spread,
    /// The same without blocks and plans.
    pub plain: Spread,
    /// By an engine that has.
    pub warm: Spread,
    /// By revm as it is, where the transactions need no instruction of the revision: what the EVM itself takes.
    pub stock: Option<Spread>,
    /// Resident memory, if the search was for memory.
    pub resident: Option<Resident>,
    samples: [Vec<f64>; 3],
}

/// Findings of a search, by part.
#[derive(Debug, Clone)]
pub struct Findings {
    /// The worst of each part, the worst first.
    pub parts: Vec<(Part, Vec<Found>)>,
    /// Programs that do useful work.
    pub honest: Vec<Found>,
}

/// Makes a search and runs honest programs beside it.
pub fn attack(search: &Search, observer: &mut Observer<'_>) -> Result<(Findings, Record), LabError> {
    let mut findings = Findings { parts: Vec::new(), honest: Vec::new() };
    let mut record = record_of(GROUP, || {
        for &part in &search.parts {
            findings.parts.push((part, part.search(search, observer)?));
        }
        findings.honest = honest(search)?;
        Ok(findings.all().flat_map(rows).collect())
    })?;
    let Search { revision, schedule, gas, effort, .. } = search;
    let said = format!("{revision} under {}, {gas} gas: {}", schedule.name(), effort.in_words());
    record.environment.set(GROUP, &format!("{said}: {}", findings.verdict()));
    Ok((findings, record))
}

/// One record of two attacks.
pub fn joined(mut first: Record, second: Record) -> Record {
    let said = [&first, &second].map(|record| record.environment.get(GROUP).unwrap_or_default()).join("; ");
    first.environment.set(GROUP, &said);
    first.rows.extend(second.rows);
    first
}

/// Runs what a search has found once more.
pub fn replay(scene: &Scene, name: &str) -> Result<Found, LabError> {
    let (revision, _) = scene.rules()?;
    let description = scene.genome.description(&Ground::new(revision, scene.bounds, scene.gas));
    let found = measured(scene.stage()?.in_time()?, name.to_owned(), description, REPLAYED)?;
    Ok(Found { resident: resident::resident(scene)?, scene: Some(scene.clone()), ..found })
}

/// Rounds of what is measured once more.
const REPLAYED: usize = 5;

fn rows(found: &Found) -> Vec<RecordRow> {
    let [batch, plain, stock] = &found.samples;
    let beside = format!("{}-plain", found.name);
    let mut rows = vec![
        RecordRow::new(&found.name, Quantity::NsPerGas, batch),
        RecordRow::ratio(&found.name, Quantity::NsPerGas, batch, (&beside, plain)),
        // Gas is far below 2⁵³, and so is memory.
        RecordRow::exact(&found.name, Quantity::Gas, found.gas_used as f64),
    ];
    if !stock.is_empty() {
        rows.push(RecordRow::new(format!("{}-revm", found.name), Quantity::NsPerGas, stock));
    }
    if let Some(resident) = found.resident {
        rows.push(RecordRow::exact(&found.name, Quantity::MemoryGrowth, resident.beyond_bytes() as f64));
    }
    rows
}

impl Part {
    /// Every part.
    pub const ALL: [Self; 4] = [Self::Time, Self::Bounded, Self::OverPlain, Self::Memory];

    /// As commands and records have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "anywhere",
            Self::Bounded => "within",
            Self::OverPlain => "over-plain",
            Self::Memory => "memory",
        }
    }

    /// The worst that is found.
    fn search(self, search: &Search, observer: &mut Observer<'_>) -> Result<Vec<Found>, LabError> {
        let bounds = if self == Self::Bounded { Bounds::Within } else { Bounds::Anywhere };
        let gas = if self == Self::Memory { search.gas.saturating_mul(MEMORY_GAS) } else { search.gas };
        let ground = Ground::new(search.revision, bounds, gas);
        let scene = |genome: &Genome| Scene::new(&ground, &search.schedule, gas, search.code_bytes_max, genome);
        let mut time =
            |genome: &Genome| least_ns_per_gas(&scene(genome).stage()?.in_time()?, Batching::Warm, search.rounds);
        let mut over_plain = |genome: &Genome| {
            let staged = scene(genome).stage()?.in_time()?;
            let plain = least_ns_per_gas(&staged, Batching::Off, search.rounds)?;
            Ok(least_ns_per_gas(&staged, Batching::Warm, search.rounds)? / plain)
        };
        let mut memory = |genome: &Genome| resident::beyond_bytes(&scene(genome));
        let fitness = match self {
            Self::Time | Self::Bounded => Fitness { of: &mut time, is_time: true },
            Self::OverPlain => Fitness { of: &mut over_plain, is_time: true },
            Self::Memory if crate::bench::process::peak_bytes().is_none() => return Ok(Vec::new()),
            Self::Memory => Fitness { of: &mut memory, is_time: false },
        };
        let first = if search.effort.begins_with_known { known::first(&ground) } else { Vec::new() };
        let step = format!("{} {}", search.revision, self.name());
        let alive = evolve(&search.effort, &ground, &step, first, fitness, observer)?;
        let found = alive.iter().take(SHOWN).enumerate().map(|(number, candidate)| {
            let name = format!("{}:{}/found/{}", search.revision, self.name(), number + 1);
            let scene = scene(&candidate.genome);
            let rounds = search.rounds.max(3);
            let found = measured(scene.stage()?.in_time()?, name, candidate.description(&ground), rounds)?;
            let resident = if self == Self::Memory { resident::resident(&scene)? } else { None };
            Ok(Found { scene: Some(scene), resident, ..found })
        });
        found.collect()
    }
}

impl Candidate {
    fn description(&self, ground: &Ground) -> String {
        let name = self.name.as_ref().map(|name| format!("known as {name}: ")).unwrap_or_default();
        format!("{name}{}; of generation {}", self.genome.description(ground), self.born)
    }
}

impl Effort {
    fn in_words(&self) -> String {
        let Self { seed, population, generations, time, begins_with_known } = self;
        let long = match time {
            Some(time) => format!("for {} s", time.as_secs()),
            None => format!("over {generations} generations"),
        };
        let first = if *begins_with_known { "" } else { " from random ones alone" };
        format!("seed {seed}, {population} candidates {long}{first}")
    }
}

impl Findings {
    /// All programs.
    pub fn all(&self) -> impl Iterator<Item = &Found> {
        self.parts.iter().flat_map(|(_, found)| found).chain(&self.honest)
    }

    /// Findings of a part, the worst first; empty if it was not searched.
    pub fn of(&self, part: Part) -> &[Found] {
        self.parts.iter().find(|(searched, _)| *searched == part).map_or(&[], |(_, found)| found)
    }

    /// The worst nanoseconds per gas of first executions of a part that searches for time.
    pub fn worst(&self, part: Part) -> Option<f64> {
        if part == Part::Memory {
            return None;
        }
        worst(self.of(part).iter().map(|found| found.cold.median))
    }

    /// The same of honest programs.
    pub fn worst_honest(&self) -> Option<f64> {
        worst(self.honest.iter().map(|found| found.cold.median))
    }

    /// The worst found against the worst honest program, or against revm as it is where the transactions need no more and that takes longer.
    pub fn ratio(&self) -> Option<f64> {
        let honest = self.worst_honest()?;
        let beside = |found: &Found| found.cold.median / found.stock.map_or(0.0, |stock| stock.median).max(honest);
        let parts = self.parts.iter().filter(|(part, _)| *part != Part::Memory);
        worst(parts.flat_map(|(_, found)| found).map(beside))
    }

    /// The worst times as long as without blocks and plans.
    pub fn over_plain(&self) -> Option<f64> {
        worst(self.all().map(|found| found.cold.median / found.plain.median))
    }

    /// The most bytes that were resident beyond the EVM's own.
    pub fn resident_bytes(&self) -> Option<u64> {
        self.all().filter_map(|found| found.resident).map(|resident| resident.beyond_bytes()).max()
    }

    /// Summary of the findings in a sentence.
    pub fn verdict(&self) -> String {
        let mut said = Vec::new();
        if let (Some(ratio), Some(honest)) = (self.ratio(), self.worst_honest()) {
            let found = worst(Part::ALL.into_iter().filter_map(|part| self.worst(part))).unwrap_or_default();
            said.push(format!(
                "the worst found takes {found:.1} ns per gas, the worst honest program {honest:.1}: at most {ratio:.1} times that or revm as it is"
            ));
        }
        if let (Some(anywhere), Some(bounded)) = (self.worst(Part::Time), self.worst(Part::Bounded)) {
            let contains = if bounded <= 0.8 * anywhere { "contains" } else { "does not contain" };
            said.push(format!("within the bound {bounded:.1}: the bound {contains} it"));
        }
        if let Some(times) = self.over_plain() {
            said.push(format!("at most {times:.1} times as long as without blocks"));
        }
        if let Some(bytes) = self.resident_bytes() {
            said.push(format!("at most {:.1} MiB resident beyond the EVM's own", bytes as f64 / 1_048_576.0)); // Far below 2⁵³.
        }
        if said.is_empty() { "nothing was found".to_owned() } else { said.join("; ") }
    }
}

fn worst(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.max_by(f64::total_cmp)
}

/// The least of its times by engines that have not seen it: what disturbs an execution only adds to it.
fn least_ns_per_gas(staged: &Staged, batching: Batching, rounds: usize) -> Result<f64, LabError> {
    let mut least = f64::INFINITY;
    for _ in 0..rounds {
        least = least.min(cold(staged, batching)?.worst_ns_per_gas());
    }
    Ok(least)
}

fn cold(staged: &Staged, batching: Batching) -> Result<Times, LabError> {
    Ok(staged.run(&staged.engine(batching)?))
}

/// The contracts that take longest for their gas, on their examples.
fn honest(search: &Search) -> Result<Vec<Found>, LabError> {
    let mut ranked = Vec::new();
    for contract in residue_contracts::CONTRACTS {
        let compiled = residue_compiler::compile(&contract.program(), search.revision, &search.schedule);
        let Ok(compiled) = compiled else { continue };
        let name = format!("{}:honest/{}/1", search.revision, contract.name);
        let config = EngineConfig::new(search.revision, search.schedule.clone());
        let staged = Staged::honest(config, compiled.code, (contract.example)(), u64::MAX >> 20)?;
        if cold(&staged, Batching::Off)?.gas_used() >= HONEST_GAS_MIN {
            ranked.push((least_ns_per_gas(&staged, Batching::Warm, search.rounds)?, name, staged));
        }
    }
    ranked.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
    let shown = ranked.into_iter().take(HONEST_SHOWN);
    shown.map(|(_, name, staged)| measured(staged, name, String::new(), search.rounds.max(5))).collect()
}

/// Times with and without blocks, in turn.
fn measured(staged: Staged, name: String, description: String, rounds: usize) -> Result<Found, LabError> {
    let mut samples = [const { Vec::new() }; 3];
    let mut gas_used = 0;
    for _ in 0..rounds {
        let [warm, plain, by_stock] = &mut samples;
        for (samples, batching) in [warm, plain].into_iter().zip([Batching::Warm, Batching::Off]) {
            let times = cold(&staged, batching)?;
            gas_used = times.gas_used();
            samples.push(times.worst_ns_per_gas());
            if batching == Batching::Off {
                by_stock.extend(staged.stock_ns_per_gas(&times)?);
            }
        }
    }
    let engine = staged.engine(Batching::Warm)?;
    let warm: Vec<f64> = (0..EXECUTIONS_TO_WARM + rounds).map(|_| staged.run(&engine).worst_ns_per_gas()).collect();
    let [cold, plain] = [&samples[0], &samples[1]].map(|samples| Spread::of(samples));
    let warm = Spread::of(&warm[EXECUTIONS_TO_WARM..]);
    let stock = (!samples[2].is_empty()).then(|| Spread::of(&samples[2]));
    let Staged { codes, entries, .. } = staged;
    let inputs = entries.into_iter().map(|(input, _)| input).collect();
    Ok(Found {
        name,
        description,
        scene: None,
        codes,
        inputs,
        gas_used,
        cold,
        plain,
        warm,
        stock,
        resident: None,
        samples,
    })
}

/// A number below `end`, which is not 0.
fn below(random: &mut ChaCha8Rng, end: usize) -> usize {
    // The remainder is below `end`.
    (random.next_u64() % end as u64) as usize
}

fn byte(random: &mut ChaCha8Rng) -> u8 {
    below(random, 256) as u8 // Below 256.
}

fn one_of<T: Copy>(random: &mut ChaCha8Rng, choices: &[T]) -> T {
    choices[below(random, choices.len())]
}
