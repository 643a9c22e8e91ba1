//! Pareto fronts of bytes and gas: of each contract the forms within some limits that no other of these beats in both.

use anyhow::{Error, Result};
use residue_compiler::Dialect;
use residue_contracts::Contract;
use residue_isa::GasSchedule;
use residue_workbench::parallel::in_parallel;
use serde_json::{Value, json};

use super::{REVISION, forms};
use crate::code_limit::{CodeLimit, Forms, TooLong};
use crate::formulas::{Formulas, is_inexpressible};

/// Limits of code in bytes. The first is that of an account: what exceeds it is not in the catalogue.
const LIMITS: [usize; 4] = [24_576, 8_192, 16_384, 65_536];
/// Code that calls a precompile and does nothing else is shorter. It has one form.
const CALL_BYTES_MAX: usize = 100;

/// Bytes of a form and gas of the example.
type Point = [u64; 2];

/// The forms of a contract that no other beats.
struct Front {
    contract: &'static str,
    precompiles: bool,
    /// The shortest first.
    points: Vec<Point>,
}

/// The fronts of these contracts as JSON, one a line. With `all_must` each contract has to have a form, which an account need not hold.
pub(super) fn text(contracts: &[&'static Contract], all_must: bool) -> Result<String> {
    let schedule = GasSchedule::default_for(REVISION)?;
    let wanted = forms(contracts);
    let made = in_parallel(&wanted, |&(contract, precompiles)| front(contract, precompiles, !all_must, &schedule));
    let (mut lines, mut left_out): (Vec<Front>, Vec<(&str, Error)>) = (Vec::new(), Vec::new());
    for ((contract, _), front) in wanted.iter().zip(made) {
        match front {
            Err(error) if is_inexpressible(&error) || error.is::<TooLong>() => left_out.push((contract.name, error)),
            front => lines.extend(front?),
        }
    }
    let has = |name: &str| lines.iter().any(|front| front.contract == name);
    if let Some((_, error)) = left_out.into_iter().find(|(name, _)| all_must && !has(name)) {
        return Err(error);
    }
    let lines: Vec<String> = lines.iter().map(|front| front.to_json().to_string()).collect();
    let comment = "Made by `residue catalogue --fronts dist/fronts.json`. A point is bytes and gas.";
    Ok(format!("{{\"comment\": {}, \"fronts\": [\n{}\n]}}\n", json!(comment), lines.join(",\n")))
}

/// The front of a contract; none if its code is a call of a precompile.
fn front(
    contract: &'static Contract,
    precompiles: bool,
    in_account: bool,
    schedule: &GasSchedule,
) -> Result<Option<Front>> {
    let dialect = Dialect { precompiles, ..Dialect::default() };
    let forms = Forms::new(&Formulas::default(), contract, (REVISION, schedule, dialect))?;
    let (mut points, mut refusal) = (Vec::new(), None);
    for limit in LIMITS {
        match forms.within(CodeLimit::Bytes(limit)) {
            Ok(trials) if trials[0].compiled.code.len() <= CALL_BYTES_MAX => return Ok(None),
            Ok(trials) => points.push([trials[0].compiled.code.len() as u64, trials[0].gas]),
            Err(error) if error.is::<TooLong>() && !(in_account && limit == LIMITS[0]) => refusal = Some(error),
            Err(error) => return Err(error),
        }
    }
    match refusal {
        Some(error) if points.is_empty() => Err(error),
        _ => Ok(Some(Front { contract: contract.name, precompiles, points: unbeaten(points) })),
    }
}

/// Those points that have less gas than each with as few bytes.
fn unbeaten(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_unstable();
    let mut gas_least = u64::MAX;
    points.retain(|&[_, gas]| {
        let is_less = gas < gas_least;
        gas_least = gas_least.min(gas);
        is_less
    });
    points
}

impl Front {
    fn to_json(&self) -> Value {
        json!({ "contract": self.contract, "precompiles": self.precompiles, "points": self.points })
    }
}

#[cfg(test)]
mod tests {
    use super::unbeaten;

    #[test]
    fn a_point_that_another_beats_or_equals_is_dropped() {
        let points = vec![[300, 40], [100, 90], [200, 40], [200, 50], [200, 40], [400, 41], [500, 39]];
        assert_eq!(unbeaten(points), [[100, 90], [200, 40], [500, 39]]);
    }
}
