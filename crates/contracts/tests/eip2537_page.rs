//! The table of `docs/eip2537.md` is what the contracts cost.
//!
//! It stands between `<!-- contracts -->` and `<!-- end -->`. If a contract or the compiler changes, this writes it anew, for
//! review with the change: `RESIDUE_WRITE_TABLES=1 cargo test -p residue-contracts --test eip2537_page`.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

#[allow(dead_code, reason = "the file is shared with the tests of the pairing check")]
#[path = "pairing/points.rs"]
mod points;

use std::fmt::Write;

use points::{Seeded, encode1, encode2, fq};
use residue_compiler::compile;
use residue_contracts::find;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_isa::{GasSchedule, Revision};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/eip2537.md");
const BEGIN: &str = "<!-- contracts -->\n";
const END: &str = "<!-- end -->";

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

/// 1234567 ↦ 1 234 567, as in the other pages.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap()).collect();
    groups.join(" ")
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
        let compiled = compile(&(contract.program)(), revision, &schedule).unwrap();
        code_bytes += compiled.code.len();
        assert!(compiled.code.len() <= 24_576, "{name}: {} bytes of code", compiled.code.len());
        for &count in counts {
            let mut seeded = Seeded(2537);
            let input: Vec<u8> = (0..count).flat_map(|_| part(&mut seeded)).collect();
            let native = contract.native(&input).unwrap().unwrap();
            let counted = engine.run_counted(&compiled.code, &input, GAS);
            let outcome = counted.outcome;
            assert_eq!((outcome.halt, outcome.output), (Halt::Return, native.output), "{name}, {count}");
            let split = counted.gas_split;
            let thousandths = (1000 * outcome.gas_used + native.gas_used / 2) / native.gas_used;
            let gas = [outcome.gas_used, native.gas_used].map(grouped).join(" | ");
            let split = [split.arithmetic, split.transfer, split.memory, split.control].map(grouped).join(" | ");
            let sizes = [compiled.code.len(), usize::try_from(compiled.slots).unwrap(), outcome.memory.len()];
            let sizes = sizes.map(|size| grouped(size as u64)).join(" | "); // usize to u64 widens
            let ratio = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
            writeln!(text, "| `{name}` | {count} | {gas} | {ratio} | {split} | {sizes} |").unwrap();
        }
    }
    writeln!(text, "\nAll seven together are {} bytes of code.", grouped(code_bytes as u64)).unwrap(); // widens too
    text
}

#[test]
fn the_table_of_the_page_is_what_the_contracts_cost() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let made = format!("{before}{BEGIN}\n{}\n{END}{after}", table());
    if std::env::var_os("RESIDUE_WRITE_TABLES").is_some() {
        std::fs::write(PAGE, made).unwrap();
        return;
    }
    assert_eq!(page, made, "docs/eip2537.md is out of step; this file says how to remake it");
}
