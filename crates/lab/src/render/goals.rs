//! Table of `evmmax-next`'s goals, made of the record of `bench goals` alone: gas of each contract beside its time.
//!
//! It stands between two comments of `docs/evmmax-next.md`; `residue lab goals` makes it anew, and a test holds it to the record.

use std::fmt::Write as _;
use std::path::Path;

use crate::bench::goals::{GOALS, GROUP};
use crate::error::LabError;
use crate::price::ANCHOR_NS;
use crate::record::{Quantity, Record};
use crate::render::figures::{Records, shown};
use residue_workbench::statistics::Spread;

/// The part of the page that the table is.
const PART: &str = "residue lab goals";
/// The layers of a record.
const PRECOMPILE: &str = "precompile";
const PLAIN: &str = "evmmax-next:plain";
const BATCH: &str = "evmmax-next:batch";
/// Cell without a measurement.
const DASH: &str = "–";

/// The newest record of the goals in a directory, of whichever machine.
pub fn newest(directory: &Path) -> Result<Record, LabError> {
    Records::newest(directory, GROUP.name)
}

/// The table of a record, in Markdown, after where and when it was measured.
pub fn table(record: &Record) -> String {
    let of = |name| record.environment.get(name).unwrap_or("unknown");
    let file = format!("{}-{}.csv", record.date, record.group);
    let mut text = format!(
        "Medians of [{file}](../records/{machine}/{file}): {}, {}, {}, revm {}, blst {}. After times are their quartiles.\n\n\
         | contract | k | price | gas | µs, precompile | µs, one by one | µs, batches | ns a gas, one by one | ns a gas, batches | gas below its time |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n",
        of("cpu"),
        of("clock measured"),
        of("rustc"),
        of("revm"),
        of("blst"),
        machine = of("machine"),
    );
    for (contract, sizes) in GOALS {
        for size in sizes {
            let spread = |layer: &str, quantity| {
                Some(record.find(&format!("{layer}/{contract}/{size}"), quantity, None)?.spread)
            };
            let gas = |layer| spread(layer, Quantity::Gas).map(|spread| spread.median);
            let time = |layer| spread(layer, Quantity::Time);
            let a_gas = [PLAIN, BATCH].map(|layer| Some(time(layer)?.median / gas(layer)?));
            let cells = [
                format!("`{contract}`"),
                size.to_string(),
                gas(PRECOMPILE).map_or(DASH.to_owned(), shown),
                gas(PLAIN).or(gas(BATCH)).map_or(DASH.to_owned(), shown),
                microseconds(time(PRECOMPILE)),
                microseconds(time(PLAIN)),
                microseconds(time(BATCH)),
                a_gas[0].map_or(DASH.to_owned(), |ns| format!("{ns:.1}")),
                a_gas[1].map_or(DASH.to_owned(), |ns| format!("{ns:.1}")),
                below(a_gas),
            ];
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
    }
    text
}

fn microseconds(time_ns: Option<Spread>) -> String {
    let us = |Spread { median, quartile_1, quartile_3, .. }: Spread| {
        format!("{:.1} [{:.1} {:.1}]", median / 1e3, quartile_1 / 1e3, quartile_3 / 1e3)
    };
    time_ns.map_or(DASH.to_owned(), us)
}

/// On which engines a gas takes longer than it pays for: by the median, at [`ANCHOR_NS`].
fn below(ns_a_gas: [Option<f64>; 2]) -> String {
    let engines = ["one by one", "batches"];
    let is_below = |ns: Option<f64>| ns.is_some_and(|ns| ns > ANCHOR_NS);
    let below: Vec<&str> =
        engines.into_iter().zip(ns_a_gas).filter(|(_, ns)| is_below(*ns)).map(|(at, _)| at).collect();
    match (&below[..], ns_a_gas) {
        (_, [None, None]) => DASH.to_owned(),
        ([], _) => "no".to_owned(),
        _ => below.join(", "),
    }
}

/// A page with its table made anew. An error if it has no place for it.
pub fn page_with_table(page: &str, record: &Record) -> Result<String, LabError> {
    residue_pages::with(page, PART, &table(record)).ok_or(LabError::NoPlace { part: PART })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RecordRow;

    #[test]
    fn the_page_is_what_the_newest_record_says() {
        let record = newest(&residue_pages::path("records")).unwrap();
        let page = residue_pages::read("docs/evmmax-next.md");
        assert_eq!(page, page_with_table(&page, &record).unwrap(), "`residue lab goals` makes it anew");
        let table = table(&record);
        let lines = table.lines().filter(|line| line.starts_with("| `")).count();
        assert_eq!(lines, GOALS.iter().map(|(_, sizes)| sizes.len()).sum::<usize>());
    }

    #[test]
    fn a_price_below_its_time_is_said_with_its_engine() {
        let row = |name: &str, quantity, value| RecordRow::exact(name, quantity, value);
        let rows = [("plain", 6_000.0), ("batch", 3_000.0)].into_iter().flat_map(|(engine, time)| {
            let name = format!("evmmax-next:{engine}/bn254/add/1");
            [row(&name, Quantity::Gas, 400.0), row(&name, Quantity::Time, time)]
        });
        let record = Record {
            group: GROUP.name.to_owned(),
            date: crate::record::date::Date::after_epoch(0),
            environment: crate::record::environment::Environment::default(),
            rows: rows.chain([row("precompile/bn254/add/1", Quantity::Gas, 150.0)]).collect(),
        };
        let table = table(&record);
        let line = table.lines().find(|line| line.contains("`bn254/add`")).unwrap();
        assert!(
            line.starts_with("| `bn254/add` | 1 | 150 | 400 | – | 6.0 [6.0 6.0] | 3.0 [3.0 3.0] | 15.0 | 7.5 |"),
            "{line}"
        );
        assert!(line.ends_with("| one by one |"), "{line}");
        assert!(table.lines().any(|line| line.starts_with("| `bn254/mul`") && line.ends_with("| – |")), "{table}");
        assert_eq!(
            (below([Some(9.0), Some(10.0)]), below([Some(12.0), Some(11.0)])),
            ("no".to_owned(), "one by one, batches".to_owned())
        );
        assert!(page_with_table("no place", &record).is_err());
    }
}
