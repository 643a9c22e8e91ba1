//! Parsers of names from Python: revisions, schedules, hard forks, engines and formulas.

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

/// The exception for a name that nothing of its kind has, with the nearest names.
pub fn unknown<'a>(kind: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> PyErr {
    UnknownName::new_err(residue_isa::UnknownName::new(kind, name, known).to_string())
}

/// A value with this name, or an exception that says which there are.
pub fn named<T, E: std::fmt::Display>(found: Result<T, E>) -> PyResult<T> {
    found.map_err(|error| UnknownName::new_err(error.to_string()))
}

/// The contract of this name.
pub fn contract(name: &str) -> PyResult<&'static Contract> {
    named(residue_contracts::named(name))
}

/// The engine of this name.
pub fn engine_kind(name: &str) -> PyResult<EngineKind> {
    let known = EngineKind::ALL.into_iter().find(|kind| kind.name() == name);
    known.ok_or_else(|| unknown("engine", name, EngineKind::ALL.map(EngineKind::name)))
}

/// The way to make small multiples that has this name.
pub fn multiples(name: &str) -> PyResult<SmallMultiples> {
    match name {
        "additions" => Ok(SmallMultiples::AsWritten),
        "3" => Ok(SmallMultiples::ProductForThree),
        "2" => Ok(SmallMultiples::ProductForTwo),
        _ => Err(unknown("way to make small multiples", name, ["additions", "3", "2"])),
    }
}
