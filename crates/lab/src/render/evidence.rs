//! The page of the evidence: each precompile that a contract replaces, with price, gas and times, made of the record of `bench evidence` alone.
//!
//! The table stands between two comments of `docs/precompiles.md`, and its figure beside it; `residue lab evidence` makes both anew, and a test holds
//! them to the record.

use std::fmt::Write as _;
use std::path::Path;

use crate::bench::evidence::{Cost, GROUP, replacements};
use crate::error::LabError;
use crate::record::{Quantity, Record};
use crate::render::figures::Records;
use crate::render::svg::bars::Chart;
use residue_workbench::statistics::Spread;

/// The part of the page that the table is.
const PART: &str = "residue lab evidence";
/// The layers of a record.
const PRECOMPILE: &str = "precompile";
const PLAIN: &str = "eip6690-2024:plain";
const BATCH: &str = "eip6690-2024:batch";
/// Without field instructions: older records have none of it, and contracts of wide fields.
const EVM: &str = "evm:plain";

/// One input of one contract.
struct Line<'a> {
    address: u16,
    contract: &'static str,
    /// Name of the input.
    what: String,
    record: &'a Record,
}

impl Line<'_> {
    fn spread(&self, layer: &str, quantity: Quantity, is_ratio: bool) -> Option<Spread> {
        let name = format!("{layer}/{}/{}", self.contract, self.what);
        let baseline = is_ratio.then_some(PRECOMPILE);
        Some(self.record.find(&name, quantity, baseline)?.spread)
    }

    fn median(&self, layer: &str, quantity: Quantity, is_ratio: bool) -> Option<f64> {
        Some(self.spread(layer, quantity, is_ratio)?.median)
    }
}

/// The lines of a record, by address.
fn lines(record: &Record) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for (address, contract) in replacements() {
        let begin = format!("{PRECOMPILE}/{}/", contract.name);
        let of_contract = record.rows.iter().filter(|row| row.quantity == Quantity::Gas && row.baseline.is_none());
        lines.extend(of_contract.filter_map(|row| row.name.strip_prefix(&begin)).map(|what| Line {
            address,
            contract: contract.name,
            what: what.to_owned(),
            record,
        }));
    }
    lines
}

/// The newest record of the evidence in a directory, of whichever machine.
pub fn newest(directory: &Path) -> Result<Record, LabError> {
    Records::newest(directory, GROUP.name)
}

