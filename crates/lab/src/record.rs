//! Records of measurements: dated CSV files that name the machine.
//!
//! A record lies at `<directory>/<machine>/<date>-<group>.csv`. Lines that begin with `#` are its header, `name: value`;
//! then follow one line of column names and one line for each [`RecordRow`]. [`date`] and [`environment`] with the [`clock`] make its header;
//! [`table`] arranges it for people.

pub mod clock;
pub mod date;
pub mod environment;
mod file;
pub mod table;

use std::fmt;
use std::str::FromStr;

use residue_workbench::statistics::{Spread, median_interval, ratios, thousandths};
use serde::Serialize;
use serde_json::{Value, json};
use thiserror::Error;

use crate::record::date::Date;
use crate::record::environment::Environment;

/// A dated file of measurements with the machine that made them.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Name of the group that was measured.
    pub group: String,
    /// When, in UTC.
    pub date: Date,
    /// Machine, software and date.
    pub environment: Environment,
    /// The measurements.
    pub rows: Vec<RecordRow>,
}

/// One measurement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordRow {
    /// Name of the measured operation: `layer/operation/width`.
    pub name: String,
    /// Measured quantity.
    pub quantity: Quantity,
    /// If this is the ratio of the quantity to that of another row: the name of the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// The value, in the unit of the quantity, or without unit for a ratio.
    #[serde(flatten)]
    pub spread: Spread,
    /// The number of rounds that the spread is of.
    pub rounds: usize,
    /// Interval that contains the median with 95 % confidence; none in older records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
}

/// Quantity of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(into = "&'static str")]
pub enum Quantity {
    /// Time of one operation whose operand is the result of the one before.
    Latency,
    /// Time of one operation among independent ones.
    Throughput,
    /// Time of one warm execution.
    Time,
    /// Time of the first execution, with analysis of the code.
    Cold,
    /// Time of the first execution of a code that was planned ahead.
    Ahead,
    /// Gas.
    Gas,
    /// Gas of field arithmetic.
    GasArithmetic,
    /// Gas of moving data.
    GasTransfer,
    /// Gas of growing memory and slots.
    GasMemory,
    /// Gas of the rest.
    GasControl,
    /// Gas equivalent of [`Self::Time`] at the anchor of 10 ns per gas.
    GasByTime,
    /// Size of the code.
    CodeSize,
    /// Number of occurrences.
    Count,
    /// Time of the first execution for a gas.
    NsPerGas,
    /// Time from a module to an instance that can be called.
    StartUp,
    /// Additions of one run.
    OpsAdd,
    /// Subtractions of one run.
    OpsSub,
    /// Multiplications of one run.
    OpsMul,
    /// Time as a multiple of the synthetic loop's time.
    Adjustment,
    /// The most memory that a process had resident.
    PeakMemory,
    /// The same without what it had resident before the work.
    MemoryGrowth,
    /// Work per time as a multiple of the baseline's.
    Speedup,
    /// Time of planning one operation.
    Planning,
    /// Bytes of a plan for one operation.
    PlanMemory,
    /// Clock frequency as a multiple of the usual one.
    Clock,
    /// Gas where what has measured times costs what these are at the anchor of 10 ns per gas.
    GasMeasured,
}

/// Every quantity with its name and its unit.
const QUANTITIES: &[(Quantity, &str, &str)] = &[
    (Quantity::Latency, "latency", "ns"),
    (Quantity::Throughput, "throughput", "ns"),
    (Quantity::Time, "time", "ns"),
    (Quantity::Cold, "cold", "ns"),
    (Quantity::Ahead, "ahead", "ns"),
    (Quantity::Gas, "gas", "gas"),
    (Quantity::GasArithmetic, "gas-arithmetic", "gas"),
    (Quantity::GasTransfer, "gas-transfer", "gas"),
    (Quantity::GasMemory, "gas-memory", "gas"),
    (Quantity::GasControl, "gas-control", "gas"),
    (Quantity::GasByTime, "gas-by-time", "gas"),
    (Quantity::CodeSize, "code-size", "bytes"),
    (Quantity::Count, "count", "times"),
    (Quantity::NsPerGas, "ns-per-gas", "ns/gas"),
    (Quantity::StartUp, "start-up", "ns"),
    (Quantity::OpsAdd, "ops-add", "operations"),
    (Quantity::OpsSub, "ops-sub", "operations"),
    (Quantity::OpsMul, "ops-mul", "operations"),
    (Quantity::Adjustment, "adjustment", "synthetic loops"),
    (Quantity::PeakMemory, "peak-memory", "bytes"),
    (Quantity::MemoryGrowth, "memory-growth", "bytes"),
    (Quantity::Speedup, "speedup", "times"),
    (Quantity::Planning, "planning", "ns"),
    (Quantity::PlanMemory, "plan-memory", "bytes"),
    (Quantity::Clock, "clock", "times"),
    (Quantity::GasMeasured, "gas-measured", "gas"),
];

