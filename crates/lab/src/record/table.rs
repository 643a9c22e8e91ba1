//! A record arranged for people: one line for each thing measured, one column for each question asked of it.

use crate::record::{Quantity, Record, RecordRow};

/// A question asked of everything that a group measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Above the column.
    pub heading: &'static str,
    /// The quantity.
    pub quantity: Quantity,
    /// For a ratio, the layers to compare with, of which a thing has at most one; empty otherwise.
    pub baseline_layers: &'static [&'static str],
    /// Format of its values.
    pub shown: Shown,
}

/// Format of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// With one decimal, and the quartiles after it.
    Nanoseconds,
    /// In thousands with one decimal, and the quartiles after it.
    Microseconds,
    /// With two decimals, and the quartiles after it.
    Ratio,
    /// As a whole number.
    Whole,
    /// With one decimal.
    OneDecimal,
    /// With two decimals, and the quartiles after it, without being a ratio between rows.
    TwoDecimals,
}

/// Text in lines of equally many cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// One heading for each column; the first is over the names.
    pub headings: Vec<String>,
    /// The cells; empty where nothing was measured.
    pub lines: Vec<Vec<String>>,
}

impl Column {
    /// A measured time of the order of nanoseconds.
    pub const fn nanoseconds(heading: &'static str, quantity: Quantity) -> Self {
        Self { heading, quantity, baseline_layers: &[], shown: Shown::Nanoseconds }
    }

    /// A measured time, longer.
    pub const fn microseconds(heading: &'static str, quantity: Quantity) -> Self {
        Self { heading, quantity, baseline_layers: &[], shown: Shown::Microseconds }
    }

    /// A ratio to one of these layers.
    pub const fn ratio(heading: &'static str, quantity: Quantity, layers: &'static [&'static str]) -> Self {
        Self { heading, quantity, baseline_layers: layers, shown: Shown::Ratio }
    }

    /// A whole number.
    pub const fn whole(heading: &'static str, quantity: Quantity) -> Self {
        Self { heading, quantity, baseline_layers: &[], shown: Shown::Whole }
    }

    /// A number that may be a fraction.
    pub const fn one_decimal(heading: &'static str, quantity: Quantity) -> Self {
        Self { heading, quantity, baseline_layers: &[], shown: Shown::OneDecimal }
    }

    /// A measured number of the order of one.
    pub const fn two_decimals(heading: &'static str, quantity: Quantity) -> Self {
        Self { heading, quantity, baseline_layers: &[], shown: Shown::TwoDecimals }
    }

    /// The answer to the question for a thing.
    fn find<'a>(&self, record: &'a Record, name: &str) -> Option<&'a RecordRow> {
        if self.baseline_layers.is_empty() {
            return record.find(name, self.quantity, None);
        }
        self.baseline_layers.iter().find_map(|layer| record.find(name, self.quantity, Some(layer)))
    }

    fn cell(&self, row: &RecordRow) -> String {
        let [median, below, above] = [row.spread.median, row.spread.quartile_1, row.spread.quartile_3];
        match self.shown {
            Shown::Nanoseconds => format!("{median:.1} [{below:.1} {above:.1}]"),
            Shown::Microseconds => {
                format!("{:.1} [{:.1} {:.1}]", median / 1000.0, below / 1000.0, above / 1000.0)
            }
            Shown::Ratio | Shown::TwoDecimals => format!("{median:.2} [{below:.2} {above:.2}]"),
            Shown::Whole => format!("{median:.0}"),
            Shown::OneDecimal => format!("{median:.1}"),
        }
    }
}

impl Table {
    /// Arranges a record by these columns; names come in the order of its rows. Columns without any value are left out.
    pub fn of(record: &Record, columns: &[Column]) -> Self {
        let mut names: Vec<&str> = Vec::new();
        for row in &record.rows {
            if !names.contains(&row.name.as_str()) {
                names.push(&row.name);
            }
        }
        let asked = columns.iter().filter(|column| names.iter().any(|name| column.find(record, name).is_some()));
        let asked: Vec<&Column> = asked.collect();
        let line = |name: &&str| {
            let cell = |column: &&Column| column.find(record, name).map(|row| column.cell(row)).unwrap_or_default();
            [(*name).to_owned()].into_iter().chain(asked.iter().map(cell)).collect()
        };
        let headings = ["name"].into_iter().chain(asked.iter().map(|column| column.heading));
        Self { headings: headings.map(str::to_owned).collect(), lines: names.iter().map(line).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::date::Date;
    use crate::record::environment::Environment;

    #[test]
    fn a_table_has_a_line_for_each_name_and_the_columns_that_have_values() {
        let record = Record {
            group: "pairing".to_owned(),
            date: Date::after_epoch(0),
            environment: Environment::default(),
            rows: vec![
                RecordRow::new("a/pairing/2", Quantity::Time, &[1500.0, 1700.0, 1600.0]),
                RecordRow::ratio("a/pairing/2", Quantity::Time, &[1500.0], ("b/pairing/2", &[1000.0])),
                RecordRow::new("b/pairing/2", Quantity::Time, &[1000.0]),
                RecordRow::exact("b/pairing/2", Quantity::Gas, 102_900.0),
            ],
        };
        let columns = [
            Column::microseconds("µs", Quantity::Time),
            Column::ratio("/ b or c", Quantity::Time, &["c", "b"]),
            Column::microseconds("cold µs", Quantity::Cold),
            Column::whole("gas", Quantity::Gas),
        ];
        let table = Table::of(&record, &columns);
        assert_eq!(table.headings, ["name", "µs", "/ b or c", "gas"]);
        let lines =
            [["a/pairing/2", "1.6 [1.6 1.6]", "1.50 [1.50 1.50]", ""], ["b/pairing/2", "1.0 [1.0 1.0]", "", "102900"]];
        assert_eq!(table.lines, lines);
    }
}
