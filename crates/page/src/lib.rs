//! The module of the page in `site/`: what it asks of the compiler, the engine and the evaluator, as WebAssembly.
//!
//! Programs come as text, rules by name, calldata as bytes; what goes back is the JSON of [`residue_workbench::report`], as with
//! `--json` and from Python. What is refused is thrown as a text. A panic is thrown too, and the worker that holds the module is
//! replaced then.

#![forbid(unsafe_code)]

mod code;
mod lists;

use std::panic;

use residue_ir::text;
use residue_workbench::session;
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

/// Makes panics exceptions with their message. Called once, before all else.
#[wasm_bindgen(start)]
pub fn start() {
    panic::set_hook(Box::new(|panic| wasm_bindgen::throw_str(&format!("a mistake in Residue: {panic}"))));
}

/// Of a text, as JSON: `error`, with `what` is wrong, `from` and `to` in its bytes; or null for a program, with its `name` and the
/// `bits` of its modulus.
#[wasm_bindgen]
pub fn check(text: &str) -> String {
    let checked = match text::read(text) {
        Ok(program) => json!({ "name": program.name, "bits": program.modulus.bits(), "error": null }),
        Err(text::ReadError { span, what }) => json!({ "error": { "what": what, "from": span.start, "to": span.end } }),
    };
    checked.to_string()
}

/// The evaluator's outcome of a program for calldata, as JSON.
#[wasm_bindgen]
pub fn evaluate(text: &str, input: &[u8], steps_max: u32) -> Result<String, String> {
    let program = text::read(text).map_err(said)?;
    session::evaluate(&program, input, steps_max.into()).map(told).map_err(said)
}

/// The program in the form of the Python package.
#[wasm_bindgen]
pub fn python(text: &str) -> Result<String, String> {
    Ok(text::python(&text::read(text).map_err(said)?))
}

fn told(value: Value) -> String {
    value.to_string()
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}
