//! Bad usage and input: exit code 2 and a message that names the value and its place. And help, whose examples run.

use std::process::Command;

use crate::support::{directory, file, residue, residue_reading, run_examples};

#[test]
fn bad_options_are_refused_by_value() {
    let refused = |args: &[&str], parts: &[&str]| residue_reading("00", &[&["run", "-"], args].concat()).refused(parts);
    refused(&["--revision", "evm384-v70"], &["'evm384-v70'", "--revision", "did you mean evm384-v"]);
    refused(&["--fork", "osaca"], &["'osaca'", "--fork", "did you mean osaka"]);
    refused(&["--schedule", "cheap"], &["\"cheap\"", "eip6690-2024", "known are eip6690"]);
    refused(&["--engine", "fast"], &["'fast'", "--engine", "batch, plain, spec"]);
    refused(&["--gas", "-5"], &["'-5'", "--gas", "negative"]);
    refused(&["--gas", "many"], &["\"many\" is not a number"]);
    refused(&["--gas", "18446744073709551616"], &["too large", "18446744073709551615"]);
    refused(&["--memory", "5"], &["\"5\" is not FROM:TO"]);
    refused(&["--memory", "5:1"], &["'5:1'", "ends at 1, before its start 5"]);
    refused(&["--memory", "-1:1"], &["FROM: \"-1\" is negative"]);
    refused(&["--memory", "0:1000000000000"], &["1000000000000 bytes", "67108864"]);
    refused(&["--input", "0xabc"], &["--input", "3 hexadecimal digits are not whole bytes"]);
    refused(&["--input", "0xzz"], &["--input:1:3: 'z' is not a hexadecimal digit"]);
    refused(&["--input", "@nowhere.hex"], &["nowhere.hex", "reading the input"]);
    refused(&["--example"], &["--example", "\"-\""]);
    refused(&["--frok", "osaka"], &["'--frok'"]);
    residue(&["run"]).refused(&["<FILE>"]);
    residue(&["rum"]).refused(&["'rum'", "'run'"]);
    residue(&["list", "colours"]).refused(&["'colours'", "revisions, schedules, forks, opcodes, contracts"]);
}

#[test]
fn bad_files_are_refused_by_name_and_place() {
    let directory = directory("usage_files");
    let refused = |name: &str, content: &[u8], parts: &[&str]| {
        let path = file(&directory, name, content);
        for command in ["run", "disasm"] {
            residue(&[command, &path]).refused(&[&[path.as_str()], parts].concat());
        }
    };
    refused("odd.hex", b"0x600", &["3 hexadecimal digits are not whole bytes"]);
    refused("word.hex", b"0x60\n60 0g", &[":2:5: 'g' is not a hexadecimal digit"]);
    refused("empty.hex", b"", &["holds no code"]);
    refused("prefix.hex", b"0x\n", &["holds no code"]);
    refused("empty.bin", b"", &["holds no code"]);
    refused("raw.hex", &[0x60, 0xff], &["byte 0xff at offset 1 is not UTF-8 text"]);
    residue(&["run", directory.to_str().unwrap()]).refused(&["usage_files"]);
    residue(&["run", "nowhere.hex"]).refused(&["\"nowhere.hex\"", "No such file"]);
    residue(&["disasm", "nowhere.hex"]).refused(&["\"nowhere.hex\"", "No such file"]);
    let text = file(&directory, "empty.asm", "; nothing");
    residue(&["asm", &text]).refused(&["empty.asm has no instruction"]);
}

#[test]
fn usage_is_refused_with_json_too() {
    residue_reading("0x6", &["run", "-", "--json"]).refused(&["standard input"]);
}

#[test]
fn a_file_goes_before_a_contract_of_its_name() {
    let directory = directory("usage_contract");
    std::fs::create_dir(directory.join("bls12_381")).unwrap();
    file(&directory, "bls12_381/pairing", "0x00");
    let run = |path: &std::path::Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_residue"));
        let output =
            command.current_dir(path).args(["run", "bls12_381/pairing", "--no-time", "--json"]).output().unwrap();
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["code_bytes"].as_u64().unwrap()
    };
    assert_eq!(run(&directory), 1);
    assert!(run(std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))) > 1000);
}

#[test]
#[cfg(unix)]
fn every_help_has_examples_that_run() {
    let commands = [
        "",
        "run",
        "build",
        "prove",
        "print",
        "gas",
        "asm",
        "disasm",
        "list",
        "compare",
        "example",
        "address",
        "catalogue",
    ];
    run_examples("usage_examples", &commands);
}

#[test]
fn contracts_are_listed_in_80_columns_and_at_length() {
    let short = residue(&["list", "contracts"]);
    assert!(short.text().lines().all(|line| line.chars().count() <= 80), "{}", short.text());
    let long = residue(&["list", "contracts", "--long"]);
    for contract in residue_contracts::CONTRACTS {
        assert!(short.text().contains(contract.name) && long.text().contains(contract.interface), "{}", contract.name);
    }
}

#[test]
fn an_example_is_what_the_contract_runs_on() {
    for name in ["bls12_381/g1_add", "bls12_381/fp2_mul", "evm384/f6m_mul"] {
        let example = residue(&["example", name, "--json"]).json(0);
        let input = example["input"].as_str().unwrap();
        assert_eq!(residue(&["example", name]).text().trim(), input);
        let ran = residue(&["run", name, "--input", input, "--no-time", "--json"]).json(0);
        assert_eq!(ran["output"], example["output"], "{name}");
    }
    residue(&["example", "bls12_381/g1"]).refused(&["\"bls12_381/g1\"", "residue list contracts"]);
}

#[test]
fn the_version_is_the_packages() {
    assert_eq!(residue(&["--version"]).text().trim(), format!("residue {}", env!("CARGO_PKG_VERSION")));
}
