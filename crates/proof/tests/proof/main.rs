//! Certificates of the contracts: their text, and mutants of their code.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod judges;
mod mutants;
mod semantics;
mod slots;
mod text;

use residue_compiler::compile;
use residue_ir::Program;
use residue_isa::{GasSchedule, Revision};

/// The program of a contract and its code for the EVM of today.
fn compiled(name: &str) -> (Program, Vec<u8>) {
    let program = residue_contracts::named(name).unwrap().program();
    let schedule = GasSchedule::default_for(Revision::Evm).unwrap();
    let code = compile(&program, Revision::Evm, &schedule).unwrap().code;
    (program, code)
}
