//! Programs of ours on every engine: bytecode for every revision, and WebAssembly modules, from one program.

use residue_compiler::compile;
use residue_contracts::{CONTRACTS, Contract, find};
use residue_engine::{Batching, EngineConfig};
use residue_ir::{Outcome, Program};
use residue_isa::{FieldOp, Revision};
use residue_wasm::{EngineKind, Form, LowerError, Lowered, MAIN, Prepared, RunError, lower};
use residue_workbench::harness::time_ns;

use super::module::Module;
use super::{Run, Task, chains, outside};
use crate::bench::effort::Effort;
use crate::bench::engines::EngineLayer;
use crate::error::LabError;
use crate::record::{Quantity, RecordRow};

/// Gas that nothing measured here uses up.
const GAS: u64 = 1 << 40;

/// A program for every engine that was chosen; nothing where there is none for the task.
pub(crate) struct Engines {
    bytecode: Vec<(EngineLayer, Vec<u8>)>,
    modules: Vec<Module>,
}

/// Requested measurements that this build does not have, each with the reason.
pub(crate) fn missing(effort: &Effort) -> Vec<String> {
    let absent = EngineKind::ALL.into_iter().filter(|engine| !engine.is_built_in());
    let chosen = absent.filter(|engine| Form::ALL.iter().any(|form| effort.subjects.include(&layer(*engine, *form))));
    chosen.map(|engine| format!("{engine} ({})", RunError::NotBuiltIn { engine })).collect()
}

fn layer(engine: EngineKind, form: Form) -> String {
    format!("{engine}:{}", form.name())
}

/// A layer's name for a measurement, its way to compute, and rows that need no timing.
pub(crate) type Measured<'a> = (String, Run<'a>, Vec<RecordRow>);

impl Engines {
    /// The program of a task, compiled for every engine: those of the chosen revisions, or of the `usual` ones.
    pub fn of(task: &Task, effort: &Effort, usual: &[Revision]) -> Result<Self, LabError> {
        let mut engines = Self::of_modules(outside::modules(task.name, effort)?);
        let Some(program) = program(task) else { return Ok(engines) };
        for revision in effort.subjects.revisions(usual) {
            let layers = EngineLayer::chosen(revision, effort.subjects)?;
            let code = compiled(task, &program, revision)?;
            engines.bytecode.extend(layers.into_iter().map(|layer| (layer, code.clone())));
        }
        for form in Form::ALL {
            for engine in EngineKind::built_in() {
                let layer = layer(engine, form);
                if effort.subjects.include(&layer) {
                    match lower(&program, form) {
                        Ok(Lowered { module: bytes, .. }) => {
                            engines.modules.push(Module { layer, engine, function: MAIN, bytes });
                        }
                        // The interface of 2020 has no hash function: such a task is one of bytecode and libraries.
                        Err(LowerError::Hash) => {}
                        Err(error) => return Err(LabError::Lower { name: task.name, error }),
                    }
                }
            }
        }
        Ok(engines)
    }

    /// Modules alone.
    pub fn of_modules(modules: Vec<Module>) -> Self {
        Self { bytecode: Vec::new(), modules }
    }

    /// The code of every engine.
    pub fn bytecode(&self) -> &[(EngineLayer, Vec<u8>)] {
        &self.bytecode
    }

    /// The modules, each with its layer.
    pub fn modules(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.modules.iter().map(|module| (module.layer.as_str(), module.bytes.as_slice()))
    }

    /// Everybody's way to compute, with gas where there is gas, and calls of host functions where there are any.
    pub fn runs<'a>(
        &'a self,
        input: &'a [u8],
        name_in: impl Fn(&str) -> String,
        effort: &Effort,
    ) -> Result<Vec<Measured<'a>>, LabError> {
        let mut runs: Vec<Measured<'a>> = Vec::new();
        for module in &self.modules {
            let name = name_in(&module.layer);
            let wrong = |error| LabError::Module { subject: name.clone(), error };
            let mut prepared = module.start().map_err(wrong)?;
            prepared.run(input).map_err(wrong)?;
            let mut rows = host_call_rows(&name, &prepared);
            rows.push(RecordRow::new(&name, Quantity::StartUp, &start_ups(module, effort).map_err(wrong)?));
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
            let mut rows = vec![RecordRow::exact(&name, Quantity::Gas, number(first.gas_used))];
            rows.extend(operation_rows(&name, layer, code, input));
            runs.push((name, Box::new(move || prepared.run_without_memory(input, GAS).output), rows));
        }
        Ok(runs)
    }
}

/// The program of a task as bytecode of a revision; an error where there is no program.
pub(crate) fn bytecode(task: &Task, revision: Revision) -> Result<Vec<u8>, LabError> {
    let program = program(task).ok_or(LabError::NoAnswer { operation: task.name })?;
    compiled(task, &program, revision)
}

fn compiled(task: &Task, program: &Program, revision: Revision) -> Result<Vec<u8>, LabError> {
    let compiled = compile(program, revision, &EngineConfig::default_for(revision).schedule);
    Ok(compiled.map_err(|error| LabError::Compile { name: task.name, error: Box::new(error) })?.code)
}

/// Times from a module to an instance that can be called: compilation, then instantiation.
fn start_ups(module: &Module, effort: &Effort) -> Result<Vec<f64>, RunError> {
    let start = |_| {
        let (started, time_ns) = time_ns(|| module.start());
        started.map(|_| time_ns)
    };
    (0..effort.cold_starts).map(start).collect()
}

/// Field operations of one run, where the host counts them.
fn host_call_rows(name: &str, prepared: &Prepared) -> Vec<RecordRow> {
    let quantity = |function: &str| match function {
        "bignum_f1m_add" => Some(Quantity::OpsAdd),
        "bignum_f1m_sub" => Some(Quantity::OpsSub),
        "bignum_f1m_mul" => Some(Quantity::OpsMul),
        _ => None,
    };
    let calls = prepared.host_calls();
    calls
        .iter()
        .filter_map(|&(function, count)| Some(RecordRow::exact(name, quantity(function)?, number(count))))
        .collect()
}

/// Field operations of one run in an EVM: lanes, whatever number of them an instruction has. Counting needs an engine that
/// goes through every instruction, so it is done where nothing is timed, and once for both engines of a revision.
fn operation_rows(name: &str, layer: &EngineLayer, code: &[u8], input: &[u8]) -> Vec<RecordRow> {
    if layer.engine.config().batching != Batching::Off {
        return Vec::new();
    }
    let counts = layer.engine.run_counted(code, input, GAS).counts;
    let lanes = |operation| counts.widths_limbs().into_iter().map(|width| counts.lanes(operation, width)).sum();
    let quantities = [Quantity::OpsAdd, Quantity::OpsSub, Quantity::OpsMul];
    let row = |(operation, quantity)| RecordRow::exact(name, quantity, number(lanes(operation)));
    FieldOp::ALL.into_iter().zip(quantities).map(row).collect()
}

/// The program of a task: a chain, or that of its contract.
fn program(task: &Task) -> Option<Program> {
    chains::program(task.operation).or_else(|| contract(task).map(|contract| contract.program()))
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
