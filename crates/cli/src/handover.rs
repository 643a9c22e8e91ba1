//! Commands of the full program, which `residue` starts with the arguments that it was given: `residue-full`, found beside
//! `residue` itself or on the path.
//!
//! `cargo run` builds `residue` alone. What is found beside it may then be of older sources, and its measurements of older code;
//! cargo says in `residue-full.d` which sources it was built of, so that is seen and refused.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use clap::Subcommand;

use crate::args::Full;

/// The full program.
const PROGRAM: &str = "residue-full";
/// How it is built.
const BUILD: &str =
    if cfg!(debug_assertions) { "cargo build -p residue-full" } else { "cargo build --release -p residue-full" };

/// Whether the arguments ask for a command of the full program, or for help with one.
pub fn asks_for_full(arguments: &[OsString]) -> bool {
    let mut words = words(arguments);
    match words.next() {
        Some("help") => words.next().is_some_and(Full::has_subcommand),
        Some(word) => Full::has_subcommand(word),
        None => false,
    }
}

/// Starts the full program with the arguments, and ends as it does.
pub fn hand_over(arguments: &[OsString]) -> Result<ExitCode> {
    let own = env::current_exe().ok().and_then(|own| own.canonicalize().ok());
    let beside = own.and_then(|own| Some(own.parent()?.to_owned()));
    let program = match found(beside.as_deref()) {
        Some(program) => program,
        None => bail!("`residue {}` needs {PROGRAM}, which is not built: `{BUILD}` builds it", named(arguments)),
    };
    if let Some(source) = changed_since(&program) {
        bail!("{PROGRAM} was built before {} changed: `{BUILD}` builds it anew", source.display());
    }
    let mut command = Command::new(&program);
    command.args(arguments);
    started(command).with_context(|| format!("starting {}", program.display()))
}

/// This process becomes that program.
#[cfg(unix)]
fn started(mut command: Command) -> Result<ExitCode> {
    Err(std::os::unix::process::CommandExt::exec(&mut command).into())
}

/// Its exit code once it has ended.
#[cfg(not(unix))]
fn started(mut command: Command) -> Result<ExitCode> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    code.map(ExitCode::from).ok_or_else(|| anyhow::anyhow!("it ended without an exit code"))
}

/// The arguments that are no options: options of `residue` take no value.
fn words(arguments: &[OsString]) -> impl Iterator<Item = &str> {
    arguments.iter().filter_map(|argument| argument.to_str()).filter(|argument| !argument.starts_with('-'))
}

/// The command that was asked for.
fn named(arguments: &[OsString]) -> &str {
    words(arguments).find(|word| *word != "help").unwrap_or_default()
}

/// The full program in this directory, or in one of the path.
fn found(beside: Option<&Path>) -> Option<PathBuf> {
    let name = format!("{PROGRAM}{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_default();
    let directories = beside.map(Path::to_owned).into_iter().chain(env::split_paths(&path));
    directories.map(|directory| directory.join(&name)).find(|program| program.is_file())
}

/// A source that is newer than the program, if cargo wrote down what those are.
fn changed_since(program: &Path) -> Option<PathBuf> {
    let built = fs::metadata(program).and_then(|program| program.modified()).ok()?;
    let listed = fs::read_to_string(program.with_extension("d")).ok()?;
    let is_newer = |source: &PathBuf| {
        let found = fs::metadata(source).ok().filter(fs::Metadata::is_file);
        found.and_then(|source| source.modified().ok()).is_some_and(|changed| changed > built)
    };
    sources(&listed).into_iter().find(is_newer)
}

/// The sources in what cargo writes: `program: source source…`, with a backslash before a space in a name.
fn sources(listed: &str) -> Vec<PathBuf> {
    let after_name = |line: &str| line.split_once(": ").map(|(_, sources)| sources.replace("\\ ", "\0"));
    let lines: Vec<String> = listed.lines().filter_map(after_name).collect();
    let names = lines.iter().flat_map(|line| line.split(' ')).filter(|name| !name.is_empty());
    names.map(|name| PathBuf::from(name.replace('\0', " "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_the_full_program_are_found_among_options() {
        let asks = |line: &str| asks_for_full(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>());
        for line in ["lab", "--json lab price", "help bench", "wasm --help", "man pages"] {
            assert!(asks(line), "{line}");
        }
        for line in ["", "--help", "run lab", "help", "help run", "laboratory", "--json"] {
            assert!(!asks(line), "{line}");
        }
    }

    #[test]
    fn sources_are_read_with_spaces_in_their_names() {
        let found = sources("/t/residue-full: /a/b.rs /a\\ c/d.rs\n");
        assert_eq!(found, [PathBuf::from("/a/b.rs"), PathBuf::from("/a c/d.rs")]);
        assert_eq!(sources(""), Vec::<PathBuf>::new());
    }
}
