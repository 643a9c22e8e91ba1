//! The times in `docs/evm.md` are those of the newest record of `residue bench today`.
//!
//! Record and page are made anew by one command:
//! `cargo run --release -- bench today --record records && RESIDUE_WRITE_TABLES=1 cargo test -p residue-lab --test pages`.

use std::fmt::Write;

use residue_lab::bench::today::{GROUP, TODAY};
use residue_lab::render::figures::Records;
use residue_lab::{Quantity, Record};

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
    let begin = format!("{TODAY}/");
    for row in &record.rows {
        let Some(contract) = row.name.strip_prefix(&begin) else { continue };
        if row.quantity != Quantity::Gas {
            continue;
        }
        let value = |layer: &str, quantity, is_ratio: bool| {
            let name = format!("{layer}/{contract}");
            record.find(&name, quantity, is_ratio.then_some(TODAY)).map(|row| row.spread.median)
        };
        let shown = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.1}"));
        let time_us = |layer| shown(value(layer, Quantity::Time, false).map(|time_ns| time_ns / 1e3));
        let times = |layer, quantity| shown(value(layer, quantity, true).map(|ratio| 1.0 / ratio));
        let [plain, batch] = LAYERS.map(|layer| format!("{} | {}", time_us(layer), times(layer, Quantity::Time)));
        let cheaper = times(LAYERS[0], Quantity::Gas);
        writeln!(text, "| `{contract}` | {cheaper} | {} | {plain} | {batch} |", time_us(TODAY)).unwrap();
    }
    text
}

#[test]
fn the_times_of_the_page_are_those_of_the_newest_record() {
    let newest = Records::newest(&residue_pages::path("records"), GROUP.name);
    let table = newest.map_or("There is no record yet.\n".to_owned(), |record| table(&record));
    residue_pages::hold("docs/evm.md", "times", &table);
}

#[test]
fn a_line_says_how_many_times() {
    use residue_lab::RecordRow;
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
