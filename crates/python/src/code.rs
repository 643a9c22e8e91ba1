//! Code: compiled, run, traced and profiled.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use residue_compiler::{Compiled, compile_as};
use residue_engine::Engine;
use residue_ir::Fp2Product;
use residue_isa::assembly::lines;
use residue_workbench::harness::on_one_core;
use residue_workbench::inspect::profile::profile as measure;
use residue_workbench::inspect::trace::{Executed, Tracing, is_within};
use residue_workbench::session::Rules;
use residue_workbench::variants::{Wanted, WantedProduct};
use residue_workbench::{Job, Machine, Setup, Trial, report, trials};
use serde_json::{Value, json};

use crate::program;
use crate::rules::{contract, engine_kind, multiples, rules, unknown};
use crate::work::{RulesError, unchosen, uncompiled, work};

/// Code with the rules that it is for.
#[pyclass(frozen, module = "residue._native")]
pub struct Code {
    inner: Arc<Inner>,
}

struct Inner {
    rules: Rules,
    code: Vec<u8>,
    /// None of code that was compiled elsewhere.
    compiled: Option<Compiled>,
    /// Report of the code, as JSON.
    known: Value,
    /// The precompile that does the same.
    native: Option<u16>,
}

/// Compiles a program's text.
#[pyfunction]
#[pyo3(signature = (text, revision, schedule, toml, fork, portable, multiples_by))]
#[allow(clippy::too_many_arguments, reason = "the options of the command")]
pub fn compile_program(
    py: Python<'_>,
    text: String,
    revision: &str,
    schedule: Option<&str>,
    toml: Option<(String, String)>,
    fork: Option<&str>,
    portable: bool,
    multiples_by: &str,
) -> PyResult<Code> {
    let toml = toml.as_ref().map(|(text, file)| (text.as_str(), file.as_str()));
    let rules = rules(revision, schedule, toml, fork, portable)?;
    let multiples = multiples(multiples_by)?;
    work(py, move || {
        let program = program(&text)?;
        let Rules { revision, schedule, dialect } = &rules;
        let compiled = compile_as(&program, *revision, schedule, multiples, *dialect);
        let compiled = compiled.map_err(|error| uncompiled(&error))?;
        Ok(Code::new(rules, compiled, None))
    })
}

/// Compiles a contract of ours in the variant whose example costs least of those that are wanted.
#[pyfunction]
#[pyo3(signature = (name, revision, schedule, toml, fork, portable, f2mul, multiples_by))]
#[allow(clippy::too_many_arguments, reason = "the options of the command")]
pub fn compile_contract(
    py: Python<'_>,
    name: &str,
    revision: &str,
    schedule: Option<&str>,
    toml: Option<(String, String)>,
    fork: Option<&str>,
    portable: bool,
    f2mul: Option<&str>,
    multiples_by: Option<&str>,
) -> PyResult<Code> {
    let toml = toml.as_ref().map(|(text, file)| (text.as_str(), file.as_str()));
    let rules = rules(revision, schedule, toml, fork, portable)?;
    let contract = contract(name)?;
    let product = match f2mul {
        None => WantedProduct::Usual,
        Some("auto") => WantedProduct::Any,
        Some("3") => WantedProduct::Only(Fp2Product::Karatsuba),
        Some("4") => WantedProduct::Only(Fp2Product::Schoolbook),
        Some(other) => return Err(unknown("product in Fp2", other, ["auto", "3", "4"])),
    };
    let wanted = Wanted { product, multiples: multiples_by.map(multiples).transpose()? };
    work(py, move || {
        let Rules { revision, schedule, dialect } = &rules;
        let found = trials(contract, wanted.variants(contract), *revision, schedule, *dialect);
        let mut found = found.map_err(|error| unchosen(&error))?;
        let variants: Vec<Value> = found.iter().map(report::variant).collect();
        let Trial { compiled, .. } = found.swap_remove(0);
        let mut code = Code::new(rules, compiled, contract.precompile);
        if let Some(inner) = Arc::get_mut(&mut code.inner) {
            inner.known["variants"] = variants.into();
        }
        Ok(code)
    })
}

/// Code that was compiled elsewhere.
#[pyfunction]
#[pyo3(signature = (code, revision, schedule, toml, fork))]
pub fn raw_code(
    code: Vec<u8>,
    revision: &str,
    schedule: Option<&str>,
    toml: Option<(String, String)>,
    fork: Option<&str>,
) -> PyResult<Code> {
    let toml = toml.as_ref().map(|(text, file)| (text.as_str(), file.as_str()));
    let rules = rules(revision, schedule, toml, fork, false)?;
    let known = json!({ "revision": rules.revision.name(), "code_bytes": code.len(), "functions": {} });
    let inner = Inner { rules, code, compiled: None, known, native: None };
    Ok(Code { inner: Arc::new(inner) })
}