/// The table of the record of the evidence, in Markdown, after where and when it was measured.
pub fn table(record: &Record) -> String {
    let of = |name| record.environment.get(name).unwrap_or("unknown");
    let file = format!("{}-{}.csv", record.date, record.group);
    let mut text = format!(
        "Medians of [{file}](../records/{machine}/{file}): {}, {}, {}, revm {}, blst {}. After times are the quartiles of the ratio to the precompile.\n\n\
         | address | contract | input | price | at 10 ns | gas | gas / price | µs, precompile | µs, one by one | / precompile | µs, batches | / precompile | at 10 ns, one by one | at 10 ns, batches | first, µs | code, bytes | gas, `evm` | µs, `evm` |\n\
         |---|---|---|{}\n",
        of("cpu"),
        of("clock measured"),
        of("rustc"),
        of("revm"),
        of("blst"),
        "---:|".repeat(15),
        machine = of("machine"),
    );
    for line in lines(record) {
        let whole = |layer, quantity| shown(line.median(layer, quantity, false), grouped);
        let us = |layer, quantity| shown(line.median(layer, quantity, false), |ns| format!("{:.1}", ns / 1e3));
        let ratio = |layer| {
            let two =
                |spread: Spread| format!("{:.2} [{:.2} {:.2}]", spread.median, spread.quartile_1, spread.quartile_3);
            line.spread(layer, Quantity::Time, true).map_or(DASH.to_owned(), two)
        };
        let cells = [
            format!("0x{:02x}", line.address),
            format!("`{}`", line.contract),
            line.what.replace('-', " "),
            whole(PRECOMPILE, Quantity::Gas),
            whole(PRECOMPILE, Quantity::GasByTime),
            whole(BATCH, Quantity::Gas),
            shown(line.median(BATCH, Quantity::Gas, true), |ratio| format!("{ratio:.3}")),
            us(PRECOMPILE, Quantity::Time),
            us(PLAIN, Quantity::Time),
            ratio(PLAIN),
            us(BATCH, Quantity::Time),
            ratio(BATCH),
            whole(PLAIN, Quantity::GasByTime),
            whole(BATCH, Quantity::GasByTime),
            us(BATCH, Quantity::Cold),
            whole(BATCH, Quantity::CodeSize),
            whole(EVM, Quantity::Gas),
            us(EVM, Quantity::Time),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// Table of contracts that differ from the record now: gas, its ratio to the price, bytes of code, and gas under `evm`.
pub fn gas_since(record: &Record, costs: &[Cost]) -> String {
    let mut text = String::from(
        "| contract | input | price | gas, record | gas | gas / price | code, bytes | gas, `evm`, record | gas, `evm` |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let lines = lines(record);
    for Cost { contract, what, price, gas, code_bytes, evm_gas } in costs {
        let line = lines.iter().find(|line| line.contract == *contract && line.what == *what);
        let of = |layer| line.and_then(|line| line.median(layer, Quantity::Gas, false));
        let whole = |value: Option<f64>| shown(value, grouped);
        let exact = |value: u64| value as f64; // gas is below 2⁵³
        if of(BATCH) == Some(exact(*gas)) && of(EVM) == evm_gas.map(exact) {
            continue;
        }
        let cells = [
            format!("`{contract}`"),
            what.replace('-', " "),
            whole(Some(exact(*price))),
            whole(of(BATCH)),
            whole(Some(exact(*gas))),
            format!("{:.3}", exact(*gas) / exact(*price)),
            whole(Some(exact(*code_bytes as u64))), // usize to u64 widens
            whole(of(EVM)),
            whole(evm_gas.map(exact)),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// Cell without a measurement.
const DASH: &str = "–";

fn shown(value: Option<f64>, text: impl Fn(f64) -> String) -> String {
    value.map_or(DASH.to_owned(), text)
}

/// A number without decimals, its thousands set apart.
fn grouped(value: f64) -> String {
    crate::render::figures::shown(value.round())
}

/// A page with its table made anew. An error if it has no place for it.
pub fn page_with_table(page: &str, record: &Record) -> Result<String, LabError> {
    residue_pages::with(page, PART, &table(record)).ok_or(LabError::NoPlace { part: PART })
}

/// The figure: gas beside the price, and time beside the precompile's, of each line.
pub fn figure(record: &Record) -> String {
    let lines = lines(record);
    let series = [
        ("gas / price", BATCH, Quantity::Gas),
        ("time / precompile, batches", BATCH, Quantity::Time),
        ("time / precompile, one by one", PLAIN, Quantity::Time),
    ];
    let values = |(name, layer, quantity): (&str, &str, Quantity)| {
        let of_lines = lines.iter().map(|line| line.median(layer, quantity, true)).collect();
        (name.to_owned(), of_lines)
    };
    let chart = Chart {
        unit: "×".to_owned(),
        categories: lines.iter().map(|line| format!("{}, {}", line.contract, line.what.replace('-', " "))).collect(),
        series: series.map(values).to_vec(),
        is_logarithmic: true,
    };
    chart.to_svg("Bytecode under eip6690-2024 beside the precompiles that it replaces", true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_and_figure_are_what_the_record_says() {
        let record = newest(&residue_pages::path("records")).unwrap();
        let page = residue_pages::read("docs/precompiles.md");
        assert_eq!(page, page_with_table(&page, &record).unwrap(), "`residue lab evidence` makes it anew");
        assert_eq!(residue_pages::read("docs/precompiles.svg"), figure(&record), "as above");
    }

    #[test]
    fn a_record_has_a_line_for_each_input_and_dashes_where_nothing_was_measured() {
        let nothing = newest(&residue_pages::path("docs/revisions"));
        assert!(nothing.unwrap_err().to_string().contains("evidence"));
        let row = |name: &str, value| crate::record::RecordRow::exact(name, Quantity::Gas, value);
        let record = Record {
            group: GROUP.name.to_owned(),
            date: crate::record::date::Date::after_epoch(0),
            environment: crate::record::environment::Environment::default(),
            rows: vec![
                row("precompile/bn254/add/example", 150.0),
                row("eip6690-2024:batch/bn254/add/example", 1085.0),
                row("evm:plain/bn254/add/example", 5451.0),
            ],
        };
        let table = table(&record);
        let last = table.lines().last().unwrap();
        assert!(last.starts_with("| 0x06 | `bn254/add` | example | 150 | – | 1 085 | –"), "{last}");
        assert!(last.ends_with("| – | 5 451 | – |"), "{last}");
        assert!(figure(&record).contains("bn254/add, example"));
        let cost = |gas, evm_gas| Cost {
            contract: "bn254/add",
            what: "example".to_owned(),
            price: 150,
            gas,
            code_bytes: 2_892,
            evm_gas: Some(evm_gas),
        };
        let since = |cost| gas_since(&record, &[cost]).lines().skip(2).map(str::to_owned).collect::<Vec<_>>();
        assert!(since(cost(1_085, 5_451)).is_empty());
        let changed = ["| `bn254/add` | example | 150 | 1 085 | 900 | 6.000 | 2 892 | 5 451 | 5 451 |"];
        assert_eq!(since(cost(900, 5_451)), changed);
    }
}
