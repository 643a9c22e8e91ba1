//! Published vectors: where they lie on this machine, if they do. They are not part of the project.
//!
//! `RESIDUE_VECTORS` names their folder; without it `../shared/vectors` beside the workspace is tried. Checks that find
//! none are skipped with a message.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::workspace;

/// Vectors that are there and cannot be used.
#[derive(Debug, Error)]
pub enum VectorError {
    /// A file cannot be read.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not what its name says.
    #[error("{}: {source}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Error with its place.
        source: serde_json::Error,
    },
}

/// The folder of vectors called `name`, such as `eip2537`. None, with a message, if this machine does not have it.
pub fn folder(name: &str) -> Option<PathBuf> {
    let all = match env::var_os("RESIDUE_VECTORS") {
        Some(folder) => PathBuf::from(folder),
        None => workspace::root().join("../shared/vectors"),
    };
    let folder = all.join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no vectors at {}", folder.display());
    None
}

/// The cases of a file; none, with a message, if it is not there.
pub fn cases<T: DeserializeOwned>(folder: &Path, file: &str) -> Result<Vec<T>, VectorError> {
    let path = folder.join(file);
    if !path.exists() {
        eprintln!("skipped: no vectors at {}", path.display());
        return Ok(Vec::new());
    }
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(source) => return Err(VectorError::Unreadable { path, source }),
    };
    serde_json::from_str(&text).map_err(|source| VectorError::Malformed { path, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_is_skipped() {
        assert_eq!(folder("no-such-vectors"), None);
        assert!(cases::<u8>(&workspace::root(), "no-such-file.json").unwrap().is_empty());
    }

    #[test]
    fn a_file_that_is_something_else_is_an_error() {
        let error = cases::<u8>(&workspace::root(), "Cargo.toml").unwrap_err();
        assert!(matches!(error, VectorError::Malformed { .. }), "{error}");
        let error = cases::<u8>(&workspace::root(), "crates").unwrap_err();
        assert!(matches!(error, VectorError::Unreadable { .. }), "{error}");
    }
}
