//! The group `pairing`: the pairing check as a contract, beside blst on parsed points and beside the precompile on the same
//! bytes.
//!
//! The contract and the precompile parse, check that points are on their curves and in their subgroups, and multiply
//! pairings. blst gets parsed points: once it multiplies pairings only, once it checks subgroups too.

use residue_contracts::Contract;
use residue_engine::{EngineConfig, native};
use residue_isa::Revision;
use residue_workbench::harness::{Sample, Subject, interleave};

use crate::bench::effort::{Effort, Observer, Progress};
use crate::bench::engines::EngineLayer;
use crate::bench::first::{self, First};
use crate::bench::group::{Group, none_missing};
use crate::bench::operations::{pairing_input, word};
use crate::bench::subjects::Subjects;
use crate::error::LabError;
use crate::native::pairing::Pairs;
use crate::record::table::Column;
use crate::record::{Quantity, RecordRow, layer_of};
use residue_workbench::MEASURED;

/// `pairing`.
pub const GROUP: Group = Group {
    name: "pairing",
    summary: "the pairing check of BLS12-381 as a contract, beside blst and the precompile",
    columns: &[
        Column::microseconds("µs", Quantity::Time),
        Column::ratio("/ blst", Quantity::Time, &["blst"]),
        Column::ratio("/ blst checked", Quantity::Time, &["blst:checked"]),
        Column::ratio("/ precompile", Quantity::Time, &["precompile"]),
        Column::microseconds("first µs", Quantity::Cold),
        Column::ratio("first / precompile", Quantity::Cold, &["precompile"]),
        Column::ratio("planned ahead / precompile", Quantity::Ahead, &["precompile"]),
        Column::whole("gas", Quantity::Gas),
        Column::whole("arithmetic", Quantity::GasArithmetic),
        Column::whole("transfer", Quantity::GasTransfer),
        Column::whole("memory", Quantity::GasMemory),
        Column::whole("control", Quantity::GasControl),
        Column::whole("code bytes", Quantity::CodeSize),
    ],
    missing: none_missing,
    measure,
};

/// The contract that is measured.
const CONTRACT: &str = "bls12_381/pairing";
/// The layers that contracts are compared with.
const BASELINES: [&str; 3] = ["blst", "blst:checked", "precompile"];
/// Gas that no pairing check here uses up.
const GAS: u64 = 1 << 40;

/// The contract compiled for a revision, and an engine that runs it.
struct Compiled {
    layer: EngineLayer,
    code: Vec<u8>,
}

fn measure(effort: &Effort, observer: &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError> {
    let contract = residue_contracts::find(CONTRACT).ok_or(LabError::NoContract { name: CONTRACT })?;
    let mut compiled = Vec::new();
    let revisions = effort.subjects.revisions(&MEASURED);
    for (done, &revision) in revisions.iter().enumerate() {
        observer(Progress { step: "compiling", done, total: revisions.len() });
        compiled.extend(compile(contract, revision, effort.subjects)?);
    }
    let mut rows = Vec::new();
    for &pairs in effort.pairs {
        rows.extend(measure_pairs(contract, &compiled, pairs, effort, observer)?);
    }
    Ok(rows)
}

/// Compiles for a revision under its own schedule, and pairs the code with each of its chosen engines.
fn compile(contract: &'static Contract, revision: Revision, subjects: Subjects) -> Result<Vec<Compiled>, LabError> {
    let schedule = EngineConfig::default_for(revision).schedule;
    let compiled = residue_compiler::compile(&contract.program(), revision, &schedule);
    let code = compiled.map_err(|error| LabError::Compile { name: contract.name, error: Box::new(error) })?.code;
    let layers = EngineLayer::chosen(revision, subjects)?.into_iter();
    Ok(layers.map(|layer| Compiled { layer, code: code.clone() }).collect())
}

/// All that is measured with one number of pairs.
fn measure_pairs(
    contract: &'static Contract,
    compiled: &[Compiled],
    pairs: usize,
    effort: &Effort,
    observer: &mut Observer<'_>,
) -> Result<Vec<RecordRow>, LabError> {
    let (input, product_is_one) = pairing_input(pairs).map_err(|_| LabError::Input { pairs })?;
    let expected = word(product_is_one);
    let name_in = |layer: &str| format!("{layer}/pairing/{pairs}");
    let step = if pairs == 1 { "1 pair".to_owned() } else { format!("{pairs} pairs") };

    let mut subjects = baselines(contract, &input, &expected, name_in)?;
    subjects.retain(|subject| effort.subjects.include(layer_of(&subject.name)));
    let baseline_count = subjects.len();
    for compiled in compiled {
        subjects.push(contract_subject(compiled, name_in(&compiled.layer.name), &input, &expected)?);
    }
    let mut done = 0;
    let samples = interleave(&mut subjects, effort.rounds, || {
        done += 1;
        observer(Progress { step: &step, done, total: effort.rounds });
    })?;

    let mut rows = Vec::new();
    for sample in &samples {
        rows.push(RecordRow::new(&sample.name, Quantity::Time, &sample.times_ns));
    }
    let (baselines, contracts) = samples.split_at(baseline_count);
    for sample in contracts {
        let ratio =
            |to: &Sample| RecordRow::ratio(&sample.name, Quantity::Time, &sample.times_ns, (&to.name, &to.times_ns));
        rows.extend(baselines.iter().map(ratio));
    }
    if effort.subjects.include("precompile") {
        let native = native(contract, &input)?;
        rows.push(RecordRow::exact(name_in("precompile"), Quantity::Gas, gas_number(native.gas_used)));
    }
    for compiled in compiled {
        let name = name_in(&compiled.layer.name);
        let Compiled { layer, code } = compiled;
        let first = First { layer, code, name: &name, input: &input, expected: &expected };
        rows.extend(first::rows(&first, (&name_in("precompile"), || native(contract, &input)), effort.cold_starts)?);
        rows.extend(gas_rows(compiled, &name, &input));
    }
    Ok(rows)
}

/// blst on points that are parsed before, and the precompile on the bytes.
fn baselines<'a>(
    contract: &'static Contract,
    input: &'a [u8],
    expected: &[u8],
    name_in: impl Fn(&str) -> String,
) -> Result<Vec<Subject<'a>>, LabError> {
    let points = Pairs::parse(input).ok_or(LabError::Input { pairs: input.len() / 384 })?;
    let checked = points.clone();
    native(contract, input)?;
    let [blst, blst_checked, precompile] = BASELINES.map(name_in);
    Ok(vec![
        Subject::new(blst, expected, move || word(points.product_is_one())),
        Subject::new(blst_checked, expected, move || word(checked.are_in_subgroups() && checked.product_is_one())),
        // No answer is a wrong answer.
        Subject::new(precompile, expected, move || native(contract, input).map_or(Vec::new(), |native| native.output)),
    ])
}

