//! Figures about single instructions: runtimes, prices by width, and the worst cases of an attacker.

use residue_isa::Revision;

use super::{Figure, Records, or_dash, shown, table};
use crate::attack::GROUP as ATTACK;
use crate::opcodes::GROUP as OPCODES;
use crate::price::{ANCHORS_NS, Runtimes};
use crate::published::{KECCAK_RELATIVE, MACHINES, RUNTIMES, RUNTIMES_SOURCE, WIDTHS_6690, WIDTHS_6690_SOURCE};
use crate::record::{Quantity, RecordRow};
use crate::render::svg::bars::Chart;

/// Layers of the record of instructions that compute without an EVM.
const IMPLEMENTATIONS: [(&str, &str); 6] = [
    ("num-bigint", "num-bigint, plain Rust, by division"),
    ("crypto-bigint", "crypto-bigint, plain Rust, in Montgomery form"),
    ("modular:portable", "our kernels on slots in plain Rust"),
    ("modular", "our kernels on slots in assembly"),
    ("modular:evm384", "our kernels on memory in assembly"),
    ("blst", "blst's assembly"),
];
/// Layers of the record of plans: operations in batches, of which eight go at a time.
const PLANS: [(&str, &str); 3] = [
    ("lanes:scalar", "plans in plain Rust"),
    ("lanes:ifma", "plans with AVX-512 IFMA"),
    ("lanes:ifma-quads", "plans with AVX-512 IFMA in halves"),
];

/// Lines of the table of runtimes with their bars, from above.
#[derive(Default)]
struct Lines {
    cells: Vec<Vec<String>>,
    categories: Vec<String>,
    /// Of addition, subtraction and multiplication, in nanoseconds.
    times: Vec<[Option<f64>; 3]>,
}

impl Lines {
    /// Adds times of addition, subtraction and multiplication, and their prices beside one of KECCAK256 by its time.
    fn push(&mut self, who: String, times: [Option<f64>; 3], ns_per_gas: Option<f64>) {
        let relative = times.map(|time| time.zip(ns_per_gas).map(|(time, ns_per_gas)| time / ns_per_gas));
        self.cells.push([who.clone()].into_iter().chain(times.map(or_dash)).chain(relative.map(or_dash)).collect());
        self.categories.push(who);
        self.times.push(times);
    }

    fn push_published(&mut self) {
        for (index, machine) in MACHINES.into_iter().enumerate() {
            self.push(format!("published, {machine}"), [0, 1, 2].map(|op| Some(RUNTIMES[op].1[index])), None);
        }
        let mean = [0, 1, 2].map(|operation| Some(RUNTIMES[operation].1.iter().sum::<f64>() / MACHINES.len() as f64));
        self.push("published, mean of the machines".to_owned(), mean, None);
    }

    fn push_revision(&mut self, records: &Records, revision: Revision, keccak: Option<f64>) {
        let times = residue_isa::FieldOp::ALL.map(|operation| {
            let mnemonic = revision.row(revision.arithmetic_opcode(operation))?.mnemonic;
            let name = format!("{revision}/{mnemonic}/384/random");
            records.value(OPCODES, &name, Quantity::Time)
        });
        self.push(format!("ours, {revision}, random operands"), times, keccak);
        let worst = records.group(OPCODES).map(|record| Runtimes::of(record, revision));
        let worst_of = |operation| {
            let found =
                worst.as_ref()?.opcodes.iter().find(|r| r.operation == Some(operation) && r.width_bits == 384)?;
            Some(found.time_ns)
        };
        self.push(format!("ours, {revision}, worst operands"), residue_isa::FieldOp::ALL.map(worst_of), keccak);
    }

    /// Kernels and libraries, which no EVM is around.
    fn push_without_evm(&mut self, records: &Records, keccak: Option<f64>) {
        let operations = ["add", "sub", "mul"];
        for (layer, what) in IMPLEMENTATIONS {
            let times = operations
                .map(|operation| records.value("instructions", &format!("{layer}/{operation}/384"), Quantity::Latency));
            self.push(format!("ours, {what}, no EVM"), times, keccak);
        }
        for (layer, what) in PLANS {
            let times = operations
                .map(|operation| records.value("lanes", &format!("{layer}/{operation}/381"), Quantity::Throughput));
            self.push(format!("ours, {what}, no EVM, one of many"), times, keccak);
        }
        // Libraries in the record of operations, which has no times of subtractions.
        let libraries = records.group("operations").into_iter().flat_map(|record| &record.rows);
        for row in libraries.filter(|row| row.name.ends_with("/fp-mul/381") && row.baseline.is_none()) {
            let layer = row.layer();
            let of = |operation: &str| records.value("operations", &format!("{layer}/{operation}/381"), Quantity::Time);
            self.push(format!("ours, {layer} as a library"), [of("fp-add"), None, of("fp-mul")], keccak);
        }
    }
}

