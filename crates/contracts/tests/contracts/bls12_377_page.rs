//! The table of gas in `docs/bls12-377.md` equals the gas of the contracts.
//!
//! If a contract or the compiler changes, this writes it anew: `RESIDUE_WRITE_TABLES=1 cargo test -p residue-contracts bls12_377_page -- --ignored`.

use std::fmt::Write;

use crate::points::Seeded;
use crate::wide_curves::inputs::{Encoding, encode, member, product_of_one};
use ark_bls12_377::{g1 as g1_377, g2 as g2_377};
use ark_bw6_761::{g1 as g1_761, g2 as g2_761};
use ark_ec::short_weierstrass::SWCurveConfig;
use residue_contracts::find;
use residue_engine::{Engine, EngineConfig, Halt};
use residue_isa::{GasSchedule, Revision};
use residue_pages::{grouped, ratio};
use residue_workbench::cheapest;

/// More than any row takes.
const GAS: u64 = 16_777_216;

const EIP_2539: Encoding = Encoding { element_bytes: 64, scalar_bytes: 32 };
const EIP_3026: Encoding = Encoding { element_bytes: 96, scalar_bytes: 64 };

/// A contract, calldata of a size, its price if the EIP has one, and sizes.
type Operation = (&'static str, fn(&mut Seeded, usize) -> Vec<u8>, fn(u64) -> Option<u64>, &'static [usize]);

fn two<P: SWCurveConfig>(s: &mut Seeded, encoding: Encoding) -> Vec<u8> {
    [(); 2].map(|()| encode(member::<P>(s), encoding)).concat()
}

fn products<P: SWCurveConfig>(s: &mut Seeded, count: usize, encoding: Encoding) -> Vec<u8> {
    (0..count).flat_map(|_| [encode(member::<P>(s), encoding), s.bytes(encoding.scalar_bytes)].concat()).collect()
}

fn pairs<P1: SWCurveConfig, P2: SWCurveConfig>(s: &mut Seeded, count: usize, encoding: Encoding) -> Vec<u8> {
    match count {
        1 => [encode(member::<P1>(s), encoding), encode(member::<P2>(s), encoding)].concat(),
        _ => product_of_one::<P1, P2>(s, count, encoding),
    }
}

/// k products for `each` gas with the discount of EIP-2539, “G1/G2 Multiexponentiation”.
fn discounted(k: u64, each: u64) -> Option<u64> {
    let (_, discount) = [(1, 1200), (2, 888), (4, 641), (16, 334)].into_iter().find(|&(count, _)| count == k)?;
    Some(k * each * discount / 1000)
}

const OPERATIONS: [Operation; 14] = [
    ("bls12_377/g1_add", |s, _| two::<g1_377::Config>(s, EIP_2539), |_| Some(600), &[1]),
    ("bls12_377/g1_mul", |s, k| products::<g1_377::Config>(s, k, EIP_2539), |_| Some(12_000), &[1]),
    ("bls12_377/g1_msm", |s, k| products::<g1_377::Config>(s, k, EIP_2539), |k| discounted(k, 12_000), &[1, 2, 4, 16]),
    ("bls12_377/g2_add", |s, _| two::<g2_377::Config>(s, EIP_2539), |_| Some(4_500), &[1]),
    ("bls12_377/g2_mul", |s, k| products::<g2_377::Config>(s, k, EIP_2539), |_| Some(55_000), &[1]),
    ("bls12_377/g2_msm", |s, k| products::<g2_377::Config>(s, k, EIP_2539), |k| discounted(k, 55_000), &[1, 2, 4, 16]),
    (
        "bls12_377/pairing",
        |s, k| pairs::<g1_377::Config, g2_377::Config>(s, k, EIP_2539),
        |k| Some(65_000 + 55_000 * k),
        &[1, 2, 4, 7, 8],
    ),
    ("bw6_761/g1_add", |s, _| two::<g1_761::Config>(s, EIP_3026), |_| None, &[1]),
    ("bw6_761/g1_mul", |s, k| products::<g1_761::Config>(s, k, EIP_3026), |_| None, &[1]),
    ("bw6_761/g1_msm", |s, k| products::<g1_761::Config>(s, k, EIP_3026), |_| None, &[1, 4, 16]),
    ("bw6_761/g2_add", |s, _| two::<g2_761::Config>(s, EIP_3026), |_| None, &[1]),
    ("bw6_761/g2_mul", |s, k| products::<g2_761::Config>(s, k, EIP_3026), |_| None, &[1]),
    ("bw6_761/g2_msm", |s, k| products::<g2_761::Config>(s, k, EIP_3026), |_| None, &[1, 4, 16]),
    (
        "bw6_761/pairing",
        |s, k| pairs::<g1_761::Config, g2_761::Config>(s, k, EIP_3026),
        |k| Some(320_000 + 120_000 * k),
        &[1, 2, 4, 8, 9],
    ),
];

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn the_table_of_the_page_is_what_the_contracts_cost() {
    let revision = Revision::Eip6690_2024;
    let schedule = GasSchedule::default_for(revision).unwrap();
    let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
    let mut text = String::from(
        "| contract | k | gas | price | ratio | arithmetic | transfer | growth | control | code bytes | slots | memory bytes |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for (name, make, price, sizes) in OPERATIONS {
        let compiled = cheapest(find(name).unwrap(), revision, &schedule).unwrap().compiled;
        // Within EIP-170's limit but for sums of products, whose points share their doublings.
        let limit = if name.ends_with("_msm") { 65_536 } else { 24_576 };
        assert!(compiled.code.len() <= limit, "{name}: {} bytes of code", compiled.code.len());
        for &size in sizes {
            let input = make(&mut Seeded(377), size);
            let counted = engine.run_counted(&compiled.code, &input, GAS);
            let outcome = counted.outcome;
            assert_eq!(outcome.halt, Halt::Return, "{name}, {size}");
            let gas = outcome.gas_used;
            let price = price(size as u64)
                .map_or("– | –".to_owned(), |price| format!("{} | {}", grouped(price), ratio(gas, price)));
            let split = counted.gas_split;
            let split = [split.arithmetic, split.transfer, split.memory, split.control].map(grouped).join(" | ");
            let sizes = [compiled.code.len(), usize::try_from(compiled.slots).unwrap(), outcome.memory.len()];
            let sizes = sizes.map(|size| grouped(size as u64)).join(" | "); // usize to u64 widens
            writeln!(text, "| `{name}` | {size} | {} | {price} | {split} | {sizes} |", grouped(gas)).unwrap();
        }
    }
    residue_pages::hold("docs/bls12-377.md", "contracts", &text);
}
