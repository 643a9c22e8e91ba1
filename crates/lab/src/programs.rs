//! The published programs, run: operation counts, gas under every model, and times.
//!
//! Rows are named `layer/program/part`: the layer is a revision, with its schedule after a colon where gas is counted. Counts
//! and gas are exact; times are medians.

pub(crate) mod options;

use residue_contracts::Contract;
use residue_engine::{Counted, EXECUTIONS_TO_WARM, Engine, EngineConfig};
use residue_ir::Fp2Product;
use residue_ir::{FieldOp, Program};
use residue_isa::{GasSchedule, Revision};
use residue_modular::PrimeField;
use residue_modular::fields::Bls12_381FrModulus;
use residue_workbench::harness::{Subject, interleave};

use crate::bench::effort::{Observer, Progress};
use crate::bench::group::record_of;
use crate::error::LabError;
use crate::price::exact_gas_under;
use crate::published;
use crate::record::{Quantity, Record, RecordRow};

/// Name of the records.
pub const GROUP: &str = "programs";
/// Gas that no program here uses up.
const GAS: u64 = 1 << 42;
/// The parts of a pairing that the documents count.
pub(crate) const PARTS: [&str; 2] = ["evm384/miller_loop", "evm384/final_exponentiation"];
/// Revisions of the models' figures, and their schedules.
pub(crate) const MODEL_REVISIONS: [Revision; 2] = [Revision::Evm384V7, Revision::Evm384V9];
/// Revisions that multiply in G1.
const G1_REVISIONS: [Revision; 3] = [Revision::Eip5843, Revision::Geth5843, Revision::Eip6690_2024];

/// Runs everything, with times of so many rounds.
pub fn measure_programs(rounds: usize, observer: &mut Observer<'_>) -> Result<Record, LabError> {
    record_of(GROUP, || {
        let mut rows = Vec::new();
        let steps: [(&str, Measurement); 7] = [
            ("counts and models", |_| models()),
            ("products in Fp2", |_| products()),
            ("synthetic loop", synthetic_loop),
            ("G1 and G2", multiplications),
            ("two pairings", two_pairings),
            ("precompile", |_| against()),
            ("further options", options::options),
        ];
        for (done, (step, measure)) in steps.iter().enumerate() {
            observer(Progress { step, done, total: steps.len() });
            rows.extend(measure(rounds)?);
        }
        Ok(rows)
    })
}

/// A part of the record, with times of so many rounds.
type Measurement = fn(usize) -> Result<Vec<RecordRow>, LabError>;

/// A contract compiled for a revision and run once.
struct Ran {
    engine: Engine,
    code: Vec<u8>,
    input: Vec<u8>,
    counted: Counted,
}

impl Ran {
    fn new(program: &Program, input: Vec<u8>, revision: Revision, schedule: GasSchedule) -> Result<Self, LabError> {
        let compiled = residue_compiler::compile(program, revision, &schedule);
        let code =
            compiled.map_err(|error| LabError::Program { name: program.name.clone(), error: Box::new(error) })?.code;
        let engine = Engine::new(EngineConfig::new(revision, schedule))?;
        let counted = engine.run_counted(&code, &input, GAS);
        if !counted.outcome.is_success() {
            return Err(LabError::Halted {
                subject: format!("{revision}/{}", program.name),
                halt: counted.outcome.halt,
            });
        }
        Ok(Self { engine, code, input, counted })
    }

    fn of(contract: &Contract, revision: Revision) -> Result<Self, LabError> {
        Self::new(&contract.program(), (contract.example)(), revision, GasSchedule::default_for(revision)?)
    }

    fn gas(&self) -> u64 {
        self.counted.outcome.gas_used
    }

    fn subject(&self, name: &str) -> Subject<'static> {
        let mut prepared = self.engine.prepare(&self.code);
        let input = self.input.clone();
        Subject::new(name, &self.counted.outcome.output, move || prepared.run_without_memory(&input, GAS).output)
    }
}

