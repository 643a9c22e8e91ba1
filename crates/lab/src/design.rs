//! The ablation of instructions: every contract compiled for a base revision and for revisions that add instructions to it, run, and priced
//! twice: under each revision's own schedule, and with what the base has at the price of its measured times.
//!
//! A revision that only adds opcodes runs the base's code too, so its gas is that of the cheaper of the two codes. [`crate::render::design`]
//! makes tables and a figure of the record.

pub mod weights;

use residue_contracts::Contract;
use residue_engine::{Batching, Engine, EngineConfig};
use residue_isa::{GasSchedule, OpcodeRow, Revision};
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

/// More than any contract takes.
const GAS: u64 = 1 << 40;

/// What is compared.
#[derive(Debug, Clone, Copy)]
pub struct Ablation<'a> {
    /// What instructions are added to.
    pub base: Revision,
    /// What adds some.
    pub others: &'a [Revision],
    /// The contracts.
    pub contracts: &'a [&'static Contract],
    /// A record of `lab measure`, whose times of the base's opcodes become prices.
    pub opcodes: Option<&'a Record>,
    /// Whether times are taken, plain and with batches.
    pub times: bool,
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

    /// What that line says: `MNEMONIC immediate pops pushes`, with commas between; for moduli of more limbs than the base has, how many.
    pub fn line(revision: Revision, base: Revision) -> String {
        let row = |row: &OpcodeRow| format!("{} {} {} {}", row.mnemonic, row.immediate_bytes, row.pops, row.pushes);
        let mut parts: Vec<String> = added(revision, base).unwrap_or_default().into_iter().map(row).collect();
        if revision.width_limbs_max() > base.width_limbs_max() {
            parts.push(format!("{}-limbs 0 0 0", revision.width_limbs_max()));
        }
        parts.join(", ")
    }

    /// Whether it is an opcode.
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

/// Whether a revision has all that the base has, and more: opcodes or wider moduli.
pub fn adds(revision: Revision, base: Revision) -> bool {
    added(revision, base).is_some() && !Added::line(revision, base).is_empty()
}

/// The revisions that are compared with a base unless others are named: all that add something to it as an experiment.
pub fn experiments(base: Revision) -> Vec<Revision> {
    let is_experiment = |revision: &Revision| !revision.additions().is_empty() && adds(*revision, base);
    Revision::ALL.iter().copied().filter(is_experiment).collect()
}

/// Compiles and runs everything: the rows of a record. What a revision cannot express has no rows.
pub fn measure(ablation: &Ablation<'_>, observer: &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError> {
    let revisions: Vec<Revision> = [ablation.base].iter().chain(ablation.others).copied().collect();
    let mut rows = Vec::new();
    for (done, contract) in ablation.contracts.iter().enumerate() {
        observer(Progress { step: contract.name, done, total: ablation.contracts.len() });
        let trials = in_parallel(&revisions, |&revision| made_if_expressible(contract, revision));
        let mut made = Vec::new();
        for (&revision, trial) in revisions.iter().zip(trials) {
            if let Some(trial) = trial? {
                rows.extend(rows_of(ablation, contract, revision, &trial)?);
                made.push((revision, trial));
            }
        }
        if ablation.times {
            rows.extend(times(contract, &made)?);
        }
    }
    Ok(rows)
}

fn rows_of(
    ablation: &Ablation<'_>,
    contract: &Contract,
    revision: Revision,
    trial: &Trial,
) -> Result<Vec<RecordRow>, LabError> {
    let name = name(revision.name(), contract.name);
    let exact = |quantity, value: u64| RecordRow::exact(&name, quantity, value as f64); // far below 2⁵³
    let mut rows = vec![
        exact(Quantity::Gas, trial.gas),
        exact(Quantity::CodeSize, trial.compiled.code.len() as u64), // style: S11: widens
    ];
    if let Some(schedule) = measured_schedule(ablation, revision)? {
        let engine = Engine::new(EngineConfig::new(revision, schedule))?;
        let outcome = engine.run_code(&trial.compiled.code, &(contract.example)(), GAS);
        if !outcome.is_success() {
            return Err(LabError::Halted { subject: name, halt: outcome.halt });
        }
        rows.push(exact(Quantity::GasMeasured, outcome.gas_used));
    }
    Ok(rows)
}

/// What the base has at the price of its times, and what a revision adds at the revision's own.
fn measured_schedule(ablation: &Ablation<'_>, revision: Revision) -> Result<Option<GasSchedule>, LabError> {
    let Some(record) = ablation.opcodes else { return Ok(None) };
    let runtimes = Runtimes { revision, ..Runtimes::of(record, ablation.base) };
    Ok(Some(Model::Time.apply(&runtimes, ANCHOR_NS, None)?.schedule))
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
