//! The table of gas in `docs/bn254.md` equals the gas of the contracts.
//!
//! If a contract or the compiler changes, this writes it anew: `RESIDUE_WRITE_TABLES=1 cargo test -p residue-contracts bn254_page -- --ignored`.

use std::fmt::Write;

use crate::bn254::{kinds, points, sum_of_products};
use crate::points::Seeded;
use residue_contracts::find;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_isa::{GasSchedule, Revision};
use residue_pages::{grouped, ratio};
use residue_workbench::{cheapest, native};

/// More than any row takes.
const GAS: u64 = 16_777_216;

/// A contract, and calldata of a size.
type Operation = (&'static str, fn(&mut Seeded, usize) -> Vec<u8>, &'static [usize]);

const OPERATIONS: [Operation; 4] = [
    ("bn254/add", |s, _| [points::encode1(points::g1(s)), points::encode1(points::g1(s))].concat(), &[1]),
    ("bn254/mul", |s, _| [points::encode1(points::g1(s)), s.bytes(32)].concat(), &[1]),
    (
        "bn254/msm",
        |s, count| (0..count).flat_map(|_| [points::encode1(points::g1(s)), s.bytes(32)].concat()).collect(),
        &[1, 4, 16],
    ),
    ("bn254/pairing", pairs, &[1, 2, 4, 8, 16]),
];

fn pairs(seeded: &mut Seeded, count: usize) -> Vec<u8> {
    match count {
        1 => [points::encode1(points::g1(seeded)), points::encode2(points::g2(seeded))].concat(),
        _ => kinds::product_of_one(seeded, count),
    }
}

fn table() -> String {
    let revision = Revision::Eip6690_2024;
    let schedule = GasSchedule::default_for(revision).unwrap();
    let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
    let mut text = String::from(
        "| contract | k | gas | price | ratio | arithmetic | transfer | growth | control | code bytes | slots | memory bytes |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for (name, make, sizes) in OPERATIONS {
        let contract = find(name).unwrap();
        let compiled = cheapest(contract, revision, &schedule).unwrap().compiled;
        // The limit of EIP-170 for sums; what is written out for digits to the base 8, and for eight points or pairs, keeps to that of EIP-7954.
        let most_bytes = if name == "bn254/add" { 24_576 } else { 65_536 };
        assert!(compiled.code.len() <= most_bytes, "{name}: {} bytes of code", compiled.code.len());
        for &size in sizes {
            let input = make(&mut Seeded(196), size);
            let (expected, price) = match native(contract, &input) {
                Some(native) => native.map(|native| (native.output, native.gas_used)).unwrap(),
                None => sum_of_products(&input).unwrap(), // `bn254/msm` alone replaces no precompile
            };
            let counted = engine.run_counted(&compiled.code, &input, GAS);
            let outcome = counted.outcome;
            assert_eq!((outcome.halt, outcome.output), (Halt::Return, expected), "{name}, {size}");
            let split = counted.gas_split;
            let ratio = ratio(outcome.gas_used, price);
            let gas = [outcome.gas_used, price].map(grouped).join(" | ");
            let split = [split.arithmetic, split.transfer, split.memory, split.control].map(grouped).join(" | ");
            let sizes = [compiled.code.len(), usize::try_from(compiled.slots).unwrap(), outcome.memory.len()];
            let sizes = sizes.map(|size| grouped(size as u64)).join(" | "); // usize to u64 widens
            writeln!(text, "| `{name}` | {size} | {gas} | {ratio} | {split} | {sizes} |").unwrap();
        }
    }
    text
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_table_of_the_page_is_what_the_contracts_cost() {
    residue_pages::hold("docs/bn254.md", "contracts", &table());
}
