//! Contracts compiled for older hard forks: they have no opcode that the fork lacks, and give what the program means there.

use residue_compiler::{CompileError, Compiled, Dialect, SmallMultiples, compile, compile_as};
use residue_contracts::{CONTRACTS, find};
use residue_engine::{Engine, EngineConfig, Fork, Halt};
use residue_ir::{Outcome, Program};
use residue_isa::opcode::evm;
use residue_isa::{GasSchedule, Revision};

use crate::support::{expressed, some_revisions};

/// The last forks before a change that code has to do with: shifts, PUSH0, MCOPY.
const FORKS: [Fork; 4] = [Fork::Byzantium, Fork::Istanbul, Fork::London, Fork::Shanghai];

fn compile_for(program: &Program, revision: Revision, fork: Fork) -> Result<Compiled, CompileError> {
    let schedule = GasSchedule::default_for(revision).unwrap();
    compile_as(program, revision, &schedule, SmallMultiples::AsWritten, Dialect { fork, ..Dialect::default() })
}

/// The EVM's opcodes in the instructions of a code.
fn opcodes(compiled: &Compiled) -> [bool; 256] {
    let mut found = [false; 256];
    let mut at = 0;
    while at < compiled.instruction_bytes {
        found[usize::from(compiled.code[at])] = true;
        at += compiled.revision.instruction_bytes(compiled.code[at]);
    }
    assert_eq!(at, compiled.instruction_bytes, "data begins where an instruction ends");
    for row in compiled.revision.opcodes() {
        found[usize::from(row.byte)] = false;
    }
    found
}

/// Bytes by the EIPs that brought them: 145; 3855; 5656.
const NEW: [(u8, Fork); 5] = [
    (0x1b, Fork::Petersburg),
    (0x1c, Fork::Petersburg),
    (0x1d, Fork::Petersburg),
    (0x5f, Fork::Shanghai),
    (0x5e, Fork::Cancun),
];

#[test]
fn contracts_run_on_older_forks_with_the_opcodes_of_those() {
    for (number, contract) in CONTRACTS.iter().enumerate() {
        let (program, example) = (contract.program(), (contract.example)());
        let expected = residue_ir::evaluate(&program, &example);
        for (revision, of_revision) in some_revisions(number).zip(0..) {
            let fork = FORKS[(number / 3 + of_revision) % FORKS.len()];
            let compiled = compile_for(&program, revision, fork);
            let Some(compiled) = expressed(contract, revision, compiled) else { continue };
            let found = opcodes(&compiled);
            for (byte, since) in NEW {
                assert!(
                    !found[usize::from(byte)] || since <= fork,
                    "{}, {revision}, {fork}: {byte:02x}",
                    contract.name
                );
            }
            let config = EngineConfig { fork, ..EngineConfig::default_for(revision) };
            let outcome = Engine::new(config).unwrap().run_code(&compiled.code, &example, 10_000_000);
            assert_eq!(outcome.halt, Halt::Return, "{}, {revision}, {fork}", contract.name);
            assert_eq!(Outcome::Returned(outcome.output), expected, "{}, {revision}, {fork}", contract.name);
        }
    }
}

/// Where nothing is missing, code is the same.
#[test]
fn code_for_cancun_and_later_is_one() {
    let program = find("bls12_381/g2_add").unwrap().program();
    for &revision in Revision::ALL {
        let newest = compile(&program, revision, &GasSchedule::default_for(revision).unwrap()).unwrap();
        let found = opcodes(&newest);
        // Coordinates that are read with their padding by one instruction are not taken apart by shifts.
        let is_padded = revision.slot_rules().is_some_and(|rules| rules.store_padded.is_some());
        assert!(found[usize::from(evm::PUSH0)] && found[usize::from(evm::SHR)] != is_padded, "{revision}");
        for fork in [Fork::Cancun, Fork::Osaka, Fork::Amsterdam] {
            assert_eq!(compile_for(&program, revision, fork).unwrap(), newest);
        }
    }
}

#[test]
fn what_nothing_else_does_is_asked_for_by_name() {
    let program = find("bls12_381/hash_to_g1").unwrap().program();
    let error = compile_for(&program, Revision::Evm384V7, Fork::SpuriousDragon).unwrap_err();
    assert_eq!(error.to_string(), "the program needs STATICCALL, which spurious-dragon lacks: it came with byzantium");
    // Nothing but hashing by a precompile needs a call.
    let program = find("bls12_381/g1_add").unwrap().program();
    compile_for(&program, Revision::Evm384V7, Fork::Frontier).unwrap();
}