impl Code {
    fn new(rules: Rules, compiled: Compiled, native: Option<u16>) -> Self {
        let (code, known) = (compiled.code.clone(), report::code(&compiled, rules.dialect.fork));
        Self { inner: Arc::new(Inner { rules, code, compiled: Some(compiled), known, native }) }
    }
}

impl Inner {
    fn engine(&self) -> PyResult<Engine> {
        self.rules.engine().map_err(|error| RulesError::new_err(error.to_string()))
    }

    /// Source of the byte at `pc`.
    fn source(&self, pc: usize) -> Option<String> {
        self.compiled.as_ref()?.source_map.name_at(pc)
    }
}

#[pymethods]
impl Code {
    /// The bytes.
    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.code)
    }

    /// Report of the code, in the form of `residue build --json`.
    fn report(&self) -> String {
        let mut known = self.inner.known.clone();
        self.inner.rules.add_to(&mut known);
        known.to_string()
    }

    /// An execution, as `residue run --json` says it, with `disagreement` beside.
    fn run(
        &self,
        py: Python<'_>,
        input: Vec<u8>,
        gas: u64,
        engine: &str,
        timed: bool,
        explained: bool,
    ) -> PyResult<String> {
        let (inner, kind) = (Arc::clone(&self.inner), engine_kind(engine)?);
        work(py, move || {
            let Rules { revision, schedule, dialect } = inner.rules.clone();
            let refused = |error: String| RulesError::new_err(error);
            let setup =
                Setup::new(revision, schedule, dialect.fork, kind).map_err(|error| refused(error.to_string()))?;
            let native = inner.native.filter(|_| timed);
            let job = Job { code: &inner.code, input: &input, gas, timed, explained, native };
            let execution = setup.execute(job).map_err(|error| refused(error.to_string()))?;
            let mut told = report::execution(&setup, &execution, None, &Machine::this());
            told["disagreement"] = execution.disagreement.clone().into();
            told["native_ratio"] = execution.times.and_then(|times| times.native).map(|native| native.ratio).into();
            Ok(told.to_string())
        })
    }

    /// A trace, as `residue trace --json` says it.
    fn trace(
        &self,
        py: Python<'_>,
        input: Vec<u8>,
        gas: u64,
        limit: Option<usize>,
        function: Option<String>,
    ) -> PyResult<String> {
        let inner = Arc::clone(&self.inner);
        work(py, move || {
            let engine = inner.engine()?;
            let (mut steps, mut left_out) = (Vec::new(), 0u64);
            let told = |executed: Executed| {
                let source = Some(executed.pc).filter(|_| executed.depth == 0).and_then(|pc| inner.source(pc));
                let is_chosen =
                    function.as_ref().is_none_or(|name| source.as_ref().is_some_and(|source| is_within(source, name)));
                if is_chosen && limit.is_none_or(|limit| steps.len() < limit) {
                    steps.push(report::step(&executed, source));
                } else {
                    left_out += 1;
                }
            };
            let outcome = engine.run_traced(&inner.code, &input, gas, &mut Tracing::new(inner.rules.revision, told));
            Ok(json!({
                "success": outcome.is_success(),
                "halt": outcome.halt.name(),
                "gas_used": outcome.gas_used,
                "steps": steps,
                "steps_left_out": left_out,
            })
            .to_string())
        })
    }

    /// A profile, as `residue profile --json` says it. Times are medians of `rounds` executions; none are measured for 0.
    fn profile(&self, py: Python<'_>, input: Vec<u8>, gas: u64, rounds: usize) -> PyResult<String> {
        let inner = Arc::clone(&self.inner);
        work(py, move || {
            let Some(compiled) = &inner.compiled else {
                return Err(RulesError::new_err("code without its program has no functions to profile"));
            };
            let engine = inner.engine()?;
            let profiled = on_one_core(|_| measure(&engine, &compiled.code, &compiled.source_map, &input, gas, rounds));
            let (profile, outcome) = profiled.map_err(|error| RulesError::new_err(error.to_string()))?;
            let mut told = report::profile(&profile);
            told["success"] = outcome.is_success().into();
            told["halt"] = outcome.halt.name().into();
            Ok(told.to_string())
        })
    }

    /// Lines of assembly: offset, text, and where it comes from.
    fn disassembly(&self) -> Vec<(usize, String, Option<String>)> {
        let lines = lines(&self.inner.code, self.inner.rules.revision);
        lines.map(|(pc, line)| (pc, line.text, self.inner.source(pc))).collect()
    }
}
