//! The tables of `docs/post-quantum.md` are what verifiers cost.
//!
//! If a contract or the compiler changes, this writes them anew: `RESIDUE_WRITE_TABLES=1 cargo test -p residue-contracts --test post_quantum page`.

use std::fmt::Write;

use residue_compiler::compile;
use residue_contracts::{CONTRACTS, Contract};
use residue_engine::{Engine, EngineConfig, Halt};
use residue_isa::{GasSchedule, Revision};
use residue_pages::{grouped, hold};

/// Gas that a frame's validation may take (EIP-8141).
const VALIDATION_GAS: u64 = 100_000;
/// Gas of a byte of calldata: that is not 0 (EIP-2028), and the floor of EIP-7976 for all.
const CALLDATA_GAS: [u64; 2] = [16, 64];

/// The gas of the best public verifiers that are known to us, as their authors measure it: of hash-based signatures those of the repository nconsigny/SPHINCS-, of
/// `mldsa44/eth` that of ZKNOX in EIP-8051's assets.
const PUBLIC: &[(&str, &str)] = &[
    ("mldsa44/eth", "4 900 000"),
    ("mldsa44/fips", "1 226 311"),
    ("mldsa65/fips", "68 900 000"),
    ("slh_dsa/sha2_128_24", "142 000"),
    ("slh_dsa/keccak_128_24", "94 000"),
    ("sphincs/c13", "105 000"),
    ("sphincs/c7", "127 000"),
    ("sphincs/c11", "116 000"),
];

#[test]
fn the_table_is_what_verifiers_cost() {
    let schedule = GasSchedule::default_for(Revision::Evm).unwrap();
    let engine = Engine::new(EngineConfig::default_for(Revision::Evm)).unwrap();
    let mut text = String::from(
        "| contract | gas | fits a validation | calldata, bytes | with calldata at 16 gas | at 64 gas | code, bytes | public code |\n\
         |---|---:|---|---:|---:|---:|---:|---:|\n",
    );
    let mut fields = String::from(
        "| contract | gas, `evm` | gas, `eip6690-2024` | code, bytes | gas, `evmmax-next` | code, bytes |\n\
         |---|---:|---:|---:|---:|---:|\n",
    );
    let is_shown = |name: &str| {
        ["sphincs/", "slh_dsa/", "wots/", "xmss/"].iter().any(|prefix| name.starts_with(prefix))
            || [
                "falcon512/eth",
                "falcon512/eth_numbers",
                "falcon512/shake",
                "mldsa44/eth",
                "mldsa44/fips",
                "mldsa65/fips",
            ]
            .contains(&name)
    };
    for contract in CONTRACTS.iter().filter(|contract| is_shown(contract.name)) {
        let code = compile(&contract.program(), Revision::Evm, &schedule).unwrap().code;
        let input = (contract.example)();
        let outcome = engine.run_code(&code, &input, 1_000_000);
        assert_eq!((outcome.halt, outcome.output[31]), (Halt::Return, 1), "{}", contract.name);
        let others = [Revision::Eip6690_2024, Revision::EvmmaxNext].map(|revision| with_fields(contract, revision));
        let is_alike = others.iter().all(|&(gas, _)| gas == outcome.gas_used);
        if !is_alike {
            let others = others.map(|(gas, bytes)| format!("{} | {}", grouped(gas), grouped(bytes)));
            writeln!(fields, "| `{}` | {} | {} |", contract.name, grouped(outcome.gas_used), others.join(" | "))
                .unwrap();
        }
        let bytes = input.len() as u64; // usize to u64 widens
        let [cheap, dear] = CALLDATA_GAS.map(|gas| grouped(outcome.gas_used + gas * bytes));
        let fits = if outcome.gas_used <= VALIDATION_GAS { "yes" } else { "no" };
        let public = PUBLIC.iter().find(|(name, _)| *name == contract.name).map_or("–", |(_, gas)| gas);
        writeln!(
            text,
            "| `{}` | {} | {fits} | {} | {cheap} | {dear} | {} | {public} |",
            contract.name,
            grouped(outcome.gas_used),
            grouped(bytes),
            grouped(code.len() as u64) // likewise
        )
        .unwrap();
    }
    hold("docs/post-quantum.md", "verifiers", &text);
    hold("docs/post-quantum.md", "fields", &fields);
}

/// Gas of a contract's example where there are field instructions, and bytes of its code. Without arithmetic of a field both are those of `evm`.
fn with_fields(contract: &Contract, revision: Revision) -> (u64, u64) {
    let schedule = GasSchedule::default_for(revision).unwrap();
    let code = compile(&contract.program(), revision, &schedule).unwrap().code;
    let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
    let outcome = engine.run_code(&code, &(contract.example)(), 1_000_000);
    assert_eq!((outcome.halt, outcome.output[31]), (Halt::Return, 1), "{}, {revision}", contract.name);
    (outcome.gas_used, code.len() as u64) // usize to u64 widens
}
