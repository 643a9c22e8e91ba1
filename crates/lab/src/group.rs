//! Groups: what can be measured, a table. A group makes the rows of a record; running it adds date and environment.

use residue_workbench::harness::on_one_core;

use crate::clock::clock_ghz;
use crate::date::Date;
use crate::environment::Environment;
use crate::error::LabError;
use crate::machine::Machine;
use crate::operations::{contract, outside};
use crate::record::{Record, Row};
use crate::scaling::Sizes;
use crate::subjects::{Subjects, stands_for};
use crate::table::{Column, Table};
use crate::{comparison, eip2537, go, instructions, lanes, memory, operations, pairing, scaling};

/// Measurements that belong together.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    /// Its name, as commands take it.
    pub name: &'static str,
    /// One line: what it measures.
    pub summary: &'static str,
    /// What people ask of its record.
    pub columns: &'static [Column],
    /// Whether it measures every library there is, so that one that is not there is missing.
    pub compares_libraries: bool,
    /// Measures.
    pub measure: fn(&Effort, &mut Observer<'_>) -> Result<Vec<Row>, LabError>,
}

/// Every group.
pub const GROUPS: &[Group] = &[
    instructions::GROUP,
    lanes::GROUP,
    pairing::GROUP,
    eip2537::GROUP,
    operations::GROUP,
    comparison::GROUP,
    scaling::GROUP,
    memory::GROUP,
];

/// How much is done for the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Rounds of each measurement.
    pub rounds: usize,
    /// Turns of the loop around field instructions.
    pub turns: usize,
    /// Numbers of pairs that the pairing check is measured with.
    pub pairs: &'static [usize],
    /// Numbers of points that sums of multiples are measured with.
    pub points: &'static [usize],
    /// Sizes that growth is measured with.
    pub sizes: &'static Sizes,
    /// First executions that are measured.
    pub cold_starts: usize,
    /// Who is measured.
    pub subjects: Subjects,
}

/// How far a measurement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// What is being done.
    pub step: &'a str,
    /// Parts of the step that are done.
    pub done: usize,
    /// Parts of the step.
    pub total: usize,
}

/// Is told how far a measurement is, between the parts that are timed.
pub type Observer<'a> = dyn FnMut(Progress<'_>) + Send + 'a;

impl Effort {
    /// For records.
    pub const FULL: Self = Self {
        rounds: 101,
        turns: 100,
        pairs: &[1, 2, 4, 8, 16],
        points: &[1, 2, 4, 8, 16, 32, 64, 128],
        sizes: &Sizes::FULL,
        cold_starts: 15,
        subjects: Subjects::ALL,
    };
    /// Seconds, for a first impression.
    pub const QUICK: Self = Self {
        rounds: 15,
        turns: 30,
        pairs: &[1, 2],
        points: &[2, 16],
        sizes: &Sizes::QUICK,
        cold_starts: 3,
        subjects: Subjects::ALL,
    };
    /// Everything once or twice, for tests: the numbers are worth nothing, the answers are checked all the same.
    pub const SMOKE: Self = Self {
        rounds: 2,
        turns: 2,
        pairs: &[2],
        points: &[2],
        sizes: &Sizes::SMOKE,
        cold_starts: 1,
        subjects: Subjects::ALL,
    };
}

/// The group of a name.
pub fn find(name: &str) -> Option<&'static Group> {
    GROUPS.iter().find(|group| group.name == name)
}

/// Measures on one core of this machine: the rows of a record.
pub fn record_of(name: &str, measure: impl FnOnce() -> Result<Vec<Row>, LabError> + Send) -> Result<Record, LabError> {
    let machine = Machine::this();
    on_one_core(|core| {
        let rows = measure()?;
        let environment = Environment::of(&machine, clock_ghz(), core);
        Ok(Record { group: name.to_owned(), date: Date::today(), environment, rows })
    })
}

impl Group {
    /// Measures on one core of this machine, and tells `observer` how far it is.
    pub fn run(&self, effort: &Effort, observer: &mut Observer<'_>) -> Result<Record, LabError> {
        let mut record = record_of(self.name, || (self.measure)(effort, observer))?;
        record.rows.retain(|row| effort.subjects.include(row.layer()));
        let missing = self.missing(effort, &record.rows);
        if !missing.is_empty() {
            record.environment.set("missing", &missing.join("; "));
        }
        Ok(record)
    }

    /// Who should have been measured and was not, each with the reason: libraries that are not there, and subjects that were
    /// named and have no measurement in this group.
    fn missing(&self, effort: &Effort, rows: &[Row]) -> Vec<String> {
        let mut missing = if self.compares_libraries {
            [go::missing(effort), contract::missing(effort), outside::missing(effort)].concat()
        } else {
            Vec::new()
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_different_names_that_fit_into_paths() {
        for (index, group) in GROUPS.iter().enumerate() {
            assert_eq!(GROUPS.iter().position(|other| other.name == group.name), Some(index));
            assert!(group.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
            assert_eq!(find(group.name).map(|found| found.summary), Some(group.summary));
        }
    }
}
