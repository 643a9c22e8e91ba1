//! The page of the baselines: its tables, made of the record of the comparison alone.
//!
//! They stand between two comments of `docs/baselines.md`; `residue lab baselines` writes them anew, and a test holds the page
//! to the record.

use std::fmt::Write as _;

use crate::bench::comparison::GROUP as COMPARISON;
use crate::error::LabError;
use crate::record::{Quantity, Record};
use crate::render::figures::Records;

/// The part of a page that the tables are.
const PART: &str = "residue lab baselines";
/// The things compared, with how the table names them.
const COMPARED: [(&str, &str); 3] =
    [("pairing/2", "two pairs"), ("synthetic-loop/1350", "synthetic loop"), ("g1-mul/1", "G1 multiplication")];
/// Cell without a measurement.
const DASH: &str = "–";

/// The tables of the record of the comparison, in Markdown.
pub fn tables(records: &Records) -> Result<String, LabError> {
    let record = records.group(COMPARISON.name).ok_or(LabError::NoRecord { group: COMPARISON.name })?;
    let of = |name| record.environment.get(name).unwrap_or("unknown");
    let machine = of("machine");
    let file = format!("{}-{}.csv", record.date, record.group);
    let mut text = format!(
        "Medians of [{file}](../records/{machine}/{file}): {}, {}, commit {}. Times in µs.\n\n",
        of("cpu"),
        of("clock measured"),
        of("commit")
    );
    text.push_str(&times(record));
    text.push_str(
        "\nField operations of one run, counted: lanes in the EVM, calls of host functions in WebAssembly.\n\n",
    );
    text.push_str(&operations(record));
    if let Some(missing) = record.environment.get("missing") {
        let _ = write!(text, "\nNot measured: {missing}.\n");
    }
    Ok(text)
}

/// A page with its tables made anew. An error if it has no place for them.
pub fn page_with_tables(page: &str, records: &Records) -> Result<String, LabError> {
    residue_pages::with(page, PART, &tables(records)?).ok_or(LabError::NoPlace { part: PART })
}

/// The layers of a record, in its order.
fn layers(record: &Record) -> Vec<&str> {
    let mut layers: Vec<&str> = Vec::new();
    for row in &record.rows {
        if !layers.contains(&row.layer()) {
            layers.push(row.layer());
        }
    }
    layers
}

fn times(record: &Record) -> String {
    let mut headings = vec!["subject".to_owned()];
    for (_, named) in COMPARED {
        headings.extend([format!("{named}, µs"), "of blst".to_owned(), "gas".to_owned()]);
    }
    headings.push("check in synthetic loops".to_owned());
    let line = |layer: &str| {
        let mut cells = vec![format!("`{layer}`")];
        for (thing, _) in COMPARED {
            let name = format!("{layer}/{thing}");
            let median = |quantity, baseline| record.find(&name, quantity, baseline).map(|row| row.spread.median);
            cells.push(median(Quantity::Time, None).map_or(DASH.to_owned(), |ns| grouped(ns / 1e3)));
            cells.push(two_decimals(median(Quantity::Time, Some("blst"))));
            cells.push(median(Quantity::Gas, None).map_or(DASH.to_owned(), grouped));
        }
        let adjustment = record.find(&format!("{layer}/{}", COMPARED[0].0), Quantity::Adjustment, None);
        cells.push(two_decimals(adjustment.map(|row| row.spread.median)));
        cells
    };
    markdown(&headings, layers(record).into_iter().map(line))
}

fn operations(record: &Record) -> String {
    let mut headings = vec!["subject".to_owned()];
    for (_, named) in COMPARED {
        headings.extend(["add", "sub", "mul"].map(|operation| format!("{named}, {operation}")));
    }
    let line = |layer: &str| {
        let quantities = [Quantity::OpsAdd, Quantity::OpsSub, Quantity::OpsMul];
        let names = COMPARED.iter().map(|(thing, _)| format!("{layer}/{thing}"));
        let counts: Vec<Option<f64>> = names
            .flat_map(|name| quantities.map(|quantity| record.find(&name, quantity, None).map(|row| row.spread.median)))
            .collect();
        let is_counted = counts.iter().any(Option::is_some);
        let cells = counts.into_iter().map(|count| count.map_or(DASH.to_owned(), grouped));
        is_counted.then(|| [format!("`{layer}`")].into_iter().chain(cells).collect::<Vec<_>>())
    };
    markdown(&headings, layers(record).into_iter().filter_map(line))
}

fn markdown(headings: &[String], lines: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|---|{}\n", headings.join(" | "), "---:|".repeat(headings.len() - 1));
    for cells in lines {
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

fn two_decimals(value: Option<f64>) -> String {
    value.map_or(DASH.to_owned(), |value| format!("{value:.2}"))
}

/// A number without decimals, its thousands set apart.
fn grouped(value: f64) -> String {
    crate::render::figures::shown(value.round())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RecordRow;
    use crate::record::date::Date;
    use crate::record::environment::Environment;

    #[test]
    fn the_page_is_what_the_record_says() {
        let page = residue_pages::read("docs/baselines.md");
        let records = Records::read(&residue_pages::path("records")).unwrap();
        let made = page_with_tables(&page, &records).unwrap();
        assert_eq!(page, made, "`residue lab baselines --page docs/baselines.md` makes its tables anew");
    }

    #[test]
    fn tables_have_a_line_for_each_subject_and_dashes_where_nothing_was_measured() {
        let mut records = Records::default();
        assert!(tables(&records).unwrap_err().to_string().contains("no record of comparison"));
        records.add(Record {
            group: "comparison".to_owned(),
            date: Date::after_epoch(0),
            environment: Environment::default(),
            rows: vec![
                RecordRow::new("blst/pairing/2", Quantity::Time, &[1e6]),
                RecordRow::new("x:plain/pairing/2", Quantity::Time, &[2e6]),
                RecordRow::ratio("x:plain/pairing/2", Quantity::Time, &[2e6], ("blst/pairing/2", &[1e6])),
                RecordRow::exact("x:plain/pairing/2", Quantity::Gas, 133_315.0),
                RecordRow::exact("x:plain/pairing/2", Quantity::OpsMul, 22_119.0),
            ],
        });
        let text = tables(&records).unwrap();
        assert!(text.contains("| `x:plain` | 2 000 | 2.00 | 133 315 | – | – | – | – | – | – | – |\n"), "{text}");
        assert!(text.contains("| `x:plain` | – | – | 22 119 | – | – | – | – | – | – |\n"), "{text}");
        assert_eq!(text.matches("`blst`").count(), 1);
        assert!(page_with_tables("nothing", &records).is_err());
    }
}
