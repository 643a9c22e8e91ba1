//! Gas of G1ADD and G2ADD with an instruction for inverses: the computed numbers equal the table of `docs/eip2537.md`.
//!
//! If a contract, the compiler or the newest record changes, this writes it anew: `RESIDUE_WRITE_TABLES=1 cargo test -p
//! residue-contracts inversion`.

use crate::points::{Seeded, encode1, encode2};
use residue_compiler::SourceMap;
use residue_contracts::find;
use residue_engine::{Engine, EngineConfig, Halt, Step, Tracer, View};
use residue_isa::{FormPrice, GasSchedule, Revision};
use residue_pages::{grouped, ratio};
use residue_workbench::{cheapest, native};
use std::fmt::Write;

const RECORDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../records");

/// Limbs of a modulus of 381 bits.
const WIDTH_LIMBS: usize = 6;
/// Nanoseconds that one gas stands for.
const NS_PER_GAS: f64 = 10.0;
/// More than any row takes.
const GAS: u64 = 1 << 20;

/// Sums up the gas of the functions that an inversion consists of.
struct Inversion<'a> {
    map: &'a SourceMap,
    gas: u64,
}

impl Tracer for Inversion<'_> {
    fn after(&mut self, step: &Step, _: &View<'_>) {
        let function = self.map.function_at(step.pc).and_then(|index| self.map.function(index));
        if function.is_some_and(|(name, _)| ["fp_inverse", "fp_power_of_x_abs"].contains(&name)) {
            self.gas += step.gas_cost;
        }
    }
}

/// The time of blst's inverse modulo p in the newest record of operations, by its date.
fn native_inverse_ns() -> f64 {
    let files = |path| std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let records = files(RECORDS.into()).filter(|path| path.is_dir()).flat_map(files);
    let records = records.filter(|path| path.to_str().unwrap().ends_with("-operations.csv"));
    let newest = records.max_by_key(|path| path.file_name().unwrap().to_owned()).unwrap();
    let text = std::fs::read_to_string(newest).unwrap();
    let line = text.lines().find(|line| line.starts_with("blst/fp-inverse/381,time,ns,")).unwrap();
    line.split(',').nth(4).unwrap().parse().unwrap()
}

#[test]
fn the_table_of_inverses_is_what_is_computed() {
    let revision = Revision::Eip6690_2024;
    let schedule = GasSchedule::default_for(revision).unwrap();
    let engine = Engine::new(EngineConfig::default_for(revision)).unwrap();
    let evmone =
        GasSchedule::default_for(Revision::Evmone2025).unwrap().at_width(WIDTH_LIMBS).forms[FormPrice::Invert].whole();
    let by_time = format!("{:.0}", native_inverse_ns() / NS_PER_GAS).parse::<u64>().unwrap();
    let mut text = format!(
        "| contract | price | gas | of it the inversion | with INVMODX at {by_time} gas | ratio | at {evmone} gas | ratio |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|\n"
    );
    let mut seeded = Seeded(2537);
    let sides = [
        ("bls12_381/g1_add", [encode1(seeded.g1()), encode1(seeded.g1())].concat()),
        ("bls12_381/g2_add", [encode2(seeded.g2()), encode2(seeded.g2())].concat()),
    ];
    for (name, input) in sides {
        let contract = find(name).unwrap();
        let compiled = cheapest(contract, revision, &schedule).unwrap().compiled;
        let native = native(contract, &input).unwrap().unwrap();
        let mut inversion = Inversion { map: &compiled.source_map, gas: 0 };
        let outcome = engine.run_traced(&compiled.code, &input, GAS, &mut inversion);
        assert_eq!((outcome.halt, outcome.output), (Halt::Return, native.output), "{name}");
        let (gas, price) = (outcome.gas_used, native.gas_used);
        assert!(inversion.gas > 1_000, "{name}: {} gas", inversion.gas);
        let with = |instruction: u64| {
            let gas = gas - inversion.gas + instruction;
            format!("{} | {}", grouped(gas), ratio(gas, price))
        };
        let [price, whole, inverse] = [price, gas, inversion.gas].map(grouped);
        writeln!(text, "| `{name}` | {price} | {whole} | {inverse} | {} | {} |", with(by_time), with(evmone)).unwrap();
    }
    residue_pages::hold("docs/eip2537.md", "inversion", &text);
}
