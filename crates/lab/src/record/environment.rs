//! Origin of a record's numbers: machine, clock, system, compiler, libraries, commit.

use std::fs;
use std::path::Path;
use std::process::Command;

use residue_workbench::Machine;

/// Names with what they are here, in the order of a record's header. One line each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Environment {
    entries: Vec<(String, String)>,
}

impl Environment {
    /// This machine at this clock, and what this program was built of.
    pub fn of(machine: &Machine, clock_ghz: f64, core: Option<usize>) -> Self {
        let mut environment = Self::default();
        let version = env!("CARGO_PKG_VERSION");
        for (name, value) in [
            ("machine", machine.slug()),
            ("cpu", machine.cpu.clone()),
            ("features", machine.features.join(" ")),
            ("cores", machine.cores.to_string()),
            ("pinned to core", core.map_or("none".to_owned(), |core| core.to_string())),
            ("clock measured", format!("{clock_ghz:.2} GHz")),
            ("system", machine.system.clone()),
            ("kernel", fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_else(|_| "unknown".to_owned())),
            ("rustc", env!("LAB_RUSTC").to_owned()),
            ("profile", if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned()),
            ("residue", version.to_owned()),
            ("blst", env!("LAB_BLST").to_owned()),
            ("revm", env!("LAB_REVM").to_owned()),
        ] {
            environment.set(name, &value);
        }
        environment
    }

    /// Adds an entry or replaces it. Colons of the name and line breaks of either become spaces.
    pub fn set(&mut self, name: &str, value: &str) {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (name, value) = (one_line(&name.replace(':', " ")), one_line(value));
        match self.entries.iter_mut().find(|(known, _)| *known == name) {
            Some(entry) => entry.1 = value,
            None => self.entries.push((name, value)),
        }
    }

    /// Value of a key.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.entries.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All entries in order.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// The commit that is checked out around `directory` (which need not exist yet), with `+changes` after it if files
/// differ from it. None outside of a checkout and without git.
pub fn commit_around(directory: &Path) -> Option<String> {
    let directory = directory.ancestors().find(|directory| directory.is_dir()).unwrap_or(Path::new("."));
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(directory).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changes.is_empty() { commit } else { format!("{commit}+changes") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_names_what_was_measured_with() {
        let environment = Environment::of(&Machine::this(), 3.0, Some(1));
        assert_eq!(environment.get("clock measured"), Some("3.00 GHz"));
        assert_eq!(environment.get("pinned to core"), Some("1"));
        for name in ["rustc", "blst", "revm"] {
            assert!(environment.get(name).is_some_and(|value| value.contains('.')), "{name}: {environment:?}");
        }
    }

    #[test]
    fn a_commit_is_found_from_directories_that_do_not_exist_yet() {
        assert_eq!(commit_around(Path::new("not/there")), commit_around(Path::new(".")));
    }

    #[test]
    fn an_entry_is_one_line_and_set_once() {
        let mut environment = Environment::default();
        environment.set("a: b", "c\n d");
        environment.set("a b", "e");
        assert_eq!(environment.entries().collect::<Vec<_>>(), [("a b", "e")]);
    }
}
