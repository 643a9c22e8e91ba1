//! Code for today's EVM that calls precompiles.

use residue_compiler::{CompileError, Dialect, SmallMultiples, compile_as};
use residue_engine::{Engine, EngineConfig, Fork, Prepared};
use residue_ir::Program;
use residue_isa::{GasSchedule, Revision};

/// Compiled for today's EVM with calls of the precompiles that the fork has, ready to run there; with the bytes of
/// the code.
pub fn by_precompiles(program: &Program, fork: Fork) -> Result<(Prepared, usize), CompileError> {
    let (revision, dialect) = (Revision::Evm, Dialect { fork, precompiles: true, ..Dialect::default() });
    let schedule = GasSchedule::default_for(revision).unwrap();
    let compiled = compile_as(program, revision, &schedule, SmallMultiples::AsWritten, dialect)?;
    let engine = Engine::new(EngineConfig { fork, ..EngineConfig::default_for(revision) }).unwrap();
    Ok((engine.prepare(&compiled.code), compiled.code.len()))
}
