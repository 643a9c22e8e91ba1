//! Gas kept in a file.

use crate::support::{directory, file, residue};

#[test]
fn a_snapshot_holds_until_gas_differs() {
    let directory = directory("gas_snapshot");
    let path = directory.join("gas.txt").to_str().unwrap().to_owned();
    let taken = residue(&[
        "gas",
        "bls12_381/fp2_mul",
        "bls12_381/g1_add",
        "--revisions",
        "eip6690-2024,evm384-v7",
        "--snapshot",
        &path,
        "--json",
    ]);
    let entries = taken.json(0)["entries"].as_array().unwrap().clone();
    assert_eq!(entries.len(), 4);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 5);
    let built = residue(&["build", "bls12_381/fp2_mul", "--json"]).json(0);
    let gas = built["variants"][0]["gas"].as_u64().unwrap();
    assert_eq!(entries[0]["gas"].as_u64(), Some(gas));
    assert!(residue(&["gas", "--check", &path]).text().contains("4 entries"));

    let line = format!("bls12_381/fp2_mul eip6690-2024 {gas} ");
    assert!(text.contains(&line), "{text}");
    let dearer =
        file(&directory, "other.txt", text.replace(&line, &format!("bls12_381/fp2_mul eip6690-2024 {} ", gas + 1)));
    let checked = residue(&["gas", "--check", &dearer, "--json"]).json(1);
    assert_eq!(
        (checked["success"].as_bool(), checked["differ"][0]["gas_before"].as_u64()),
        (Some(false), Some(gas + 1))
    );
    residue(&["gas", "--check", &dearer, "--tolerance", "1"]).text();
    let table = residue(&["gas", "--diff", &dearer]);
    assert!(
        table
            .text()
            .lines()
            .any(|line| line.starts_with("| bls12_381/fp2_mul | eip6690-2024 |") && line.contains("| -0.")),
        "{table:?}"
    );
}

#[test]
fn what_is_no_snapshot_is_refused() {
    let directory = directory("gas_refused");
    for (text, parts) in [
        ("", vec!["empty.txt has no entry"]),
        ("bls12_381/fp2_mul eip6690-2024 5", vec!["empty.txt:1:", "3 words"]),
        ("# x\nbls12_381/nothing eip6690-2024 5 5", vec!["empty.txt:2:", "unknown contract \"bls12_381/nothing\""]),
        ("bls12_381/fp2_mul eip6690-2030 5 5", vec!["empty.txt:1:", "eip6690-2030"]),
        ("bls12_381/fp2_mul eip6690-2024 0 5", vec!["gas is 0"]),
    ] {
        let path = file(&directory, "empty.txt", text);
        residue(&["gas", "--check", &path]).refused(&parts);
    }
    residue(&["gas", "--check", "nowhere.txt"]).refused(&["nowhere.txt"]);
    residue(&["gas", "bls12_381/g1"]).refused(&["unknown contract \"bls12_381/g1\""]);
    residue(&["gas", "--check", "gas.txt", "--tolerance", "-1"]).refused(&["-1"]);
    residue(&["gas", "--check", "gas.txt", "--snapshot", "gas.txt"]).refused(&["--snapshot"]);
}
