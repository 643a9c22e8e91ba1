//! The group `operations`: single operations on every subject that has them, beside blst.
//!
//! An operation is given as bytes and answered as bytes, so that everybody gets the same input and every answer can be
//! compared: with the first who answered, before anything is timed and in every round. Libraries get parsed values; what
//! takes bytes (precompiles, contracts) parses and validates. Operations on field elements are chains, each on the result
//! of the one before, and the time is that of one.

mod arkworks;
mod chains;
pub(crate) mod contract;
mod inputs;
mod module;
pub(crate) mod outside;
mod own;
mod precompile;
mod raw_blst;
mod signature;
mod zkcrypto;

use residue_ir::Program;
use residue_workbench::harness::{Subject, interleave};

use crate::bench::effort::{Effort, Observer, Progress};
use crate::bench::go::{self, Asked};
use crate::bench::group::Group;
use crate::error::LabError;
use crate::record::table::Column;
use crate::record::{Quantity, RecordRow};
use residue_workbench::MEASURED;

pub(crate) use contract::{Engines, bytecode};
pub(crate) use inputs::word;
pub(crate) use signature::pairing_input;

/// `operations`.
pub const GROUP: Group = Group {
    name: "operations",
    summary: "operations of BLS12-381 by libraries, precompiles, WebAssembly and bytecode, beside blst",
    columns: &[
        Column::nanoseconds("ns", Quantity::Time),
        Column::ratio("/ blst", Quantity::Time, &["blst"]),
        Column::ratio("/ precompile", Quantity::Time, &["precompile"]),
        Column::whole("gas", Quantity::Gas),
    ],
    missing: missing_libraries,
    measure,
};

/// `elements`: the chains among the operations, for what is measured of field elements alone.
pub const ELEMENTS: Group = Group {
    name: "elements",
    summary: "operations on field elements by libraries, in assembly, Rust and Go, beside blst",
    measure: |effort, observer| measured(TASKS.iter().filter(|task| task.chain > 1), effort, observer),
    ..GROUP
};

/// The libraries that were asked for and are not there, each with the reason.
pub(crate) fn missing_libraries(effort: &Effort) -> Vec<String> {
    [go::missing(effort), contract::missing(effort), outside::missing(effort)].concat()
}

/// Somebody's way to compute an operation: called again and again, it gives the answer each time.
pub(crate) type Run<'a> = Box<dyn FnMut() -> Vec<u8> + 'a>;

/// Operation to measure. Elements, points and pairs are encoded as in EIP-2537, unless stated otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// (x, y) ↦ x + 1000·y in Fp, one addition after the other.
    FpAdd,
    /// (x, y) ↦ x·y¹⁰⁰⁰ in Fp.
    FpMul,
    /// (x, y) ↦ a hundred turns of x ← x⁻¹ + y in Fp.
    FpInverse,
    /// (x, y) ↦ x·y¹⁰⁰⁰ in Fp2.
    Fp2Mul,
    /// (x, y) ↦ x·y¹⁰⁰ in Fp12.
    Fp12Mul,
    /// The Miller loop of one pair, as the contract `evm384/miller_loop` takes and gives it.
    MillerLoop,
    /// The final exponentiation, as the contract `evm384/final_exponentiation` takes and gives it.
    FinalExponentiation,
    /// The synthetic loop, as the contract `evm384/synthetic_loop` takes and gives it.
    SyntheticLoop,
    /// The pairing check.
    Pairing,
    /// The sum of two points of G1.
    G1Add,
    /// The sum of two points of G2.
    G2Add,
    /// A multiple of a point of G1.
    G1Mul,
    /// A multiple of a point of G2.
    G2Mul,
    /// A sum of multiples in G1.
    G1Msm,
    /// A sum of multiples in G2.
    G2Msm,
    /// The map from Fp to G1.
    MapFpToG1,
    /// The map from Fp2 to G2.
    MapFp2ToG2,
    /// hash_to_curve of RFC 9380 to G1 with SHA-256: two bytes with the length of the tag, the tag, the message.
    HashToG1,
    /// The same to G2.
    HashToG2,
}

/// A row of the table of operations.
pub(crate) struct Task {
    /// The operation.
    pub operation: Operation,
    /// Its name in the names of measurements.
    pub name: &'static str,
    /// Repetitions in a run.
    pub chain: u32,
    /// The sizes that it is measured with.
    pub sizes: fn(&Effort) -> Vec<usize>,
    /// The contract that computes it, if there is one.
    pub contract: Option<&'static str>,
    /// The precompile that computes it.
    pub precompile: Option<u16>,
}