/// The precompile that the contract replaces, on the same bytes.
fn native(contract: &'static Contract, input: &[u8]) -> Result<native::NativeOutput, LabError> {
    let answer = residue_workbench::native(contract, input).ok_or(LabError::NoPrecompile { name: contract.name })?;
    Ok(answer?)
}

/// Executions of the contract that have been planned ahead.
fn contract_subject<'a>(
    compiled: &Compiled,
    name: String,
    input: &'a [u8],
    expected: &[u8],
) -> Result<Subject<'a>, LabError> {
    let mut prepared = compiled.layer.engine.prepare(&compiled.code);
    let first = prepared.plan_ahead(input, GAS);
    if !first.is_success() {
        return Err(LabError::Halted { subject: name, halt: first.halt });
    }
    Ok(Subject::new(name, expected, move || prepared.run_without_memory(input, GAS).output))
}

/// Gas of the contract, what it goes to, and the size of the code.
fn gas_rows(compiled: &Compiled, name: &str, input: &[u8]) -> Vec<RecordRow> {
    let counted = compiled.layer.engine.run_counted(&compiled.code, input, GAS);
    let split = counted.gas_split;
    let values = [
        (Quantity::Gas, counted.outcome.gas_used),
        (Quantity::GasArithmetic, split.arithmetic),
        (Quantity::GasTransfer, split.transfer),
        (Quantity::GasMemory, split.memory),
        (Quantity::GasControl, split.control),
        (Quantity::CodeSize, compiled.code.len() as u64),
    ];
    values.map(|(quantity, value)| RecordRow::exact(name, quantity, gas_number(value))).to_vec()
}

/// Gas of what is measured here and sizes of code are far below 2⁵³, so nothing is lost.
fn gas_number(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contract_blst_and_precompile_agree_and_are_compared() {
        let rows = measure(&Effort::SMOKE, &mut |_| ()).unwrap();
        let find = |name: &str, quantity, baseline: Option<&str>| {
            let mut rows = rows.iter();
            rows.find(|row| row.name == name && row.quantity == quantity && row.baseline.as_deref() == baseline)
        };
        let layers = MEASURED.iter().flat_map(|revision| EngineLayer::all_of(*revision).unwrap());
        for EngineLayer { name: layer, .. } in layers {
            let name = format!("{layer}/pairing/2");
            for baseline in BASELINES {
                let baseline = format!("{baseline}/pairing/2");
                assert!(find(&name, Quantity::Time, Some(&baseline)).is_some(), "{name} beside {baseline}");
            }
            let gas = |quantity| find(&name, quantity, None).unwrap().spread.median;
            let split = [Quantity::GasArithmetic, Quantity::GasTransfer, Quantity::GasMemory, Quantity::GasControl];
            assert_eq!(split.map(gas).iter().sum::<f64>(), gas(Quantity::Gas));
            for quantity in [Quantity::Cold, Quantity::Ahead] {
                assert!(find(&name, quantity, None).is_some(), "{name} {quantity:?}");
                assert!(find(&name, quantity, Some("precompile/pairing/2")).is_some(), "{name} {quantity:?}");
            }
            assert!(gas(Quantity::CodeSize) > 0.0);
        }
        // EIP-2537, "Gas schedule for pairing operation": 32600k + 37700.
        assert_eq!(find("precompile/pairing/2", Quantity::Gas, None).unwrap().spread.median, 102_900.0);
    }
}
