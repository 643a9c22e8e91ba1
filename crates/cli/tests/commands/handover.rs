//! Commands of the full program: `residue` starts it with the same arguments and ends as it does, or says how to build
//! it.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{directory, residue};

/// Says its arguments and what it reads, and ends with 1.
const OTHER: &str = "#!/bin/sh\necho \"$@\"\ncat\necho told >&2\nexit 1\n";

/// `residue` in a directory of its own, with nothing beside it.
fn alone(test: &str) -> (PathBuf, PathBuf) {
    let directory = directory(test);
    let program = directory.join("residue");
    copied(Path::new(crate::PROGRAM), &program);
    (directory, program)
}

/// A program that stands for the full one.
fn other(directory: &Path) -> PathBuf {
    fs::create_dir_all(directory).unwrap();
    let path = directory.join("residue-full");
    let text = directory.join("text");
    fs::write(&text, OTHER).unwrap();
    fs::set_permissions(&text, fs::Permissions::from_mode(0o755)).unwrap();
    copied(&text, &path);
    path
}

/// Copies an executable in another process: a file that this one has open for writing may be so in a child of a parallel test, and is
/// refused as busy when it is started.
fn copied(from: &Path, to: &Path) {
    assert!(Command::new("cp").args([from, to]).status().unwrap().success(), "{}", to.display());
}

fn run(program: &Path, path: &str, arguments: &[&str]) -> Output {
    let path = format!("{path}:/usr/bin:/bin");
    Command::new(program).args(arguments).env("PATH", path).output().unwrap()
}

fn handed_over(output: &Output, arguments: &str) {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{arguments}\n"));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "told\n");
}

fn refused(output: &Output, parts: &[&str]) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len(), stderr.lines().count()), (Some(2), 0, 1), "{stderr}");
    assert!(parts.iter().all(|part| stderr.contains(part)), "{stderr}");
}

#[test]
fn arguments_and_exit_code_are_handed_over() {
    let (directory, program) = alone("handover_beside");
    other(&directory);
    for arguments in [&["lab", "--help"][..], &["--json", "wasm", "run", "-"], &["help", "bench"], &["man", "a b"]] {
        handed_over(&run(&program, "", arguments), &arguments.join(" "));
    }
    let (directory, program) = alone("handover_path");
    let bin = directory.join("bin");
    other(&bin);
    handed_over(&run(&program, bin.to_str().unwrap(), &["statetest", "x"]), "statetest x");
}

#[test]
fn what_is_not_built_or_built_before_its_sources_is_refused() {
    let (directory, program) = alone("handover_missing");
    refused(
        &run(&program, "", &["lab", "price"]),
        &["`residue lab` needs residue-full", "cargo build", "-p residue-full"],
    );
    let full = other(&directory);
    let source = directory.join("a source.rs");
    fs::write(&source, "").unwrap();
    let listed = source.to_str().unwrap().replace(' ', "\\ ");
    fs::write(full.with_extension("d"), format!("{}: {listed}\n", full.display())).unwrap();
    let built = fs::metadata(&full).unwrap().modified().unwrap();
    let changed_after = |seconds: i64| {
        let hour = std::time::Duration::from_secs(seconds.unsigned_abs());
        let at = if seconds < 0 { built - hour } else { built + hour };
        fs::File::options().write(true).open(&source).unwrap().set_modified(at).unwrap();
        run(&program, "", &["bench"])
    };
    refused(&changed_after(3600), &["a source.rs changed", "cargo build"]);
    handed_over(&changed_after(-3600), "bench");
}

#[test]
fn help_lists_what_is_handed_over() {
    let help = residue(&["--help"]);
    for command in ["run", "bench", "lab", "check", "wasm", "statetest", "completions", "man"] {
        assert!(help.text().contains(&format!("\n  {command} ")), "{command}: {}", help.text());
    }
}
