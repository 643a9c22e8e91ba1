//! `residue._native`: the functions of the compiler, the engine and the lab that the Python package `residue-evm`
//! calls.
//!
//! Programs come as text ([`residue_ir::text`]), results go as the JSON that the command line gives with `--json`
//! ([`residue_workbench::report`]). Nothing here knows how programs are recorded: that is Python. Every call works in a thread of its
//! own ([`work`]), so that the interpreter goes on, Ctrl-C is heard, and a panic is an exception.

#![forbid(unsafe_code)]

mod code;
mod lists;
mod rules;
mod work;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use residue_ir::{Outcome, evaluate_within, text};
use residue_workbench::report;
use serde_json::json;

use crate::work::{NoOutcome, ProgramError, work};

/// The text as the printer writes it, if it is a program; a `ProgramError` with the line where it is not.
#[pyfunction]
fn check(py: Python<'_>, text: String) -> PyResult<String> {
    work(py, move || program(&text).map(|program| text::print(&program)))
}

/// Outcome of a program under the evaluator: JSON with `outcome`, which is `returned`, `ended` or `failed`, and
/// `output`.
#[pyfunction]
fn evaluate(py: Python<'_>, text: String, input: Vec<u8>, steps_max: u64) -> PyResult<String> {
    work(py, move || {
        let program = program(&text)?;
        let outcome =
            evaluate_within(&program, &input, steps_max).map_err(|error| NoOutcome::new_err(error.to_string()))?;
        Ok(match outcome {
            Outcome::Returned(output) => json!({ "outcome": "returned", "output": report::hex(&output) }),
            Outcome::Ended => json!({ "outcome": "ended", "output": "0x" }),
            Outcome::Failed => json!({ "outcome": "failed", "output": null }),
        }
        .to_string())
    })
}

/// KECCAK256 of bytes.
#[pyfunction]
fn keccak256<'py>(py: Python<'py>, bytes: &[u8]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &residue_engine::revm::primitives::keccak256(bytes).0)
}

/// The program of a text.
pub(crate) fn program(text: &str) -> PyResult<residue_ir::Program> {
    text::read(text).map_err(|error| {
        let before = text.get(..error.span.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        ProgramError::new_err((error.what, line))
    })
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::check;
    #[pymodule_export]
    use super::code::{Code, compile_contract, compile_program, raw_code};
    #[pymodule_export]
    use super::evaluate;
    #[pymodule_export]
    use super::keccak256;
    #[pymodule_export]
    use super::lists::{contract_text, example, flame_graph, lists, machine, native};
}
