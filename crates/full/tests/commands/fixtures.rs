//! `fixtures`: the files run, are the same each time, and changes in them are found.

use serde_json::{Value, json};

use crate::support::{directory, residue};

#[test]
fn what_is_written_runs_and_a_change_is_found() {
    let directory = directory("fixtures_written");
    let [out, again] = ["out", "again"].map(|name| directory.join(name).to_str().unwrap().to_owned());
    let make = |out: &str| {
        residue(&["fixtures", "--only", "instructions/addmodx,frames,poseidon2/bn254_t2", "--out", out, "--json"])
            .json(0)
    };
    let (made, second) = (make(&out), make(&again));
    assert_eq!((&made["files"], &made["tests"]), (&second["files"], &second["tests"]));
    assert_eq!(made["left_out"], json!([]));
    for file in ["instructions/addmodx.json", "frames.json"] {
        let read = |out: &str| std::fs::read_to_string(format!("{out}/{file}")).unwrap();
        assert_eq!(read(&out), read(&again));
    }
    let run = residue(&["statetest", &out, "--revision", "eip6690-2024", "--batching", "all", "--json"]).json(0);
    assert_eq!((&run["entries"]["passed"], &run["entries"]["all"]), (&made["tests"], &made["tests"]));
    // Another revision has nothing to say.
    let other = residue(&["statetest", &out, "--revision", "evm384-v7", "--json"]).json(0);
    assert_eq!(other["entries"]["skipped"], made["tests"]);
    assert!(other["skips"][0]["reason"].as_str().unwrap().contains("eip6690-2024"));

    let path = format!("{out}/instructions/addmodx.json");
    let mut tests: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    // Gas that the sender has paid shows in the root, and so does every byte of output.
    let hash = tests["addmodx_values_003"]["post"]["Osaka"][0]["hash"].clone();
    tests["addmodx_values_002"]["post"]["Osaka"][0]["hash"] = hash;
    std::fs::write(&path, tests.to_string()).unwrap();
    let found = residue(&["statetest", &out, "--revision", "eip6690-2024", "--json"]).json(1);
    let failure = &found["failures"][0];
    assert_eq!((&found["entries"]["failed"], &failure["test"]), (&json!(1), &json!("addmodx_values_002")));
}

#[test]
fn files_are_listed_and_bad_input_is_named() {
    let listed = residue(&["fixtures", "--list", "--revision", "evm384-v7"]).text().to_owned();
    assert!(listed.lines().any(|line| line == "instructions/mulmodmont384"), "{listed}");
    assert!(listed.lines().any(|line| line == "contracts/bls12_381/pairing"), "{listed}");

    let directory = directory("fixtures_refused");
    let folder = directory.to_str().unwrap();
    std::fs::write(directory.join("mine.txt"), "mine").unwrap();
    residue(&["fixtures", "--out", folder]).refused(&[folder, "is not empty"]);
    let new = directory.join("new");
    let new = new.to_str().unwrap();
    residue(&["fixtures", "--out", new, "--revision", "evm384-v70"]).refused(&["evm384-v70", "did you mean evm384-v"]);
    residue(&["fixtures", "--out", new, "--only", "mulmody"]).refused(&["mulmody", "instructions/mulmodx"]);
    residue(&["fixtures"]).refused(&["--out"]);
    let below_a_file = directory.join("mine.txt/new");
    residue(&["fixtures", "--out", below_a_file.to_str().unwrap(), "--only", "frames"]).refused(&["mine.txt"]);
    let left: Vec<_> = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["mine.txt"]);
}
