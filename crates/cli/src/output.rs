//! Output: results to stdout, messages to stderr, files that are never half written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use serde_json::Value;

/// Prints a result. A reader that has gone away is not an error.
pub fn result(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    match stdout.write_all(text.as_bytes()).and_then(|()| write!(stdout, "{newline}")).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("writing to stdout"),
        _ => Ok(()),
    }
}

/// Prints raw bytes, as [`result`] does.
pub fn bytes(bytes: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("writing to stdout"),
        _ => Ok(()),
    }
}

/// Prints the one JSON object of a command.
pub fn json(object: &Value) -> Result<()> {
    result(&serde_json::to_string_pretty(object)?)
}

/// Prints a message of a kind (`error`, `warning`, `note`) to stderr.
pub fn message(kind: &str, text: &str) {
    let mut stderr = io::stderr().lock();
    let colour = if kind == "error" { "31" } else { "33" };
    // Nothing is left to tell if stderr cannot be written.
    let _ = if stderr.is_terminal() && colours_allowed() {
        writeln!(stderr, "\x1b[1;{colour}m{kind}:\x1b[0m {text}")
    } else {
        writeln!(stderr, "{kind}: {text}")
    };
}

/// Whether the user has not asked for plain output (<https://no-color.org>).
pub fn colours_allowed() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

pub use residue_workbench::report::hex;

/// Writes code to a file: raw if its name ends in `.bin`, else a line of hexadecimal.
pub fn code_file(path: &Path, code: &[u8]) -> Result<()> {
    if path.extension().is_some_and(|extension| extension == "bin") {
        file(path, code)
    } else {
        file(path, format!("{}\n", hex(code)).as_bytes())
    }
}

/// Writes a file as a whole: its content is complete under a temporary name beside it before it gets its own.
pub fn file(path: &Path, content: &[u8]) -> Result<()> {
    write(path, content).with_context(|| format!("writing {}", path.display()))
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    // A device or a pipe is written as it is, and a link is followed rather than replaced.
    let path = match fs::metadata(path) {
        Ok(found) if !found.is_file() && !found.is_dir() => return Ok(fs::write(path, content)?),
        Ok(found) if found.is_dir() => return Err(anyhow!("it is a directory")),
        Ok(_) => fs::canonicalize(path)?,
        Err(_) => path.to_owned(),
    };
    let temporary = temporary_name(&path)?;
    let written = OpenOptions::new().write(true).create_new(true).open(&temporary).and_then(|mut file| {
        file.write_all(content)?;
        keep_permissions(&file, &path)?;
        file.sync_all()?;
        fs::rename(&temporary, &path)
    });
    if let Err(error) = written {
        // The error to report is the first one.
        let _ = fs::remove_file(&temporary);
        return Err(error.into());
    }
    Ok(())
}

fn temporary_name(path: &Path) -> Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| anyhow!("it is not the name of a file"))?;
    Ok(path.with_file_name(format!(".{}.{}.partial", name.to_string_lossy(), std::process::id())))
}

/// A file that is replaced keeps its permissions.
fn keep_permissions(file: &File, path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(old) => file.set_permissions(old.permissions()),
        Err(_) => Ok(()),
    }
}
