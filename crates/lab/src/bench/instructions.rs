//! The group `instructions`: time of one field instruction in a straight loop of every revision whose values have places, beside
//! the kernels without an EVM, blst and big-integer libraries.
//!
//! Everything is measured as a difference: a loop around [`straight::BODY`] operations, and the same loop around none, in
//! the same round. Latency is of operations that each need the result of the one before, throughput
//! of sixteen chains of such operations side by side.

mod bytecode;
mod kernels;
mod straight;

use residue_isa::Revision;
use residue_workbench::harness::{Sample, Subject, interleave};
use residue_workbench::statistics::per_thing;

use crate::bench::effort::{Effort, Observer, Progress};
use crate::bench::group::{Group, none_missing};
use crate::error::LabError;
use crate::record::table::Column;
use crate::record::{Quantity, RecordRow};
pub(crate) use straight::Operands;
use straight::{BODY, Form, Straight};

/// `instructions`.
pub const GROUP: Group = Group {
    name: "instructions",
    summary: "time of one field instruction in a straight loop, beside kernels without an EVM and libraries",
    columns: &[
        Column::nanoseconds("latency ns", Quantity::Latency),
        Column::ratio("/ blst", Quantity::Latency, &["blst"]),
        Column::ratio("/ modular", Quantity::Latency, &["modular", "modular:evm384"]),
        Column::nanoseconds("throughput ns", Quantity::Throughput),
        Column::ratio("/ blst", Quantity::Throughput, &["blst"]),
        Column::ratio("/ modular", Quantity::Throughput, &["modular", "modular:evm384"]),
        Column::one_decimal("gas", Quantity::Gas),
    ],
    missing: none_missing,
    measure,
};

/// One way to compute on slots.
struct Layer {
    /// Its name; a part after a colon tells apart what one crate offers: `modular:evm384`.
    name: String,
    /// Baselines of its operations, where measured.
    baselines: &'static [&'static str],
    /// A subject that computes nothing, which is subtracted; then one for each of [`Straight::ALL`].
    subjects: Vec<Subject<'static>>,
    /// Gas of one operation for each of [`Straight::ALL`], in an EVM.
    gas: Option<Vec<f64>>,
}

/// Subjects of a layer.
const SUBJECTS: usize = 1 + Straight::ALL.len();

fn measure(effort: &Effort, observer: &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError> {
    let operands = [Operands::bls12_381_fr(), Operands::bls12_381_fp(), Operands::bw6_761_fp()];
    measure_over(&operands, Revision::ALL, effort, observer)
}

/// Measures the instructions over each of these moduli, of the chosen revisions or of the `usual` ones.
pub(crate) fn measure_over(
    moduli: &[Operands],
    usual: &[Revision],
    effort: &Effort,
    observer: &mut Observer<'_>,
) -> Result<Vec<RecordRow>, LabError> {
    let mut rows = Vec::new();
    for operands in moduli {
        let mut layers = kernels::layers(operands, effort);
        for revision in effort.subjects.revisions(usual) {
            layers.extend(bytecode::layers(revision, operands, effort)?);
        }
        let mut subjects: Vec<Subject<'_>> = layers.iter_mut().flat_map(|layer| layer.subjects.drain(..)).collect();
        let step = format!("{} bits", operands.width_bits());
        let mut done = 0;
        let samples = interleave(&mut subjects, effort.rounds, || {
            done += 1;
            observer(Progress { step: &step, done, total: effort.rounds });
        })?;
        let times: Vec<LayerTimes> = samples.chunks(SUBJECTS).map(|samples| times_of(samples, effort.turns)).collect();
        rows.extend(rows_of(&layers, &times, operands.width_bits()));
    }
    Ok(rows)
}

/// Time of one operation by [`Straight::ALL`], by round.
type LayerTimes = Vec<Vec<f64>>;

/// From the samples of a layer: without operations, then with each.
fn times_of(samples: &[Sample], turns: usize) -> LayerTimes {
    // A conversion of a number far below 2⁵³.
    let operations = (turns * BODY) as f64;
    let (empty, with) = samples.split_first().expect("a layer has a subject without operations");
    with.iter().map(|sample| per_thing(&sample.times_ns, &empty.times_ns, operations)).collect()
}

fn rows_of(layers: &[Layer], times: &[LayerTimes], width_bits: usize) -> Vec<RecordRow> {
    let mut rows = Vec::new();
    for (layer, own) in layers.iter().zip(times) {
        for (index, straight) in Straight::ALL.iter().enumerate() {
            let name_in = |layer: &str| format!("{layer}/{}/{width_bits}", straight.operation);
            let (name, quantity) = (name_in(&layer.name), straight.form.quantity());
            rows.push(RecordRow::new(&name, quantity, &own[index]));
            for baseline in layer.baselines {
                if let Some(other) = layers.iter().position(|layer| layer.name == *baseline) {
                    rows.push(RecordRow::ratio(
                        &name,
                        quantity,
                        &own[index],
                        (&name_in(baseline), &times[other][index]),
                    ));
                }
            }
            if let (Some(gas), Form::Dependent) = (&layer.gas, straight.form) {
                rows.push(RecordRow::exact(&name, Quantity::Gas, gas[index]));
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use residue_isa::FieldOp;

    use super::*;

    #[test]
    fn every_instruction_is_measured_and_its_answer_checked() {
        let mut told = 0;
        let rows = measure(&Effort::SMOKE, &mut |_| told += 1).unwrap();
        assert_eq!(told, 3 * Effort::SMOKE.rounds);
        let has = |name: &str, quantity, baseline: Option<&str>| {
            rows.iter().any(|row| row.name == name && row.quantity == quantity && row.baseline.as_deref() == baseline)
        };
        for operation in FieldOp::ALL {
            for quantity in [Quantity::Latency, Quantity::Throughput] {
                let others = ["modular", "modular:portable", "modular:evm384", "crypto-bigint", "num-bigint"];
                // Version 0 takes values from the stack, where they have no places.
                let revisions = Revision::ALL.iter().filter(|revision| **revision != Revision::Evm384V0);
                let plain = revisions.map(|revision| format!("{revision}:plain"));
                let batch = ["evm384-v7:batch", "eip6690-2024:batch"].map(str::to_owned);
                for layer in plain.chain(batch).chain(others.map(str::to_owned)) {
                    let name = format!("{layer}/{operation}/384");
                    assert!(has(&name, quantity, None), "{name}");
                    assert!(has(&name, quantity, Some(&format!("blst/{operation}/384"))), "{name}");
                }
                for width_bits in [256, 768] {
                    assert!(has(&format!("eip6690-2024:batch/{operation}/{width_bits}"), quantity, None));
                    assert!(!has(&format!("evm384-v7:batch/{operation}/{width_bits}"), quantity, None));
                }
            }
        }
    }
}
