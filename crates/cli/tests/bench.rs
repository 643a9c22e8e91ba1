//! `residue bench`: tables and JSON of every group, and records that say what was measured.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod support;

use residue_lab::{GROUPS, Quantity, Record};
use support::{directory, residue};

#[test]
fn records_hold_what_json_shows() {
    let directory = directory("bench_records");
    let ran = residue(&["bench", "--quick", "--json", "--record", directory.to_str().unwrap()]);
    let shown = ran.json(0)["records"].as_array().unwrap().clone();
    assert_eq!(shown.len(), GROUPS.len());
    for (shown, group) in shown.iter().zip(GROUPS) {
        assert_eq!(shown["group"], group.name);
        let machine = shown["environment"]["machine"].as_str().unwrap();
        let path = directory.join(machine).join(format!("{}-{}.csv", shown["date"].as_str().unwrap(), group.name));
        let record = Record::read(&path).unwrap();
        assert_eq!(record.to_json(), *shown);
        assert!(ran.stderr.contains(&path.display().to_string()), "{}", ran.stderr);
    }
}

#[test]
fn a_table_compares_the_pairing_with_native_code() {
    let ran = residue(&["bench", "pairing", "--quick"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for part in ["/ precompile", "eip6690-2024:batch/pairing/2", "evm384-v7:plain/pairing/2", "blst:checked/pairing/2"]
    {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains(&Quantity::Latency.to_string()), "{}", ran.stdout);
}

#[test]
fn subjects_are_chosen_and_a_missing_baseline_is_named() {
    let ran = residue(&["bench", "comparison", "--quick", "--subjects", "blst,wasmtime,geth", "--json"]);
    let record = ran.json(0)["records"][0].clone();
    let rows = record["rows"].as_array().unwrap();
    let layers: std::collections::BTreeSet<&str> =
        rows.iter().map(|row| row["name"].as_str().unwrap().split('/').next().unwrap()).collect();
    let expected = ["blst", "blst:checked", "wasmtime:host-functions", "wasmtime:self-contained"];
    assert_eq!(layers.into_iter().collect::<Vec<_>>(), expected);
    let missing = record["environment"]["missing"].as_str().unwrap();
    assert!(missing.starts_with("geth (") && !missing.contains("gnark"), "{missing}");
    residue(&["bench", "--subjects", "mcl"]).refused(&["\"mcl\"", "known are blst, arkworks"]);
}

#[test]
fn unknown_groups_are_refused_by_name() {
    residue(&["bench", "pairings"]).refused(&["\"pairings\"", "instructions, pairing"]);
}
