//! `residue bench`: tables and JSON of every group, and records that name the measurement.

use crate::support::{directory, residue};
use residue_lab::{GROUPS, Quantity, Record};

/// One group in four each day. `today` is left out: a debug build takes ten minutes to compile and run what it measures.
#[test]
fn records_hold_what_json_shows() {
    let directory = directory("bench_records");
    let to = directory.to_str().unwrap();
    for group in residue_extent::sample(GROUPS, 4, 0).filter(|group| group.name != "today") {
        let subjects = "blst,modular,eip6690-2024";
        let ran = residue(&["bench", group.name, "--quick", "--json", "--subjects", subjects, "--record", to]);
        let shown = ran.json(0)["records"].as_array().unwrap().clone();
        let [shown] = &shown[..] else { panic!("{}: {} records", group.name, shown.len()) };
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
    let ran = residue(&["bench", "comparison", "--quick", "--subjects", "blst,wasmi,wasmtime,geth", "--json"]);
    let record = ran.json(0)["records"][0].clone();
    let rows = record["rows"].as_array().unwrap();
    let layers: std::collections::BTreeSet<&str> =
        rows.iter().map(|row| row["name"].as_str().unwrap().split('/').next().unwrap()).collect();
    let mut expected = vec!["blst", "blst:checked", "wasmi:host-functions", "wasmi:self-contained"];
    let missing = record["environment"]["missing"].as_str().unwrap();
    assert!(missing.contains("geth (") && !missing.contains("gnark"), "{missing}");
    if cfg!(feature = "wasmtime") {
        expected.extend(["wasmtime:host-functions", "wasmtime:self-contained"]);
    } else {
        assert!(missing.contains("wasmtime (this build is without wasmtime; `cargo build"), "{missing}");
    }
    assert_eq!(layers.into_iter().collect::<Vec<_>>(), expected);
    let ran = residue(&["bench", "instructions", "--quick", "--subjects", "modular,evm384-v0:plain", "--json"]);
    let record = ran.json(0)["records"][0].clone();
    let is_modular = |row: &serde_json::Value| row["name"].as_str().unwrap().starts_with("modular");
    assert!(record["rows"].as_array().unwrap().iter().all(is_modular));
    assert_eq!(record["environment"]["missing"], "evm384-v0:plain (instructions has no measurement of it)");
    residue(&["bench", "--subjects", "mcl"]).refused(&["unknown subject \"mcl\""]);
}

/// Resident memory that a frame of a pairing check may take, without plans: what processes of this program have before their
/// work is not counted.
const FRAME_BYTES_MAX: f64 = (16 << 20) as f64;

#[test]
fn a_plain_engine_stays_under_16_mib_for_one_frame() {
    let ran = residue(&["bench", "memory", "--quick", "--subjects", "blst,evm384-v7,eip6690-2024", "--json"]);
    let record = ran.json(0)["records"][0].clone();
    let rows = record["rows"].as_array().unwrap();
    if rows.is_empty() {
        assert!(record["environment"]["missing"].as_str().unwrap().starts_with("everything ("));
        return;
    }
    for name in ["evm384-v7:plain", "eip6690-2024:plain", "evm384-v7:batch", "eip6690-2024:batch", "blst"] {
        let name = format!("{name}/pairing/2");
        let of = |quantity: &str| {
            let row = rows.iter().find(|row| row["name"] == *name && row["quantity"] == quantity);
            row.unwrap_or_else(|| panic!("{name} {quantity}"))["median"].as_f64().unwrap()
        };
        assert!(of("peak-memory") >= of("memory-growth") && of("memory-growth") > 0.0, "{name}");
        let is_plain = name.contains(":plain");
        assert!(!is_plain || of("memory-growth") < FRAME_BYTES_MAX, "{name}: {}", of("memory-growth"));
    }
}

#[test]
fn errands_are_refused_by_what_is_wrong_with_them() {
    crate::support::residue_reading("{", &["bench", "--errand"]).refused(&["a process of its own", "EOF"]);
    crate::support::residue_reading("", &["bench", "pairing", "--errand"]).refused(&["--errand"]);
}

#[test]
fn unknown_groups_are_refused_by_name() {
    residue(&["bench", "pairings"]).refused(&["unknown group \"pairings\"; did you mean pairing"]);
}
