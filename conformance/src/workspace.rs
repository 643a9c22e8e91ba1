//! The project's own files, for checks that read them.

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the workspace.
pub fn root() -> PathBuf {
    let conformance = Path::new(env!("CARGO_MANIFEST_DIR"));
    conformance.parent().expect("the crate is a folder of the workspace").to_path_buf()
}

/// The files of the project whose names end in one of `endings`, as paths from the root with `/`, sorted. Build output, packages of others and
/// what version control keeps for itself are left out.
pub fn files(endings: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    collect(&root(), "", &mut found);
    found.retain(|path| endings.iter().any(|ending| path.ends_with(ending)));
    found.sort();
    found
}

/// The text of a file, by its path from the root.
///
/// # Panics
/// If it cannot be read as text.
pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<String>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let entry = entry.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        // A link may lead out of the project or in a circle.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && path != "target" && ![".git", "node_modules"].contains(&name.as_str()) {
            collect(&entry.path(), &format!("{path}/"), found);
        } else if !is_folder {
            found.push(path);
        }
    }
}