const fn task(operation: Operation, name: &'static str, chain: u32, sizes: fn(&Effort) -> Vec<usize>) -> Task {
    Task { operation, name, chain, sizes, contract: None, precompile: None }
}

const fn by_contract(task: Task, contract: &'static str) -> Task {
    Task { contract: Some(contract), ..task }
}

const fn by_precompile(task: Task, address: u16) -> Task {
    Task { precompile: Some(address), ..task }
}

/// Every operation.
pub(crate) const TASKS: &[Task] = {
    use residue_isa::precompile::{
        BLS12_G1ADD, BLS12_G1MSM, BLS12_G2ADD, BLS12_G2MSM, BLS12_MAP_FP_TO_G1, BLS12_MAP_FP2_TO_G2,
        BLS12_PAIRING_CHECK,
    };
    let bits: fn(&Effort) -> Vec<usize> = |_| vec![381];
    let one: fn(&Effort) -> Vec<usize> = |_| vec![1];
    let points: fn(&Effort) -> Vec<usize> = |effort| effort.points.to_vec();
    &[
        task(Operation::FpAdd, "fp-add", 1000, bits),
        task(Operation::FpMul, "fp-mul", 1000, bits),
        task(Operation::FpInverse, "fp-inverse", 100, bits),
        task(Operation::Fp2Mul, "fp2-mul", 1000, bits),
        task(Operation::Fp12Mul, "fp12-mul", 100, bits),
        by_contract(task(Operation::MillerLoop, "miller-loop", 1, one), "evm384/miller_loop"),
        by_contract(
            task(Operation::FinalExponentiation, "final-exponentiation", 1, one),
            "evm384/final_exponentiation",
        ),
        by_contract(task(Operation::SyntheticLoop, "synthetic-loop", 1, |_| vec![1350]), "evm384/synthetic_loop"),
        by_precompile(task(Operation::Pairing, "pairing", 1, |effort| effort.pairs.to_vec()), BLS12_PAIRING_CHECK),
        by_precompile(task(Operation::G1Add, "g1-add", 1, one), BLS12_G1ADD),
        by_precompile(task(Operation::G2Add, "g2-add", 1, one), BLS12_G2ADD),
        by_contract(by_precompile(task(Operation::G1Mul, "g1-mul", 1, one), BLS12_G1MSM), "bls12_381/g1_mul"),
        by_contract(by_precompile(task(Operation::G2Mul, "g2-mul", 1, one), BLS12_G2MSM), "bls12_381/g2_mul"),
        by_precompile(task(Operation::G1Msm, "g1-msm", 1, points), BLS12_G1MSM),
        by_precompile(task(Operation::G2Msm, "g2-msm", 1, points), BLS12_G2MSM),
        by_precompile(task(Operation::MapFpToG1, "map-fp-to-g1", 1, one), BLS12_MAP_FP_TO_G1),
        by_precompile(task(Operation::MapFp2ToG2, "map-fp2-to-g2", 1, one), BLS12_MAP_FP2_TO_G2),
        // The sizes are bytes of the message.
        by_contract(task(Operation::HashToG1, "hash-to-g1", 1, |_| vec![32]), "bls12_381/hash_to_g1"),
        by_contract(task(Operation::HashToG2, "hash-to-g2", 1, |_| vec![32]), "bls12_381/hash_to_g2"),
    ]
};

/// A library's way to compute an operation on an input, if it has one.
type Prepare = fn(Operation, &[u8]) -> Option<Run<'static>>;

/// The libraries: a layer's name, and its way to compute an operation, if it has one.
const LIBRARIES: &[(&str, Prepare)] = &[
    ("blst", |operation, input| raw_blst::run(operation, input, false)),
    ("blst:checked", |operation, input| raw_blst::run(operation, input, true)),
    ("arkworks", |operation, input| arkworks::run(operation, input, false)),
    ("arkworks:checked", |operation, input| arkworks::run(operation, input, true)),
    ("zkcrypto", |operation, input| zkcrypto::run(operation, input, false)),
    ("zkcrypto:checked", |operation, input| zkcrypto::run(operation, input, true)),
    ("residue", own::run),
];

/// The task of a name. Panics if there is none: names are this crate's own.
pub(crate) fn named(name: &str) -> &'static Task {
    TASKS.iter().find(|task| task.name == name).expect("the table has every name that is asked for")
}

/// The calldata of a sum of so many multiples, of the contract for it.
pub(crate) fn sum_input(contract: &'static str, points: usize) -> Result<Vec<u8>, LabError> {
    let operation = match contract {
        "bls12_381/g1_msm" => Operation::G1Msm,
        "bls12_381/g2_msm" => Operation::G2Msm,
        name => return Err(LabError::NoContract { name }),
    };
    inputs::input(operation, points)
}

