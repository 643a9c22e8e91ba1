//! `residue t8n` as a program: its inputs, its output files, and every fork that it knows, each beside state tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use alloy_consensus::{Eip658Value, Receipt, ReceiptEnvelope};
use alloy_eips::eip2718::Encodable2718;
use alloy_primitives::{Log, hex, keccak256};
use residue_engine::revm::state::bal::alloy::AlloyBal;
use residue_statetest::{Source, run_text};
use serde_json::{Value, json};

const SENDER: &str = "0xa94f5374fce5edbc8e2a8697c15331677e6ebf0b";
const SECRET: &str = "0x45a915e4d060149eb4365960e6a7a45f334393093061116b197e3240065ff2d8";
const CONTRACT: &str = "0x00000000000000000000000000000000000000aa";

/// A list of one transaction without a price to 0x1000, of nonce 0, signed for chain 1 (EIP-155).
const PROTECTED: &str = "0xf862f8608080830f4240940000000000000000000000000000000000001000808026a08e692bbeee0a9888743392c27c9a14784165a20442d130f3062cc876ede97156a05f90effdfdf322cbf11ea57b2e37b50ffc0ef0bb57724ba1033de27cc22e2dcd";
/// The same, signed for any chain.
const UNPROTECTED: &str = "0xf862f8608080830f424094000000000000000000000000000000000000100080801ba01bf2be47374b1c18bdb0c1eacedd4ae20ae76b86de14b6588e6780f46d49ae8fa0659a287a6bbd514c6f7ae3e63f66231c5705ce601b40884d80d57f8ac45a87f1";
/// The same with the other s that the signature could have, which EIP-2 rules out.
const OTHER_S: &str = "0xf862f8608080830f424094000000000000000000000000000000000000100080801ca01bf2be47374b1c18bdb0c1eacedd4ae20ae76b86de14b6588e6780f46d49ae8fa09a65d7859442aeb390851c19c099dce263a90e86940817ee3efcdf020bdbb950";

/// A folder with the three files that a transition reads.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for (file, value) in [("alloc.json", alloc()), ("env.json", env()), ("txs.json", json!([tx(0)]))] {
        fs::write(folder.join(file), value.to_string()).unwrap();
    }
    folder
}

/// PUSH1 7 PUSH1 1 SSTORE, then LOG0 of nothing.
fn alloc() -> Value {
    json!({ SENDER: { "balance": "0xde0b6b3a7640000" }, CONTRACT: { "balance": "0x1", "code": "0x600760015560006000a0" } })
}

fn env() -> Value {
    json!({
        "currentCoinbase": "0x00000000000000000000000000000000000000cc", "currentGasLimit": "30000000", "currentNumber": "1",
        "currentTimestamp": "12", "currentRandom": "0x0", "currentDifficulty": "0x20000", "currentBaseFee": "7", "currentExcessBlobGas": "0",
        "parentBeaconBlockRoot": "0x0", "blockHashes": { "0": "0x1" }, "withdrawals": [],
    })
}

fn tx(nonce: u64) -> Value {
    json!({ "to": CONTRACT, "gas": "0x1e8480", "gasPrice": "0xa", "nonce": format!("{nonce:#x}"), "value": "0x5", "input": "0x", "v": "0x0",
        "r": "0x0", "s": "0x0", "secretKey": SECRET })
}

fn t8n(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_residue-t8n"));
    command.current_dir(folder).args(args).stdin(Stdio::null()).output().unwrap()
}

