//! The tables of gas in `docs/poseidon.md`, `docs/signatures.md` and `docs/multiples.md` equal the gas of the contracts
//! on their examples.
//!
//! If a contract or the compiler changes, this writes them anew: `RESIDUE_WRITE_TABLES=1 cargo test -p residue-contracts example_pages -- --ignored`.

use std::fmt::Write;

use residue_contracts::find;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_isa::{GasSchedule, Revision};
use residue_pages::{grouped, ratio};
use residue_workbench::{cheapest, native};

/// More than any row takes.
const GAS: u64 = 16_777_216;

fn table(names: &[&str]) -> String {
    let revision = Revision::Eip6690_2024;
    let schedule = GasSchedule::default_for(revision).unwrap();
    let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
    let mut text = String::from(
        "| contract | gas | price | ratio | arithmetic | transfer | growth | control | code bytes | slots | memory bytes |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for name in names {
        let contract = find(name).unwrap();
        let compiled = cheapest(contract, revision, &schedule).unwrap().compiled;
        let input = (contract.example)();
        let counted = engine.run_counted(&compiled.code, &input, GAS);
        let outcome = counted.outcome;
        assert_eq!(outcome.halt, Halt::Return, "{name}");
        let price = native(contract, &input).map(Result::unwrap);
        if let Some(native) = &price {
            assert_eq!(outcome.output, native.output, "{name}");
        }
        let gas = outcome.gas_used;
        let price = price.map_or("| – | –".to_owned(), |native| {
            format!("| {} | {}", grouped(native.gas_used), ratio(gas, native.gas_used))
        });
        let split = counted.gas_split;
        let split = [split.arithmetic, split.transfer, split.memory, split.control].map(grouped).join(" | ");
        let sizes = [compiled.code.len(), usize::try_from(compiled.slots).unwrap(), outcome.memory.len()];
        let sizes = sizes.map(|size| grouped(size as u64)).join(" | "); // usize to u64 widens
        writeln!(text, "| `{name}` | {} {price} | {split} | {sizes} |", grouped(gas)).unwrap();
    }
    text
}

/// Gas under EIP-6690 of 2024 and under every experiment that `evmmax-next` has.
fn additions(names: &[&str]) -> String {
    let revisions: Vec<Revision> = Revision::every()
        .filter(|&revision| revision == Revision::Eip6690_2024 || revision.is_part_of(Revision::EvmmaxNext))
        .collect();
    let heads: String = revisions.iter().map(|revision| format!(" `{}` |", revision.name())).collect();
    let mut text = format!("| contract |{heads}\n|---|{}\n", "---:|".repeat(revisions.len()));
    for name in names {
        let contract = find(name).unwrap();
        write!(text, "| `{name}` |").unwrap();
        for &revision in &revisions {
            let schedule = GasSchedule::default_for(revision).unwrap();
            let code = cheapest(contract, revision, &schedule).unwrap().compiled.code;
            let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
            let outcome = engine.run_code(&code, &(contract.example)(), GAS);
            assert_eq!(outcome.halt, Halt::Return, "{name} under {}", revision.name());
            write!(text, " {} |", grouped(outcome.gas_used)).unwrap();
        }
        text.push('\n');
    }
    text
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_table_of_poseidon_is_what_the_contracts_cost() {
    let names = [
        "poseidon/t2",
        "poseidon/t3",
        "poseidon/t4",
        "poseidon/t5",
        "poseidon/t6",
        "poseidon/t3_many",
        "poseidon/merkle",
        "poseidon2/bn254_t2",
        "poseidon2/bn254_t3",
        "poseidon2/bn254_t4",
        "poseidon2/bls12_381_t2",
        "poseidon2/bls12_381_t3",
        "poseidon2/bls12_381_t4",
        "poseidon2/pallas_t3",
        "poseidon2/vesta_t3",
        "poseidon2/goldilocks_t12",
        "poseidon2/babybear_t16",
        "poseidon2/koalabear_t16",
        "poseidon2/koalabear_t24",
        "poseidon2/bn254_t3_many",
        "poseidon2/bn254_t4_many",
        "poseidon2/merkle",
        "lean_imt/poseidon",
        "lean_imt/poseidon2",
    ];
    residue_pages::hold("docs/poseidon.md", "contracts", &table(&names));
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_table_of_transforms_is_what_the_contracts_cost() {
    let names = ["ntt/falcon512", "ntt/falcon512_short", "ntt/dilithium256"];
    residue_pages::hold("docs/ntt.md", "contracts", &table(&names));
    residue_pages::hold("docs/ntt.md", "additions", &additions(&names));
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_table_of_signatures_is_what_the_contracts_cost() {
    let names = [
        "p256/verify",
        "p384/verify",
        "secp521r1/verify",
        "secp256k1/recover",
        "bip340/verify",
        "ed25519/verify",
        "ed25519/zip215",
        "baby_jubjub/eddsa",
        "hashes/sha512",
    ];
    residue_pages::hold("docs/signatures.md", "contracts", &table(&names));
    residue_pages::hold("docs/signatures.md", "additions", &additions(&names[..8]));
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_table_of_multiples_is_what_the_contracts_cost() {
    let names = [
        "grumpkin/mul",
        "grumpkin/msm",
        "pallas/mul",
        "pallas/msm",
        "vesta/mul",
        "vesta/msm",
        "baby_jubjub/mul",
        "baby_jubjub/msm",
        "bandersnatch/mul",
        "bandersnatch/msm",
    ];
    residue_pages::hold("docs/multiples.md", "contracts", &table(&names));
    residue_pages::hold("docs/multiples.md", "additions", &additions(&names));
}
