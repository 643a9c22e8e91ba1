//! Code of a program under an interface and its prices.

use residue_compiler::SmallMultiples;
use residue_fixtures::Suite;
use residue_ir::text;
use residue_proof::{Certificate, Semantics};
use residue_workbench::EngineKind;
use residue_workbench::session::{self, Rules};
use wasm_bindgen::prelude::*;

use crate::{said, told};

/// Bytes of memory that are shown of a frame.
const MEMORY_BYTES_MAX: usize = 1 << 15;

/// A program compiled, every operation of which knows the line of the text that it comes from.
#[wasm_bindgen]
pub struct Code(session::Code);

#[wasm_bindgen]
impl Code {
    /// Compiles a text. `toml` is the text of a gas schedule in place of the name of one; the revision's own holds without both.
    #[wasm_bindgen(constructor)]
    pub fn new(text: &str, revision: &str, schedule: Option<String>, toml: Option<String>) -> Result<Self, String> {
        let program = text::read_by_line(text).map_err(said)?;
        let toml = toml.as_deref().map(|text| (text, "prices"));
        let rules = Rules::new(revision, schedule.as_deref(), toml, None, false).map_err(said)?;
        session::Code::new(&program, rules, SmallMultiples::AsWritten).map(Self).map_err(said)
    }

    /// Report of it, as in `residue build --json`.
    pub fn report(&self) -> String {
        told(self.0.report())
    }

    /// An execution, as `residue run --json` says it, with `disagreement` beside. `engine` is `batch`, `plain` or `spec`.
    pub fn run(&self, input: &[u8], gas: f64, engine: &str) -> Result<String, String> {
        let kind = EngineKind::ALL.into_iter().find(|kind| kind.name() == engine);
        let kind = kind.ok_or_else(|| format!("{engine:?} is no engine: batch, plain and spec are"))?;
        self.0.run(input, whole(gas), kind).map(told).map_err(said)
    }

    /// The blocks of field instructions with their plans, as `residue run --explain --json` says them.
    pub fn blocks(&self, input: &[u8], gas: f64) -> Result<String, String> {
        self.0.blocks(input, whole(gas)).map(told).map_err(said)
    }

    /// A trace, as `residue trace --json` says it: so many steps after the first `skipped` ones.
    pub fn trace(&self, input: &[u8], gas: f64, skipped: usize, limit: usize) -> Result<String, String> {
        self.0.trace(input, whole(gas), skipped, limit).map(told).map_err(said)
    }

    /// A profile by gas, as `residue profile --json` says it.
    pub fn profile(&self, input: &[u8], gas: f64) -> Result<String, String> {
        self.0.profile(input, whole(gas)).map(told).map_err(said)
    }

    /// The same as a flame graph by functions and named stretches, an SVG.
    pub fn flame(&self, input: &[u8], gas: f64) -> Result<String, String> {
        let title = format!("{}, schedule {}", self.0.rules().revision, self.0.rules().schedule.name());
        self.0.flame(input, whole(gas), &title).map_err(said)
    }

    /// The frame before a step: stack, memory and slots.
    pub fn frame(&self, input: &[u8], gas: f64, step: usize) -> Result<String, String> {
        self.0.frame(input, whole(gas), step, MEMORY_BYTES_MAX).map(told).map_err(said)
    }

    /// The code as other tools take it: `creation`, `yul`, `solidity` or `json`, as `residue build --format` writes it.
    pub fn format(&self, name: &str, format: &str) -> Result<String, String> {
        self.0.format(name, format).map_err(said)
    }

    /// A certificate that the code ends as the program of this text does, as `residue build --certificate` writes it.
    pub fn certificate(&self, text: &str) -> Result<String, String> {
        let rules = self.0.rules();
        let semantics = Semantics::of(rules.revision, &rules.schedule).map_err(said)?;
        let program = text::read(text).map_err(said)?;
        let certificate = Certificate::new(&program, semantics, &self.0.compiled().code).map_err(said)?;
        certificate.check().map_err(said)?;
        Ok(certificate.print())
    }

    /// A general state test that calls the code, as `residue fixtures` writes them, or with `traced` the trace of it by EIP-3155.
    /// Prices are the revision's own.
    #[wasm_bindgen(js_name = stateTest)]
    pub fn state_test(&self, input: &[u8], gas: f64, traced: bool) -> Result<String, String> {
        let suite = Suite::new(self.0.rules().revision).map_err(said)?;
        let made = suite.call("call", &self.0.compiled().code, input, whole(gas)).map_err(said)??;
        if traced { suite.trace("call", &made).map_err(said) } else { Ok(made.text) }
    }

    /// Lines of assembly: offset, text, function, and the innermost stretch of each operation that they are part of.
    pub fn listing(&self) -> String {
        told(self.0.listing())
    }
}

/// An amount of gas; numbers of a page are whole up to 2⁵³, and what is more or no number becomes the nearest amount.
fn whole(gas: f64) -> u64 {
    gas as u64 // Saturates.
}
