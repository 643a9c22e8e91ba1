//! The table of `docs/evm.md` equals the gas of contracts on the EVM without field instructions.
//!
//! If contracts or the compiler change, this writes it anew: `RESIDUE_WRITE_TABLES=1 cargo test -p residue-contracts evm_page -- --ignored`.

use crate::support::is_wide;
use std::fmt::Write;

use residue_compiler::CompileError;
use residue_contracts::{CONTRACTS, Contract};
use residue_engine::{Engine, EngineConfig, Halt};
use residue_ir::{Outcome, evaluate};
use residue_isa::{GasSchedule, Revision};
use residue_pages::{grouped, hold};
use residue_workbench::{Trial, VariantError, cheapest};

/// Bytes of code that an account of the main network may have (EIP-170).
const CODE_BYTES_MAX: usize = 24_576;

/// The best public code that is known, for the same job: its gas, and whose it is.
const PUBLIC: &[(&str, &str, &str)] = &[
    ("bn254/mul", "40 000", "Weierstrudel (Huff) stays below this price for each point"),
    (
        "p256/verify",
        "159 000",
        "SCL's ECDSAB4, with a table made beforehand; FCL without 227 000, with 16 KB of table for each key 69 000 to 75 000",
    ),
    (
        "p384/verify",
        "50 836 521",
        "Solarity 3.1.0, 8 900 000 before Osaka priced MODEXP anew; 4 000 000 with 27 KB of hints, Base",
    ),
    ("bip340/verify", "7 500", "witnet/elliptic-curve-solidity, by ECRECOVER and MODEXP"),
    ("ed25519/verify", "270 000", "FCL"),
    ("baby_jubjub/eddsa", "600 000", "tangle's protocol-solidity"),
    ("slh_dsa/sha2_128_24", "142 000", "nconsigny/SPHINCS-"),
    ("slh_dsa/keccak_128_24", "94 000", "nconsigny/SPHINCS-"),
    ("sphincs/c13", "105 000", "nconsigny/SPHINCS-"),
    ("sphincs/c7", "127 000", "nconsigny/SPHINCS-"),
    ("sphincs/c11", "116 000", "nconsigny/SPHINCS-"),
    ("poseidon/t3", "18 844", "poseidon-solidity 0.0.5, with its call from Solidity"),
    ("poseidon2/bn254_t4", "14 845", "zemse/poseidon2-evm, Huff"),
    ("ntt/falcon512", "282 000", "forward, product and inverse together, ETHFALCON"),
    ("ntt/dilithium256", "44 931", "Fireblocks, several coefficients in a word"),
];

/// The cheapest variant; none if the revision does not have its field.
fn trial(contract: &Contract, revision: Revision) -> Option<Trial> {
    match cheapest(contract, revision, &GasSchedule::default_for(revision).unwrap()) {
        Ok(trial) => Some(trial),
        Err(VariantError::Compile(error)) if is_of_field(contract, &error) => None,
        Err(error) => panic!("{}, {revision}: {error}", contract.name),
    }
}

/// True if a program has no code because of its field, and not because that would be too long. Values of four words may
/// make it too long.
fn is_of_field(contract: &Contract, error: &CompileError) -> bool {
    error.is_inexpressible() && (is_wide(contract) || !matches!(error, CompileError::Far { .. }))
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_table_of_the_page_is_what_contracts_cost() {
    let engine = Engine::new(EngineConfig::default_for(Revision::Evm)).unwrap();
    let mut text = String::from(
        "| contract | gas, `evm` | gas, `eip6690-2024` | times | code, bytes | fits EIP-170 | best public code |\n\
         |---|---:|---:|---:|---:|---|---|\n",
    );
    let mut rows = 0;
    for contract in CONTRACTS {
        let Some(plain) = trial(contract, Revision::Evm) else { continue };
        let field = trial(contract, Revision::Eip6690_2024).expect("EIP-6690 has every modulus of these");
        // The evaluator is the judge of what both return.
        let input = (contract.example)();
        let outcome = engine.run_code(&plain.compiled.code, &input, 1 << 40);
        assert_eq!(outcome.halt, Halt::Return, "{}", contract.name);
        assert_eq!(Outcome::Returned(outcome.output), evaluate(&contract.program(), &input), "{}", contract.name);
        assert_eq!(outcome.gas_used, plain.gas, "{}", contract.name);
        let public = PUBLIC.iter().find(|(name, ..)| *name == contract.name);
        let public = public.map_or("–".to_owned(), |(_, gas, whose)| format!("{gas}: {whose}"));
        let bytes = plain.compiled.code.len();
        let fits = if bytes <= CODE_BYTES_MAX { "yes" } else { "no" };
        let times = plain.gas as f64 / field.gas as f64;
        let (plain_gas, field_gas, bytes) = (grouped(plain.gas), grouped(field.gas), grouped(bytes as u64));
        writeln!(
            text,
            "| `{}` | {plain_gas} | {field_gas} | {times:.1} | {bytes} | {fits} | {public} |",
            contract.name
        )
        .unwrap();
        rows += 1;
    }
    assert!(rows > 20, "{rows}");
    hold("docs/evm.md", "gas", &text);
}

/// Savings of subroutines.
#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_table_of_subroutines_is_what_contracts_cost() {
    let names =
        ["bn254/add", "bn254/mul", "secp256k1/recover", "ed25519/verify", "baby_jubjub/mul", "poseidon2/bn254_t3"];
    let mut text = String::from("| contract | gas, `evm` | gas, `evm-callsub` |\n|---|---:|---:|\n");
    for name in names {
        let contract = residue_contracts::find(name).unwrap();
        let gas = |revision| grouped(trial(contract, revision).expect("its field has words").gas);
        writeln!(text, "| `{name}` | {} | {} |", gas(Revision::Evm), gas(Revision::EvmCallsub)).unwrap();
    }
    hold("docs/evm.md", "subroutines", &text);
}
