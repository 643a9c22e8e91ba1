//! The table of `docs/outputs.md` equals the gas and size of portable code.
//!
//! If a contract or the compiler changes, this writes it anew: `RESIDUE_WRITE_TABLES=1 cargo test -p residue-contracts outputs_page -- --ignored`.

use std::fmt::Write;

use residue_compiler::{Dialect, SmallMultiples, compile_as};
use residue_contracts::{CONTRACTS, Contract};
use residue_engine::{Engine, EngineConfig};
use residue_ir::Program;
use residue_isa::{GasSchedule, Revision};
use residue_pages::grouped;

use crate::support::expressed;

/// One revision of each way that operands stand after an opcode.
const REVISIONS: [Revision; 4] = [Revision::Eip6690_2024, Revision::Evmone2023, Revision::Eip5843, Revision::Evm384V9];

/// Gas of the example, and bytes of code; nothing if the revision cannot express the contract.
fn cost(
    contract: &Contract,
    (program, example): (&Program, &[u8]),
    revision: Revision,
    portable: bool,
) -> Option<(u64, u64)> {
    let dialect = Dialect { portable, ..Dialect::default() };
    let schedule = GasSchedule::default_for(revision).unwrap();
    let compiled = compile_as(program, revision, &schedule, SmallMultiples::AsWritten, dialect);
    let code = expressed(contract, revision, compiled)?.code;
    let outcome = Engine::new(EngineConfig::default_for(revision)).unwrap().run_code(&code, example, 30_000_000);
    assert!(outcome.halt.is_success());
    Some((outcome.gas_used, code.len() as u64)) // usize to u64 widens
}

/// With a sign, and nothing for no difference.
fn more(after: u64, before: u64) -> String {
    match after.checked_sub(before) {
        Some(0) => String::new(),
        Some(more) => format!("+{}", grouped(more)),
        None => format!("−{}", grouped(before - after)),
    }
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_table_says_what_portable_code_costs() {
    let mut table = "| contract |".to_owned();
    for revision in REVISIONS {
        write!(table, " `{revision}` gas | more | bytes | more |").unwrap();
    }
    table.push_str("\n|---|");
    table.push_str(&"---:|---:|---:|---:|".repeat(REVISIONS.len()));
    for contract in CONTRACTS {
        let (program, example) = (contract.program(), (contract.example)());
        write!(table, "\n| {} |", contract.name).unwrap();
        for revision in REVISIONS {
            let [Some((gas, bytes)), Some((portable_gas, portable_bytes))] =
                [false, true].map(|portable| cost(contract, (&program, &example), revision, portable))
            else {
                table.push_str(" – | | | |");
                continue;
            };
            let (more_gas, more_bytes) = (more(portable_gas, gas), more(portable_bytes, bytes));
            write!(table, " {} | {more_gas} | {} | {more_bytes} |", grouped(gas), grouped(bytes)).unwrap();
        }
    }
    residue_pages::hold("docs/outputs.md", "portable code", &table);
}
