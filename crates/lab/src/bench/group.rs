//! A group of measurements makes the rows of a record; running it adds date and environment.

use residue_workbench::harness::on_one_core;

use crate::bench::effort::{Effort, Observer};
use crate::bench::subjects::stands_for;
use crate::error::LabError;
use crate::record::clock::clock_ghz;
use crate::record::date::Date;
use crate::record::environment::Environment;
use crate::record::table::{Column, Table};
use crate::record::{Record, RecordRow};
use residue_workbench::Machine;

/// Measurements that belong together.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    /// Its name, as commands take it.
    pub name: &'static str,
    /// One line: what it measures.
    pub summary: &'static str,
    /// Columns of its table.
    pub columns: &'static [Column],
    /// The libraries that it would measure and that are not there, each with the reason.
    pub missing: fn(&Effort) -> Vec<String>,
    /// Measures.
    pub measure: fn(&Effort, &mut Observer<'_>) -> Result<Vec<RecordRow>, LabError>,
}

/// Measures on one core of this machine: the rows of a record.
pub fn record_of(
    name: &str,
    measure: impl FnOnce() -> Result<Vec<RecordRow>, LabError> + Send,
) -> Result<Record, LabError> {
    let machine = Machine::this();
    on_one_core(|core| {
        let rows = measure()?;
        let environment = Environment::of(&machine, clock_ghz(), core);
        Ok(Record { group: name.to_owned(), date: Date::today(), environment, rows })
    })
}

/// Of a group that measures no library which may not be there.
pub(crate) fn none_missing(_: &Effort) -> Vec<String> {
    Vec::new()
}

impl Group {
    /// Measures on one core of this machine, and tells `observer` how far it is.
    pub fn run(&self, effort: &Effort, observer: &mut Observer<'_>) -> Result<Record, LabError> {
        let mut record = record_of(self.name, || (self.measure)(effort, observer))?;
        record.rows.retain(|row| effort.subjects.include(row.layer()));
        let missing = self.not_measured(effort, &record.rows);
        if !missing.is_empty() {
            record.environment.set("missing", &missing.join("; "));
        }
        Ok(record)
    }

    /// Subjects that were not measured, each with the reason: libraries that are missing, and named subjects that have
    /// no measurement in this group.
    fn not_measured(&self, effort: &Effort, rows: &[RecordRow]) -> Vec<String> {
        let mut missing = (self.missing)(effort);
        for name in effort.subjects.chosen() {
            let is_known = missing.iter().any(|known| known.starts_with(&format!("{name} (")));
            if !is_known && !rows.iter().any(|row| stands_for(&name, row.layer())) {
                missing.push(format!("{name} ({} has no measurement of it)", self.name));
            }
        }
        if rows.is_empty() && missing.is_empty() {
            missing.push("everything (this system does not tell what is to be measured)".to_owned());
        }
        missing
    }

    /// A record of this group for people.
    pub fn table(&self, record: &Record) -> Table {
        Table::of(record, self.columns)
    }
}
