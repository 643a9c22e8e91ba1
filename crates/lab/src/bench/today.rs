//! The group `today`: contracts on the EVM as it is, beside the same contracts with the instructions of EIP-6690:
//! savings in gas and in time.
//!
//! Every answer is compared with that of the program's evaluator, before anything is timed and in every round.

use residue_contracts::{CONTRACTS, Contract};
use residue_ir::{Outcome, evaluate};
use residue_isa::Revision;

use crate::bench::beside::{self, Call, Yardstick};
use crate::bench::effort::{Effort, Observer};
use crate::bench::engines::EngineLayer;
use crate::bench::group::{Group, none_missing};
use crate::error::LabError;
use crate::made::made_if_expressible;
use crate::record::table::Column;
use crate::record::{Quantity, RecordRow};

/// `today`.
pub const GROUP: Group = Group {
    name: "today",
    summary: "contracts on the EVM without field instructions, beside the same with them",
    columns: &[
        Column::microseconds("µs", Quantity::Time),
        Column::ratio("/ evm", Quantity::Time, &[TODAY]),
        Column::whole("gas", Quantity::Gas),
        Column::ratio("gas / evm", Quantity::Gas, &[TODAY]),
    ],
    missing: none_missing,
    measure,
};

/// The layer that others are compared with.
pub const TODAY: &str = "evm:plain";

/// Default subjects.
const SUBJECTS: [&str; 2] = ["evm", "eip6690-2024"];

/// More than any example takes.
const GAS: u64 = 1 << 40;

/// The contract's code for the EVM as it is; none if there is none, or if nothing in it is for field instructions to do.
fn code(contract: &'static Contract) -> Result<Option<Vec<u8>>, LabError> {
    let Some(field) = made_if_expressible(contract, Revision::Eip6690_2024)? else { return Ok(None) };
    if field.compiled.field_instructions == 0 {
        return Ok(None);
    }
    Ok(made_if_expressible(contract, Revision::Evm)?.map(|trial| trial.compiled.code))
}

fn measure(effort: &Effort, observer: &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError> {
    measure_those(CONTRACTS, effort, observer)
}

fn measure_those(
    contracts: &'static [Contract],
    effort: &Effort,
    observer: &mut Observer<'_>,
) -> Result<Vec<RecordRow>, LabError> {
    let effort = Effort { subjects: effort.subjects.or_of_everybody(&SUBJECTS), ..*effort };
    let mut rows = Vec::new();
    for contract in contracts {
        let Some(code) = code(contract)? else { continue };
        let mut layers = beside::layers(contract, &effort, observer)?;
        layers.retain(|(layer, _)| layer.revision != Revision::Evm);
        let input = (contract.example)();
        let call = Call { name: contract.name, input: &input, layers: &layers };
        let today = EngineLayer::all_of(Revision::Evm)?.into_iter().find(|layer| layer.name == TODAY);
        let mut prepared = today.expect("every revision has a plain engine").engine.prepare(&code);
        let first = prepared.run_without_memory(&input, GAS);
        let Outcome::Returned(answer) = evaluate(&contract.program(), &input) else {
            return Err(LabError::Halted { subject: call.name_in(TODAY), halt: first.halt });
        };
        let run = || prepared.run_without_memory(&input, GAS).output;
        let yardstick = Yardstick { layer: TODAY, answer, price: Some(first.gas_used), run: Box::new(run) };
        rows.extend(call.measure(yardstick, None, &effort, observer)?);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contracts_with_field_instructions_are_measured_in_every_way() {
        let place = |name| CONTRACTS.iter().position(|contract| contract.name == name).unwrap();
        let (add, words) = (place("bn254/add"), place("modexp/words"));
        let rows = measure_those(&CONTRACTS[add..=add], &Effort::SMOKE, &mut |_| ()).unwrap();
        for layer in ["eip6690-2024:plain", "eip6690-2024:batch"] {
            for quantity in [Quantity::Gas, Quantity::Time] {
                let has = |row: &RecordRow| {
                    row.name == format!("{layer}/bn254/add")
                        && row.quantity == quantity
                        && row.baseline.as_deref() == Some("evm:plain/bn254/add")
                };
                assert!(rows.iter().any(has), "{layer}, {quantity}");
            }
        }
        assert!(code(&CONTRACTS[words]).unwrap().is_none(), "words are the same under both");
        assert!(code(residue_contracts::find("bw6_761/g1_add").unwrap()).unwrap().is_some(), "wide fields are words");
    }
}