#[track_caller]
fn refused(folder: &Path, args: &[&str], parts: &[&str]) {
    let done = t8n(folder, args);
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!((done.status.code(), done.stdout.len()), (Some(2), 0), "{said}");
    assert!(parts.iter().all(|part| said.contains(part)), "{said}");
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn the_example_of_the_help_works_twice() {
    let folder = folder("t8n_example");
    let help = String::from_utf8(t8n(&folder, &["--help"]).stdout).unwrap();
    let example = help.lines().find_map(|line| line.trim().strip_prefix("residue t8n ")).unwrap();
    let words: Vec<&str> = example.split_whitespace().collect();
    let first = t8n(&folder, &words);
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    assert_eq!(t8n(&folder, &words).stdout, first.stdout);
    assert_eq!(fs::read_to_string(folder.join("alloc.json")).unwrap(), alloc().to_string());
    assert_eq!(names(&folder), ["after.json", "alloc.json", "env.json", "txs.json"]);
}

#[test]
fn a_file_that_is_read_is_written_over_only_where_it_is_named() {
    let folder = folder("t8n_over");
    let before = fs::read_to_string(folder.join("alloc.json")).unwrap();
    refused(&folder, &[], &["--output.alloc", "alloc.json, the file of --input.alloc"]);
    fs::rename(folder.join("env.json"), folder.join("result.json")).unwrap();
    let with_env = ["--input.env", "result.json", "--output.alloc", "stdout"];
    refused(&folder, &with_env, &["--output.result", "result.json, the file of --input.env"]);
    refused(
        &folder,
        &["--output.alloc", "a.json", "--output.result", "a.json"],
        &["--output.result and --output.alloc are both"],
    );
    fs::rename(folder.join("result.json"), folder.join("env.json")).unwrap();
    assert_eq!((names(&folder).len(), fs::read_to_string(folder.join("alloc.json")).unwrap()), (3, before.clone()));
    // Elsewhere the default names are free, an empty name is none, and asked for the file is replaced.
    assert!(
        t8n(&folder, &["--output.basedir", "out", "--output.result", "", "--output.body", "body.rlp"]).status.success()
    );
    assert_eq!(names(&folder.join("out")), ["alloc.json", "body.rlp"]);
    assert!(t8n(&folder, &["--output.alloc", "alloc.json", "--output.result", "stderr"]).status.success());
    assert_ne!(fs::read_to_string(folder.join("alloc.json")).unwrap(), before);
    assert_eq!(names(&folder), ["alloc.json", "env.json", "out", "txs.json"]);
    // What was written as a body is read as transactions.
    let again = t8n(
        &folder,
        &[
            "--input.alloc",
            "out/alloc.json",
            "--input.txs",
            "out/body.rlp",
            "--output.alloc",
            "stdout",
            "--output.result",
            "stdout",
        ],
    );
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert!(again["result"]["rejected"][0]["error"].as_str().unwrap().contains("nonce"), "{again}");
}

#[test]
fn files_that_are_wrong_are_refused_with_their_place() {
    let folder = folder("t8n_wrong");
    let out = ["--output.alloc", "after.json"];
    let with = |file: &str, text: &[u8], parts: &[&str]| {
        let before = fs::read(folder.join(file)).unwrap();
        fs::write(folder.join(file), text).unwrap();
        refused(&folder, &out, parts);
        fs::write(folder.join(file), before).unwrap();
    };
    let alloc = alloc().to_string();
    with("alloc.json", &alloc.as_bytes()[..50], &["--input.alloc alloc.json: EOF", "line 1 column"]);
    with("alloc.json", b"{\n\"a\": 1, \"a\": 2}", &["--input.alloc alloc.json: \"a\" is there twice at line 2"]);
    let upper = CONTRACT.replace("aa", "AA");
    with(
        "alloc.json",
        json!({ CONTRACT: {}, upper.as_str(): {} }).to_string().as_bytes(),
        &["--input.alloc", "is there twice"],
    );
    with(
        "alloc.json",
        json!({ CONTRACT: { "storage": { "0x0": "0x1", "0x00": "0x2" } } }).to_string().as_bytes(),
        &["storage", "is there twice"],
    );
    with(
        "alloc.json",
        json!({ CONTRACT: { "storage": { "0x0x": "0x1" } } }).to_string().as_bytes(),
        &[CONTRACT, "storage 0x0x"],
    );
    with(
        "alloc.json",
        json!({ CONTRACT: { "balance": "ten" } }).to_string().as_bytes(),
        &[CONTRACT, "balance", "\"ten\""],
    );
    with("alloc.json", b"\xff\xfe{\0}\0", &["--input.alloc alloc.json", "UTF-16"]);
    with("alloc.json", b"[]", &["--input.alloc", "[] is no object"]);
    for (name, value) in [
        ("withdrawals", json!({})),
        ("ommers", json!("0x")),
        ("blockHashes", json!([])),
        ("currentNumber", json!("0x1g")),
    ] {
        let mut env = env();
        env[name] = value.clone();
        with("env.json", env.to_string().as_bytes(), &["--input.env", &value.to_string()]);
    }
    let mut env = env();
    env["parentHash"] = json!("0x2");
    with("env.json", env.to_string().as_bytes(), &["parentHash", "in blockHashes"]);
    with("txs.json", b"{}", &["--input.txs", "neither a list"]);
    refused(
        &folder,
        &["--state.fork", "osaca", "--output.alloc", "stdout"],
        &["--state.fork osaca: no such fork; did you mean osaka"],
    );
    refused(
        &folder,
        &["--input.env", "nowhere.json", "--output.alloc", "stdout"],
        &["--input.env nowhere.json", "No such file"],
    );
    assert_eq!(names(&folder), ["alloc.json", "env.json", "txs.json"]);
    // A byte order mark is none of them.
    for file in ["alloc.json", "env.json", "txs.json"] {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        fs::write(folder.join(file), format!("\u{feff}{text}")).unwrap();
    }
    assert!(t8n(&folder, &out).status.success());
}

#[test]
fn output_that_cannot_be_written_is_an_error_and_a_reader_that_went_away_is_none() {
    let folder = folder("t8n_full");
    let all = ["--output.alloc", "stdout", "--output.result", "stdout"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_residue-t8n"));
    command.current_dir(&folder).args(all).stdin(Stdio::null());
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let done = command.stdout(writer).output().unwrap();
    assert_eq!((done.status.code(), String::from_utf8(done.stderr).unwrap()), (Some(0), String::new()));
    if cfg!(target_os = "linux") {
        let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let done = command.stdout(full()).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(done.status.code() == Some(2) && said.contains("writing to stdout"), "{said}");
        refused(&folder, &["--output.alloc", "/dev/full"], &["writing /dev/full"]);
        // It is still the device.
        assert!(!fs::metadata("/dev/full").unwrap().is_file());
    }
}

/// The only receipt of a result in RLP, as alloy writes it.
fn encoded(receipt: &Value) -> String {
    let cumulative = receipt["cumulativeGasUsed"].as_str().unwrap().trim_start_matches("0x");
    let status = match receipt["succeeded"].as_bool() {
        Some(succeeded) => Eip658Value::Eip658(succeeded),
        None => Eip658Value::PostState(receipt["post_state"].as_str().unwrap().parse().unwrap()),
    };
    let logs: Vec<Log> = serde_json::from_value(receipt["logs"].clone()).unwrap();
    let cumulative_gas_used = u64::from_str_radix(cumulative, 16).unwrap();
    let receipt = ReceiptEnvelope::Legacy(Receipt { status, cumulative_gas_used, logs }.with_bloom());
    hex::encode_prefixed(receipt.encoded_2718())
}

/// A state test of the transaction, that expects what came of the transition.
fn state_test(fork: &str, done: &Value) -> String {
    let result = &done["result"];
    let receipt = &result["receipts"][0];
    json!({ "transition": {
        "env": env(), "pre": alloc(),
        "transaction": { "data": ["0x"], "gasLimit": ["0x1e8480"], "gasPrice": "0xa", "nonce": "0x0", "secretKey": SECRET, "sender": SENDER, "to": CONTRACT,
            "value": ["0x5"] },
        "post": { fork: [{
            "hash": result["stateRoot"], "logs": result["logsHash"], "indexes": { "data": 0, "gas": 0, "value": 0 }, "state": done["alloc"],
            "txbytes": "0x", "receipt": { "rlp": encoded(receipt), "cumulativeGasUsed": receipt["cumulativeGasUsed"], "bloom": receipt["bloom"], "logs": receipt["logs"] },
        }] },
    } })
    .to_string()
}

#[test]
fn every_fork_is_known_in_any_case_and_does_what_state_tests_do() {
    let forks = [
        "Frontier",
        "Homestead",
        "EIP150",
        "EIP158",
        "Byzantium",
        "ConstantinopleFix",
        "Istanbul",
        "MuirGlacier",
        "Berlin",
        "London",
        "ArrowGlacier",
        "GrayGlacier",
        "Paris",
        "Shanghai",
        "Cancun",
        "Prague",
        "Osaka",
        "BPO1",
        "BPO2",
        "BPO3",
        "BPO4",
        "BPO5",
        "Amsterdam",
    ];
    let folder = folder("t8n_forks");
    fn args(fork: &str) -> [&str; 8] {
        ["--output.alloc", "stdout", "--output.result", "stdout", "--state.reward", "-1", "--state.fork", fork]
    }
    for fork in forks {
        let done = t8n(&folder, &args(fork));
        assert_eq!(done.stdout, t8n(&folder, &args(&fork.to_uppercase())).stdout, "{fork}");
        let done: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(done["result"]["rejected"], json!([]), "{fork}");
        assert_eq!(done["alloc"][CONTRACT]["storage"][format!("{:#066x}", 1)], "0x7", "{fork}");
        let source = Source { path: fork.into(), folder: String::new(), is_named: true };
        let report = run_text(source, &state_test(fork, &done), &[]).unwrap();
        assert_eq!((report.total.passed, &report.failed), (1, &Vec::new()), "{fork}: {done}");
    }
}

#[test]
fn signatures_are_held_to_the_rules_of_the_fork() {
    let folder = folder("t8n_signatures");
    let env = env().to_string().replace("\"currentBaseFee\":\"7\"", "\"currentBaseFee\":\"0\"");
    fs::write(folder.join("env.json"), env).unwrap();
    for (txs, fork, is_right) in [
        (UNPROTECTED, "Frontier", true),
        (PROTECTED, "Frontier", false),
        (OTHER_S, "Frontier", true),
        (UNPROTECTED, "EIP150", true),
        (PROTECTED, "EIP150", false),
        (OTHER_S, "Homestead", false),
        (UNPROTECTED, "Osaka", true),
        (PROTECTED, "EIP158", true),
        (OTHER_S, "Osaka", false),
    ] {
        fs::write(folder.join("txs.json"), json!(txs).to_string()).unwrap();
        let done = t8n(&folder, &["--output.alloc", "", "--output.result", "stdout", "--state.fork", fork]);
        let result = &serde_json::from_slice::<Value>(&done.stdout).unwrap()["result"];
        let counts = [&result["receipts"], &result["rejected"]].map(|list| list.as_array().unwrap().len());
        assert_eq!(counts, if is_right { [1, 0] } else { [0, 1] }, "{fork} {txs}: {result}");
    }
}

#[test]
fn a_block_of_amsterdam_lists_what_it_read_and_changed() {
    let folder = folder("t8n_amsterdam");
    // SLOTNUM PUSH1 1 SSTORE, PUSH1 2 SLOAD.
    let code = "0x4b600155600254";
    let alloc =
        json!({ SENDER: { "balance": "0xde0b6b3a7640000" }, CONTRACT: { "code": code, "storage": { "0x2": "0x3" } } });
    let mut env = env();
    env["slotNumber"] = json!("0x1234");
    env["withdrawals"] = json!([{ "index": "0x0", "validatorIndex": "0x0", "address": "0x00000000000000000000000000000000000000dd", "amount": "0x1" }]);
    for (file, value) in [("alloc.json", alloc), ("env.json", env), ("txs.json", json!([tx(7), tx(0)]))] {
        fs::write(folder.join(file), value.to_string()).unwrap();
    }
    let args = ["--output.alloc", "stdout", "--output.result", "stdout", "--state.fork", "Amsterdam"];
    let done: Value = serde_json::from_slice(&t8n(&folder, &args).stdout).unwrap();
    assert_eq!(done["result"]["rejected"][0]["index"], 0);
    assert_eq!(done["alloc"][CONTRACT]["storage"][format!("{:#066x}", 1)], "0x1234");
    let encoded = hex::decode(done["result"]["blockAccessList"].as_str().unwrap()).unwrap();
    assert_eq!(done["result"]["blockAccessListHash"], keccak256(&encoded).to_string());
    let list: AlloyBal = alloy_rlp::decode_exact(&encoded).unwrap();
    assert!(list.is_sorted_by_key(|account| account.address));
    let of = |address: &str| {
        list.iter().find(|account| account.address == address.parse::<alloy_primitives::Address>().unwrap()).unwrap()
    };
    // The transaction that is rejected has its place, as in the root of the transactions; the withdrawal comes after both.
    let contract = of(CONTRACT);
    assert_eq!(
        (contract.storage_changes.len(), contract.storage_reads.len(), contract.balance_changes.len()),
        (1, 1, 1)
    );
    let change = &contract.storage_changes[0].changes[0];
    assert_eq!((change.block_access_index.get(), change.new_value.to::<u64>()), (2, 0x1234));
    assert_eq!(of(SENDER).nonce_changes.iter().map(|change| change.block_access_index.get()).collect::<Vec<_>>(), [2]);
    let paid = &of("0x00000000000000000000000000000000000000dd").balance_changes;
    assert_eq!(paid.iter().map(|change| change.block_access_index.get()).collect::<Vec<_>>(), [3]);
    let before = t8n(&folder, &[&args[..5], &["BPO2"]].concat());
    assert!(serde_json::from_slice::<Value>(&before.stdout).unwrap()["result"].get("blockAccessList").is_none());
}
