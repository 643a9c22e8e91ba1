//! The ablation of instructions: every contract compiled for a base revision and for revisions that add instructions to
//! it, run, and priced twice: under each revision's own schedule, and with the base's instructions at the price of
//! their measured times.
//!
//! A revision that only adds opcodes runs the base's code too, so its gas is that of the cheaper of the two codes. [`crate::render::design`]
//! makes tables and a figure of the record.

pub mod weights;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use residue_contracts::Contract;
use residue_engine::{Batching, Engine, EngineConfig};
use residue_isa::{OpcodeRow, Revision};
use residue_workbench::Trial;
use residue_workbench::harness::{Rounds, Subject, interleave};
use residue_workbench::parallel::in_parallel;

use crate::bench::effort::{Observer, Progress};
use crate::error::LabError;
use crate::made::made_if_expressible;
use crate::price::{ANCHOR_NS, Model, Runtimes};
use crate::record::{Quantity, Record, RecordRow};

/// The group of its records.
pub const GROUP: &str = "design";

/// The line of a record's header that names what a revision cannot express.
pub const LEFT_OUT: &str = "left out";

/// More than any contract takes.
const GAS: u64 = 1 << 40;

/// Revisions to compare: a base, and others that add instructions to it.
#[derive(Debug, Clone, Copy)]
pub struct Ablation<'a> {
    /// Revision that instructions are added to.
    pub base: Revision,
    /// Revisions that add some.
    pub others: &'a [Revision],
    /// The contracts.
    pub contracts: &'a [&'static Contract],
    /// A record of `lab measure`, whose times of the base's opcodes become prices.
    pub opcodes: Option<&'a Record>,
}

/// An opcode that a revision adds, as a record has it, or another thing that it adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// Its name; what is no opcode has a name that begins with a digit.
    pub mnemonic: String,
    /// Bytes after it that belong to it.
    pub immediate_bytes: u32,
    /// Words that it takes.
    pub pops: u32,
    /// Words that it puts.
    pub pushes: u32,
}

impl Added {
    /// The line of a record's header that says what a revision adds.
    pub fn header(revision: &str) -> String {
        format!("adds {revision}")
    }

    /// Value of that line: `MNEMONIC immediate pops pushes`, with commas between; for moduli wider than the base has,
    /// `LIMBS-limbs 0 0 0`.
    pub fn line(revision: Revision, base: Revision) -> String {
        let row = |row: &OpcodeRow| format!("{} {} {} {}", row.mnemonic, row.immediate_bytes, row.pops, row.pushes);
        let mut parts: Vec<String> = added(revision, base).unwrap_or_default().into_iter().map(row).collect();
        if revision.width_limbs_max() > base.width_limbs_max() {
            parts.push(format!("{}-limbs 0 0 0", revision.width_limbs_max()));
        }
        parts.join(", ")
    }

    /// True for an opcode, false for a limb count.
    pub fn is_opcode(&self) -> bool {
        !self.mnemonic.starts_with(|first: char| first.is_ascii_digit())
    }

    /// Reads it; none if it says something else.
    pub fn read_all(line: &str) -> Option<Vec<Self>> {
        let read = |part: &str| {
            let mut words = part.split(' ');
            let mnemonic = words.next().filter(|mnemonic| !mnemonic.is_empty())?.to_owned();
            let mut number = || words.next()?.parse().ok();
            Some(Self { mnemonic, immediate_bytes: number()?, pops: number()?, pushes: number()? })
        };
        line.split(", ").map(read).collect()
    }
}

/// The opcodes that a revision adds to another; none if it changes or drops one of that.
pub fn added(revision: Revision, base: Revision) -> Option<Vec<&'static OpcodeRow>> {
    let is_kept = |row: &OpcodeRow| {
        revision.opcodes().iter().any(|other| (other.byte, other.mnemonic) == (row.byte, row.mnemonic))
    };
    let keeps = base.opcodes().iter().all(is_kept);
    let is_new = |row: &&OpcodeRow| base.opcodes().iter().all(|other| other.byte != row.byte);
    keeps.then(|| revision.opcodes().iter().filter(is_new).collect())
}

/// True if a revision has all of the base and more: opcodes or wider moduli.
pub fn adds(revision: Revision, base: Revision) -> bool {
    added(revision, base).is_some() && !Added::line(revision, base).is_empty()
}

