//! The places of a transition's output: files, standard output or standard error.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

/// The place of one part.
#[derive(Debug, PartialEq, Eq)]
enum To {
    Stdout,
    Stderr,
    File(PathBuf),
}

/// The places of the parts, by name.
#[derive(Debug)]
pub struct Outputs {
    folder: PathBuf,
    /// Files that are read, by the names of the options that name them.
    read: Vec<(String, PathBuf)>,
    parts: Vec<(&'static str, To)>,
}

impl Outputs {
    /// Nothing yet. `read`: files that are read, by what they hold.
    pub fn new<'a>(folder: &Path, read: impl Iterator<Item = (&'a str, &'a Path)>) -> Self {
        // A file that is not there is not written over; reading it says so.
        let read = read.filter_map(|(name, path)| Some((format!("--input.{name}"), fs::canonicalize(path).ok()?)));
        Self { folder: folder.to_owned(), read: read.collect(), parts: Vec::new() }
    }

    /// Adds a part, which goes where `named` says, else where `default` does, else nowhere. A file that is read is written over only where it
    /// is named, and no two parts go to one file.
    pub fn add(&mut self, name: &'static str, named: Option<&str>, default: Option<&str>) -> Result<()> {
        let Some(to) = named.or(default).filter(|to| !to.is_empty()) else { return Ok(()) };
        let to = match to {
            "stdout" => To::Stdout,
            "stderr" => To::Stderr,
            file => To::File(self.folder.join(file)),
        };
        if let To::File(path) = &to {
            let place = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
            if let (None, Some((input, _))) = (named, self.read.iter().find(|(_, read)| *read == place)) {
                bail!(
                    "--output.{name} would write over {}, the file of {input}: name another file, or this one to replace it",
                    path.display()
                );
            }
            if let Some((other, _)) = self.parts.iter().find(|(_, other)| *other == to) {
                bail!("--output.{name} and --output.{other} are both {}", path.display());
            }
        }
        self.parts.push((name, to));
        Ok(())
    }

    /// Writes the parts: files as wholes, then one object with all that goes to standard output.
    pub fn put(&self, part: impl Fn(&str) -> Value) -> Result<()> {
        let [mut printed, mut told] = [Map::new(), Map::new()];
        let mut files = Vec::new();
        for (name, to) in &self.parts {
            let value = part(name);
            match to {
                To::Stdout => drop(printed.insert((*name).to_owned(), value)),
                To::Stderr => drop(told.insert((*name).to_owned(), value)),
                To::File(path) => files.push((path, format!("{value:#}"))),
            }
        }
        for (path, text) in files {
            let writing = || format!("writing {}", path.display());
            path.parent()
                .map_or(Ok(()), fs::create_dir_all)
                .and_then(|()| replace(path, &text))
                .with_context(writing)?;
        }
        for (mut stream, object, name) in [
            (Box::new(io::stdout()) as Box<dyn Write>, printed, "stdout"),
            (Box::new(io::stderr()) as Box<dyn Write>, told, "stderr"),
        ] {
            if object.is_empty() {
                continue;
            }
            let written = writeln!(stream, "{:#}", Value::Object(object)).and_then(|()| stream.flush());
            match written {
                // A reader that has gone away has seen what it wanted.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
                other => other.with_context(|| format!("writing to {name}"))?,
            }
        }
        Ok(())
    }
}

/// Writes a file as a whole: a regular one keeps what it holds until the new text is on the disk beside it.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = match fs::metadata(path) {
        Ok(found) if found.is_file() => fs::canonicalize(path)?,
        Ok(_) => return fs::write(path, text),
        Err(_) => path.to_owned(),
    };
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.partial", std::process::id()));
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        // The error to report is the first one.
        let _ = fs::remove_file(&beside);
    }
    written
}