/// A product in Fp12 as a program, some of them in turn.
pub(crate) fn fp12_mul() -> Program {
    chains::program(Operation::Fp12Mul).expect("it is a chain")
}

/// A library's way to compute a task on an input, if it has one.
pub(crate) fn library(layer: &str, task: &str, input: &[u8]) -> Option<Run<'static>> {
    let (_, prepare) = LIBRARIES.iter().find(|(name, _)| *name == layer)?;
    prepare(TASKS.iter().find(|known| known.name == task)?.operation, input)
}

/// The precompile's way to compute a task on an input, if there is one.
pub(crate) fn precompile_of(task: &str, input: &[u8]) -> Option<Run<'static>> {
    let address = TASKS.iter().find(|known| known.name == task)?.precompile?;
    Some(precompile::run(address, input))
}

fn measure(effort: &Effort, observer: &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError> {
    measured(TASKS.iter(), effort, observer)
}

fn measured(
    tasks: impl Iterator<Item = &'static Task>,
    effort: &Effort,
    observer: &mut Observer<'_>,
) -> Result<Vec<RecordRow>, LabError> {
    let (mut rows, mut asked) = (Vec::new(), Vec::new());
    for task in tasks {
        observer(Progress { step: "compiling", done: 0, total: 1 });
        let engines = Engines::of(task, effort, &MEASURED)?;
        for size in (task.sizes)(effort) {
            let job = Job::new(task, size, &engines)?;
            rows.extend(measure_together(&[&job], effort, observer)?.rows);
            asked.push(job.asked()?);
        }
    }
    rows.extend(go::rows(effort, &asked)?);
    Ok(rows)
}

/// A task with one size, its input, and the engines that its contract is ready for.
pub(crate) struct Job<'a> {
    task: &'static Task,
    size: usize,
    input: Vec<u8>,
    engines: &'a Engines,
}

/// Rows, and the times after them: of each name the time of one operation in each round.
pub(crate) struct Together {
    /// The rows.
    pub rows: Vec<RecordRow>,
    /// The times.
    pub times_ns: Vec<(String, Vec<f64>)>,
}

impl<'a> Job<'a> {
    /// A task with one size.
    pub fn new(task: &'static Task, size: usize, engines: &'a Engines) -> Result<Self, LabError> {
        Ok(Self { task, size, input: inputs::input(task.operation, size)?, engines })
    }

    /// Input, the same for all subjects.
    pub fn input(&self) -> &[u8] {
        &self.input
    }

    /// The name of a layer's measurement.
    pub fn name_in(&self, layer: &str) -> String {
        format!("{layer}/{}/{}", self.task.name, self.size)
    }

    /// Chosen libraries that compute it, and the precompile if there is one.
    pub fn libraries(&self, effort: &Effort) -> impl Iterator<Item = &'static str> {
        let operation = self.task.operation;
        let has_precompile = self.task.precompile.is_some();
        let libraries = LIBRARIES.iter().filter(move |(_, prepare)| prepare(operation, &self.input).is_some());
        let all = libraries.map(|(layer, _)| *layer).chain(has_precompile.then_some("precompile"));
        all.filter(move |layer| effort.subjects.include(layer))
    }

    /// The answer that everybody has to give: that of the first library which computes it.
    pub fn expected(&self) -> Result<Vec<u8>, LabError> {
        let mut runs = LIBRARIES.iter().filter_map(|(_, prepare)| prepare(self.task.operation, &self.input));
        runs.next().map(|mut run| run()).ok_or(LabError::NoAnswer { operation: self.task.name })
    }

    /// The job as another program is asked to do it.
    pub fn asked(&self) -> Result<Asked, LabError> {
        let Task { name: operation, chain, .. } = *self.task;
        let [input, expected] = [&self.input, &self.expected()?].map(hex::encode);
        Ok(Asked { name: format!("{operation}/{}", self.size), operation, chain, input, expected })
    }

    /// Everybody who was chosen, and rows that need no timing.
    fn subjects(&self, effort: &Effort) -> Result<(Vec<Subject<'_>>, Vec<RecordRow>), LabError> {
        let name_in = |layer: &str| self.name_in(layer);
        let expected = self.expected()?;
        let chosen = LIBRARIES.iter().filter(|(layer, _)| effort.subjects.include(layer));
        let run =
            |(layer, prepare): &(&str, Prepare)| Some((name_in(layer), prepare(self.task.operation, &self.input)?));
        let mut runs: Vec<(String, Run<'_>)> = chosen.filter_map(run).collect();
        let mut rows = Vec::new();
        let mut price = None;
        if let Some(address) = self.task.precompile
            && effort.subjects.include("precompile")
        {
            let first = precompile::once(address, &self.input)?;
            rows.push(RecordRow::exact(name_in("precompile"), Quantity::Gas, contract::number(first.gas_used)));
            price = Some(contract::number(first.gas_used));
            runs.push((name_in("precompile"), precompile::run(address, &self.input)));
        }
        for (name, run, known) in self.engines.runs(&self.input, name_in, effort)? {
            let gas = known.iter().find(|row| row.quantity == Quantity::Gas).map(|row| row.spread.median);
            if let (Some(gas), Some(price)) = (gas, price) {
                rows.push(RecordRow::ratio(&name, Quantity::Gas, &[gas], (&name_in("precompile"), &[price])));
            }
            runs.push((name, run));
            rows.extend(known);
        }
        let subject = |(name, run)| Subject { name, expected: expected.clone(), run };
        Ok((runs.into_iter().map(subject).collect(), rows))
    }
}

