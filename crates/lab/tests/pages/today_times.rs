//! The times in `docs/evm.md` are those of the newest record of `residue bench today`.
//!
//! Record and page are made anew by one command:
//! `cargo run --release -- bench today --record records && RESIDUE_WRITE_TABLES=1 cargo test -p residue-lab --test pages`.

use std::fmt::Write;

use residue_lab::bench::today::{GROUP, TODAY};
use residue_lab::render::figures::Records;
use residue_lab::{Quantity, Record, RecordRow};

/// The layers beside it.
const LAYERS: [&str; 2] = ["eip6690-2024:plain", "eip6690-2024:batch"];

fn table(record: &Record) -> String {
    let of = |name| record.environment.get(name).unwrap_or("unknown");
    let mut text = format!(
        "{}, {} measured, {} ({}).\n\n\
         | contract | times cheaper | µs, `evm` | µs, `eip6690-2024`, one by one | times faster | µs, batches | times faster |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
        of("cpu"),
        of("clock measured"),
        record.date,
        of("machine"),
    );
    for contract in contracts(record) {
        let shown = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.1}"));
        let time = record.find(&format!("{TODAY}/{contract}"), Quantity::Time, None);
        let time_us = |row: Option<&RecordRow>| shown(row.map(|row| row.spread.median / 1e3));
        let of_layer = |layer: &str| time_us(record.find(&format!("{layer}/{contract}"), Quantity::Time, None));
        let times = |layer, quantity| shown(times(record, layer, contract, quantity));
        let [plain, batch] = LAYERS.map(|layer| format!("{} | {}", of_layer(layer), times(layer, Quantity::Time)));
        let cheaper = times(LAYERS[0], Quantity::Gas);
        writeln!(text, "| `{contract}` | {cheaper} | {} | {plain} | {batch} |", time_us(time)).unwrap();
    }
    text.push_str(&in_a_sentence(record));
    text
}

/// The contracts of a record.
fn contracts(record: &Record) -> impl Iterator<Item = &str> {
    let gas = record.rows.iter().filter(|row| row.quantity == Quantity::Gas);
    gas.filter_map(|row| row.name.strip_prefix(TODAY)?.strip_prefix('/'))
}

/// Factor between the EVM of today and this layer for a contract.
fn times(record: &Record, layer: &str, contract: &str, quantity: Quantity) -> Option<f64> {
    let row = record.find(&format!("{layer}/{contract}"), quantity, Some(TODAY))?;
    Some(1.0 / row.spread.median)
}

/// The geometric means of what the table has; nothing if it does not have all of it.
fn in_a_sentence(record: &Record) -> String {
    let mean = |layer, quantity| {
        let logarithms = contracts(record).map(|contract| times(record, layer, contract, quantity).map(f64::ln));
        let logarithms = logarithms.collect::<Option<Vec<f64>>>().filter(|all| !all.is_empty())?;
        Some((logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp())
    };
    let [plain, batch] = LAYERS;
    let (Some(cheaper), Some(faster), Some(in_batches)) =
        (mean(plain, Quantity::Gas), mean(plain, Quantity::Time), mean(batch, Quantity::Time))
    else {
        return String::new();
    };
    format!(
        "\nOver these {} contracts the instructions make a program {cheaper:.1} times cheaper and {faster:.1} times faster one by one, \
         {in_batches:.1} times in batches (geometric means).\n",
        contracts(record).count(),
    )
}

#[test]
fn the_times_of_the_page_are_those_of_the_newest_record() {
    let newest = Records::newest(&residue_pages::path("records"), GROUP.name);
    let table = newest.map_or("There is no record yet.\n".to_owned(), |record| table(&record));
    residue_pages::hold("docs/evm.md", "times", &table);
}

#[test]
fn a_line_says_how_many_times() {
    let row = |name: &str, quantity, value| RecordRow::exact(name, quantity, value);
    let ratio = |quantity, ours, evm| {
        RecordRow::ratio("eip6690-2024:plain/bn254/add", quantity, &[ours], ("evm:plain/bn254/add", &[evm]))
    };
    let record = Record {
        group: GROUP.name.to_owned(),
        date: residue_lab::record::date::Date::after_epoch(0),
        environment: residue_lab::record::environment::Environment::default(),
        rows: vec![
            row("evm:plain/bn254/add", Quantity::Gas, 5_000.0),
            row("evm:plain/bn254/add", Quantity::Time, 20_000.0),
            ratio(Quantity::Gas, 1_000.0, 5_000.0),
            row("eip6690-2024:plain/bn254/add", Quantity::Time, 10_000.0),
            ratio(Quantity::Time, 10_000.0, 20_000.0),
        ],
    };
    assert_eq!(table(&record).lines().last(), Some("| `bn254/add` | 5.0 | 20.0 | 10.0 | 2.0 | – | – |"));
}
