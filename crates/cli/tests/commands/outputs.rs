//! Output: to readers that go away, to full disks, to `-`, and to files that are never half written.

#![cfg(unix)]

use std::fs::{self, File};
use std::process::{Command, Output, Stdio};

use crate::support::{directory, file, residue, residue_reading};

const CODE: &str = "0x600660070260005260206000f3";
const SMALL: &str = "bls12_381/fp2_mul";

/// A command line for every way to print; `CODE` is a file of code, `TEXT` one of assembly.
const LINES: [&str; 22] = [
    "--help",
    "--version",
    "help run",
    "run --help",
    "list",
    "list contracts --json",
    "run CODE --no-time",
    "run CODE --no-time --json",
    "trace CODE",
    "trace CODE --json",
    "disasm CODE",
    "disasm CODE -o -",
    "asm TEXT",
    "asm TEXT -o -",
    "build bls12_381/fp2_mul",
    "build bls12_381/fp2_mul --format bin",
    "build bls12_381/fp2_mul --explain",
    "print bls12_381/fp2_mul",
    "compare bls12_381/fp2_mul --no-time --revisions eip6690-2024",
    "gas bls12_381/fp2_mul --snapshot -",
    "profile bls12_381/fp2_mul --no-time --svg -",
    "example bls12_381/fp2_mul",
];

/// Runs a line with something for its stdout.
fn printing(line: &str, folder: &std::path::Path, stdout: impl Into<Stdio>) -> Output {
    let [code, text] = [("code.hex", CODE), ("code.asm", "PUSH 1")].map(|(name, content)| file(folder, name, content));
    let words = line.split(' ').map(|word| match word {
        "CODE" => &code,
        "TEXT" => &text,
        word => word,
    });
    Command::new(crate::PROGRAM).args(words).stdin(Stdio::null()).stdout(stdout).output().unwrap()
}

#[test]
fn a_reader_that_has_gone_away_is_no_error() {
    let folder = directory("outputs_pipe");
    for line in LINES {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = printing(line, &folder, writer);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{line}: {stderr}");
        assert!(stderr.is_empty() || stderr.starts_with("note: "), "{line}: {stderr}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error_with_a_reason() {
    let folder = directory("outputs_full");
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for line in LINES {
        let output = printing(line, &folder, full());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {stderr}");
        assert!(stderr.starts_with("error: writing to stdout: "), "{line}: {stderr}");
    }
    for args in [
        &["asm", "-", "-o", "/dev/full"][..],
        &["disasm", "-", "-o", "/dev/full"],
        &["build", SMALL, "-o", "/dev/full"],
        &["gas", SMALL, "--snapshot", "/dev/full"],
        &["profile", SMALL, "--no-time", "--svg", "/dev/full"],
    ] {
        let text = if args[0] == "asm" { "STOP" } else { "0x00" };
        residue_reading(text, args).refused(&["writing /dev/full"]);
    }
}

#[test]
fn a_dash_is_standard_output_and_no_file() {
    let folder = directory("outputs_dash");
    let there = |args: &[&str]| {
        let output = Command::new(crate::PROGRAM).args(args).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let code = file(&folder, "code.hex", CODE);
    let text = file(&folder, "code.asm", "PUSH 1");
    let before = fs::read_dir(&folder).unwrap().count();
    for args in [
        &["asm", &text][..],
        &["disasm", &code],
        &["build", SMALL],
        &["build", SMALL, "--json"],
        &["build", SMALL, "--format", "yul"],
        &["build", SMALL, "--format", "bin"],
    ] {
        assert_eq!(there(&[args, &["-o", "-"]].concat()), there(args), "{args:?}");
    }
    let snapshot = there(&["gas", SMALL, "--snapshot", "-"]);
    there(&["gas", SMALL, "--snapshot", "gas.txt"]);
    assert_eq!(snapshot, fs::read(folder.join("gas.txt")).unwrap());
    let graph = there(&["profile", SMALL, "--no-time", "--svg", "-"]);
    there(&["profile", SMALL, "--no-time", "--svg", "graph.svg"]);
    assert_eq!(graph, fs::read(folder.join("graph.svg")).unwrap());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), before + 2);

    residue(&["build", "all", "-o", "-"]).refused(&["--output -", "directory"]);
    residue(&["gas", SMALL, "--snapshot", "-", "--json"]).refused(&["--snapshot - and --json"]);
    residue(&["profile", SMALL, "--no-time", "--svg", "-", "--json"]).refused(&["--svg - and --json"]);
}

/// A write that fails leaves the file as it was, and nothing beside it.
#[test]
fn a_file_is_replaced_whole_or_not_at_all() {
    use std::os::unix::fs::PermissionsExt;
    let folder = directory("outputs_whole");
    let path = file(&folder, "old.hex", "old");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    // A limit on the size of files stands for a disk that fills up.
    let limited = |command: &str| {
        let line = format!("ulimit -f 1; trap '' XFSZ; {} {command}", crate::PROGRAM);
        Command::new("sh").args(["-c", &line]).output().unwrap()
    };
    let output = limited(&format!("build bls12_381/pairing --format creation -o {path}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.lines().any(|line| line.starts_with("error: writing ") && line.contains("old.hex")), "{stderr}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    residue(&["build", SMALL, "-o", &path]);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::read_to_string(&path).unwrap().starts_with("0x"));
}
