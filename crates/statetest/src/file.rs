//! Reading a file: its tests, its other entries, or the place at which it cannot be read.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use thiserror::Error;

use residue_isa::text_of;

use crate::chain::ChainTest;
use crate::format::{Post, Unit};
use crate::json;
use crate::single::SingleTest;
use crate::sources::Source;
use crate::state::State;
use crate::transaction::check;

/// No file that is read may be larger: 1 GiB.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// A state test of a file.
#[derive(Debug)]
pub struct StateTest {
    /// The file.
    pub source: Arc<Source>,
    /// Its name there.
    pub name: String,
    /// Body of the test in the file.
    pub unit: Unit,
    /// The accounts before the transaction.
    pub state: State,
}

/// Content of a file.
#[derive(Debug, Default)]
pub struct Content {
    /// State tests, in the order of the file.
    pub tests: Vec<Arc<StateTest>>,
    /// Blockchain tests and transaction tests of field instructions.
    pub further: Vec<Arc<FurtherTest>>,
    /// Entries of other kinds, each with its kind.
    pub others: Vec<String>,
}

/// A test of another kind than state tests.
#[derive(Debug)]
pub enum FurtherTest {
    /// Of blocks.
    Chain(Box<ChainTest>),
    /// Of a transaction by itself.
    Single(SingleTest),
}

/// A file that cannot be read as what it should be.
#[derive(Debug, Error)]
pub enum FileError {
    /// Its bytes cannot be had.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is no text.
    #[error("{}: {message}", path.display())]
    NoText {
        /// The file.
        path: PathBuf,
        /// The reason.
        message: String,
    },
    /// It is too large.
    #[error("{} has more than {FILE_BYTES_MAX} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// It is no JSON, or a state test with a field that has no sense.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// Fault in the text.
        message: String,
    },
    /// It was named as one with state tests and has none.
    #[error("{} holds no state test: {what}", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// Kind of its content.
        what: String,
    },
}

/// The fields by which tests are told apart.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shape {
    transaction: Option<IgnoredAny>,
    post: Option<IgnoredAny>,
    expect: Option<IgnoredAny>,
    blocks: Option<IgnoredAny>,
    engine_new_payloads: Option<IgnoredAny>,
    result: Option<IgnoredAny>,
    txbytes: Option<IgnoredAny>,
    vectors: Option<IgnoredAny>,
    exec: Option<IgnoredAny>,
}

impl FileError {
    /// The file.
    pub fn path(&self) -> &Path {
        match self {
            Self::Unreadable { path, .. }
            | Self::TooLarge { path }
            | Self::NoText { path, .. }
            | Self::Malformed { path, .. }
            | Self::Other { path, .. } => path,
        }
    }
}

/// Reads a file.
pub fn read(source: &Arc<Source>) -> Result<Content, FileError> {
    parse(source, &text(&source.path)?)
}

/// The tests of a document, as they follow on each other there.
#[derive(Deserialize)]
struct Document<'a>(#[serde(borrow, deserialize_with = "json::unique")] Vec<(String, &'a RawValue)>);

/// Reads the text of a file: one document, and on standard input any number of them.
pub fn parse(source: &Arc<Source>, text: &str) -> Result<Content, FileError> {
    let path = &source.path;
    let mut content = Content::default();
    let mut entries: Vec<(usize, String, &RawValue)> = Vec::new();
    let documents = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    for (position, document) in documents.enumerate() {
        let raw = document.map_err(|error| malformed(path, text, 0, &error, None))?;
        let offset = offset_in(text, raw.get());
        if position > 0 && !source.is_standard_input() {
            let (line, column) = line_and_column(text, offset);
            let message = "a second document, which only standard input may have".to_owned();
            return Err(FileError::Malformed { path: path.clone(), line, column, message });
        }
        if !raw.get().starts_with('{') {
            content.others.push("it is no object of tests by name".to_owned());
            continue;
        }
        let Document(tests) =
            serde_json::from_str(raw.get()).map_err(|error| malformed(path, text, offset, &error, None))?;
        entries.extend(tests.into_iter().map(|(name, raw)| (offset_in(text, raw.get()), name, raw)));
    }
    if entries.is_empty() && content.others.is_empty() && text.trim().is_empty() {
        let message = "there is nothing".to_owned();
        return Err(FileError::Malformed { path: path.clone(), line: 1, column: 1, message });
    }
    for (offset, name, raw) in entries {
        if let Some(further) =
            further(source, &name, raw).map_err(|error| malformed(path, text, offset, &error, Some(&name)))?
        {
            content.further.push(Arc::new(further));
            continue;
        }
        if let Some(what) = other(raw) {
            content.others.push(format!("{name:?} is {what}"));
            continue;
        }
        let unit: Unit =
            serde_json::from_str(raw.get()).map_err(|error| malformed(path, text, offset, &error, Some(&name)))?;
        for (fork, position, post) in posts(&unit) {
            check(&unit.transaction, post.indexes).map_err(|error| {
                let (line, column) = line_and_column(text, offset);
                let message = format!("{error}, in entry {position} under {fork} of {name:?}");
                FileError::Malformed { path: path.clone(), line, column, message }
            })?;
        }
        let state = State::new(&unit.pre);
        content.tests.push(Arc::new(StateTest { source: Arc::clone(source), name, unit, state }));
    }
    let is_empty = content.tests.is_empty() && content.further.is_empty();
    if is_empty && content.others.is_empty() {
        content.others.push("it is an empty object".to_owned());
    }
    if source.is_named && is_empty {
        return Err(FileError::Other { path: path.clone(), what: content.others.swap_remove(0) });
    }
    Ok(content)
}

