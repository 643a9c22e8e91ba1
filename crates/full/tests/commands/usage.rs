//! Help, whose examples run, and what shells and `man` know of all commands.

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
