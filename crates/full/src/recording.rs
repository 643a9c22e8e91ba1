//! Frame of a measurement, shared by all commands: a warning, a progress bar, a record, and a verdict if an answer was
//! wrong.

use std::path::{Path, PathBuf};

use anyhow::Result;
use indicatif::ProgressBar;
use residue_lab::record::environment::commit_around;
use residue_lab::{LabError, Progress, Record};
use serde_json::json;

use residue_command::{output, waiting};

/// Folder for the records of a command, if any.
pub struct Recording<'a> {
    directory: Option<&'a Path>,
    /// Known before anything is written into the checkout.
    commit: Option<String>,
}

impl<'a> Recording<'a> {
    /// Before the first measurement. Says so where times are not those of a release.
    pub fn new(directory: Option<&'a Path>) -> Self {
        if cfg!(debug_assertions) {
            output::message("warning", "this is no release build: its times say little");
        }
        Self { directory, commit: directory.and_then(commit_around) }
    }

    /// Measures with a progress bar of this name. Nothing if a subject answered wrongly, which is said then.
    pub fn measure<T>(
        &self,
        name: &'static str,
        json: bool,
        measure: impl FnOnce(&mut (dyn FnMut(Progress<'_>) + Send)) -> Result<T, LabError>,
    ) -> Result<Option<T>> {
        // It is drawn between rounds, not while something is timed.
        let bar = waiting::bar(0, "{prefix}: {msg:<12} {wide_bar} {pos}/{len}").with_prefix(name);
        let measured = measure(&mut |progress| show(&bar, progress));
        bar.finish_and_clear();
        match measured {
            Ok(measured) => Ok(Some(measured)),
            Err(error @ (LabError::WrongAnswer { .. } | LabError::Halted { .. })) => {
                output::message("error", &error.to_string());
                if json {
                    output::json(&json!({ "error": error.to_string() }))?;
                }
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Notes the commit, writes the record if there is a place for it, and says so.
    pub fn keep(&self, record: &mut Record) -> Result<()> {
        if let Some(path) = self.write(record)? {
            output::message("note", &format!("recorded in {}", path.display()));
        }
        Ok(())
    }

    /// The same in silence: where it is written, if anywhere.
    pub fn write(&self, record: &mut Record) -> Result<Option<PathBuf>> {
        if let Some(commit) = &self.commit {
            record.environment.set("commit", commit);
        }
        Ok(self.directory.map(|directory| record.write(directory)).transpose()?)
    }
}

fn show(bar: &ProgressBar, progress: Progress<'_>) {
    bar.set_message(progress.step.to_owned());
    bar.set_length(progress.total as u64); // Widens.
    bar.set_position(progress.done as u64); // Widens.
}
