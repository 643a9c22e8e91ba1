//! The times in `docs/signatures.md`, `docs/multiples.md` and `docs/bls12-377.md` are those of the newest record of `residue bench libraries`.
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

/// Whose contracts stand in which page; all others in that of signatures.
const PAGES: [(&str, &[&str]); 3] = [
    ("docs/multiples.md", &["grumpkin/", "pallas/", "vesta/", "baby_jubjub/", "bandersnatch/"]),
    ("docs/bls12-377.md", &["bls12_377/", "bw6_761/"]),
    ("docs/signatures.md", &[""]),
];

fn page_of(contract: &str) -> &'static str {
    let is_there = |(_, prefixes): &&(&str, &[&str])| prefixes.iter().any(|prefix| contract.starts_with(prefix));
    PAGES.iter().find(is_there).expect("the last page takes all").0
}

fn table(record: &Record, page: &str) -> String {
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
    for (contract, library, _) in LIBRARIES.iter().filter(|(contract, ..)| page_of(contract) == page) {
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
    for (page, _) in PAGES {
        let table = match Records::newest(&residue_pages::path("records"), "libraries") {
            Ok(record) => table(&record, page),
            Err(LabError::NoRecord { .. }) => "There is no record yet.\n".to_owned(),
            Err(error) => panic!("{error}"),
        };
        residue_pages::hold(page, "times", &table);
    }
}