/// Faults in the text of a record.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RecordFault {
    /// The header does not say something that every record says.
    #[error("the header does not name its {0}")]
    Missing(&'static str),
    /// A value of the header is wrong.
    #[error("{0}")]
    Header(String),
    /// The line of column names is another one.
    #[error("the columns are {0:?}")]
    Columns(String),
    /// A row has another number of fields.
    #[error("a row has {expected} fields, not {found}")]
    Fields {
        /// Number of fields of the line.
        found: usize,
        /// Number of columns.
        expected: usize,
    },
    /// A field of a row is not what its column has.
    #[error("{value:?} is no {column}")]
    Value {
        /// The column.
        column: &'static str,
        /// The field.
        value: String,
    },
}

/// Text that names no quantity.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0:?} is no quantity of records")]
pub struct UnknownQuantity(pub String);

impl Quantity {
    /// As it is written in records.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The unit of its values: `ns`, `gas`, `bytes` and the like.
    pub fn unit(self) -> &'static str {
        self.row().2
    }

    fn row(self) -> &'static (Quantity, &'static str, &'static str) {
        QUANTITIES.iter().find(|row| row.0 == self).expect("the table has every quantity, which a test checks")
    }
}

impl RecordRow {
    /// A measured quantity.
    pub fn new(name: impl Into<String>, quantity: Quantity, samples: &[f64]) -> Self {
        let spread = Spread::of(samples).to_thousandths();
        let interval = Some(median_interval(samples).map(thousandths));
        Self { name: name.into(), quantity, baseline: None, spread, rounds: samples.len(), interval }
    }

    /// The ratio of a measured quantity to that of `baseline` in the same rounds.
    pub fn ratio(name: impl Into<String>, quantity: Quantity, samples: &[f64], baseline: (&str, &[f64])) -> Self {
        let spread = Spread::of_ratios(samples, baseline.1).to_thousandths();
        let interval = Some(median_interval(&ratios(samples, baseline.1)).map(thousandths));
        Self {
            name: name.into(),
            quantity,
            baseline: Some(baseline.0.to_owned()),
            spread,
            rounds: samples.len(),
            interval,
        }
    }

    /// A quantity that has one value only.
    pub fn exact(name: impl Into<String>, quantity: Quantity, value: f64) -> Self {
        let spread = Spread::exact(value).to_thousandths();
        Self { name: name.into(), quantity, baseline: None, spread, rounds: 1, interval: None }
    }

    /// The unit of the values; `ratio` for ratios.
    pub fn unit(&self) -> &'static str {
        if self.baseline.is_some() { "ratio" } else { self.quantity.unit() }
    }

    /// The layer that was measured.
    pub fn layer(&self) -> &str {
        layer_of(&self.name)
    }

    /// The layer that the baseline belongs to.
    pub fn baseline_layer(&self) -> Option<&str> {
        self.baseline.as_deref().map(layer_of)
    }
}

/// The layer in the name of a row.
pub(crate) fn layer_of(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}

impl Record {
    /// As JSON: `group`, `date`, `environment` by name, and `rows`.
    pub fn to_json(&self) -> Value {
        let environment: serde_json::Map<String, Value> =
            self.environment.entries().map(|(name, value)| (name.to_owned(), json!(value))).collect();
        json!({ "group": self.group, "date": self.date, "environment": environment, "rows": self.rows })
    }

    /// The row of a name, a quantity and a layer to compare with, if any.
    pub fn find(&self, name: &str, quantity: Quantity, baseline_layer: Option<&str>) -> Option<&RecordRow> {
        let mut rows = self.rows.iter();
        rows.find(|row| row.name == name && row.quantity == quantity && row.baseline_layer() == baseline_layer)
    }
}

impl From<Quantity> for &'static str {
    fn from(quantity: Quantity) -> Self {
        quantity.name()
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Quantity {
    type Err = UnknownQuantity;

    fn from_str(text: &str) -> Result<Self, UnknownQuantity> {
        let row = QUANTITIES.iter().find(|row| row.1 == text);
        row.map(|row| row.0).ok_or_else(|| UnknownQuantity(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_quantity_once_and_in_order() {
        for (index, &(quantity, name, _)) in QUANTITIES.iter().enumerate() {
            assert_eq!(quantity as usize, index);
            assert_eq!(name.parse(), Ok(quantity));
        }
        assert_eq!(QUANTITIES.len(), Quantity::GasMeasured as usize + 1);
        assert!("speed".parse::<Quantity>().is_err());
    }

    #[test]
    fn rows_are_found_and_json_names_their_parts() {
        let row = RecordRow::ratio("a/mul/384", Quantity::Latency, &[4.0, 6.0], ("b/mul/384", &[2.0, 3.0]));
        let record = Record {
            group: "instructions".to_owned(),
            date: Date::after_epoch(0),
            environment: Environment::default(),
            rows: vec![row.clone()],
        };
        assert_eq!(record.find("a/mul/384", Quantity::Latency, Some("b")), Some(&row));
        assert_eq!(record.find("a/mul/384", Quantity::Latency, None), None);
        assert_eq!(row.unit(), "ratio");
        let json = record.to_json();
        assert_eq!(json["date"], "1970-01-01");
        assert_eq!(json["rows"][0]["quantity"], "latency");
        assert_eq!(json["rows"][0]["baseline"], "b/mul/384");
        assert_eq!(json["rows"][0]["median"], 2.0);
    }
}
