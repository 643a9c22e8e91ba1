//! The records that figures are made of: the newest of each group.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::LabError;
use crate::record::{Quantity, Record};

/// At most one record of each group.
#[derive(Debug, Clone, Default)]
pub struct Records {
    by_group: BTreeMap<String, Record>,
}

impl Records {
    /// The newest record of each group in a directory, or below it in the directories of machines. With several machines,
    /// those of the machine that has the most groups that figures show, since times of different machines do not go together.
    pub fn read(directory: &Path) -> Result<Self, LabError> {
        let mut machines: BTreeMap<String, Self> = BTreeMap::new();
        for path in csv_files(directory)? {
            let record = Record::read(&path)?;
            let machine = record.environment.get("machine").unwrap_or("unknown machine").to_owned();
            machines.entry(machine).or_default().add(record);
        }
        Ok(machines.into_values().max_by_key(Self::shown).unwrap_or_default())
    }

    /// The newest record of a group in a directory, or below it in that of any machine: for a page of one record.
    pub fn newest(directory: &Path, group: &'static str) -> Result<Record, LabError> {
        let records = csv_files(directory)?.iter().map(|path| Record::read(path)).collect::<Result<Vec<_>, _>>()?;
        let of_group = records.into_iter().filter(|record| record.group == group);
        of_group.max_by_key(|record| record.date.to_string()).ok_or(LabError::NoRecord { group })
    }

    /// Number of its groups that figures show.
    fn shown(&self) -> usize {
        use crate::bench::{bn254, evidence, goals, libraries, operations, today};
        let of_pages =
            [bn254::GROUP, evidence::GROUP, goals::GROUP, libraries::GROUP, operations::ELEMENTS, today::GROUP];
        let is_of_page = |group: &str| group == crate::design::GROUP || of_pages.iter().any(|page| page.name == group);
        let is_shown = |group: &str| !crate::attack::GROUPS.contains(&group) && !is_of_page(group);
        self.by_group.keys().filter(|group| is_shown(group)).count()
    }

    /// Adds a record, unless there is a newer one of its group.
    pub fn add(&mut self, record: Record) {
        match self.by_group.get(&record.group) {
            Some(known) if known.date > record.date => {}
            _ => {
                self.by_group.insert(record.group.clone(), record);
            }
        }
    }

    /// The record of a group.
    pub fn group(&self, group: &str) -> Option<&Record> {
        self.by_group.get(group)
    }

    /// All records.
    pub fn all(&self) -> impl Iterator<Item = &Record> {
        self.by_group.values()
    }

    /// The median of a row, in the unit of its quantity.
    pub fn value(&self, group: &str, name: &str, quantity: Quantity) -> Option<f64> {
        self.group(group)?.find(name, quantity, None).map(|row| row.spread.median)
    }

    /// Citations of groups for a figure: machine and date, or in the second list that the group is missing and the
    /// command that makes it.
    pub(super) fn cite(&self, groups: &[&str]) -> (Vec<String>, Vec<String>) {
        let (mut ours, mut missing) = (Vec::new(), Vec::new());
        for &group in groups {
            match self.group(group) {
                Some(record) => {
                    let of = |name| record.environment.get(name).unwrap_or("unknown");
                    ours.push(format!(
                        "{group}: {} ({}), {}, {}",
                        of("cpu"),
                        of("machine"),
                        of("clock measured"),
                        record.date
                    ));
                }
                None => missing.push(format!("there is no record of {group}; {} makes one", maker(group))),
            }
        }
        (ours, missing)
    }
}

/// The command that makes a record of a group.
fn maker(group: &str) -> String {
    match group {
        crate::opcodes::GROUP => "`residue lab measure --record records`".to_owned(),
        crate::programs::GROUP => "`residue lab figures --record records`".to_owned(),
        crate::attack::GROUP => "`residue lab attack --record records`".to_owned(),
        _ => format!("`residue bench {group} --record records`"),
    }
}

fn csv_files(directory: &Path) -> Result<Vec<PathBuf>, LabError> {
    let list = |directory: &Path| -> Result<Vec<PathBuf>, LabError> {
        let failed = |error| LabError::Io { path: directory.to_owned(), error };
        let entries = fs::read_dir(directory).map_err(failed)?;
        entries.map(|entry| Ok(entry.map_err(failed)?.path())).collect()
    };
    let mut files = Vec::new();
    for path in list(directory)? {
        files.extend(if path.is_dir() { list(&path)? } else { vec![path] });
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "csv"));
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RecordRow;
    use crate::record::environment::Environment;

    #[test]
    fn the_newest_record_of_a_group_counts() {
        let record = |date: &str, value| Record {
            group: "pairing".to_owned(),
            date: date.parse().unwrap(),
            environment: Environment::default(),
            rows: vec![RecordRow::exact("a/b/1", Quantity::Gas, value)],
        };
        let mut records = Records::default();
        for (date, value) in [("2026-11-20", 1.0), ("2026-11-22", 2.0), ("2026-11-21", 3.0)] {
            records.add(record(date, value));
        }
        assert_eq!(records.value("pairing", "a/b/1", Quantity::Gas), Some(2.0));
        assert_eq!(records.cite(&["pairing", "opcodes"]).1.len(), 1);
        assert!(Records::read(Path::new("no/such/directory")).is_err());
    }
}