/// Runtimes by implementation, and relative to KECCAK256.
pub fn runtimes(records: &Records) -> Figure {
    let (ours, missing) = records.cite(&[OPCODES, "instructions", "lanes", "operations"]);
    // KECCAK256 is of the EVM, whatever the revision.
    let keccak = records.group(OPCODES).and_then(|record| {
        let runtimes = Runtimes::of(record, Revision::Evm384V7);
        runtimes.pivot(None).map(|pivot| pivot.ns_per_gas())
    });
    let mut lines = Lines::default();
    lines.push_published();
    for revision in [Revision::Evm384V7, Revision::Evm384V9, Revision::Eip5843, Revision::Eip6690_2024] {
        lines.push_revision(records, revision, keccak);
    }
    lines.push_without_evm(records, keccak);
    let headings = [
        "implementation",
        "add ns",
        "sub ns",
        "mul ns",
        "add / keccak price",
        "sub / keccak price",
        "mul / keccak price",
    ];
    let relative = KECCAK_RELATIVE.map(|(_, relative)| shown(relative));
    let cells = ["published, worst case of KECCAK256"].into_iter().map(str::to_owned);
    let cells = cells.chain((0..3).map(|_| or_dash(None))).chain(relative);
    let mut table = table(&headings);
    table.lines = lines.cells;
    table.lines.push(cells.collect());
    let times = |operation: usize| lines.times.iter().map(|times| times[operation]).collect();
    let series = vec![("add".to_owned(), times(0)), ("sub".to_owned(), times(1)), ("mul".to_owned(), times(2))];
    Figure {
        id: "runtimes",
        title: "Runtime of instructions by implementation, 384 bits",
        source: RUNTIMES_SOURCE.to_owned(),
        explanation:
            "The document compares a library in plain C, BLST's assembly, Go, and Go with BLST's assembly, and has numbers \
                      of BLST's assembly only. Ours beside it are big-integer libraries in plain Rust, which have its place, our \
                      kernels, blst and the libraries of the record of operations, each operation waiting for the one before, and \
                      plans, which work on many at a time. What runs in the EVM has the dispatch of revm's interpreter and no \
                      loop and pushes. Prices relative to KECCAK256 are before rounding, by the hash of the record of opcodes."
                .to_owned(),
        ours,
        missing,
        table,
        chart: Some(Chart { unit: "ns".to_owned(), categories: lines.categories, series, is_logarithmic: false }),
    }
}

/// Prices by width.
pub fn widths(records: &Records) -> Figure {
    let (ours, missing) = records.cite(&[OPCODES]);
    let headings: Vec<String> = ["limbs", "operation", "EIP-6690"]
        .into_iter()
        .map(str::to_owned)
        .chain(["ours ns".to_owned()])
        .chain(ANCHORS_NS.iter().map(|anchor_ns| format!("ours at {anchor_ns} ns per gas")))
        .collect();
    let mut table = table(&headings.iter().map(String::as_str).collect::<Vec<_>>());
    let runtimes = records.group(OPCODES).map(|record| Runtimes::of(record, Revision::Eip6690_2024));
    let mut categories = Vec::new();
    let mut series = vec![("EIP-6690, mul".to_owned(), vec![]), ("ours at 27 ns per gas, mul".to_owned(), vec![])];
    for (mnemonics, prices) in WIDTHS_6690 {
        let mnemonic = mnemonics.split(',').next().unwrap_or(mnemonics);
        for (index, price) in prices.into_iter().enumerate() {
            let time_ns =
                runtimes.as_ref().and_then(|runtimes| runtimes.find(mnemonic, 64 * (index + 1))).map(|r| r.time_ns);
            let priced = ANCHORS_NS.map(|anchor_ns| or_dash(time_ns.map(|time_ns| time_ns / anchor_ns)));
            let cells = [(index + 1).to_string(), mnemonics.to_owned(), price.to_string(), or_dash(time_ns)];
            table.lines.push(cells.into_iter().chain(priced).collect());
            if mnemonic == "MULMODX" {
                categories.push(format!("{} limbs", index + 1));
                series[0].1.push(Some(f64::from(price)));
                series[1].1.push(time_ns.map(|time_ns| time_ns / 27.0));
            }
        }
    }
    Figure {
        id: "widths",
        title: "Prices of EIP-6690 by width",
        source: WIDTHS_6690_SOURCE.to_owned(),
        explanation:
            "EIP-6690 rounded fits of go-ethereum's times up to whole gas at 27 ns; ours are worst-case times of one \
                      instruction of one lane, before rounding, dispatch included."
                .to_owned(),
        ours,
        missing,
        table,
        chart: Some(Chart { unit: "gas".to_owned(), categories, series, is_logarithmic: false }),
    }
}

/// Worst times per gas that the search has found; none without a record of a search.
pub fn attack(records: &Records) -> Option<Figure> {
    let record = records.group(ATTACK)?;
    let (ours, missing) = records.cite(&[ATTACK]);
    let mut table = table(&["program", "ns per gas", "quartiles", "gas"]);
    let mut categories = Vec::new();
    let mut values = Vec::new();
    for row in record.rows.iter().filter(|row| row.quantity == Quantity::NsPerGas) {
        let RecordRow { name, spread, .. } = row;
        let gas = record.find(name, Quantity::Gas, None).map(|row| row.spread.median);
        let quartiles = format!("{} – {}", shown(spread.quartile_1), shown(spread.quartile_3));
        table.lines.push(vec![name.clone(), shown(spread.median), quartiles, or_dash(gas)]);
        categories.push(name.clone());
        values.push(Some(spread.median));
    }
    Some(Figure {
        id: "attack",
        title: "The worst time per gas that a search has found, beside honest programs",
        source: "Ours alone: `residue lab attack`".to_owned(),
        explanation: format!(
            "{}. Found programs do nothing useful; the honest ones are those of the other figures.",
            record.environment.get("attack").unwrap_or("The search is reproducible from its seed")
        ),
        ours,
        missing,
        table,
        chart: Some(Chart {
            unit: "ns per gas".to_owned(),
            categories,
            series: vec![("ours".to_owned(), values)],
            is_logarithmic: false,
        }),
    })
}