/// The text of a file, without a byte order mark.
fn text(path: &Path) -> Result<String, FileError> {
    let unreadable = |source| FileError::Unreadable { path: path.to_owned(), source };
    let file: Box<dyn Read> = match path == Path::new("-") {
        true => Box::new(io::stdin()),
        false => Box::new(File::open(path).map_err(unreadable)?),
    };
    let mut bytes = Vec::new();
    let count = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if count as u64 > FILE_BYTES_MAX {
        return Err(FileError::TooLarge { path: path.to_owned() }); // The comparison widens.
    }
    let text =
        text_of(&bytes).map_err(|fault| FileError::NoText { path: path.to_owned(), message: fault.to_string() })?;
    Ok(text.to_owned())
}

/// A blockchain test or a transaction test that names a revision: others are not for this program.
fn further(source: &Arc<Source>, name: &str, raw: &RawValue) -> Result<Option<FurtherTest>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Named {
        #[serde(rename = "_info")]
        info: NamedInfo,
    }
    #[derive(Deserialize)]
    struct NamedInfo {
        #[serde(rename = "revision")]
        _revision: IgnoredAny,
    }
    let (Ok(shape), Ok(_)) =
        (serde_json::from_str::<Shape>(raw.get()), serde_json::from_str::<Named>(raw.get()).map(|named| named.info))
    else {
        return Ok(None);
    };
    let (source, name) = (Arc::clone(source), name.to_owned());
    Ok(match shape {
        Shape { blocks: Some(_), .. } => {
            Some(FurtherTest::Chain(Box::new(ChainTest { source, name, unit: serde_json::from_str(raw.get())? })))
        }
        Shape { txbytes: Some(_), result: Some(_), .. } => {
            Some(FurtherTest::Single(SingleTest { source, name, unit: serde_json::from_str(raw.get())? }))
        }
        _ => None,
    })
}

/// Kind of an entry that is no state test.
fn other(raw: &RawValue) -> Option<&'static str> {
    let Ok(shape) = serde_json::from_str::<Shape>(raw.get()) else {
        return Some("no object, so no state test");
    };
    match shape {
        Shape { transaction: Some(_), post: Some(_), .. } => None,
        Shape { blocks: Some(_), .. } => Some("a blockchain test"),
        Shape { engine_new_payloads: Some(_), .. } => Some("an engine test"),
        Shape { txbytes: Some(_), result: Some(_), .. } => Some("a transaction test"),
        Shape { vectors: Some(_), .. } => Some("a test of containers"),
        Shape { exec: Some(_), .. } => Some("a VM test"),
        Shape { expect: Some(_), .. } => Some("a filler, which says no results"),
        _ => Some("no state test: it has not both a transaction and post"),
    }
}

fn posts(unit: &Unit) -> impl Iterator<Item = (&str, usize, &Post)> {
    unit.post
        .iter()
        .flat_map(|(fork, posts)| posts.iter().enumerate().map(|(position, post)| (fork.as_str(), position, post)))
}

/// The place of an error of the part of `text` that begins at `offset`, in all of it.
fn malformed(path: &Path, text: &str, offset: usize, error: &serde_json::Error, test: Option<&str>) -> FileError {
    let (line, column) = line_and_column(text, offset);
    // Only the first line of the part begins elsewhere than its own.
    let (line, column) = match error.line() {
        0 | 1 => (line, column + error.column().saturating_sub(1)),
        further => (line + further - 1, error.column().max(1)),
    };
    // serde_json ends its message with the place in the part.
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
    let message = match test {
        Some(test) => format!("{message}, in {test:?}"),
        None => message.to_owned(),
    };
    FileError::Malformed { path: path.to_owned(), line, column, message }
}

/// Line and column of an offset, both from 1, the column in bytes.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, offset - line_start + 1)
}

/// Offset of a part in its text, in bytes.
fn offset_in(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len()) // Addresses have the width of usize.
}
