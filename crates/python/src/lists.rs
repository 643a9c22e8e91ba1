//! Lists of the available choices, and the data of our contracts.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use residue_contracts::CONTRACTS;
use residue_engine::Fork;
use residue_ir::text;
use residue_isa::Revision;
use residue_workbench::inspect::flame;
use residue_workbench::inspect::profile::{Measure, Node, Profile};
use residue_workbench::{Machine, catalogue, report};
use serde_json::{Value, json};

use crate::rules::{contract, unknown};
use crate::work::{RulesError, work};

/// `revisions`, `beside` (what is compiled for beside the proposed interfaces), `schedules`, `forks`, `opcodes` or `contracts`, as
/// `residue list --json` says them; schedules are those of all that is compiled for.
#[pyfunction]
pub fn lists(what: &str) -> PyResult<String> {
    let all = || Revision::ALL.iter().copied();
    let listed: Value = match what {
        "revisions" => all().map(catalogue::revision).collect(),
        "beside" => Revision::BESIDE.iter().copied().map(catalogue::revision).collect(),
        "schedules" => catalogue::schedules(Revision::every()).iter().map(catalogue::schedule).collect(),
        "forks" => Fork::ALL.into_iter().map(catalogue::fork).collect(),
        "opcodes" => {
            let of = |revision: Revision| revision.opcodes().iter().map(move |row| (Some(revision), row));
            all().flat_map(of).map(|(revision, row)| catalogue::opcode(revision, row)).collect()
        }
        "contracts" => CONTRACTS.iter().map(catalogue::contract).collect(),
        other => {
            let known = ["revisions", "beside", "schedules", "forks", "opcodes", "contracts"];
            return Err(unknown("list", other, known));
        }
    };
    Ok(listed.to_string())
}

/// The input that comes with a contract.
#[pyfunction]
pub fn example<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &(contract(name)?.example)()))
}

/// A contract as text, in the formulas that it is written in.
#[pyfunction]
pub fn contract_text(py: Python<'_>, name: &str) -> PyResult<String> {
    let contract = contract(name)?;
    work(py, move || Ok(text::print(&contract.program())))
}

/// Result of the precompile that a contract replaces on an input: JSON with `output`, `gas_used` and `error`; none if
/// it replaces none.
#[pyfunction]
pub fn native(py: Python<'_>, name: &str, input: Vec<u8>) -> PyResult<Option<String>> {
    let contract = contract(name)?;
    work(py, move || {
        Ok(residue_workbench::native(contract, &input).map(|native| {
            match native {
                Ok(native) => {
                    json!({ "output": report::hex(&native.output), "gas_used": native.gas_used, "error": null })
                }
                Err(error) => json!({ "output": null, "gas_used": null, "error": error.to_string() }),
            }
            .to_string()
        }))
    })
}

/// The flame graph of a profile's nodes, as SVG, by `gas` or by `time`.
#[pyfunction]
pub fn flame_graph(nodes: &str, title: &str, by: &str) -> PyResult<String> {
    let measure = match by {
        "gas" => Measure::Gas,
        "time" => Measure::Time,
        other => return Err(unknown("measure", other, ["gas", "time"])),
    };
    let nodes: Vec<Node> =
        serde_json::from_str(nodes).map_err(|error| RulesError::new_err(format!("no nodes of a profile: {error}")))?;
    let is_tree = nodes.iter().enumerate().all(|(place, node)| node.parent.is_none_or(|parent| parent < place));
    if !is_tree {
        return Err(RulesError::new_err("no nodes of a profile: one stands before its parent"));
    }
    let gas_used = nodes.iter().map(|node| node.gas).sum();
    let time_ns = Some(nodes.iter().map(|node| node.time_ns).sum());
    Ok(flame::flame_graph(&Profile { nodes, gas_used, time_ns }, title, measure))
}

/// This machine, as JSON, with its line for people.
#[pyfunction]
pub fn machine() -> String {
    let machine = Machine::this();
    let mut told = machine.to_json();
    told["line"] = machine.to_line().into();
    told.to_string()
}
