//! The times in `docs/signatures.md` are those of the newest record of `residue bench libraries`.
//!
//! Record and page are made anew by one command:
//! `cargo run --release -- bench libraries --record records && RESIDUE_WRITE_TABLES=1 cargo test -p residue-lab --test pages`.

use std::fmt::Write;

use residue_lab::bench::libraries::LIBRARIES;
use residue_lab::render::figures::Records;
use residue_lab::{LabError, Quantity, Record};

const BATCH: &str = "eip6690-2024:batch";
const PLAIN: &str = "eip6690-2024:plain";
const LIBRARY: &str = "library";

fn table(record: &Record) -> String {
    let of = |name| record.environment.get(name).unwrap_or("unknown");
    let mut text = format!(
        "{}, {} measured, {} ({}).\n\n\
         | contract | library | µs, library | µs, batch | µs, plain | batch / library | plain / library | gas by time |\n\
         |---|---|---:|---:|---:|---:|---:|---:|\n",
        of("cpu"),
        of("clock measured"),
        record.date,
        of("machine"),
    );
    for (contract, library, _) in LIBRARIES {
        let spread = |layer: &str, quantity, baseline: Option<&str>| {
            let row = record.find(&format!("{layer}/{contract}"), quantity, baseline);
            row.unwrap_or_else(|| panic!("the record has no {quantity} of {layer}/{contract}")).spread
        };
        let times =
            [LIBRARY, BATCH, PLAIN].map(|layer| format!("{:.1}", spread(layer, Quantity::Time, None).median / 1000.0));
        let ratios = [BATCH, PLAIN].map(|layer| {
            let spread = spread(layer, Quantity::Time, Some(LIBRARY));
            format!("{:.2} [{:.2} {:.2}]", spread.median, spread.quartile_1, spread.quartile_3)
        });
        let by_time = spread(BATCH, Quantity::GasByTime, None).median;
        let (times, ratios) = (times.join(" | "), ratios.join(" | "));
        writeln!(text, "| `{contract}` | {library} | {times} | {ratios} | {by_time:.0} |").unwrap();
    }
    text
}

#[test]
fn the_times_beside_libraries_are_those_of_the_newest_record() {
    let table = match Records::newest(&residue_pages::path("records"), "libraries") {
        Ok(record) => table(&record),
        Err(LabError::NoRecord { .. }) => "There is no record yet.\n".to_owned(),
        Err(error) => panic!("{error}"),
    };
    residue_pages::hold("docs/signatures.md", "times", &table);
}
