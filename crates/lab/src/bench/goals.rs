//! The group `goals`: goals of `evmmax-next`, contract by contract: gas, and times on the plain engine and the one with
//! batches, so that a price below its time shows.
//!
//! Every answer is compared with that of the precompile, or of the program's evaluator where no precompile is replaced, before anything is timed and
//! in every round. [`crate::render::goals`] makes the table of it.

use residue_contracts::{Contract, find};
use residue_ir::{Outcome, evaluate};

use crate::bench::beside::{self, Call, Yardstick};
use crate::bench::effort::{Effort, Observer};
use crate::bench::group::{Group, none_missing};
use crate::bench::operations::sum_input;
use crate::error::LabError;
use crate::record::table::Column;
use crate::record::{Quantity, RecordRow};

/// `goals`.
pub const GROUP: Group = Group {
    name: "goals",
    summary: "the contracts that evmmax-next was made for: gas, and times of both engines beside it",
    columns: &[
        Column::microseconds("µs", Quantity::Time),
        Column::ratio("/ precompile", Quantity::Time, &[beside::PRECOMPILE]),
        Column::whole("gas", Quantity::Gas),
        Column::ratio("gas / price", Quantity::Gas, &[beside::PRECOMPILE]),
        Column::whole("gas by time", Quantity::GasByTime),
    ],
    missing: none_missing,
    measure,
};

/// The contracts with their sizes: pairs, points, or 1.
pub const GOALS: [(&str, &[usize]); 10] = [
    ("bls12_381/pairing", &[2, 8, 16]),
    ("bls12_381/g1_add", &[1]),
    ("bls12_381/map_fp_to_g1", &[1]),
    ("bls12_381/g1_msm", &[128]),
    ("bls12_381/g2_msm", &[128]),
    ("bn254/add", &[1]),
    ("bn254/mul", &[1]),
    ("secp256k1/recover", &[1]),
    ("p256/verify", &[1]),
    ("ntt/falcon512", &[1]),
];

/// The layer of the program's evaluator, which answers and is not timed.
const EVALUATOR: &str = "evaluator";

/// Default subjects.
const SUBJECTS: [&str; 2] = [beside::PRECOMPILE, "evmmax-next"];

fn measure(effort: &Effort, observer: &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError> {
    measure_those(&GOALS, effort, observer)
}

fn measure_those(
    goals: &[(&'static str, &[usize])],
    effort: &Effort,
    observer: &mut Observer<'_>,
) -> Result<Vec<RecordRow>, LabError> {
    let effort = Effort { subjects: effort.subjects.or_of_everybody(&SUBJECTS), ..*effort };
    let mut rows = Vec::new();
    for &(name, sizes) in goals {
        let contract = find(name).ok_or(LabError::NoContract { name })?;
        let layers = beside::layers(contract, &effort, observer)?;
        for &size in sizes {
            let input = input(contract, size)?;
            let call = Call { name: &format!("{name}/{size}"), input: &input, layers: &layers };
            let yardstick = match contract.precompile {
                Some(address) => Yardstick::precompile(address, &input)?,
                None => evaluator(contract, &input)?,
            };
            rows.extend(call.measure(yardstick, None, &effort, observer)?);
        }
    }
    Ok(rows)
}

/// Pairs of the contract's example, whose product is one; random points with random multiples; or the example.
fn input(contract: &Contract, size: usize) -> Result<Vec<u8>, LabError> {
    match contract.name {
        "bls12_381/pairing" => Ok((contract.example)().repeat(size / 2)),
        "bls12_381/g1_msm" | "bls12_381/g2_msm" => sum_input(contract.name, size),
        _ => Ok((contract.example)()),
    }
}

fn evaluator<'a>(contract: &'static Contract, input: &'a [u8]) -> Result<Yardstick<'a>, LabError> {
    let run = move || match evaluate(&contract.program(), input) {
        Outcome::Returned(answer) => answer,
        _ => Vec::new(), // No answer is a wrong answer.
    };
    let answer = run();
    if answer.is_empty() {
        let reason = "its evaluator does not answer the example".to_owned();
        return Err(LabError::Outside { program: contract.name.to_owned(), reason });
    }
    Ok(Yardstick { layer: EVALUATOR, answer, price: None, run: Box::new(run) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_measured_on_both_engines_beside_their_precompile() {
        let some: Vec<_> =
            GOALS.into_iter().filter(|(name, _)| ["bn254/add", "ntt/falcon512"].contains(name)).collect();
        let rows = measure_those(&some, &Effort::SMOKE, &mut |_| ()).unwrap();
        for (name, has_precompile) in [("bn254/add/1", true), ("ntt/falcon512/1", false)] {
            let has = |layer: &str, quantity, baseline: Option<&str>| {
                let row = |row: &RecordRow| {
                    row.name == format!("{layer}/{name}")
                        && row.quantity == quantity
                        && row.baseline.as_deref().is_some_and(|row| row.starts_with("precompile"))
                            == baseline.is_some()
                };
                rows.iter().any(row)
            };
            assert_eq!(has("precompile", Quantity::Gas, None), has_precompile);
            assert!(!has(EVALUATOR, Quantity::Time, None));
            for layer in ["evmmax-next:plain", "evmmax-next:batch"] {
                for quantity in [Quantity::Gas, Quantity::Time, Quantity::GasByTime] {
                    assert!(has(layer, quantity, None), "{layer}/{name}, {quantity}");
                }
                assert_eq!(has(layer, Quantity::Time, Some("precompile")), has_precompile);
            }
        }
    }

    #[test]
    fn every_goal_is_a_contract_with_an_input() {
        for (name, sizes) in GOALS {
            let contract = find(name).unwrap();
            for &size in sizes {
                let input = input(contract, size).unwrap();
                assert!(!input.is_empty(), "{name}");
                if let Some(address) = contract.precompile {
                    assert!(!Yardstick::precompile(address, &input).unwrap().answer.is_empty(), "{name}/{size}");
                }
            }
        }
    }
}
