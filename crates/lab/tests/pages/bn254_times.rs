//! The times in `docs/bn254.md` are those of the newest record of `residue bench bn254`.
//!
//! Record and page are made anew by one command:
//! `cargo run --release -- bench bn254 --record records && RESIDUE_WRITE_TABLES=1 cargo test -p residue-lab --test pages`.

use std::fmt::Write;

use residue_lab::bench::bn254::OPERATIONS;
use residue_lab::render::figures::Records;
use residue_lab::{Quantity, Record, RecordRow};

/// The layers of the table's columns.
const BATCH: &str = "eip6690-2024:batch";
const PLAIN: &str = "eip6690-2024:plain";
const PRECOMPILE: &str = "precompile";
const LIBRARY: &str = "arkworks";

fn row<'a>(
    record: &'a Record,
    layer: &str,
    operation: &str,
    quantity: Quantity,
    baseline: Option<&str>,
) -> &'a RecordRow {
    let row = record.find(&format!("{layer}/{operation}"), quantity, baseline);
    row.unwrap_or_else(|| panic!("the record has no {quantity} of {layer}/{operation}"))
}

fn table(record: &Record) -> String {
    let of = |name| record.environment.get(name).unwrap_or("unknown");
    let mut text = format!(
        "{}, {} measured, {} ({}).\n\n\
         | operation | k | µs, batch | µs, plain | µs, precompile | µs, arkworks | batch / precompile | plain / precompile | price | gas by time |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        of("cpu"),
        of("clock measured"),
        record.date,
        of("machine"),
    );
    for (name, _, sizes) in OPERATIONS {
        for size in sizes {
            let operation = format!("{name}/{size}");
            let times = [BATCH, PLAIN, PRECOMPILE, LIBRARY].map(|layer| {
                let time_ns = row(record, layer, &operation, Quantity::Time, None).spread.median;
                format!("{:.1}", time_ns / 1000.0)
            });
            let ratios = [BATCH, PLAIN].map(|layer| {
                let spread = row(record, layer, &operation, Quantity::Time, Some(PRECOMPILE)).spread;
                format!("{:.2} [{:.2} {:.2}]", spread.median, spread.quartile_1, spread.quartile_3)
            });
            let price = row(record, PRECOMPILE, &operation, Quantity::Gas, None).spread.median;
            let by_time = row(record, BATCH, &operation, Quantity::GasByTime, None).spread.median;
            let (times, ratios) = (times.join(" | "), ratios.join(" | "));
            writeln!(text, "| {name} | {size} | {times} | {ratios} | {price:.0} | {by_time:.0} |").unwrap();
        }
    }
    text
}

#[test]
fn the_times_of_the_page_are_those_of_the_newest_record() {
    // No figure shows the group, so that any machine may have its record.
    let machines = std::fs::read_dir(residue_pages::path("records")).unwrap().map(|entry| entry.unwrap().path());
    let records: Vec<Records> =
        machines.filter(|path| path.is_dir()).map(|path| Records::read(&path).unwrap()).collect();
    let newest =
        records.iter().filter_map(|records| records.group("bn254")).max_by_key(|record| record.date.to_string());
    let table = newest.map_or("There is no record yet.\n".to_owned(), table);
    residue_pages::hold("docs/bn254.md", "times", &table);
}