/// Baselines of all other layers.
const BASELINES: [&str; 2] = ["blst", "precompile"];

/// Measures jobs in the same rounds: times, ratios to blst and to the precompile, and what needs no timing.
pub(crate) fn measure_together(
    jobs: &[&Job<'_>],
    effort: &Effort,
    observer: &mut Observer<'_>,
) -> Result<Together, LabError> {
    let (mut subjects, mut known, mut chains) = (Vec::new(), Vec::new(), Vec::new());
    for job in jobs {
        let (of_job, rows) = job.subjects(effort)?;
        chains.extend(of_job.iter().map(|_| (f64::from(job.task.chain), BASELINES.map(|layer| job.name_in(layer)))));
        subjects.extend(of_job);
        known.extend(rows);
    }
    let step = jobs.iter().map(|job| format!("{} {}", job.task.name, job.size)).collect::<Vec<_>>().join(", ");
    let mut done = 0;
    let samples = interleave(&mut subjects, effort.rounds, || {
        done += 1;
        observer(Progress { step: &step, done, total: effort.rounds });
    })?;
    let each = |(sample, (chain, _)): (residue_workbench::harness::Sample, &(f64, [String; 2]))| {
        (sample.name, sample.times_ns.iter().map(|time_ns| time_ns / chain).collect())
    };
    let times_ns: Vec<(String, Vec<f64>)> = samples.into_iter().zip(&chains).map(each).collect();
    let mut rows = Vec::new();
    for ((name, times), (_, baselines)) in times_ns.iter().zip(&chains) {
        rows.push(RecordRow::new(name, Quantity::Time, times));
        for (other, baseline) in times_ns.iter().filter(|(other, _)| baselines.contains(other) && other != name) {
            rows.push(RecordRow::ratio(name, Quantity::Time, times, (other, baseline)));
        }
    }
    rows.extend(known);
    Ok(Together { rows, times_ns })
}

#[cfg(test)]
mod tests {
    use residue_wasm::EngineKind;

    use super::*;

    #[test]
    fn everybody_gives_the_same_answer_on_the_same_inputs() {
        // Every answer is compared in `interleave`; a wrong one is an error.
        let rows = measure(&Effort::SMOKE, &mut |_| ()).unwrap();
        let has = |name: &str| rows.iter().any(|row| row.name == name && row.quantity == Quantity::Time);
        for name in [
            "blst/fp-mul/381",
            "arkworks/fp12-mul/381",
            "residue/fp-inverse/381",
            "blst/miller-loop/1",
            "wasmi:self-contained/miller-loop/1",
            "arkworks/synthetic-loop/1350",
            "blst:checked/pairing/2",
            "zkcrypto:checked/pairing/2",
            "precompile/pairing/2",
            "wasmtime:host-functions/pairing/2",
            "eip6690-2024:batch/pairing/2",
            "evm384-v7:plain/g1-mul/1",
            "precompile/g2-msm/2",
            "arkworks/map-fp2-to-g2/1",
            "eip6690-2024:batch/fp-mul/381",
            "evm384-v7:batch/fp2-mul/381",
            "wasmi:self-contained/fp-inverse/381",
            "wasmtime:host-functions/fp12-mul/381",
            "blst/hash-to-g1/32",
            "blst/hash-to-g2/32",
            "arkworks/hash-to-g1/32",
            "arkworks/hash-to-g2/32",
            "zkcrypto/hash-to-g1/32",
            "zkcrypto/hash-to-g2/32",
        ] {
            let is_built_in = !name.starts_with("wasmtime") || EngineKind::Wasmtime.is_built_in();
            assert_eq!(has(name), is_built_in, "{name}");
        }
        let mut times = rows.iter().filter(|row| row.quantity == Quantity::Time);
        assert!(times.all(|row| row.spread.median > 0.0));
    }
}