/// The revisions that are compared with a base unless others are named: all that add something to it as an experiment.
pub fn experiments(base: Revision) -> Vec<Revision> {
    let is_experiment = |revision: &Revision| !revision.experiments().is_empty() && adds(*revision, base);
    Revision::ALL.iter().copied().filter(is_experiment).collect()
}

/// All contracts compiled under all revisions, with what running them says.
#[derive(Debug)]
pub struct Compiled {
    /// Exact rows of a record.
    rows: Vec<RecordRow>,
    /// The trials of each contract.
    made: Vec<(&'static Contract, Vec<(Revision, Trial)>)>,
    /// Revisions that cannot express the contract, each with a contract's name.
    left_out: Vec<(Revision, &'static str)>,
}

impl Compiled {
    /// Header of a record that lists contracts without rows: revisions, each with their names.
    pub fn left_out(&self) -> Option<String> {
        let mut revisions: Vec<Revision> = self.left_out.iter().map(|(revision, _)| *revision).collect();
        revisions.dedup();
        let contracts = |revision: Revision| {
            let names = self.left_out.iter().filter(|(of, _)| *of == revision).map(|(_, name)| *name);
            format!("{revision}: {}", names.collect::<Vec<_>>().join(", "))
        };
        let text = revisions.into_iter().map(contracts).collect::<Vec<_>>().join("; ");
        (!text.is_empty()).then_some(text)
    }
}

/// Compiles each contract once for each revision, and runs it: on all cores, so not in a thread that is tied to one.
pub fn compile(ablation: &Ablation<'_>, observer: &mut Observer<'_>) -> Result<Compiled, LabError> {
    let revisions: Vec<Revision> = [ablation.base].iter().chain(ablation.others).copied().collect();
    let measured: Vec<Option<Engine>> =
        revisions.iter().map(|&revision| measured_engine(ablation, revision)).collect::<Result<_, _>>()?;
    let pairs = |contract: &&'static Contract| (0..revisions.len()).map(|place| (*contract, place)).collect::<Vec<_>>();
    let jobs: Vec<(&'static Contract, usize)> = ablation.contracts.iter().flat_map(pairs).collect();
    let (done, observer) = (AtomicUsize::new(0), Mutex::new(observer));
    let trials = in_parallel(&jobs, |&(contract, place)| {
        let trial = made_if_expressible(contract, revisions[place])?;
        let rows = match &trial {
            Some(trial) => rows_of(contract, revisions[place], trial, measured[place].as_ref())?,
            None => Vec::new(),
        };
        let done = done.fetch_add(1, Ordering::Relaxed);
        if let Ok(mut observer) = observer.lock() {
            observer(Progress { step: contract.name, done, total: jobs.len() });
        }
        Ok::<_, LabError>((trial, rows))
    });
    let mut compiled = Compiled { rows: Vec::new(), made: Vec::new(), left_out: Vec::new() };
    for (&(contract, place), trial) in jobs.iter().zip(trials) {
        if place == 0 {
            compiled.made.push((contract, Vec::new()));
        }
        let (trial, rows) = trial?;
        compiled.rows.extend(rows);
        match (trial, compiled.made.last_mut()) {
            (Some(trial), Some((_, made))) => made.push((revisions[place], trial)),
            _ => compiled.left_out.push((revisions[place], contract.name)),
        }
    }
    compiled.left_out.sort_by_key(|(revision, _)| revisions.iter().position(|known| known == revision));
    Ok(compiled)
}

/// The rows of a record: what running has said, and times where they are asked for. What a revision cannot express has no rows.
pub fn measure(compiled: &Compiled, with_times: bool, observer: &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError> {
    let mut rows = compiled.rows.clone();
    for (done, (contract, made)) in compiled.made.iter().enumerate().filter(|_| with_times) {
        observer(Progress { step: contract.name, done, total: compiled.made.len() });
        rows.extend(times(contract, made)?);
    }
    Ok(rows)
}

fn rows_of(
    contract: &Contract,
    revision: Revision,
    trial: &Trial,
    measured: Option<&Engine>,
) -> Result<Vec<RecordRow>, LabError> {
    let name = name(revision.name(), contract.name);
    let exact = |quantity, value: u64| RecordRow::exact(&name, quantity, value as f64); // far below 2⁵³
    let mut rows = vec![
        exact(Quantity::Gas, trial.gas),
        exact(Quantity::CodeSize, trial.compiled.code.len() as u64), // style: S11: widens
    ];
    if let Some(engine) = measured {
        let outcome = engine.run_code(&trial.compiled.code, &(contract.example)(), GAS);
        if !outcome.is_success() {
            return Err(LabError::Halted { subject: name, halt: outcome.halt });
        }
        rows.push(exact(Quantity::GasMeasured, outcome.gas_used));
    }
    Ok(rows)
}

/// An engine with what the base has at the price of its times, and what a revision adds at the revision's own.
fn measured_engine(ablation: &Ablation<'_>, revision: Revision) -> Result<Option<Engine>, LabError> {
    let Some(record) = ablation.opcodes else { return Ok(None) };
    let runtimes = Runtimes { revision, ..Runtimes::of(record, ablation.base) };
    let schedule = Model::Time.apply(&runtimes, ANCHOR_NS, None)?.schedule;
    Ok(Some(Engine::new(EngineConfig::new(revision, schedule))?))
}

fn times(contract: &Contract, made: &[(Revision, Trial)]) -> Result<Vec<RecordRow>, LabError> {
    let input = (contract.example)();
    let mut subjects = Vec::new();
    for (revision, trial) in made {
        for (batching, layer) in [(Batching::Off, "plain"), (Batching::Warm, "batch")] {
            let engine = Engine::new(EngineConfig { batching, ..EngineConfig::default_for(*revision) })?;
            let mut prepared = engine.prepare(&trial.compiled.code);
            let expected = prepared.run_without_memory(&input, GAS).output;
            let input = &input;
            let name = name(&format!("{revision}:{layer}"), contract.name);
            subjects.push(Subject::new(name, &expected, move || prepared.run_without_memory(input, GAS).output));
        }
    }
    let samples = interleave(&mut subjects, Rounds::BRIEF, || {})?;
    Ok(samples.into_iter().map(|sample| RecordRow::new(sample.name, Quantity::Time, &sample.times_ns)).collect())
}

/// The name of a row.
pub fn name(layer: &str, contract: &str) -> String {
    format!("{layer}/{contract}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contracts_are_compiled_once_each_and_what_cannot_be_expressed_is_named() {
        let names = ["bn254/add", "bw6_761/g1_add", "bw6_761/g2_add"];
        let contracts: Vec<_> = names.iter().map(|name| residue_contracts::find(name).unwrap()).collect();
        // A field of 761 bits is none of the second's.
        let (base, others) = (Revision::Eip6690_2024, [Revision::Evm384V7, Revision::XCodex]);
        let ablation = Ablation { base, others: &others, contracts: &contracts, opcodes: None };
        let steps = Mutex::new(0);
        let compiled = compile(&ablation, &mut |_| *steps.lock().unwrap() += 1).unwrap();
        assert_eq!(*steps.lock().unwrap(), 9);
        assert_eq!(compiled.left_out().as_deref(), Some("evm384-v7: bw6_761/g1_add, bw6_761/g2_add"));
        let rows = measure(&compiled, false, &mut |_| ()).unwrap();
        assert_eq!(rows.len(), 2 * 7);
        let gas = |layer: &str| {
            let is_it = |row: &&RecordRow| row.name == name(layer, "bn254/add") && row.quantity == Quantity::Gas;
            rows.iter().find(is_it).unwrap().spread.median
        };
        assert!(gas("x-codex") < gas("eip6690-2024") && gas("eip6690-2024") < gas("evm384-v7"));
        let timed = measure(&compiled, true, &mut |_| ()).unwrap();
        assert_eq!(timed.len(), rows.len() + 2 * 7);
    }

    #[test]
    fn experiments_add_opcodes_and_other_revisions_are_none() {
        let base = Revision::Eip6690_2024;
        let experiments = experiments(base);
        assert!(experiments.contains(&Revision::XWidex) && !experiments.contains(&base));
        for revision in experiments {
            let added = added(revision, base).unwrap();
            let read = Added::read_all(&Added::line(revision, base)).unwrap();
            let opcodes: Vec<&str> =
                read.iter().filter(|added| added.is_opcode()).map(|added| added.mnemonic.as_str()).collect();
            assert_eq!(opcodes, added.iter().map(|row| row.mnemonic).collect::<Vec<_>>(), "{revision}");
            assert!(added.iter().all(|row| base.row(row.byte).is_none()), "{revision}");
        }
        assert_eq!(Added::line(Revision::XWidex, base), "64-limbs 0 0 0");
        assert_eq!(added(base, base), Some(Vec::new()));
        assert_eq!(added(Revision::Evm384V7, base), None);
        assert_eq!((Added::read_all(""), Added::read_all("A 1 2")), (None, None));
    }
}
