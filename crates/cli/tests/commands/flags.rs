//! Flags without an effect are refused: every option of every command, on every kind of subject.

use clap::CommandFactory;
use residue_command::args::Cli;

use crate::support::{directory, file, residue_reading};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
/// A contract with a product in Fp2.
const CONTRACT: &str = "bls12_381/fp2_mul";

/// The kinds of subjects.
const KINDS: [&str; 4] = ["contract", "verifier", "program", "code"];

/// The commands that work on a subject, and the kinds that they take.
const COMMANDS: [(&str, &[&str]); 8] = [
    ("run", &KINDS),
    ("trace", &KINDS),
    ("disasm", &KINDS),
    ("build", &["contract", "verifier", "program"]),
    ("print", &["contract", "verifier", "program"]),
    ("compare", &["contract", "verifier", "program"]),
    ("profile", &["contract", "verifier", "program"]),
    ("example", &["contract", "verifier"]),
];

/// Options that have an effect on every kind of subject that the command takes.
const EVERY: [&str; 23] = [
    "python",
    "revision",
    "revisions",
    "schedules",
    "gas",
    "engine",
    "input",
    "memory",
    "no-time",
    "limit",
    "as-precompiles",
    "calls",
    "code-limit",
    "certificate",
    "format",
    "address",
    "output",
    "markdown",
    "svg",
    "by",
    "json",
    "schedule",
    "fork",
];

/// The others: option, what is given with it, and the kinds that refuse it, under one command or all.
const SOME: [(&str, &str, &[&str], &[&str]); 16] = [
    ("", "key", &["KEY"], &["contract", "program", "code"]),
    ("", "witness", &["--key", "KEY"], &["contract", "program", "code"]),
    ("", "allow-unsafe-key", &["--key", "KEY"], &["contract", "program", "code"]),
    ("", "proof", &["PROOF", "--public", "PUBLIC", "--key", "KEY"], &["contract", "program", "code"]),
    ("", "public", &["PUBLIC", "--proof", "PROOF", "--key", "KEY"], &["contract", "program", "code"]),
    ("", "example", &[], &["program", "code"]),
    ("", "f2mul", &["3"], &["program", "code"]),
    ("build", "explain", &[], &["program"]),
    ("run", "explain", &[], &[]),
    ("", "multiples", &["3"], &["code"]),
    ("", "portable", &[], &["code"]),
    ("", "use-precompiles", &[], &["contract", "program", "code"]),
    ("", "linked", &[], &["program", "code"]),
    ("", "function", &["start"], &["code"]),
    ("disasm", "schedule", &["eip6690"], &["code"]),
    ("print", "schedule", &["eip6690"], &["program"]),
];
/// Of `disasm`, code of a file has no fork.
const FORK: (&str, &str, &[&str], &[&str]) = ("disasm", "fork", &["osaka"], &["code"]);

/// The rows of an option of a command.
fn row(
    command: &str,
    option: &str,
) -> Option<&'static (&'static str, &'static str, &'static [&'static str], &'static [&'static str])> {
    let rows = SOME.iter().chain([&FORK]);
    let mut of_option: Vec<_> = rows.filter(|row| row.1 == option && [command, ""].contains(&row.0)).collect();
    of_option.pop()
}

#[test]
fn every_option_has_an_effect_or_is_refused() {
    let program = file(
        &directory("flags"),
        "one.ir",
        "program \"one\"\nmodulus 0x61\nfunction f0 \"s\" () -> () values 0 {\n}\n",
    );
    let mut refused = 0;
    for (command, kinds) in COMMANDS {
        let cli = Cli::command();
        let described = cli.get_subcommands().find(|described| described.get_name() == command).unwrap();
        for option in described.get_arguments().filter_map(clap::Arg::get_long).filter(|&option| option != "help") {
            let Some((_, _, more, refusing)) = row(command, option) else {
                assert!(EVERY.contains(&option), "{command} --{option}: whether it has an effect is in no table here");
                continue;
            };
            for &kind in kinds.iter().filter(|kind| refusing.contains(kind)) {
                let subject = match kind {
                    "contract" => CONTRACT,
                    "program" => &program,
                    _ => "-",
                };
                let named = |word: &&str| match *word {
                    "KEY" | "PROOF" | "PUBLIC" => format!("{EXAMPLES}/groth16/{}.json", word.to_lowercase()),
                    word => word.to_owned(),
                };
                let flag = format!("--{option}");
                let words: Vec<String> = [&[command, subject, &flag][..], more].concat().iter().map(named).collect();
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                residue_reading("0x00", &words).refused(&["has no effect on", &format!("{subject:?}")]);
                refused += 1;
            }
        }
    }
    assert!(refused > 50, "only {refused} were tried");
}

#[test]
fn options_that_change_nothing_in_a_call_are_refused() {
    for (line, parts) in [
        ("build bls12_381/fp2_mul --portable --revision evm", &["--portable has no effect under evm"][..]),
        ("run bls12_381/fp2_mul --example --portable --revision evm384-v7", &["--portable", "evm384-v7"]),
        ("compare bls12_381/fp2_mul --portable --revisions evm,evm384-v7", &["--portable", "evm, evm384-v7"]),
        ("build all --portable --revision evm", &["--portable", "evm"]),
        ("run - --portable --as-precompiles --revision evm", &["--portable", "evm"]),
        ("build bn254/add --f2mul 3", &["--f2mul has no effect on \"bn254/add\"", "no product in Fp2"]),
        ("compare bn254/add --f2mul auto --no-time", &["--f2mul", "no product in Fp2"]),
        ("build poseidon/t3 --use-precompiles", &["--use-precompiles has no effect on \"poseidon/t3\""]),
        ("run - --explain --revision evm", &["--explain has no effect", "under evm"]),
        ("run - --explain --engine plain", &["--explain has no effect with --engine plain"]),
        ("run - --explain --engine spec", &["--explain has no effect with --engine spec"]),
        ("build bls12_381/fp2_mul --explain --json", &["--explain has no effect with --json"]),
        ("build all --key KEY", &["--key has no effect on \"all\"", "every contract"]),
        ("build all --format solidity --output x --address 0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", &["--address"]),
        ("profile bls12_381/fp2_mul --by gas", &["--svg"]),
        (
            "list revisions --revision evm",
            &["--revision has no effect on the list of revisions", "schedules and opcodes"],
        ),
        ("list contracts --revision evm", &["--revision"]),
        ("list forks --evm", &["--evm has no effect on the list of forks"]),
        ("list opcodes --long", &["--long", "contracts and verifiers"]),
        ("list contracts --long --json", &["--long has no effect with --json"]),
        ("gas --check gas.txt --diff gas.txt", &["--check", "--diff"]),
        ("gas bls12_381/fp2_mul --tolerance 1", &["--check"]),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        residue_reading("0x00", &words).refused(parts);
    }
}
