//! Summary of a run: counts by folder, fork and rules, and every entry that did not simply pass.

use std::collections::BTreeMap;
use std::path::PathBuf;

use residue_isa::Revision;

use crate::attribution::Use;
use crate::file::FileError;
use crate::fork_rules::age;
use crate::format::Indexes;
use crate::judge::{Failure, Judged, Verdict};

/// Summary of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// Files with state tests.
    pub files: u64,
    /// State tests, each with entries under several forks.
    pub tests: u64,
    /// All entries.
    pub total: Counts,
    /// Entries by the folder of their file.
    pub by_folder: BTreeMap<String, Counts>,
    /// Entries by fork, oldest first.
    pub by_fork: BTreeMap<ForkName, Counts>,
    /// Entries that failed.
    pub failed: Vec<(Place, Vec<Failure>)>,
    /// Entries that use opcodes of revisions and do something else under them.
    pub uses: Vec<(Place, Vec<(Revision, Use)>)>,
    /// Entries that were skipped, and why.
    pub skipped: Vec<(Place, String)>,
    /// Entries whose transaction was refused as expected: the exception expected, and why it was refused.
    pub refused: Vec<(Place, String, String)>,
    /// Entries that ran under one revision of each family only, for all that they execute.
    pub spared: Vec<Place>,
    /// Files of folders, or parts of files, that are no state tests, and what they are.
    pub others: Vec<(PathBuf, String)>,
    /// Files that cannot be read.
    pub unreadable: Vec<FileError>,
}

/// Entries by what they came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// As expected under all rules.
    pub passed: u64,
    /// As expected, but for revisions whose opcodes they use.
    pub uses: u64,
    /// Skipped.
    pub skipped: u64,
    /// Failed.
    pub failed: u64,
}

/// An opcode with its name; none for a jump.
pub type UsedOpcode = Option<(u8, &'static str)>;

/// The name of a fork, in the order of forks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForkName {
    age: usize,
    /// As test files have it.
    pub name: String,
}

/// An entry: where it stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Number of its file.
    pub(crate) file: usize,
    /// Number of its test in the file.
    pub(crate) position: usize,
    /// Its fork.
    pub fork: ForkName,
    /// Number of its entry under the fork.
    pub(crate) entry: usize,
    /// The variant of the transaction.
    pub indexes: Indexes,
    /// Its file.
    pub path: PathBuf,
    /// Its test.
    pub test: String,
}

impl Counts {
    /// Of all kinds.
    pub fn all(self) -> u64 {
        self.passed + self.uses + self.skipped + self.failed
    }

    fn count(&mut self, verdict: &Verdict) {
        *match verdict {
            Verdict::Passed { .. } => &mut self.passed,
            Verdict::Uses(_) => &mut self.uses,
            Verdict::Skipped(_) => &mut self.skipped,
            Verdict::Failed(_) => &mut self.failed,
        } += 1;
    }
}

impl ForkName {
    /// Of this name.
    pub fn new(name: &str) -> Self {
        Self { age: age(name), name: name.to_owned() }
    }
}

impl Report {
    /// Notes what an entry came to.
    pub(crate) fn note(&mut self, folder: &str, place: Place, exception: Option<String>, judged: Judged) {
        let Judged { verdict, is_spared } = judged;
        if is_spared {
            self.spared.push(place.clone());
        }
        self.total.count(&verdict);
        match self.by_folder.get_mut(folder) {
            Some(counts) => counts.count(&verdict),
            None => self.by_folder.entry(folder.to_owned()).or_default().count(&verdict),
        }
        self.by_fork.entry(place.fork.clone()).or_default().count(&verdict);
        match verdict {
            Verdict::Passed { refusal: Some(reason) } => {
                self.refused.push((place, exception.unwrap_or_default(), reason));
            }
            Verdict::Passed { refusal: None } => {}
            Verdict::Uses(uses) => self.uses.push((place, uses)),
            Verdict::Skipped(reason) => self.skipped.push((place, reason)),
            Verdict::Failed(failures) => self.failed.push((place, failures)),
        }
    }

    /// Puts everything in the order of the files, whoever was done first.
    pub(crate) fn sort(&mut self) {
        self.failed.sort_by(|a, b| a.0.cmp(&b.0));
        self.uses.sort_by(|a, b| a.0.cmp(&b.0));
        self.skipped.sort_by(|a, b| a.0.cmp(&b.0));
        self.refused.sort_by(|a, b| a.0.cmp(&b.0));
        self.spared.sort();
        self.others.sort();
        self.unreadable.sort_by(|a, b| a.path().cmp(b.path()));
    }

    /// Why entries were skipped, with how many, most of them first.
    pub fn skip_reasons(&self) -> Vec<(&str, u64)> {
        let mut counts = BTreeMap::new();
        for (_, reason) in &self.skipped {
            *counts.entry(reason.as_str()).or_default() += 1;
        }
        let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }

    /// Entries by the revision and the opcode that they use; jumps by none.
    pub fn uses_by_opcode(&self) -> BTreeMap<(Revision, UsedOpcode), u64> {
        let mut counts = BTreeMap::new();
        for (revision, used) in self.uses.iter().flat_map(|(_, uses)| uses) {
            let opcode = match used {
                Use::Executes { opcode, mnemonic, .. } => Some((*opcode, *mnemonic)),
                Use::Jumps { .. } => None,
            };
            *counts.entry((*revision, opcode)).or_default() += 1;
        }
        counts
    }
}