fn contract(name: &'static str) -> Result<&'static Contract, LabError> {
    residue_contracts::find(name).ok_or(LabError::NoContract { name })
}

/// The last part of a contract's name.
fn short(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Numbers here are far below 2⁵³.
fn number(value: u64) -> f64 {
    value as f64
}

/// Opcode counts of the pairing's parts under version 7, and their gas under every model.
fn models() -> Result<Vec<RecordRow>, LabError> {
    let mut rows = Vec::new();
    for name in PARTS {
        let contract = contract(name)?;
        for revision in MODEL_REVISIONS {
            let ran = Ran::of(contract, revision)?;
            for (mnemonic, count) in ran.counted.counts.by_mnemonic() {
                rows.push(RecordRow::exact(
                    format!("{revision}/{}/{mnemonic}", short(name)),
                    Quantity::Count,
                    number(count),
                ));
            }
            for schedule in GasSchedule::names(revision) {
                let engine = Engine::new(EngineConfig::new(revision, GasSchedule::named(&schedule, revision)?))?;
                let thousandths = exact_gas_under(&ran.counted.counts, ran.gas(), &ran.engine, &engine);
                let name = format!("{revision}:{schedule}/{}/all", short(name));
                rows.push(RecordRow::exact(name, Quantity::Gas, number(thousandths) / 1000.0));
            }
        }
        if let Some(inverse) = contract_function(contract, "fp_inverse") {
            rows.push(RecordRow::exact(
                format!("program/{}/fp_inverse.mul", short(name)),
                Quantity::Count,
                number(inverse[2]),
            ));
            let others = number(inverse[0] + inverse[1]);
            rows.push(RecordRow::exact(format!("program/{}/fp_inverse.add", short(name)), Quantity::Count, others));
        }
    }
    let product = contract_function(contract(PARTS[1])?, "published_mul_fp12");
    for (operation, count) in ["add", "sub", "mul"].into_iter().zip(product.unwrap_or_default()) {
        rows.push(RecordRow::exact(format!("program/fp12_mul/{operation}"), Quantity::Count, number(count)));
    }
    Ok(rows)
}

/// Additions, subtractions and multiplications in a function of a program.
fn contract_function(contract: &Contract, function: &str) -> Option<[u64; 3]> {
    let program = contract.program();
    let function = program.functions.iter().find(|known| known.name == function)?;
    let mut counts = [0; 3];
    function.body.for_each_block(&mut |block| {
        for (_, op) in &block.ops {
            counts[match op.kind {
                FieldOp::Add => 0,
                FieldOp::Sub => 1,
                FieldOp::Mul => 2,
            }] += 1;
        }
    });
    Some(counts)
}

/// The parts of the pairing with both products in Fp2.
fn products() -> Result<Vec<RecordRow>, LabError> {
    let revision = Revision::Evm384V7;
    let mut rows = Vec::new();
    for name in PARTS {
        let contract = contract(name)?;
        for product in Fp2Product::ALL {
            let variant = product.multiplications();
            let own = GasSchedule::default_for(revision)?;
            let ran = Ran::new(&contract.program_with(product), (contract.example)(), revision, own)?;
            for schedule in ["model-a", "model-b"] {
                let engine = Engine::new(EngineConfig::new(revision, GasSchedule::named(schedule, revision)?))?;
                let gas = exact_gas_under(&ran.counted.counts, ran.gas(), &ran.engine, &engine);
                let name = format!("{revision}:{schedule}/{}/f2mul{variant}", short(name));
                rows.push(RecordRow::exact(name, Quantity::Gas, number(gas) / 1000.0));
            }
            for (mnemonic, count) in ran.counted.counts.by_mnemonic().filter(|(name, _)| name.ends_with("384")) {
                let name = format!("{revision}/{}.f2mul{variant}/{mnemonic}", short(name));
                rows.push(RecordRow::exact(name, Quantity::Count, number(count)));
            }
        }
    }
    Ok(rows)
}

/// The synthetic loop under every version of EVM384, at the prices of update 2 where the version has them.
fn synthetic_loop(rounds: usize) -> Result<Vec<RecordRow>, LabError> {
    let contract = contract("evm384/synthetic_loop")?;
    let mut rows = Vec::new();
    let mut subjects = Vec::new();
    for &revision in Revision::ALL.iter().filter(|revision| revision.evm384().is_some()) {
        let ran = Ran::of(contract, revision)?;
        let schedule = ran.engine.config().schedule.name();
        rows.push(RecordRow::exact(
            format!("{revision}:{schedule}/synthetic_loop/all"),
            Quantity::Gas,
            number(ran.gas()),
        ));
        subjects.push(ran.subject(&format!("{revision}/synthetic_loop/all")));
    }
    rows.extend(times(subjects, rounds)?);
    Ok(rows)
}

/// Multiples in G1 and G2: of the scalar with all bits set, and of the group order.
fn multiplications(rounds: usize) -> Result<Vec<RecordRow>, LabError> {
    let order: Vec<u8> = Bls12_381FrModulus::MODULUS.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
    let mut rows = Vec::new();
    let mut subjects = Vec::new();
    for name in ["bls12_381/g1_mul", "bls12_381/g2_mul"] {
        let contract = contract(name)?;
        for revision in G1_REVISIONS {
            for (class, scalar) in [("worst", vec![0xff; 32]), ("order", order.clone())] {
                let mut input = (contract.example)();
                let at = input.len() - 32;
                input[at..].copy_from_slice(&scalar);
                let schedule = GasSchedule::default_for(revision)?;
                let ran = Ran::new(&contract.program(), input, revision, schedule)?;
                let part = format!("{}/{class}", short(name));
                let schedule = ran.engine.config().schedule.name();
                rows.push(RecordRow::exact(format!("{revision}:{schedule}/{part}"), Quantity::Gas, number(ran.gas())));
                subjects.push(ran.subject(&format!("{revision}/{part}")));
            }
        }
    }
    rows.extend(times(subjects, rounds)?);
    Ok(rows)
}

/// A check of two pairings as update 5 has it, and ours, which validates.
fn two_pairings(rounds: usize) -> Result<Vec<RecordRow>, LabError> {
    let mut subjects = Vec::new();
    for (name, revision) in [
        ("evm384/pairing_eq", Revision::Evm384V7),
        ("bls12_381/pairing", Revision::Evm384V7),
        ("bls12_381/pairing", Revision::Eip6690_2024),
    ] {
        let ran = Ran::of(contract(name)?, revision)?;
        subjects.push(ran.subject(&format!("{revision}/{}/2", short(name))));
    }
    let own = contract("bls12_381/pairing")?;
    let input = (own.example)();
    let native = residue_workbench::native(own, &input).ok_or(LabError::NoPrecompile { name: own.name })??;
    let run =
        move || residue_workbench::native(own, &input).and_then(Result::ok).map_or(Vec::new(), |native| native.output);
    subjects.push(Subject::new("precompile/pairing/2", &native.output, run));
    times(subjects, rounds)
}

/// Breakdown of the gas of a check of two pairs, and the price of the precompile.
fn against() -> Result<Vec<RecordRow>, LabError> {
    let contract = contract("bls12_381/pairing")?;
    let native = residue_workbench::native(contract, &(contract.example)())
        .ok_or(LabError::NoPrecompile { name: contract.name })??;
    let mut rows = vec![RecordRow::exact("precompile/pairing/2", Quantity::Gas, number(native.gas_used))];
    for (revision, schedules) in [
        (Revision::Evm384V7, vec!["evmone", "model-a", "model-b", "model-b-repriced"]),
        (Revision::Evm384V9, vec!["model-b", "model-b-repriced"]),
        (Revision::Eip6690_2024, vec!["eip6690"]),
    ] {
        for schedule in schedules {
            let schedule = GasSchedule::named(schedule, revision)?;
            let name = format!("{revision}:{}/pairing/2", schedule.name());
            let ran = Ran::new(&contract.program(), (contract.example)(), revision, schedule)?;
            let split = ran.counted.gas_split;
            for (quantity, gas) in [
                (Quantity::Gas, ran.gas()),
                (Quantity::GasArithmetic, split.arithmetic),
                (Quantity::GasTransfer, split.transfer),
                (Quantity::GasMemory, split.memory),
                (Quantity::GasControl, split.control),
            ] {
                rows.push(RecordRow::exact(&name, quantity, number(gas)));
            }
        }
    }
    Ok(rows)
}

/// Blocks are planned when they are entered often: what users have is warm.
fn warmed(mut subjects: Vec<Subject<'_>>) -> Vec<Subject<'_>> {
    for subject in &mut subjects {
        for _ in 0..EXECUTIONS_TO_WARM {
            let _ = (subject.run)();
        }
    }
    subjects
}

fn times(subjects: Vec<Subject<'_>>, rounds: usize) -> Result<Vec<RecordRow>, LabError> {
    let samples = interleave(&mut warmed(subjects), rounds, || ())?;
    Ok(samples.iter().map(|sample| RecordRow::new(&sample.name, Quantity::Time, &sample.times_ns)).collect())
}

/// Schedules of the published gas figures.
pub(crate) fn published_gas() -> impl Iterator<Item = &'static published::PairingGas> {
    published::GAS.iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_are_run_and_counted() {
        let record = measure_programs(1, &mut |_| ()).unwrap();
        let find = |name: &str, quantity| record.find(name, quantity, None).unwrap_or_else(|| panic!("{name}"));
        assert!(find("evm384-v7/miller_loop/MULMODMONT384", Quantity::Count).spread.median > 6000.0);
        for gas in published_gas() {
            let row = find(&format!("{}:{}/miller_loop/all", gas.revision, gas.schedule), Quantity::Gas);
            assert!(row.spread.median > 40_000.0, "{row:?}");
        }
        assert_eq!(find("precompile/pairing/2", Quantity::Gas).spread.median, 102_900.0);
        assert!(find("evm384-v12/synthetic_loop/all", Quantity::Time).spread.median > 0.0);
        assert!(
            find("eip5843:r5/g1_mul/worst", Quantity::Gas).spread.median
                > find("eip5843:r5/g1_mul/order", Quantity::Gas).spread.median
        );
        assert_eq!(find("program/fp12_mul/mul", Quantity::Count).spread.median, 54.0);
        // MCOPY: three pushes, 3 gas and 3 for each of two words; a sum with zero: one push and one addition.
        assert_eq!(find("evm384-v7:model-b/copy/mcopy", Quantity::Gas).spread.median, 18.0);
        assert_eq!(find("evm384-v7:model-b/copy/addmod", Quantity::Gas).spread.median, 4.0);
        for name in ["evm384-v7/copy/mload", "evm384-v7/inverse/chain", "evm384-v7/root/modexp", "blst/root/native"] {
            assert!(find(name, Quantity::Time).spread.median > 0.0, "{name}");
        }
        let inverse = |way: &str| find(&format!("evm384-v7:model-b/inverse/{way}"), Quantity::Gas).spread.median;
        assert!(inverse("chain") < 6000.0 && inverse("chain") > 1500.0 && inverse("modexp") > inverse("chain"));
    }
}
