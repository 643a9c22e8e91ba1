//! Certificates of the contracts: their text, and mutants of their code.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod bytes;
mod flows;
mod judges;
mod mutants;
mod semantics;
mod slots;
mod text;
mod wide;
mod words;

use residue_compiler::compile;
use residue_ir::Program;
use residue_isa::GasSchedule;
use residue_proof::Semantics;

/// The program of a contract and its code.
fn compiled(name: &str, semantics: Semantics) -> (Program, Vec<u8>) {
    let program = residue_contracts::named(name).unwrap().program();
    let code = code_of(&program, semantics);
    (program, code)
}

/// Code of a program.
fn code_of(program: &Program, semantics: Semantics) -> Vec<u8> {
    let revision = semantics.revision();
    let schedule = GasSchedule::default_for(revision).unwrap();
    compile(program, revision, &schedule).unwrap().code
}
