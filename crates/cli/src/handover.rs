//! Commands of other programs, which `residue` starts with the arguments that it was given, found beside `residue` itself or on the
//! path: `residue-full`, those of the node, and the one that talks to nodes of others.
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

/// A program that has commands of `residue`.
struct Program {
    name: &'static str,
    /// The package that it is built of.
    package: &'static str,
    /// The commands that it has; of the full program those that no other has.
    commands: &'static [&'static str],
    /// It is its command: what comes after that are its arguments.
    is_command: bool,
}

const FULL: Program = Program { name: "residue-full", package: "residue-full", commands: &[], is_command: false };
const PROGRAMS: [Program; 3] = [
    Program { name: "residue-node", package: "residue-node", commands: &["node"], is_command: true },
    Program { name: "residue-t8n", package: "residue-node", commands: &["t8n"], is_command: true },
    Program { name: "residue-deploy", package: "residue-deploy", commands: &["deploy", "verify"], is_command: false },
];

impl Program {
    /// The one that has this command.
    fn of(command: &str) -> &'static Self {
        PROGRAMS.iter().find(|program| program.commands.contains(&command)).unwrap_or(&FULL)
    }

    /// Command that builds it.
    fn build(&self) -> String {
        let profile = if cfg!(debug_assertions) { "" } else { " --release" };
        format!("cargo build{profile} -p {}", self.package)
    }

    /// Its arguments, from those of `residue`.
    fn arguments(&self, arguments: &[OsString]) -> Vec<OsString> {
        if !self.is_command {
            return arguments.to_vec();
        }
        let mut given: Vec<OsString> = arguments.to_vec();
        let is_help = words(arguments).next() == Some("help");
        given.retain(|argument| !(is_help && argument == "help"));
        if let Some(place) = given.iter().position(|argument| self.commands.iter().any(|command| argument == command)) {
            given.remove(place);
        }
        if is_help {
            given.push("--help".into());
        }
        given
    }
}

/// True if the arguments ask for a command of another program, or for help with one.
pub fn asks_for_another(arguments: &[OsString]) -> bool {
    let mut words = words(arguments);
    match words.next() {
        Some("help") => words.next().is_some_and(Full::has_subcommand),
        Some(word) => Full::has_subcommand(word),
        None => false,
    }
}

/// True if the arguments ask for a command that is a program of its own, or for help with one.
pub fn asks_for_one_alone(arguments: &[OsString]) -> bool {
    asks_for_another(arguments) && !Program::of(named(arguments)).commands.is_empty()
}

/// Starts the program that has the command, and ends as it does.
pub fn hand_over(arguments: &[OsString]) -> Result<ExitCode> {
    let wanted = Program::of(named(arguments));
    let own = env::current_exe().ok().and_then(|own| own.canonicalize().ok());
    let beside = own.and_then(|own| Some(own.parent()?.to_owned()));
    let (name, build) = (wanted.name, wanted.build());
    let program = match found(name, beside.as_deref()) {
        Some(program) => program,
        None => bail!("`residue {}` needs {name}, which is not built: `{build}` builds it", named(arguments)),
    };
    if let Some(source) = changed_since(&program) {
        bail!("{name} was built before {} changed: `{build}` builds it anew", source.display());
    }
    let mut command = Command::new(&program);
    command.args(wanted.arguments(arguments));
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

/// The program of this name in this directory, or in one of the path.
fn found(name: &str, beside: Option<&Path>) -> Option<PathBuf> {
    let name = format!("{name}{}", env::consts::EXE_SUFFIX);
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
        let asks = |line: &str| asks_for_another(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>());
        for line in [
            "lab",
            "--json lab price",
            "help bench",
            "wasm --help",
            "man pages",
            "node --port 1",
            "help t8n",
            "deploy x",
        ] {
            assert!(asks(line), "{line}");
        }
        for line in ["", "--help", "run lab", "help", "help run", "laboratory", "--json"] {
            assert!(!asks(line), "{line}");
        }
    }

    #[test]
    fn programs_that_are_a_command_get_what_comes_after_it() {
        let given = |line: &str| {
            let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            let program = Program::of(named(&arguments));
            let given = program.arguments(&arguments);
            let given: Vec<&str> = given.iter().map(|argument| argument.to_str().unwrap()).collect();
            format!("{} {}", program.name, given.join(" "))
        };
        assert_eq!(given("node --port 8546 --genesis node"), "residue-node --port 8546 --genesis node");
        assert_eq!(given("help t8n"), "residue-t8n --help");
        assert_eq!(given("--json lab price"), "residue-full --json lab price");
        assert_eq!(given("help deploy"), "residue-deploy help deploy");
        assert_eq!(given("--json verify 0x12"), "residue-deploy --json verify 0x12");
    }

    #[test]
    fn sources_are_read_with_spaces_in_their_names() {
        let found = sources("/t/residue-full: /a/b.rs /a\\ c/d.rs\n");
        assert_eq!(found, [PathBuf::from("/a/b.rs"), PathBuf::from("/a c/d.rs")]);
        assert_eq!(sources(""), Vec::<PathBuf>::new());
    }
}
