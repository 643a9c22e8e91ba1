//! Names that nothing has: every command says the same, with the nearest names and the command that lists them all.

use crate::support::{Ran, directory, file, residue, residue_reading};

const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/groth16/key.json");
const SMALL: &str = "bls12_381/fp2_mul";

/// Refused with this message, which does not list everything.
#[track_caller]
fn said(ran: &Ran, message: &str) {
    ran.refused(&[message]);
    assert!(ran.stderr.len() < 500, "a message that lists everything: {}", ran.stderr);
}

/// One command's message, from `begin` to the end of the line; others have to equal it.
fn wording(ran: &Ran, begin: &str, end: &str) -> String {
    said(ran, begin);
    let line = ran.stderr.lines().next().unwrap();
    assert!(line.ends_with(end), "{line}");
    line[line.find(begin).unwrap()..].to_owned()
}

#[test]
fn an_unknown_contract_is_answered_alike_by_every_command() {
    let directory = directory("names_contract");
    let snapshot = file(&directory, "gas.txt", "bls12_381/pairings eip6690-2024 5 5\n");
    let begin = "unknown contract \"bls12_381/pairings\"; did you mean bls12_381/pairing";
    let message =
        &wording(&residue(&["build", "bls12_381/pairings"]), begin, "`residue list contracts` lists them all");
    for command in ["run", "build", "print", "disasm", "compare", "gas", "trace", "profile", "example"] {
        said(&residue(&[command, "bls12_381/pairings"]), message);
    }
    said(&residue(&["gas", "--check", &snapshot]), message);
    for command in ["run", "build", "print", "disasm", "compare", "trace", "profile", "example"] {
        said(&residue(&[command, "groth17"]), "unknown contract \"groth17\"; did you mean groth16");
        said(&residue(&[command, "bls12_381/pairings", "--key", KEY]), message);
    }
    said(&residue(&["build", "pairing"]), "did you mean bls12_381/pairing");
    let long = "x".repeat(100_000);
    said(&residue(&["build", &long]), "(100000 characters)");
}

#[test]
fn unknown_revisions_schedules_and_forks_get_the_nearest() {
    let begin = "unknown revision \"eip6690-2042\"; did you mean eip6690-202";
    let end = "`residue list revisions` lists them all";
    let revision = &wording(&residue(&["build", SMALL, "--revision", "eip6690-2042"]), begin, end);
    for command in ["run", "build", "print", "asm", "disasm", "trace", "profile"] {
        said(&residue(&[command, SMALL, "--revision", "eip6690-2042"]), revision);
    }
    for command in ["compare", "gas"] {
        said(&residue(&[command, SMALL, "--revisions", "evm,eip6690-2042"]), revision);
    }
    said(&residue(&["list", "--revision", "eip6690-2042"]), revision);
    let begin = "unknown hard fork \"osaca\"; did you mean osaka";
    let fork = &wording(&residue(&["run", SMALL, "--fork", "osaca"]), begin, "`residue list forks` lists them all");
    for command in ["run", "build", "compare", "trace", "profile", "disasm"] {
        said(&residue(&[command, SMALL, "--fork", "osaca"]), fork);
    }
    let schedule = "unknown gas schedule for evm384-v7 \"modle-a\"; did you mean model-a";
    for command in ["run", "build", "print", "trace", "profile", "disasm"] {
        said(&residue(&[command, SMALL, "--revision", "evm384-v7", "--schedule", "modle-a"]), schedule);
        let other = [command, SMALL, "--revision", "eip6690-2024", "--schedule", "model-a"];
        said(&residue(&other), "the gas schedule model-a is not for eip6690-2024; those for it are eip6690");
    }
    said(
        &residue(&["compare", SMALL, "--schedules", "modle-a"]),
        "unknown gas schedule \"modle-a\"; did you mean model-a",
    );
}

#[test]
fn the_case_of_letters_does_not_matter() {
    let run = |name: &str, rules: [&str; 3]| {
        let [revision, schedule, fork] = rules;
        let args = ["run", name, "--example", "--no-time", "--json", "--revision", revision, "--schedule", schedule];
        residue(&[&args[..], &["--fork", fork]].concat()).json(0)
    };
    let usual = run(SMALL, ["eip6690-2024", "geth", "prague"]);
    assert_eq!(run("BLS12_381/Fp2_Mul", ["EIP6690-2024", "Geth", "Prague"]), usual);
    assert_eq!(usual["schedule"], "geth");
    let compare = |name: &str, schedules: &str| {
        residue(&["compare", name, "--revisions", "EVM384-V7", "--schedules", schedules, "--no-time", "--json"]).json(0)
    };
    assert_eq!(compare("BLS12_381/FP2_MUL", "Model-A"), compare(SMALL, "model-a"));
    let verifier = residue(&["build", "Groth16", "--key", KEY]);
    assert_eq!((verifier.code, &verifier.stdout), (0, &residue(&["build", "groth16", "--key", KEY]).stdout));
}

#[test]
fn files_that_are_nothing_for_a_command_say_what_would_be() {
    let directory = directory("names_files");
    let code = file(&directory, "code.hex", "0x00");
    for command in ["build", "print", "compare", "profile", "example"] {
        residue(&[command, &code]).refused(&["code.hex", "neither a contract nor a program", ".ir"]);
    }
    residue(&["example", "x.ir"]).refused(&["\"x.ir\" is a program"]);
    residue_reading("", &["gas", "groth16"]).refused(&["\"groth16\" is made of a key"]);
}
