//! `residue compare`.

use crate::support::{directory, file, residue};
use serde_json::Value;

const PAIRING: &str = "bls12_381/pairing";

fn rows(object: &Value) -> &[Value] {
    object["rows"].as_array().unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

/// The revisions that rows or reasons are for, in the order of the object.
fn revisions<'a>(object: &'a Value, key: &str) -> Vec<&'a str> {
    object[key].as_array().unwrap().iter().map(|row| row["revision"].as_str().unwrap()).collect()
}

/// A contract that is compiled for every revision in no time.
const SMALL: &str = "bls12_381/g1_add";

#[test]
fn every_revision_has_a_row_or_a_reason() {
    let object = residue(&["compare", PAIRING, "--no-time", "--json"]).json(0);
    let listed = residue(&["list", "revisions", "--json"]).json(0);
    let mut found = [revisions(&object, "rows"), revisions(&object, "left_out")].concat();
    found.sort_unstable();
    let mut expected: Vec<&str> =
        listed["revisions"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert!(revisions(&object, "rows").contains(&"evm384-v7") && revisions(&object, "rows").contains(&"eip6690-2024"));
    assert!(object["left_out"].as_array().unwrap().iter().all(|row| !row["reason"].as_str().unwrap().is_empty()));
    assert_eq!((&object["success"], &object["native"]["output"]), (&true.into(), &format!("0x{:064x}", 1).into()));
}

#[test]
fn parts_add_up() {
    let object = residue(&["compare", SMALL, "--no-time", "--json"]).json(0);
    for row in rows(&object) {
        let sum = |key: &str| row[key].as_object().unwrap().values().map(number).sum::<u64>();
        assert_eq!(number(&row["gas_used"]), sum("gas_split"));
        let classes = &row["op_classes"];
        let lanes = ["add_lanes", "sub_lanes", "mul_lanes"].map(|name| number(&classes[name]));
        assert_eq!(sum("op_classes") - lanes.iter().sum::<u64>(), sum("ops"), "each instruction has one class");
        assert!(number(&classes["field_instructions"]) <= lanes.iter().sum());
        let has_none = matches!(row["revision"].as_str(), Some("evm" | "evm-callsub"));
        assert!(lanes[2] > 2 || has_none, "a sum of points multiplies: {lanes:?}");
        assert!(row["time_ns"].is_null());
    }
}

#[test]
fn a_row_is_what_run_says() {
    let object = residue(&["compare", PAIRING, "--no-time", "--json", "--revisions", "evm384-v7,eip6690-2024"]).json(0);
    assert_eq!(revisions(&object, "rows"), ["evm384-v7", "eip6690-2024"]);
    for row in rows(&object) {
        let run = ["run", PAIRING, "--example", "--no-time", "--json", "--revision", row["revision"].as_str().unwrap()];
        for (key, value) in residue(&run).json(0).as_object().unwrap() {
            assert_eq!(&row[key], value, "{key}");
        }
    }
}

#[test]
fn a_revision_runs_under_the_schedules_for_it() {
    let directory = directory("compare_schedules");
    let text = "name = \"dear\"\nsummary = \"dear\"\nrevisions = [\"evm384-v7\"]\n[base]\nADDMOD384 = 100\nSUBMOD384 = 100\nMULMODMONT384 = 100\nLOGF = 1\n";
    let dear = file(&directory, "dear.toml", text);
    let schedules = format!("evmone,model-a,{dear}");
    let args = ["compare", "bls12_381/fp2_mul", "--no-time", "--json", "--schedules", &schedules];
    let object = residue(&[&args[..], &["--revisions", "evm384-v7,eip6690-2024"]].concat()).json(0);
    let rows = rows(&object);
    let names: Vec<&str> = rows.iter().map(|row| row["schedule"].as_str().unwrap()).collect();
    assert_eq!(names, ["evmone", "model-a", "dear"]);
    assert!(number(&rows[1]["gas_used"]) < number(&rows[0]["gas_used"]));
    assert!(number(&rows[0]["gas_used"]) < number(&rows[2]["gas_used"]));
    assert_eq!(revisions(&object, "left_out"), ["eip6690-2024"]);
    assert!(object["left_out"][0]["reason"].as_str().unwrap().contains("evmone, model-a"));
    residue(&["compare", PAIRING, "--schedules", "evmone,modle-a"]).refused(&["\"modle-a\"", "model-a"]);
}

#[test]
fn a_result_that_differs_is_told() {
    // Enough gas for one of the two.
    let args = ["compare", PAIRING, "--no-time", "--json", "--revisions", "evm384-v7,eip6690-2024", "--gas", "300000"];
    let object = residue(&args).json(1);
    let told: Vec<_> = rows(&object).iter().map(|row| (row["halt"].as_str().unwrap(), &row["agrees"])).collect();
    assert_eq!(told, [("out_of_gas", &false.into()), ("return", &true.into())]);
    assert_eq!(object["success"], false);
    let shown = residue(&args.map(|arg| if arg == "--json" { "--markdown" } else { arg }));
    assert_eq!((shown.code, shown.stderr.as_str()), (1, "error: not every result is the same\n"));
    // Nothing succeeds, and no precompile says that it should be so.
    residue(&["compare", "bls12_381/fp2_mul", "--no-time", "--json", "--gas", "100"]).json(1);
}

#[test]
fn a_contract_that_no_revision_expresses_is_bad_usage() {
    let nothing = residue(&["compare", "bw6_761/g1_add", "--no-time", "--revisions", "evm384-v7"]);
    assert_eq!((nothing.code, nothing.stderr.as_str()), (2, "error: no revision was compared\n"));
    assert!(nothing.stdout.contains("evm384-v7"), "{}", nothing.stdout);
}

#[test]
fn what_the_precompile_refuses_is_refused_everywhere() {
    let object = residue(&["compare", SMALL, "--no-time", "--json", "--input", "0x00"]).json(0);
    assert!(object["native"]["error"].as_str().unwrap().contains("0x0b"));
    assert!(rows(&object).iter().all(|row| row["agrees"] == true && row["success"] == false));
}

#[test]
fn times_stand_beside_native_ones() {
    let args = ["compare", PAIRING, "--json", "--revisions", "eip6690-2024"];
    let object = residue(&args).json(0);
    assert!(number(&rows(&object)[0]["time_ns"]) > 0 && number(&rows(&object)[0]["native_ns"]) > 0);
    let shown = residue(&["compare", PAIRING, "--revisions", "eip6690-2024", "--markdown"]);
    assert!(shown.text().contains("| time | time / native |") && shown.text().contains(" × |"));
}

#[test]
fn people_get_revisions_as_rows() {
    let shown = residue(&["compare", SMALL, "--no-time"]);
    for part in ["as native", "375 gas", "eip6690-2024", "code bytes", "mul lanes", "DUP, SWAP", "loads, stores"] {
        assert!(shown.text().contains(part), "{part:?} is not in {}", shown.stdout);
    }
    residue(&["compare", "bls12_381/pairings"]).refused(&["\"bls12_381/pairings\"", "bls12_381/pairing"]);
    residue(&["compare", PAIRING, "--json", "--markdown"]).refused(&["--markdown"]);
    residue(&["compare", PAIRING, "--revisions", "evm384-v70"]).refused(&["'evm384-v70'", "evm384-v7"]);
}
