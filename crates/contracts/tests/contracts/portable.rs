//! Portable code: the jump targets are the same for an analysis that skips data of PUSH only, no operand strides beyond the slot after the
//! last, and the outputs are right.

use std::collections::BTreeSet;

use residue_compiler::{CompileError, Compiled, Dialect, SmallMultiples, compile, compile_as};
use residue_contracts::CONTRACTS;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_ir::{Length, Outcome, Program};
use residue_isa::{FieldInstruction, GasSchedule, Revision};

use crate::support::{expressed, some_revisions};

const PORTABLE: Dialect = Dialect {
    portable: true,
    fork: residue_engine::Fork::Osaka,
    precompiles: false,
    deployment: None,
    length: Length::Full,
};

fn portable(program: &Program, revision: Revision) -> Result<Compiled, CompileError> {
    compile_as(program, revision, &GasSchedule::default_for(revision).unwrap(), SmallMultiples::AsWritten, PORTABLE)
}

/// Offsets of JUMPDEST bytes at which an instruction begins, if each is as long as `bytes` says.
fn targets(compiled: &Compiled, bytes: impl Fn(&[u8]) -> usize) -> BTreeSet<usize> {
    let (mut found, mut at) = (BTreeSet::new(), 0);
    while at < compiled.instruction_bytes {
        if compiled.code[at] == 0x5b {
            found.insert(at);
        }
        at += bytes(&compiled.code[at..]);
    }
    found
}

fn of_pushes(code: &[u8]) -> usize {
    if (0x60..0x80).contains(&code[0]) { usize::from(code[0]) - 0x5e } else { 1 }
}

fn differ(compiled: &Compiled) -> bool {
    targets(compiled, of_pushes) != targets(compiled, |code| compiled.revision.bytes_at(code))
}

/// The slots that SETMODX or SETMODCX declares: its last operand, which is pushed first.
fn declared(compiled: &Compiled) -> u32 {
    let text = residue_isa::disassemble(&compiled.code, compiled.revision);
    let before: Vec<&str> = text.lines().take_while(|line| !line.starts_with("SETMOD")).collect();
    let mnemonic = text.lines().nth(before.len()).unwrap().split_whitespace().next().unwrap();
    let operands = usize::from(compiled.revision.row_named(mnemonic).unwrap().pops);
    let number = before[before.len() - operands].split_whitespace().nth(1).unwrap();
    u32::from_str_radix(number.trim_start_matches("0x"), 16).unwrap()
}

/// Asserts index + stride · count < slots, as EIP-6690 of 2024 has it literally.
fn check_strides(compiled: &Compiled, name: &str) {
    let slots = declared(compiled);
    assert_eq!(slots, compiled.slots, "{name}");
    let mut at = 0;
    while at < compiled.instruction_bytes {
        if let Some((FieldInstruction::Slots { out, x, y, count, .. }, _)) =
            compiled.revision.decode(&compiled.code[at..])
        {
            for lanes in [out, x, y] {
                let end = u32::from(lanes.index) + u32::from(lanes.stride) * u32::from(count);
                assert!(end < slots, "{name}: {lanes:?} x{count} of {slots}");
            }
        }
        at += compiled.revision.bytes_at(&compiled.code[at..]);
    }
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn portable_code_has_one_set_of_jump_targets_and_runs_as_evaluated() {
    for (number, contract) in CONTRACTS.iter().enumerate() {
        let (program, example) = (contract.program(), (contract.example)());
        let expected = residue_ir::evaluate(&program, &example);
        for revision in some_revisions(number) {
            let name = format!("{}, {revision}", contract.name);
            let Some(compiled) = expressed(contract, revision, portable(&program, revision)) else { continue };
            assert!(!differ(&compiled), "{name}");
            // Which context an instruction is in does not stand in the code. Without elements there is none.
            if revision.is_strided() && program.subprograms.is_empty() && compiled.field_instructions > 0 {
                check_strides(&compiled, &name);
            }
            let outcome = Engine::new(EngineConfig::default_for(revision)).unwrap().run_code(
                &compiled.code,
                &example,
                30_000_000,
            );
            assert_eq!(outcome.halt, Halt::Return, "{name}");
            assert_eq!(Outcome::Returned(outcome.output), expected, "{name}");
        }
    }
}

/// The properties tested above hold only on request; code that cannot violate them is the same.
#[test]
fn code_is_not_portable_by_itself() {
    let contract = residue_contracts::find("bls12_381/pairing").unwrap();
    let program = contract.program();
    for (revision, is_exposed) in [
        (Revision::Eip6690_2024, true),
        (Revision::XExtx, true),
        (Revision::Evmone2023, true),
        (Revision::Eip5843, true),
        (Revision::Evm384V9, true),
        (Revision::Geth6601Push3, false),
        (Revision::Evm384V12, false),
        (Revision::Evm384V7, false),
    ] {
        let plain = compile(&program, revision, &GasSchedule::default_for(revision).unwrap()).unwrap();
        assert_eq!(differ(&plain), is_exposed, "{revision}");
        assert_eq!(portable(&program, revision).unwrap().code == plain.code, !is_exposed, "{revision}");
    }
}
