//! Names from Python as what they mean: revisions, schedules, hard forks, engines and formulas.

use pyo3::prelude::*;
use residue_compiler::{Dialect, SmallMultiples};
use residue_contracts::Contract;
use residue_isa::{Fork, GasSchedule, Revision};
use residue_workbench::EngineKind;

use crate::work::{RulesError, UnknownName};

/// An interface, its prices, and what code for it keeps to.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The interface.
    pub revision: Revision,
    /// The prices.
    pub schedule: GasSchedule,
    /// Hard fork and portability.
    pub dialect: Dialect,
}

impl Rules {
    /// From names. `toml` is the text of a schedule and the name of its file, in place of a name.
    pub fn new(
        revision: &str,
        schedule: Option<&str>,
        toml: Option<(&str, &str)>,
        fork: Option<&str>,
        portable: bool,
    ) -> PyResult<Self> {
        let revision: Revision = named(revision.parse())?;
        let schedule = match (schedule, toml) {
            (_, Some((text, file))) => {
                let schedule =
                    GasSchedule::from_toml(text, file).map_err(|error| RulesError::new_err(error.to_string()))?;
                if !schedule.is_for(revision) {
                    let name = schedule.name();
                    let what = format!("{file}: the gas schedule {name:?} is not for {revision}");
                    return Err(RulesError::new_err(what));
                }
                schedule
            }
            (Some(name), None) => named(GasSchedule::named(name, revision))?,
            (None, None) => named(GasSchedule::default_for(revision))?,
        };
        let fork: Fork = fork.map_or(Ok(Fork::default()), |name| named(name.parse()))?;
        Ok(Self { revision, schedule, dialect: Dialect { fork, portable, precompiles: false } })
    }
}

/// A value with this name, or an exception that says which there are.
pub fn named<T, E: std::fmt::Display>(found: Result<T, E>) -> PyResult<T> {
    found.map_err(|error| UnknownName::new_err(error.to_string()))
}

/// The contract of this name.
pub fn contract(name: &str) -> PyResult<&'static Contract> {
    residue_contracts::find(name).ok_or_else(|| {
        UnknownName::new_err(format!("{name:?} is no contract; residue.contracts() has those there are"))
    })
}

/// The engine of this name.
pub fn engine_kind(name: &str) -> PyResult<EngineKind> {
    let known = EngineKind::ALL.into_iter().find(|kind| kind.name() == name);
    known.ok_or_else(|| {
        let names = EngineKind::ALL.map(EngineKind::name).join(", ");
        UnknownName::new_err(format!("{name:?} is no engine; known are {names}"))
    })
}

/// The way to make small multiples that has this name.
pub fn multiples(name: &str) -> PyResult<SmallMultiples> {
    match name {
        "additions" => Ok(SmallMultiples::AsWritten),
        "3" => Ok(SmallMultiples::ProductForThree),
        "2" => Ok(SmallMultiples::ProductForTwo),
        _ => Err(UnknownName::new_err(format!("{name:?} is no way to make small multiples: additions, 3 or 2"))),
    }
}
