//! The files to read: those that are named, and those of folders that are, all the way down.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use walkdir::WalkDir;

/// A file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Path of the file; `-` is standard input.
    pub path: PathBuf,
    /// The folder that it is counted under: that part of its path that lies below the folder that was named.
    pub folder: String,
    /// True if it was named itself, and so has to hold state tests.
    pub is_named: bool,
}

impl Source {
    /// True if it is standard input.
    pub fn is_standard_input(&self) -> bool {
        self.path == Path::new("-")
    }
}

/// A path that leads to nothing that could be read.
#[derive(Debug, Error)]
pub enum SourceError {
    /// There is nothing, or it may not be looked at.
    #[error("cannot open {path:?}")]
    Unreachable {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A folder without tests.
    #[error("{path:?} has no file that ends in .json")]
    NoFiles {
        /// The folder.
        path: PathBuf,
    },
}

/// The files at these paths, in order, and those of a folder by name.
pub fn find(paths: &[PathBuf]) -> Result<Vec<Source>, SourceError> {
    let mut sources = Vec::new();
    for path in paths {
        if path == Path::new("-") {
            sources.push(Source { path: path.clone(), folder: "standard input".to_owned(), is_named: true });
            continue;
        }
        let metadata = fs::metadata(path).map_err(|source| unreachable(path, source))?;
        if metadata.is_dir() {
            sources.extend(inside(path)?);
        } else {
            let folder = path.parent().and_then(Path::file_name);
            let folder = folder.map_or_else(|| ".".to_owned(), |name| name.to_string_lossy().into_owned());
            sources.push(Source { path: path.clone(), folder, is_named: true });
        }
    }
    Ok(sources)
}

fn inside(root: &Path) -> Result<Vec<Source>, SourceError> {
    let mut found = Vec::new();
    for entry in WalkDir::new(root).follow_links(true).sort_by_file_name() {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(root).to_owned();
            unreachable(&path, error.into())
        })?;
        if !entry.file_type().is_file() || entry.path().extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let parent = entry.path().parent().unwrap_or(root);
        let below = parent.strip_prefix(root).unwrap_or(parent);
        let folder = if below.as_os_str().is_empty() { parent } else { below };
        found.push(Source {
            path: entry.path().to_owned(),
            folder: folder.to_string_lossy().into_owned(),
            is_named: false,
        });
    }
    if found.is_empty() { Err(SourceError::NoFiles { path: root.to_owned() }) } else { Ok(found) }
}

fn unreachable(path: &Path, source: io::Error) -> SourceError {
    SourceError::Unreachable { path: path.to_owned(), source }
}
