//! `residue check engine`: searches, their saved states, and histories replayed from files.

use crate::support::{directory, file, residue};

/// EVM384 with operands on the stack never batches: a search of it says nothing of the batch engine.
const QUIET: [&str; 4] = ["check", "engine", "--revision", "evm384-v2"];

#[test]
fn a_search_counts_its_runs_and_says_that_all_agree() {
    let run = residue(&[&QUIET[..], &["--runs", "500", "--json"]].concat());
    let found = run.json(0);
    assert!(found["runs"].as_u64().unwrap() >= 500, "{found}");
    assert_eq!(found["by_revision"]["evm384-v2"], found["runs"]);
    assert_eq!(found["findings"], serde_json::json!([]));
    assert_eq!((&found["seeds"]["first"], &found["seeds"]["shard"]), (&1.into(), &"0/1".into()));
    let modes = found["by_mode"].as_object().unwrap();
    assert!(["warm", "always", "traces", "spec"].iter().all(|mode| modes.contains_key(*mode)), "{modes:?}");
    let text = residue(&[&QUIET[..], &["--runs", "100", "--mode", "traces", "--seed", "3"]].concat());
    assert!(text.text().contains("every side agrees with plain"), "{}", text.text());
}

#[test]
fn a_search_goes_on_from_what_it_has_saved() {
    let directory = directory("check_resume");
    let saved = directory.join("search.json");
    let saved = saved.to_str().unwrap();
    let search = |runs: &str, more: &[&str]| {
        residue(&[&QUIET[..], &["--json", "--shard", "1/2", "--threads", "1", "--runs", runs], more].concat()).json(0)
    };
    let whole = search("600", &[]);
    search("250", &["--resume", saved]);
    let resumed = search("600", &["--resume", saved]);
    for key in ["runs", "histories", "by_mode", "by_halt", "seeds"] {
        assert_eq!(whole[key], resumed[key], "{key}");
    }
    residue(&[&QUIET[..], &["--runs", "9", "--resume", saved]].concat()).refused(&[
        "going on from",
        "search.json",
        "shard 1/2, not 0/1",
    ]);
    let other = file(&directory, "other.json", "{}");
    residue(&[&QUIET[..], &["--runs", "9", "--resume", &other]].concat()).refused(&["other.json is not what a search"]);
}

#[test]
fn histories_are_replayed_from_files() {
    let directory = directory("check_replay");
    let good =
        file(&directory, "good.history", "revision eip6690-2024\ncontract 0x1000\n PUSH 5 POP\nrun 0x1000 times 3\n");
    let replayed = residue(&["check", "engine", "--replay", &good, "--json"]).json(0);
    assert_eq!(replayed["histories"][0]["difference"], serde_json::Value::Null);
    assert!(replayed["histories"][0]["runs"].as_u64().unwrap() >= 9);
    assert!(residue(&["check", "engine", "--replay", &good]).text().contains("good.history: every side agrees"));
    let bad = file(&directory, "bad.history", "revision eip6690-2024\ncontract 0x1000\n PUSH 5 POPP\nrun 0x1000\n");
    residue(&["check", "engine", "--replay", &bad]).refused(&["bad.history", "line 3, column 9", "\"POPP\""]);
    residue(&["check", "engine", "--replay", "nowhere.history"]).refused(&["reading a history", "nowhere.history"]);
}

#[test]
fn bad_options_are_refused_by_value() {
    let refused = |args: &[&str], parts: &[&str]| residue(&[&["check", "engine"], args].concat()).refused(parts);
    refused(&["--shard", "4/4"], &["'4/4'", "--shard", "I from 0 to N - 1"]);
    refused(&["--shard", "-1/4"], &["'-1/4'"]);
    refused(&["--mode", "cold"], &["'cold'", "warm, always, traces, shared, spec"]);
    refused(&["--revision", "evm384-v70"], &["'evm384-v70'"]);
    refused(&["--threads", "0"], &["--threads 0 is not between 1 and"]);
    refused(&["--runs", "0"], &["--runs 0"]);
    refused(&["--minutes", "0"], &["--minutes 0"]);
    refused(&["--findings", "0"], &["--findings 0"]);
    refused(&["--minutes", "-1"], &["'-1'", "negative"]);
    refused(&["--minutes", "18446744073709551615"], &["--minutes 18446744073709551615"]);
    refused(&["--minutes", "1", "--runs", "5"], &["--minutes", "--runs"]);
}
