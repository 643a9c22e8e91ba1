//! Output of the programs: results to stdout, messages to stderr, files that are never half written.
//!
//! A reader of stdout that has gone away, as that of `| head`, has seen what it wanted: no error. A device that is full is one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Characters of a line of a message. A name or a number of a file may be of any length.
const LINE_CHARS_MAX: usize = 2000;
/// Characters shown of the begin and of the end of a longer line.
const LINE_CHARS_SHOWN: usize = 400;

/// Writes to stdout as a whole.
pub fn to_stdout(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    unless_reader_left(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

/// Takes it for written where the reader of a pipe has gone away.
pub fn unless_reader_left(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Prints a message of a kind (`error`, `warning`, `note`) to stderr. Lines that are too long for people are cut.
pub fn message(kind: &str, text: &str) {
    let mut stderr = io::stderr().lock();
    let text: Vec<String> = text.lines().map(cut).collect();
    let text = text.join("\n");
    let colour = if kind == "error" { "31" } else { "33" };
    // Nothing is left to tell if stderr cannot be written.
    let _ = if stderr.is_terminal() && colours_allowed() {
        writeln!(stderr, "\x1b[1;{colour}m{kind}:\x1b[0m {text}")
    } else {
        writeln!(stderr, "{kind}: {text}")
    };
}

/// Says why a program could not do what it was asked for. The exit code for that, 2.
pub fn refused(error: &str) -> ExitCode {
    message("error", error);
    ExitCode::from(2)
}

/// The exit code of a command line that cannot be carried out: 2 where it is wrong, as `text` says, and 0 where it asks for help,
/// which `print` prints.
pub fn usage(text: &str, is_wrong: bool, print: impl FnOnce() -> io::Result<()>) -> ExitCode {
    if is_wrong && text.lines().any(|line| line.chars().count() > LINE_CHARS_MAX) {
        return refused(text.trim_start_matches("error: ").trim_end());
    }
    match unless_reader_left(print()) {
        // There is nowhere to say that stderr cannot be written.
        _ if is_wrong => ExitCode::from(2),
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refused(&format!("writing to stdout: {error}")),
    }
}

/// A line, its middle left out if it is long.
fn cut(line: &str) -> String {
    let chars = line.chars().count();
    if chars <= LINE_CHARS_MAX {
        return line.to_owned();
    }
    let begin: String = line.chars().take(LINE_CHARS_SHOWN).collect();
    let end: String = line.chars().skip(chars - LINE_CHARS_SHOWN).collect();
    format!("{begin}[… {} characters …]{end}", chars - 2 * LINE_CHARS_SHOWN)
}

/// False if the user has asked for plain output (<https://no-color.org>) or the terminal has no colours.
pub fn colours_allowed() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && !is_dumb()
}

/// True if stderr is a terminal that can show progress: its cursor moves.
pub fn shows_progress() -> bool {
    io::stderr().is_terminal() && !is_dumb()
}

/// A terminal that knows no escape sequences (terminfo(5), `dumb`).
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Writes a file as a whole: its content is complete under a temporary name beside it before it gets its own.
/// A device or a pipe is written as it is, and a link is followed rather than replaced.
pub fn file(path: &Path, content: &[u8]) -> io::Result<()> {
    let path = match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(io::Error::new(ErrorKind::IsADirectory, "it is a directory")),
        Ok(found) if !found.is_file() => return unless_reader_left(fs::write(path, content)),
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
    if written.is_err() {
        // The error to report is the first one.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn temporary_name(path: &Path) -> io::Result<PathBuf> {
    let not_a_name = || io::Error::new(ErrorKind::InvalidFilename, "it is not the name of a file");
    let name = path.file_name().ok_or_else(not_a_name)?;
    Ok(path.with_file_name(format!(".{}.{}.partial", name.to_string_lossy(), std::process::id())))
}

/// A file that is replaced keeps its permissions.
fn keep_permissions(file: &File, path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(old) => file.set_permissions(old.permissions()),
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_too_long_are_cut() {
        assert_eq!(cut("short"), "short");
        let long = format!("begin{}é", "x".repeat(LINE_CHARS_MAX));
        let shown = cut(&long);
        assert!(shown.starts_with("beginxxx") && shown.ends_with("xé"), "{shown}");
        assert!(shown.contains("[… 1206 characters …]") && shown.chars().count() < 1000, "{shown}");
    }

    #[test]
    fn a_reader_that_left_is_no_error_and_a_full_disk_is() {
        assert!(unless_reader_left(Err(ErrorKind::BrokenPipe.into())).is_ok());
        assert!(unless_reader_left(Err(ErrorKind::StorageFull.into())).is_err());
    }
}
