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
    for file in ["state_tests/instructions/addmodx.json", "blockchain_tests/frames.json"] {
        let read = |out: &str| std::fs::read_to_string(format!("{out}/{file}")).unwrap();
        assert_eq!(read(&out), read(&again));
    }
    let run = residue(&["statetest", &out, "--revision", "eip6690-2024", "--batching", "all", "--json"]).json(0);
    assert_eq!((&run["entries"]["passed"], &run["entries"]["all"]), (&made["tests"], &made["tests"]));
    // Another revision has nothing to say.
    let other = residue(&["statetest", &out, "--revision", "evm384-v7", "--json"]).json(0);
    assert_eq!(other["entries"]["skipped"], made["tests"]);
    assert!(other["skips"][0]["reason"].as_str().unwrap().contains("eip6690-2024"));

    let path = format!("{out}/state_tests/instructions/addmodx.json");
    let mut tests: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    // Gas that the sender has paid shows in the root, and so does every byte of output.
    let hash = tests["addmodx_values_003"]["post"]["Osaka"][0]["hash"].clone();
    tests["addmodx_values_002"]["post"]["Osaka"][0]["hash"] = hash;
    std::fs::write(&path, tests.to_string()).unwrap();
    let found = residue(&["statetest", &out, "--revision", "eip6690-2024", "--json"]).json(1);
    let failure = &found["failures"][0];
    assert_eq!((&found["entries"]["failed"], &failure["test"]), (&json!(1), &json!("addmodx_values_002")));
}

/// Blocks and transactions are compared in every part: here each is another than the file says.
#[test]
fn a_change_of_a_block_or_of_a_transaction_is_found() {
    let directory = directory("fixtures_blocks");
    let out = directory.join("out").to_str().unwrap().to_owned();
    let revision = ["--revision", "evmmax-next"];
    let args = [&["fixtures", "--only", "transactions,chains", "--out", &out][..], &revision].concat();
    residue(&args);
    let read = |file: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(format!("{out}/{file}.json")).unwrap()).unwrap()
    };
    let (chains, singles) = (read("blockchain_tests/chains"), read("transaction_tests/transactions"));
    let exception = &chains["chains_refused_001"]["blocks"][1]["expectException"];
    assert_eq!(exception, "BlockException.INVALID_GAS_USED");
    let another = json!("0x00");
    let zeros = json!(format!("0x{}", "0".repeat(64)));
    let damages = [
        ("chains_in_turn", "/blocks/1/blockHeader/gasUsed", &another),
        ("chains_in_turn", "/blocks/0/receipts/2/cumulativeGasUsed", &another),
        ("chains_in_turn", "/blocks/0/transactions/1/gasPrice", &another),
        ("chains_twice", "/lastblockhash", &zeros),
        ("chains_twice", "/genesisBlockHeader/stateRoot", &zeros),
        ("chains_between", "/postState/0x2adc25665018aa1fe0e6bc666dac8fc2697ff9ba/balance", &another),
        ("chains_refused_001", "/blocks/1/expectException", &json!("BlockException.INVALID_STATE_ROOT")),
        ("transactions_creation_000", "/result/Osaka/intrinsicGas", &another),
        ("transactions_refused_001", "/result/Osaka/exception", &json!("TransactionException.NONCE_IS_MAX")),
    ];
    for (test, place, value) in damages {
        let mut body = chains.get(test).or(singles.get(test)).unwrap().clone();
        assert_ne!(body.pointer(place), Some(value), "{test} {place}");
        *body.pointer_mut(place).unwrap() = value.clone();
        let path = directory.join("damaged.json");
        std::fs::write(&path, json!({ test: body }).to_string()).unwrap();
        let found = residue(&[&["statetest", path.to_str().unwrap(), "--json"][..], &revision].concat()).json(1);
        assert_eq!(found["entries"]["failed"], 1, "{test} {place}");
    }
}

#[test]
fn the_ladder_has_a_hundred_tests_and_random_programs_follow_from_their_seed() {
    let directory = directory("fixtures_ladder");
    let [ladder, random, again] = ["ladder", "random", "again"].map(|name| directory.join(name).display().to_string());
    let made = residue(&["fixtures", "--ladder", "--out", &ladder, "--json"]).json(0);
    assert_eq!(made["tests"], 100);
    let run = residue(&["statetest", &ladder, "--revision", "eip6690-2024", "--json"]).json(0);
    assert_eq!(run["entries"]["passed"], 100);
    for out in [&random, &again] {
        residue(&["fixtures", "--random", "120", "--seed", "7", "--out", out]);
    }
    let read = |out: &str| std::fs::read_to_string(format!("{out}/blockchain_tests/random/seed_107.json")).unwrap();
    assert_eq!(read(&random), read(&again));
    let run = residue(&["statetest", &random, "--revision", "eip6690-2024", "--json"]).json(0);
    assert_eq!(run["entries"]["failed"], 0);
    let new = directory.join("new").display().to_string();
    residue(&["fixtures", "--random", "0", "--out", &new]).refused(&["0", "1 to 1000000"]);
    residue(&["fixtures", "--seed", "7", "--out", &new]).refused(&["--random"]);
    let no_such = ["fixtures", "--random", "5", "--format", "transaction_test", "--out", &new];
    residue(&no_such).refused(&["random programs", "transaction_test"]);
    residue(&["fixtures", "--format", "engine_test", "--out", &new]).refused(&["engine_test", "state_test"]);
}

#[test]
fn files_are_listed_and_bad_input_is_named() {
    let listed = residue(&["fixtures", "--list", "--revision", "evm384-v7"]).text().to_owned();
    assert!(listed.lines().any(|line| line == "state_tests/instructions/mulmodmont384"), "{listed}");
    assert!(listed.lines().any(|line| line == "blockchain_tests/contracts/bls12_381/pairing"), "{listed}");

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
