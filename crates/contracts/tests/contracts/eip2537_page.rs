//! The tables of `docs/eip2537.md` equal the gas of the contracts.
//!
//! If a contract or the compiler changes, this writes them anew: `RESIDUE_WRITE_TABLES=1 cargo test -p residue-contracts
//! eip2537_page -- --ignored`.

use std::fmt::Write;

use crate::points::{Seeded, encode1, encode2, fq};
use blst::min_sig::SecretKey;
use residue_contracts::find;
use residue_curves::bls12_381::hash_to_curve::{SIGNATURE_TAG_G1, SIGNATURE_TAG_G2};
use residue_engine::{Engine, EngineConfig, Halt};
use residue_ir::{Outcome, evaluate};
use residue_isa::{GasSchedule, Revision};
use residue_pages::{grouped, ratio};
use residue_workbench::{cheapest, native};

/// More than any row takes.
const GAS: u64 = 16_777_216;

/// A contract, and calldata of so many parts.
type Operation = (&'static str, fn(&mut Seeded) -> Vec<u8>, &'static [usize]);

const OPERATIONS: [Operation; 7] = [
    ("bls12_381/g1_add", |s| [encode1(s.g1()), encode1(s.g1())].concat(), &[1]),
    ("bls12_381/g1_msm", |s| [encode1(s.g1()), s.bytes(32)].concat(), &[1, 2, 16, 128]),
    ("bls12_381/g2_add", |s| [encode2(s.g2()), encode2(s.g2())].concat(), &[1]),
    ("bls12_381/g2_msm", |s| [encode2(s.g2()), s.bytes(32)].concat(), &[1, 2, 16, 128]),
    ("bls12_381/pairing", |s| [encode1(s.g1()), encode2(s.g2())].concat(), &[1, 2, 4, 8, 16]),
    ("bls12_381/map_fp_to_g1", |s| fq(s.fq()), &[1]),
    ("bls12_381/map_fp2_to_g2", |s| [fq(s.fq()), fq(s.fq())].concat(), &[1]),
];

/// A contract that no precompile is like: its name, what its input is, the input, and what callers of precompiles pay.
type Beyond = (&'static str, &'static str, fn() -> Vec<u8>, Option<u64>);

const ADD: u64 = 375;
const HASH_TO_G1: u64 = 2 * 5_500 + ADD;
const HASH_TO_G2: u64 = 2 * 23_800 + 600;
const TWO_PAIRS: u64 = 2 * 32_600 + 37_700;
/// Gas of a Solidity library for a beacon of quicknet from compressed points: randa-mu/bls-solidity, its gas snapshots
/// of December 2025.
const QUICKNET: u64 = 213_958;

const BEYOND: &[Beyond] = &[
    ("bls12_381/aggregate_g1", "2 points", || keys(2), Some(ADD)),
    ("bls12_381/aggregate_g1", "32 points", || keys(32), Some(31 * ADD)),
    ("bls12_381/aggregate_g1", "512 points", || keys(512), Some(511 * ADD)),
    ("bls12_381/decompress_g1", "a point", || example("bls12_381/decompress_g1"), None),
    ("bls12_381/decompress_g2", "a point", || example("bls12_381/decompress_g2"), None),
    ("bls12_381/hash_to_g1", "a tag of 43 bytes, a message of 32", || tagged(SIGNATURE_TAG_G1), Some(HASH_TO_G1)),
    ("bls12_381/hash_to_g2", "a tag of 43 bytes, a message of 32", || tagged(SIGNATURE_TAG_G2), Some(HASH_TO_G2)),
    (
        "bls12_381/verify",
        "a key in G1, a message of 56 bytes",
        || example("bls12_381/verify"),
        Some(TWO_PAIRS + HASH_TO_G2),
    ),
    ("bls12_381/verify", "a key in G2, a message of 56 bytes", key_in_g2, Some(TWO_PAIRS + HASH_TO_G1)),
    (
        "bls12_381/fast_aggregate_verify",
        "3 compressed keys, a message of 32 bytes",
        || example("bls12_381/fast_aggregate_verify"),
        Some(2 * ADD + TWO_PAIRS + HASH_TO_G2),
    ),
    ("eth/deposit", "a deposit", || example("eth/deposit"), Some(TWO_PAIRS + HASH_TO_G2)),
    (
        "eth/sync_committee",
        "400 of 512 keys, x and y",
        || example("eth/sync_committee"),
        Some(399 * ADD + TWO_PAIRS + HASH_TO_G2),
    ),
    ("drand/verify", "a key in G2, a round", || example("drand/verify"), Some(QUICKNET)),
];

