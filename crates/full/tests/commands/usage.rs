//! Help, whose examples run, and completions and pages of all commands.

use crate::support::{directory, residue, run_examples};

#[test]
#[cfg(unix)]
fn every_help_has_examples_that_run() {
    let commands = [
        "bench",
        "statetest",
        "fixtures",
        "check",
        "check engine",
        "wasm",
        "wasm run",
        "wasm build",
        "completions",
        "man",
    ];
    run_examples("usage_examples", &commands);
}

/// Command lines of every way to print.
#[cfg(target_os = "linux")]
const LINES: [&str; 9] = [
    "--help",
    "bench --help",
    "completions bash",
    "statetest --example",
    "fixtures --list",
    "fixtures --list --json",
    "lab price --published --output -",
    "lab price --published --json",
    "wasm build bls12_381/fp2_mul --output -",
];

#[test]
#[cfg(target_os = "linux")]
fn readers_that_go_away_are_no_error_and_full_disks_are() {
    use std::process::{Command, Stdio};
    let printing = |line: &str, stdout: Stdio| {
        let output = Command::new(crate::PROGRAM).args(line.split(' ')).stdout(stdout).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for line in LINES {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        assert_eq!(printing(line, writer.into()), (Some(0), String::new()), "{line}");
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let (code, stderr) = printing(line, full.into());
        assert_eq!(code, Some(2), "{line}: {stderr}");
        assert!(stderr.starts_with("error: writing to stdout: "), "{line}: {stderr}");
    }
}

#[test]
fn options_that_change_nothing_in_a_call_are_refused() {
    for (line, parts) in [
        ("completions bash --json", &["--json has no effect"][..]),
        ("lab price --published --revision evm384-v7", &["--published", "--revision"]),
        ("lab price --published --model b --anchor 5", &["--anchor has no effect with model b"]),
        ("lab price --published --pivot MULMOD", &["--pivot is for model b"]),
        ("lab price --published --output - --json", &["--output - and --json"]),
        ("lab attack --replay x.json --seed 2", &["--replay", "--seed"]),
        ("lab attack --replay x.json --revision evm384-v7", &["--replay", "--revision"]),
        ("lab attack --cycle --parts time", &["--cycle", "--parts"]),
        ("lab attack --instructions --minutes 5", &["--instructions", "--minutes"]),
        ("lab attack --out -", &["'-'", "it takes a directory"]),
        ("lab design --from x.csv --records records", &["--from", "--records"]),
        ("check engine --replay x.history --seed 2", &["--replay", "--seed"]),
        ("check engine --replay x.history --minutes 2", &["--replay", "--minutes"]),
        ("check engine --runs 5 --resume -", &["--resume -", "it takes a file"]),
        ("statetest x.json --revision stock --batching warm", &["--batching has no effect with --revision stock"]),
        ("statetest --example --fork Osaka", &["--example", "--fork"]),
        ("statetest x.json --trace --jobs 2", &["--trace", "--jobs"]),
        ("fixtures --out -", &["'-'", "it takes a directory"]),
        ("man -", &["'-'", "it takes a directory"]),
        ("wasm run x.wasm --export f --input-at 5", &["--input"]),
        ("wasm build bls12_381/fp2_mul --output - --json", &["--output - and --json"]),
        ("wasm build bls12_381/fp2_mull --output x", &["unknown contract", "did you mean bls12_381/fp2_mul"]),
    ] {
        residue(&line.split(' ').collect::<Vec<_>>()).refused(parts);
    }
}

#[test]
fn shells_and_man_know_every_command() {
    let commands = ["run", "build", "example", "statetest"];
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = residue(&["completions", shell]);
        assert!(commands.iter().all(|command| script.text().contains(command)), "{shell}");
    }
    let directory = directory("usage_man");
    let written = residue(&["man", directory.to_str().unwrap(), "--json"]).json(0);
    for command in commands {
        let page = std::fs::read_to_string(directory.join(format!("residue-{command}.1"))).unwrap();
        assert!(page.contains(".TH") && page.contains("Example"), "{page}");
    }
    assert!(written["pages"].as_array().unwrap().len() > 20);
    let below_a_file = directory.join("residue.1/pages");
    residue(&["man", below_a_file.to_str().unwrap()]).refused(&["making", "residue.1"]);
}
