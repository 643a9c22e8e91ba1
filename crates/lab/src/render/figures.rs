//! `lab figures`: every published table and figure again, ours beside the published values, the difference explained.
//!
//! Figures are made of records alone. What no record has is said, in the place where it would stand.

mod costs;
mod growth;
mod interfaces;
mod opcodes;
mod programs;
mod records;
mod ways;

pub use records::Records;

use serde_json::{Value, json};

use crate::record::table::Table;
use crate::render::svg::bars::Chart;

/// One table with its drawing.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Short name, fit for a file.
    pub id: &'static str,
    /// Title.
    pub title: &'static str,
    /// The document that it is from, with the place.
    pub source: String,
    /// Why ours differ from the published values.
    pub explanation: String,
    /// The records that ours are of.
    pub ours: Vec<String>,
    /// Missing records; empty if all are there.
    pub missing: Vec<String>,
    /// The values.
    pub table: Table,
    /// The same, drawn.
    pub chart: Option<Chart>,
}

impl Figure {
    /// The JSON object, without the drawing.
    pub fn to_json(&self) -> Value {
        json!({
            "id": self.id,
            "title": self.title,
            "source": self.source,
            "explanation": self.explanation,
            "ours": self.ours,
            "missing": self.missing,
            "headings": self.table.headings,
            "lines": self.table.lines,
        })
    }
}

/// Every figure.
pub fn figures(records: &Records) -> Vec<Figure> {
    let mut figures = vec![
        costs::prices(records),
        programs::counts(records),
        programs::products(records),
        costs::gas(records),
        costs::options(records),
        ways::ways(records),
        opcodes::runtimes(records),
        opcodes::widths(records),
        interfaces::interfaces(records),
        interfaces::calls(records),
        interfaces::engines(records),
        programs::multiplications(records),
        programs::against(records),
    ];
    figures.extend(opcodes::attack(records));
    figures.extend(growth::all(records));
    figures
}

/// A table of these columns.
fn table(headings: &[&str]) -> Table {
    Table { headings: headings.iter().map(|heading| (*heading).to_owned()).collect(), lines: Vec::new() }
}

/// A number with its thousands set apart, and as many decimals as tell something.
pub(crate) fn shown(value: f64) -> String {
    let value = value + 0.0; // A zero without sign: sums of nothing have one.
    if value.abs() < 100.0 {
        let text = format!("{value:.2}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    let digits = format!("{value:.0}");
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |digits| ("-", digits));
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}")
}

/// The number, or a dash where there is none.
fn or_dash(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), shown)
}

/// Our value as a multiple of the published one.
fn ratio(ours: Option<f64>, published: f64) -> String {
    ours.filter(|_| published > 0.0).map_or("–".to_owned(), |ours| format!("{:.2}", ours / published))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_with_the_decimals_that_tell_something() {
        assert_eq!([0.5, 3.0, 99.999, 1_234_567.4, -1234.0].map(shown), ["0.5", "3", "100", "1 234 567", "-1 234"]);
        assert_eq!((or_dash(None), shown(-0.0)), ("–".to_owned(), "0".to_owned()));
        assert_eq!(ratio(Some(3.0), 2.0), "1.50");
    }

    /// A number stands in a cell by itself or in a text, its thousands set apart or not.
    #[test]
    fn every_published_table_is_shown_with_all_its_values_and_its_source() {
        let figures = figures(&Records::default());
        for published in crate::published::TABLES {
            let figure = figures.iter().find(|figure| figure.id == published.figure).unwrap();
            assert!(figure.explanation.len() > 40, "{} explains nothing", figure.id);
            let cells = figure.table.lines.iter().flatten().flat_map(|cell| {
                let whole = cell.replace([' ', ','], "");
                let parts = cell.replace(',', "").replace(|c: char| !c.is_ascii_digit() && c != '.', " ");
                let parts = parts.split_whitespace().map(|part| part.trim_end_matches('.').to_owned());
                parts.chain([whole]).collect::<Vec<_>>()
            });
            let cells: Vec<String> = cells.collect();
            for value in (published.values)() {
                let texts = [shown(value).replace(' ', ""), value.to_string()];
                let is_shown = texts.iter().any(|text| cells.contains(text));
                assert!(is_shown, "{} does not show {value} of {}", figure.id, published.source);
            }
        }
    }

    #[test]
    fn without_records_every_figure_still_has_the_published_values_and_says_what_is_missing() {
        let figures = figures(&Records::default());
        assert!(figures.len() >= 11);
        for figure in &figures {
            assert!(!figure.table.lines.is_empty(), "{}", figure.id);
            assert!(!figure.missing.is_empty(), "{} says nothing of what is missing", figure.id);
            assert!(figure.table.lines.iter().all(|line| line.len() == figure.table.headings.len()), "{}", figure.id);
        }
        for (index, figure) in figures.iter().enumerate() {
            assert_eq!(figures.iter().position(|other| other.id == figure.id), Some(index));
        }
    }
}
