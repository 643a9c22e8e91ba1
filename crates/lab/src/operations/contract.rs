//! Contracts of ours on every engine: bytecode for the measured revisions, and WebAssembly modules, from one program.

use residue_compiler::compile;
use residue_contracts::{CONTRACTS, Contract, find};
use residue_engine::EngineConfig;
use residue_ir::Outcome;
use residue_wasm::{EngineKind, Form, Lowered, Prepared, RunError, lower};

use super::{Run, Task};
use crate::MEASURED;
use crate::engines::EngineLayer;
use crate::error::LabError;
use crate::group::Effort;
use crate::harness::time_ns;
use crate::record::{Quantity, Row};

/// Gas that nothing measured here uses up.
const GAS: u64 = 1 << 40;

/// A contract for every engine that was chosen; nothing where there is no contract for the task.
pub(crate) struct Engines {
    bytecode: Vec<(EngineLayer, Vec<u8>)>,
    modules: Vec<(String, EngineKind, Lowered)>,
}

/// A layer's name for a measurement, its way to compute, and rows that need no timing.
pub(crate) type Measured<'a> = (String, Run<'a>, Vec<Row>);

impl Engines {
    /// The contract of a task, compiled for every engine.
    pub fn of(task: &Task, effort: &Effort) -> Result<Self, LabError> {
        let mut engines = Self { bytecode: Vec::new(), modules: Vec::new() };
        let Some(contract) = contract(task) else { return Ok(engines) };
        let program = (contract.program)();
        for revision in MEASURED {
            let layers = EngineLayer::all_of(revision)?;
            let mut chosen = layers.into_iter().filter(|layer| effort.subjects.include(&layer.name)).peekable();
            if chosen.peek().is_none() {
                continue;
            }
            let compiled = compile(&program, revision, &EngineConfig::default_for(revision).schedule);
            let code =
                compiled.map_err(|error| LabError::Compile { name: contract.name, error: Box::new(error) })?.code;
            engines.bytecode.extend(chosen.map(|layer| (layer, code.clone())));
        }
        for form in Form::ALL {
            for engine in EngineKind::ALL {
                let layer = format!("{engine}:{}", form.name());
                if effort.subjects.include(&layer) {
                    let lowered =
                        lower(&program, form).map_err(|error| LabError::Lower { name: contract.name, error })?;
                    engines.modules.push((layer, engine, lowered));
                }
            }
        }
        Ok(engines)
    }

    /// Everybody's way to compute, with gas where there is gas, and calls of host functions where there are any.
    pub fn runs<'a>(
        &'a self,
        input: &'a [u8],
        name_in: impl Fn(&str) -> String,
        effort: &Effort,
    ) -> Result<Vec<Measured<'a>>, LabError> {
        let mut runs: Vec<Measured<'a>> = Vec::new();
        for (layer, engine, lowered) in &self.modules {
            let name = name_in(layer);
            let wrong = |error| LabError::Module { subject: name.clone(), error };
            let mut prepared = Prepared::new(lowered, *engine).map_err(wrong)?;
            prepared.run(input).map_err(wrong)?;
            let mut rows = host_call_rows(&name, &prepared);
            rows.push(Row::new(&name, Quantity::StartUp, &start_ups(lowered, *engine, effort).map_err(wrong)?));
            // An outcome without output is a wrong answer.
            let run = move || match prepared.run(input) {
                Ok(Outcome::Returned(output)) => output,
                _ => Vec::new(),
            };
            runs.push((name, Box::new(run), rows));
        }
        for (layer, code) in &self.bytecode {
            let name = name_in(&layer.name);
            let mut prepared = layer.engine.prepare(code);
            let first = prepared.run_without_memory(input, GAS);
            if !first.is_success() {
                return Err(LabError::Halted { subject: name, halt: first.halt });
            }
            let rows = vec![Row::exact(&name, Quantity::Gas, number(first.gas_used))];
            runs.push((name, Box::new(move || prepared.run_without_memory(input, GAS).output), rows));
        }
        Ok(runs)
    }
}

/// Times from a module to an instance that can be called: compilation, then instantiation.
fn start_ups(lowered: &Lowered, engine: EngineKind, effort: &Effort) -> Result<Vec<f64>, RunError> {
    let start = |_| {
        let (started, time_ns) = time_ns(|| Prepared::new(lowered, engine));
        started.map(|_| time_ns)
    };
    (0..effort.cold_starts).map(start).collect()
}

/// Field operations of one run, where the host counts them.
fn host_call_rows(name: &str, prepared: &Prepared) -> Vec<Row> {
    let quantity = |function: &str| match function {
        "bignum_f1m_add" => Some(Quantity::OpsAdd),
        "bignum_f1m_sub" => Some(Quantity::OpsSub),
        "bignum_f1m_mul" => Some(Quantity::OpsMul),
        _ => None,
    };
    let calls = prepared.host_calls();
    calls.iter().filter_map(|&(function, count)| Some(Row::exact(name, quantity(function)?, number(count)))).collect()
}

/// The contract that a task names, or the one that replaces its precompile.
fn contract(task: &Task) -> Option<&'static Contract> {
    let replaces = |contract: &&Contract| contract.precompile.is_some() && contract.precompile == task.precompile;
    match task.contract {
        Some(name) => find(name),
        None => CONTRACTS.iter().find(replaces),
    }
}

/// Gas and counts of what is measured here are far below 2⁵³, so nothing is lost.
pub(super) fn number(value: u64) -> f64 {
    value as f64
}
