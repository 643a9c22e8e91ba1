//! `residue list` and `residue build`.

use std::fs;

use crate::support::{directory, residue, residue_reading};

#[test]
fn revisions_name_the_schedule_they_have() {
    let object = residue(&["list", "revisions", "--json"]).json(0);
    let revisions = object["revisions"].as_array().unwrap();
    let defaults: Vec<(&str, &str)> = revisions
        .iter()
        .map(|revision| (revision["name"].as_str().unwrap(), revision["schedule"].as_str().unwrap()))
        .collect();
    assert!(defaults.contains(&("evm384-v7", "evmone")));
    assert!(defaults.contains(&("eip6690-2024", "eip6690")));
    let default: Vec<_> = revisions.iter().filter(|revision| revision["default"] == true).collect();
    assert_eq!(default.len(), 1);
    assert_eq!(default[0]["name"], "eip6690-2024");
}

#[test]
fn every_schedule_listed_runs() {
    for revision in ["evm384-v7", "eip6690-2024"] {
        let object = residue(&["list", "schedules", "--json", "--revision", revision]).json(0);
        let schedules = object["schedules"].as_array().unwrap();
        assert!(!schedules.is_empty());
        for schedule in schedules {
            let name = schedule["name"].as_str().unwrap();
            let args = ["run", "-", "--json", "--no-time", "--revision", revision, "--schedule", name];
            assert_eq!(residue_reading("00", &args).json(0)["schedule"], name);
        }
    }
}

#[test]
fn every_fork_listed_runs() {
    let object = residue(&["list", "forks", "--json"]).json(0);
    for fork in object["forks"].as_array().unwrap() {
        let name = fork["name"].as_str().unwrap();
        assert_eq!(fork["default"], name == "osaka");
        assert_eq!(residue_reading("00", &["run", "-", "--json", "--no-time", "--fork", name]).json(0)["fork"], name);
    }
}

#[test]
fn opcodes_are_those_of_the_revision() {
    let object = residue(&["list", "opcodes", "--json", "--revision", "eip6690-2024"]).json(0);
    let rows = object["opcodes"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    let mulmodx = rows.iter().find(|row| row["mnemonic"] == "MULMODX").unwrap();
    assert_eq!((mulmodx["byte"].as_u64(), mulmodx["immediate_bytes"].as_u64()), (Some(0xc5), Some(7)));
    let object = residue(&["list", "opcodes", "--json", "--evm"]).json(0);
    let rows = object["opcodes"].as_array().unwrap();
    assert!(rows.len() > 140);
    assert!(rows.iter().any(|row| row["mnemonic"] == "KECCAK256" && row["revision"].is_null()));
}

#[test]
fn lists_for_people_have_all_parts() {
    let list = residue(&["list"]);
    for part in ["evm384-v7", "eip6690-2024 *", "model-a", "osaka *", "0xc5", "MULMODX", "bls12_381/pairing"] {
        assert!(list.text().contains(part), "{part:?} is not in {}", list.stdout);
    }
    let object = residue(&["list", "--json"]).json(0);
    let keys: Vec<&String> = object.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["revisions", "schedules", "forks", "opcodes", "contracts", "verifiers"]);
}

#[test]
fn built_code_is_what_runs_by_name() {
    let directory = directory("build_one");
    let path = directory.join("fp2_mul.bin");
    let path = path.to_str().unwrap();
    for revision in ["evm384-v7", "eip6690-2024"] {
        let build = |args: &[&str]| residue(&[&["build", "bls12_381/fp2_mul", "--revision", revision], args].concat());
        let code = build(&[]).text().trim().to_owned();
        let object = build(&["--json", "-o", path]).json(0);
        assert_eq!(object["code"], code);
        assert_eq!(object["code_bytes"], (code.len() - 2) / 2);
        assert_eq!((&object["contract"], &object["revision"]), (&"bls12_381/fp2_mul".into(), &revision.into()));
        assert_eq!(object["path"], path);
        assert!(object["slots"].as_u64().unwrap() > 0 && object["field_instructions"].as_u64().unwrap() > 0);
        let today = residue(&["build", "p256/verify", "--revision", "evm", "--json"]).json(0);
        assert_eq!(today["field_instructions"], 0);
        assert_eq!(format!("0x{}", hex::encode(fs::read(path).unwrap())), code);

        let input: String = (1..=4).map(|digit| format!("{digit:0128x}")).collect();
        let run =
            |file| residue(&["run", file, "--json", "--no-time", "--revision", revision, "--input", &input]).json(0);
        assert_eq!(run(path), run("bls12_381/fp2_mul"));
    }
}

#[test]
#[ignore = "it takes long: by name, and in CI"]
fn all_contracts_are_built_into_a_directory() {
    let directory = directory("build_all");
    let object = residue(&["build", "all", "--json", "-o", directory.to_str().unwrap()]).json(0);
    let built = object["contracts"].as_array().unwrap();
    let listed = residue(&["list", "contracts", "--json"]).json(0);
    assert_eq!(built.len(), listed["contracts"].as_array().unwrap().len());
    for contract in built {
        let path = directory.join(format!("{}.hex", contract["contract"].as_str().unwrap()));
        assert_eq!(fs::read_to_string(path).unwrap().trim(), contract["code"]);
    }
}

#[test]
fn unknown_contracts_name_the_known() {
    residue(&["build", "bls12_381/pairings"]).refused(&["\"bls12_381/pairings\"", "bls12_381/pairing,", "all"]);
}
