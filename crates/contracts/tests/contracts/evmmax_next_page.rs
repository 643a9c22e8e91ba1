//! The table of `docs/evmmax-next.md`: what each experiment on top of EIP-6690 of 2024 brings.
//!
//! If a contract, the compiler or a schedule changes, this writes it anew: `RESIDUE_WRITE_TABLES=1 cargo test -p residue-contracts
//! evmmax_next_page -- --ignored`.

use std::fmt::Write;

use crate::points::{Seeded, encode1, encode2, fq};
use residue_contracts::find;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_isa::{GasSchedule, Revision};
use residue_pages::{grouped, ratio};
use residue_workbench::{cheapest, native};

/// More than any row takes.
const GAS: u64 = 16_777_216;

/// A contract, a part of its calldata, which so many of make the whole, with what was asked of each.
type Operation = (&'static str, fn(&mut Seeded) -> Vec<u8>, &'static [(usize, &'static str)]);

const OPERATIONS: [Operation; 9] = [
    ("bls12_381/pairing", |s| [encode1(s.g1()), encode2(s.g2())].concat(), &[(2, "1.00"), (8, "0.82"), (16, "0.80")]),
    ("bls12_381/g1_add", |s| [encode1(s.g1()), encode1(s.g1())].concat(), &[(1, "1.5")]),
    ("bls12_381/map_fp_to_g1", |s| fq(s.fq()), &[(1, "0.85")]),
    ("bls12_381/g1_msm", |s| [encode1(s.g1()), s.bytes(32)].concat(), &[(128, "1.10")]),
    ("bls12_381/g2_msm", |s| [encode2(s.g2()), s.bytes(32)].concat(), &[(128, "0.95")]),
    ("bn254/add", |_| example("bn254/add"), &[(1, "2.5")]),
    ("bn254/mul", |_| example("bn254/mul"), &[(1, "1.0")]),
    ("secp256k1/recover", |_| example("secp256k1/recover"), &[(1, "2.5")]),
    ("p256/verify", |_| example("p256/verify"), &[(1, "–")]),
];

fn example(name: &str) -> Vec<u8> {
    (find(name).unwrap().example)()
}

/// Gas of an operation under each of the revisions, and its price.
fn costs(operation: &Operation, revisions: &[Revision]) -> Vec<(u64, Vec<u64>)> {
    let (name, part, counts) = operation;
    let contract = find(name).unwrap();
    let mut costs = vec![(0, Vec::new()); counts.len()];
    for &revision in revisions {
        let schedule = GasSchedule::default_for(revision).unwrap();
        let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
        let code = cheapest(contract, revision, &schedule).unwrap().compiled.code;
        assert!(code.len() <= 24_576, "{name}, {revision}: {} bytes of code", code.len());
        for ((count, _), (price, gas)) in counts.iter().zip(&mut costs) {
            let mut seeded = Seeded(2537);
            let input: Vec<u8> = (0..*count).flat_map(|_| part(&mut seeded)).collect();
            let native = native(contract, &input).unwrap().unwrap();
            let outcome = engine.run_code(&code, &input, GAS);
            assert_eq!((outcome.halt, outcome.output), (Halt::Return, native.output), "{name}, {count}, {revision}");
            *price = native.gas_used;
            gas.push(outcome.gas_used);
        }
    }
    costs
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_table_of_the_experiments_is_what_they_cost() {
    let is_experiment = |revision: &&Revision| !revision.additions().is_empty();
    let revisions: Vec<Revision> =
        [Revision::Eip6690_2024].iter().chain(Revision::ALL.iter().filter(is_experiment)).copied().collect();
    let names: Vec<String> = revisions.iter().map(|revision| format!("`{revision}` | ratio")).collect();
    let mut text = format!(
        "| contract | k | price | asked | {} |\n|---|---:|---:|---:|{}\n",
        names.join(" | "),
        "---:|---:|".repeat(revisions.len())
    );
    for operation in &OPERATIONS {
        for ((count, asked), (price, gas)) in operation.2.iter().zip(costs(operation, &revisions)) {
            let cells: Vec<String> =
                gas.iter().map(|&gas| format!("{} | {}", grouped(gas), ratio(gas, price))).collect();
            let (name, price) = (operation.0, grouped(price));
            writeln!(text, "| `{name}` | {count} | {price} | {asked} | {} |", cells.join(" | ")).unwrap();
        }
    }
    residue_pages::hold("docs/evmmax-next.md", "experiments", &text);
}

#[test]
fn the_table_of_small_moduli_is_what_they_cost() {
    let names = [
        "ntt/falcon512",
        "ntt/falcon512_short",
        "ntt/dilithium256",
        "poseidon2/goldilocks_t12",
        "poseidon2/babybear_t16",
        "poseidon2/koalabear_t16",
        "poseidon2/koalabear_t24",
    ];
    let revisions = [Revision::Eip6690_2024, Revision::EvmmaxNext, Revision::XVectorx];
    let heads: Vec<String> = revisions.iter().map(|revision| format!("`{revision}`")).collect();
    let mut text = format!("| contract | {} |\n|---|---:|---:|---:|\n", heads.join(" | "));
    for name in names {
        let contract = find(name).unwrap();
        let gas = revisions.map(|revision| {
            let schedule = GasSchedule::default_for(revision).unwrap();
            grouped(cheapest(contract, revision, &schedule).unwrap().gas)
        });
        writeln!(text, "| `{name}` | {} |", gas.join(" | ")).unwrap();
    }
    residue_pages::hold("docs/evmmax-next.md", "small moduli", &text);
}