fn example(name: &str) -> Vec<u8> {
    (find(name).unwrap().example)()
}

fn keys(count: usize) -> Vec<u8> {
    let mut seeded = Seeded(2537);
    (0..count).flat_map(|_| encode1(seeded.g1())).collect()
}

/// A key, its signature in G1, and what it has signed.
fn key_in_g2() -> Vec<u8> {
    let key = SecretKey::key_gen(&[7; 32], &[]).unwrap();
    let message = [0x5a; 56];
    let signature = key.sign(&message, SIGNATURE_TAG_G1, &[]);
    [&key.sk_to_pk().compress()[..], &signature.compress(), &message].concat()
}

fn tagged(tag: &[u8]) -> Vec<u8> {
    [&u16::try_from(tag.len()).unwrap().to_be_bytes()[..], tag, &[0x5a; 32]].concat()
}

fn table() -> String {
    let revision = Revision::Eip6690_2024;
    let schedule = GasSchedule::default_for(revision).unwrap();
    let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
    let mut text = String::from(
        "| contract | k | gas | price | ratio | arithmetic | transfer | growth | control | code bytes | slots | memory bytes |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let mut code_bytes = 0;
    for (name, part, counts) in OPERATIONS {
        let contract = find(name).unwrap();
        let compiled = cheapest(contract, revision, &schedule).unwrap().compiled;
        code_bytes += compiled.code.len();
        assert!(compiled.code.len() <= 24_576, "{name}: {} bytes of code", compiled.code.len());
        for &count in counts {
            let mut seeded = Seeded(2537);
            let input: Vec<u8> = (0..count).flat_map(|_| part(&mut seeded)).collect();
            let native = native(contract, &input).unwrap().unwrap();
            let counted = engine.run_counted(&compiled.code, &input, GAS);
            let outcome = counted.outcome;
            assert_eq!((outcome.halt, outcome.output), (Halt::Return, native.output), "{name}, {count}");
            let split = counted.gas_split;
            let ratio = ratio(outcome.gas_used, native.gas_used);
            let gas = [outcome.gas_used, native.gas_used].map(grouped).join(" | ");
            let split = [split.arithmetic, split.transfer, split.memory, split.control].map(grouped).join(" | ");
            let sizes = [compiled.code.len(), usize::try_from(compiled.slots).unwrap(), outcome.memory.len()];
            let sizes = sizes.map(|size| grouped(size as u64)).join(" | "); // usize to u64 widens
            writeln!(text, "| `{name}` | {count} | {gas} | {ratio} | {split} | {sizes} |").unwrap();
        }
    }
    assert!(code_bytes < 64 * 1024, "all seven together are {code_bytes} bytes of code");
    writeln!(text, "\nAll seven together are {} bytes of code.", grouped(code_bytes as u64)).unwrap(); // widens too
    text
}

fn table_beyond() -> String {
    let revision = Revision::Eip6690_2024;
    let schedule = GasSchedule::default_for(revision).unwrap();
    let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
    let mut text = String::from(
        "| contract | input | gas | today | ratio | arithmetic | transfer | growth | control | code bytes |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for &(name, what, input, today) in BEYOND {
        let contract = find(name).unwrap();
        let (program, code) = (contract.program(), cheapest(contract, revision, &schedule).unwrap().compiled.code);
        let counted = engine.run_counted(&code, &input(), GAS);
        assert_eq!(counted.outcome.halt, Halt::Return, "{name}, {what}");
        assert_eq!(Outcome::Returned(counted.outcome.output), evaluate(&program, &input()), "{name}, {what}");
        let gas = counted.outcome.gas_used;
        let today = today.map_or("– | –".to_owned(), |today| format!("{} | {}", grouped(today), ratio(gas, today)));
        let split = counted.gas_split;
        let split = [split.arithmetic, split.transfer, split.memory, split.control].map(grouped).join(" | ");
        let code_bytes = grouped(code.len() as u64); // usize to u64 widens
        writeln!(text, "| `{name}` | {what} | {} | {today} | {split} | {code_bytes} |", grouped(gas)).unwrap();
    }
    text
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_tables_of_the_page_are_what_the_contracts_cost() {
    residue_pages::hold("docs/eip2537.md", "contracts", &table());
    residue_pages::hold("docs/eip2537.md", "beyond", &table_beyond());
}
