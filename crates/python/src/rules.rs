//! Parsers of names from Python: revisions, schedules, hard forks, engines and formulas.

use pyo3::prelude::*;
use residue_compiler::SmallMultiples;
use residue_contracts::Contract;
use residue_workbench::EngineKind;
use residue_workbench::session::{Rules, SessionError};

use crate::work::{RulesError, UnknownName};

/// Rules from names. `toml` is the text of a schedule and the name of its file, in place of a name.
pub fn rules(
    revision: &str,
    schedule: Option<&str>,
    toml: Option<(&str, &str)>,
    fork: Option<&str>,
    portable: bool,
) -> PyResult<Rules> {
    Rules::new(revision, schedule, toml, fork, portable).map_err(|error| match error {
        SessionError::Unknown(_) => UnknownName::new_err(error.to_string()),
        SessionError::Schedule(_) if toml.is_none() => UnknownName::new_err(error.to_string()),
        _ => RulesError::new_err(error.to_string()),
    })
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
