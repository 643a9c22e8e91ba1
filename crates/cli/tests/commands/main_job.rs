//! `residue` without a command: every revision beside the native library.

use crate::support::residue;

#[test]
fn every_revision_agrees_with_the_native_library() {
    let object = residue(&["--json"]).json(0);
    assert_eq!(object["success"], true);
    assert_eq!(object["contract"], "bls12_381/pairing");
    assert_eq!(object["input_bytes"], 2 * 384);
    assert_eq!(object["native"]["output"], format!("0x{:064x}", 1));
    assert_eq!(object["native"]["gas_used"], 37_700 + 2 * 32_600);
    let runs = object["runs"].as_array().unwrap();
    let revisions: Vec<&str> = runs.iter().map(|run| run["revision"].as_str().unwrap()).collect();
    assert_eq!(revisions, ["evm384-v7", "eip6690-2024"]);
    for run in runs {
        assert_eq!((&run["agrees"], &run["output"]), (&true.into(), &object["native"]["output"]));
        let split = run["gas_split"].as_object().unwrap();
        assert_eq!(run["gas_used"], split.values().map(|gas| gas.as_u64().unwrap()).sum::<u64>());
        assert!(run["time_ns"].as_u64().unwrap() > 0 && run["native_ns"].as_u64().unwrap() > 0);
        assert!(run["code_bytes"].as_u64().unwrap() > 0 && !run["ops"].as_object().unwrap().is_empty());
    }
}

#[test]
fn people_get_one_table() {
    let ran = residue(&[]);
    for part in ["evm384-v7", "eip6690-2024", "1, as native", "arithmetic", "MULMODX", "code, bytes", "time / native"] {
        assert!(ran.text().contains(part), "{part:?} is not in {}", ran.stdout);
    }
}

/// The README's extract of the table does not depend on the machine.
#[test]
fn the_readme_shows_what_is_printed() {
    let readme = residue_pages::read("README.md");
    let printed = residue(&[]).text().to_owned();
    let block = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    for line in block.lines().filter(|line| !line.contains('─')) {
        assert!(printed.lines().any(|shown| residue_pages::quotes(shown, line)), "{line:?} is not in {printed}");
    }
}
