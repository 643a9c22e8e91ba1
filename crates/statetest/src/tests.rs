//! Tests that are written here, whose state afterwards is worked out by hand.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use residue_engine::Batching;
use residue_isa::Revision;
use serde_json::{Value, json};

use crate::file::{StateTest, parse};
use crate::format::Accounts;
use crate::judge::Entry;
use crate::sources::Source;
use crate::state::State;
use crate::{
    EXAMPLE, Failure, Fault, FileError, Filter, Options, Report, Rules, Subject, Traced, Use, Verdict, run, trace,
};

const SENDER: &str = "0xa94f5374fce5edbc8e2a8697c15331677e6ebf0b";
const SECRET_KEY: &str = "0x45a915e4d060149eb4365960e6a7a45f334393093061116b197e3240065ff2d8";
const CONTRACT: &str = "0x0000000000000000000000000000000000001000";
const PAID: &str = "0x2adc25665018aa1fe0e6bc666dac8fc2697ff9ba";
/// The transaction of [`calling`], signed without a chain and for chain 1 (EIP-155).
const UNPROTECTED: &str = "0xf8608080830f424094000000000000000000000000000000000000100080801ba01bf2be47374b1c18bdb0c1eacedd4ae20ae76b86de14b6588e6780f46d49ae8fa0659a287a6bbd514c6f7ae3e63f66231c5705ce601b40884d80d57f8ac45a87f1";
const PROTECTED: &str = "0xf8608080830f4240940000000000000000000000000000000000001000808026a08e692bbeee0a9888743392c27c9a14784165a20442d130f3062cc876ede97156a05f90effdfdf322cbf11ea57b2e37b50ffc0ef0bb57724ba1033de27cc22e2dcd";
/// The hash of an empty list in RLP.
const NO_LOGS: &str = "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347";

/// A test with one contract, called without a price of gas, so that no balance changes but by value.
fn calling(code: &str, fork: &str, storage_after: Value) -> Value {
    let before = json!({ SENDER: { "balance": "0x64" }, CONTRACT: { "code": code } });
    let mut after = json!({
        SENDER: { "balance": "0x64", "nonce": 1 }, CONTRACT: { "code": code, "storage": storage_after },
    });
    if ["Frontier", "Homestead", "EIP150"].contains(&fork) {
        // Who is paid nothing is there all the same before EIP-161.
        after[PAID] = json!({});
    }
    json!({
        "env": {
            "currentCoinbase": PAID, "currentDifficulty": "0x0",
            "currentGasLimit": "0x7fffffffffffffff", "currentNumber": "1", "currentTimestamp": "0x03e8",
        },
        "pre": before,
        "transaction": {
            "data": ["0x"], "gasLimit": ["0x0f4240"], "gasPrice": "0x", "nonce": "0x00", "secretKey": SECRET_KEY,
            "to": CONTRACT, "value": ["0x00"],
        },
        "post": { fork: [{
            "hash": root(&after), "indexes": { "data": 0, "gas": 0, "value": 0 }, "logs": NO_LOGS, "txbytes": "0x",
            "state": after,
        }] },
    })
}

fn root(accounts: &Value) -> String {
    let accounts: Accounts = serde_json::from_value(accounts.clone()).unwrap();
    State::new(&accounts).root().to_string()
}

fn source(is_named: bool) -> Arc<Source> {
    Arc::new(Source { path: PathBuf::from("test.json"), folder: String::new(), is_named })
}

fn subjects(revisions: &[Revision]) -> Vec<Subject> {
    let all = [Batching::Off, Batching::Warm, Batching::Always, Batching::Traces];
    revisions.iter().map(|revision| Subject::new(*revision, &all).unwrap()).collect()
}

fn parsed(test: &Value) -> Arc<StateTest> {
    let content = parse(&source(true), &json!({ "test": test }).to_string()).unwrap();
    Arc::clone(&content.tests[0])
}

/// Verdict on the only entry of a test.
#[track_caller]
fn verdict(test: &Value, revisions: &[Revision]) -> Verdict {
    let test = parsed(test);
    let (fork, posts) = test.unit.post.first_key_value().unwrap();
    Entry { test: &test, fork, post: &posts[0] }.judge(&subjects(revisions), None).verdict
}

/// The only failure of a test under stock rules.
#[track_caller]
fn failure(test: &Value) -> Failure {
    match verdict(test, &[Revision::Eip6690_2024]) {
        Verdict::Failed(failures) if failures.len() == 1 && failures[0].rules == Rules::Stock => failures[0].clone(),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn passes(test: &Value) {
    assert_eq!(verdict(test, Revision::ALL), Verdict::Passed { refusal: None });
}

fn changed(mut test: Value, pointer: &str, value: Value) -> Value {
    match test.pointer_mut(pointer) {
        Some(place) => *place = value,
        None => {
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            test.pointer_mut(parent).unwrap()[key] = value;
        }
    }
    test
}

#[test]
fn a_program_of_the_evm_passes_under_every_revision_of_every_fork() {
    for fork in
        ["Frontier", "EIP158", "Byzantium", "Istanbul", "London", "Paris", "Shanghai", "Cancun", "Osaka", "BPO2"]
    {
        // PUSH1 5 PUSH1 0 SSTORE, then the number of the last block's hash: keccak256 of "0".
        passes(&calling("0x6005600055", fork, json!({ "0x": "0x05" })));
        let hash = "0x044852b2a670ade5407e78fb2863c51de9fcb96542a07186fe3aeda6bb8a116d";
        passes(&calling("0x600040600055", fork, json!({ "0x00": hash })));
    }
}

#[test]
fn another_state_is_a_failure_that_names_the_accounts() {
    let test = calling("0x6005600055", "Cancun", json!({ "0x00": "0x06" }));
    let Failure { fault, differences, .. } = failure(&test);
    assert!(matches!(fault, Fault::Root { .. }), "{fault}");
    assert_eq!(differences, [format!("{CONTRACT}: storage 0x0 is 0x5, expected 0x6")]);
    let other_logs = changed(calling("0x", "Cancun", json!({})), "/post/Cancun/0/logs", json!("0x01"));
    assert!(matches!(failure(&other_logs).fault, Fault::Logs { .. }));
}

#[test]
fn forks_without_rules_are_skipped() {
    for (fork, part) in
        [("Constantinople", "without the fix"), ("EIP158ToByzantiumAt5", "transition"), ("Moon", "\"Moon\"")]
    {
        match verdict(&calling("0x", fork, json!({})), Revision::ALL) {
            Verdict::Skipped(reason) => assert!(reason.contains(part), "{reason}"),
            other => panic!("{other:?}"),
        }
    }
}

/// A test whose transaction is refused, with the exception it has.
type Refusal = (Value, &'static str);

fn refusals() -> Vec<Refusal> {
    [refusals_of_amounts(), refusals_of_forms()].concat()
}

/// A transaction that is taken, under a fork.
fn plain(fork: &str) -> Value {
    let balance = "/pre/0xa94f5374fce5edbc8e2a8697c15331677e6ebf0b/balance";
    changed(calling("0x", fork, json!({})), balance, json!("0x64"))
}

/// The same with other fields.
fn with(fork: &str, changes: &[(&str, Value)]) -> Value {
    let change = |test, (name, value): &(&str, Value)| changed(test, &format!("/transaction/{name}"), value.clone());
    changes.iter().fold(plain(fork), change)
}

/// The power of two of so many bits and one.
fn huge(bits: usize) -> Value {
    json!(format!("0x1{}", "0".repeat(bits / 4)))
}

fn fees(max: &str, priority: &str) -> [(&'static str, Value); 3] {
    [("gasPrice", Value::Null), ("maxFeePerGas", json!(max)), ("maxPriorityFeePerGas", json!(priority))]
}

/// Of nonces, values, fees, gas and sizes, and of the sender.
fn refusals_of_amounts() -> Vec<Refusal> {
    let based = |test: Value| changed(test, "/env/currentBaseFee", json!("0x7"));
    vec![
        (with("Cancun", &[("nonce", json!("0x5"))]), "NONCE_MISMATCH_TOO_HIGH"),
        (changed(plain("Cancun"), &format!("/pre/{SENDER}/nonce"), json!("0x1")), "NONCE_MISMATCH_TOO_LOW"),
        (with("Cancun", &[("nonce", json!("0xffffffffffffffff"))]), "NONCE_IS_MAX"),
        (with("Cancun", &[("nonce", huge(64))]), "NONCE_OVERFLOW"),
        (with("Cancun", &[("value", json!(["0x65"]))]), "INSUFFICIENT_ACCOUNT_FUNDS"),
        (with("Cancun", &[("value", json!([huge(256)]))]), "VALUE_OVERFLOW"),
        (with("Cancun", &[("gasLimit", json!([huge(64)]))]), "GASLIMIT_OVERFLOW"),
        (with("Cancun", &[("gasPrice", huge(256))]), "GASPRICE_OVERFLOW"),
        (with("Cancun", &[("gasPrice", huge(252))]), "GASLIMIT_PRICE_PRODUCT_OVERFLOW"),
        (with("Cancun", &[("gasPrice", huge(128))]), "INSUFFICIENT_ACCOUNT_FUNDS"),
        (with("Cancun", &fees("0x0", "0x1")), "PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS"),
        (
            changed(with("Cancun", &fees("0x0", "0x1")), "/transaction/maxPriorityFeePerGas", huge(256)),
            "PRIORITY_OVERFLOW",
        ),
        (based(with("Cancun", &fees("0x6", "0x0"))), "INSUFFICIENT_MAX_FEE_PER_GAS"),
        (with("Cancun", &[("gasLimit", json!(["0x5207"]))]), "INTRINSIC_GAS_TOO_LOW"),
        (
            with("Prague", &[("data", json!([format!("0x{}", "01".repeat(100))])), ("gasLimit", json!(["0x5a3c"]))]),
            "INTRINSIC_GAS_BELOW_FLOOR_GAS_COST",
        ),
        (changed(plain("Cancun"), "/env/currentGasLimit", json!("0xf423f")), "GAS_ALLOWANCE_EXCEEDED"),
        (with("Osaka", &[("gasLimit", json!(["0x1000001"]))]), "GAS_LIMIT_EXCEEDS_MAXIMUM"),
        (
            with("Shanghai", &[("to", json!("")), ("data", json!([format!("0x{}", "00".repeat(49_153))]))]),
            "INITCODE_SIZE_EXCEEDED",
        ),
        (changed(plain("London"), &format!("/pre/{SENDER}/code"), json!("0x00")), "SENDER_NOT_EOA"),
        (with("Cancun", &[("chainId", json!("0x2"))]), "INVALID_CHAINID"),
        (with("Cancun", &[("secretKey", Value::Null)]), "INVALID_SIGNATURE_VRS"),
    ]
}

/// Of the types of transactions: before their fork, and with lists that they cannot have.
fn refusals_of_forms() -> Vec<Refusal> {
    let hash = |version: &str| format!("0x{version}{}", "00".repeat(31));
    let many = |count: usize| json!(vec![hash("01"); count]);
    let blobs = |fork, hashes: Value| {
        let fees = [("gasPrice", Value::Null), ("maxFeePerGas", json!("0x0")), ("maxFeePerBlobGas", json!("0x1"))];
        with(fork, &[&fees[..], &[("blobVersionedHashes", hashes), ("type", json!("0x3"))]].concat())
    };
    let authorization =
        json!([{ "chainId": "0x00", "address": CONTRACT, "nonce": "0x00", "v": "0x01", "r": "0x00", "s": "0x00" }]);
    vec![
        (with("Istanbul", &[("accessLists", json!([[]]))]), "TYPE_1_TX_PRE_FORK"),
        (with("Berlin", &fees("0x0", "0x0")), "TYPE_2_TX_PRE_FORK"),
        (blobs("Shanghai", many(1)), "TYPE_3_TX_PRE_FORK"),
        (with("Cancun", &[("authorizationList", authorization.clone())]), "TYPE_4_TX_PRE_FORK"),
        (with("Cancun", &[("type", json!("0x5"))]), "TYPE_NOT_SUPPORTED"),
        (blobs("Cancun", json!([])), "TYPE_3_TX_ZERO_BLOBS"),
        (blobs("Cancun", json!([hash("02")])), "TYPE_3_TX_INVALID_BLOB_VERSIONED_HASH"),
        (blobs("Osaka", many(7)), "TYPE_3_TX_BLOB_COUNT_EXCEEDED"),
        (blobs("Cancun", many(7)), "TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED"),
        (changed(blobs("Cancun", many(1)), "/transaction/to", json!("")), "TYPE_3_TX_CONTRACT_CREATION"),
        (
            changed(blobs("Cancun", many(1)), "/transaction/maxFeePerBlobGas", json!("0x0")),
            "INSUFFICIENT_MAX_FEE_PER_BLOB_GAS",
        ),
        (with("Prague", &[("authorizationList", json!([]))]), "TYPE_4_EMPTY_AUTHORIZATION_LIST"),
        (
            with("Prague", &[("authorizationList", authorization.clone()), ("to", json!(""))]),
            "TYPE_4_TX_CONTRACT_CREATION",
        ),
        (
            changed(
                with("Prague", &[("authorizationList", authorization)]),
                "/transaction/authorizationList/0/nonce",
                huge(64),
            ),
            "TYPE_4_INVALID_AUTHORIZATION_FORMAT",
        ),
    ]
}

/// A test with what its entry expects: an exception, and the state as it was.
fn expecting(test: &Value, exception: &str) -> Value {
    let fork = test["post"].as_object().unwrap().keys().next().unwrap().clone();
    let mut test = test.clone();
    let entry = &mut test["post"][&fork][0];
    entry["expectException"] = json!(exception);
    entry["state"] = Value::Null;
    let root = root(&test["pre"]);
    test["post"][&fork][0]["hash"] = json!(root);
    test
}

#[test]
fn a_refusal_is_right_by_its_name_alone() {
    let all = refusals();
    for (test, name) in &all {
        let right = |exception: &str| match verdict(&expecting(test, exception), &[]) {
            Verdict::Passed { refusal: Some(_) } => true,
            Verdict::Failed(failures) => {
                let message = failures[0].fault.to_string();
                assert!(
                    message.contains(exception) && matches!(failures[0].fault, Fault::Exception { .. }),
                    "{name}: {message}"
                );
                false
            }
            other => panic!("{name}: {other:?}"),
        };
        assert!(right(&format!("TransactionException.{name}")), "{name}");
        assert!(
            right(name) && right(&format!("TransactionException.LOG_MISMATCH|TransactionException.{name}")),
            "{name}"
        );
        assert!(!right("TransactionException.LOG_MISMATCH") && !right("TransactionException.SOMETHING_NEW"), "{name}");
        let wrong = all.iter().map(|(_, other)| *other).filter(|other| right(other));
        // Names that tell less than the one: any of these is right too.
        let looser: &[&str] = match *name {
            "GASLIMIT_PRICE_PRODUCT_OVERFLOW" => &["INSUFFICIENT_ACCOUNT_FUNDS"],
            "INTRINSIC_GAS_BELOW_FLOOR_GAS_COST" => &["INTRINSIC_GAS_TOO_LOW"],
            "TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED" => &["TYPE_3_TX_BLOB_COUNT_EXCEEDED"],
            name if name.ends_with("_PRE_FORK") => &["TYPE_NOT_SUPPORTED"],
            _ => &[],
        };
        let others: std::collections::BTreeSet<&str> = wrong.filter(|other| other != name).collect();
        assert_eq!(others, looser.iter().copied().collect(), "{name}");
    }
}

#[test]
fn an_expected_exception_is_a_refusal_that_leaves_the_state_as_it_was() {
    let plain = calling("0x", "Cancun", json!({}));
    let poor = changed(plain.clone(), "/transaction/value/0", json!("0x65"));
    assert!(matches!(failure(&poor).fault, Fault::Refused { reason } if reason.contains("lack of funds (100)")));
    let name = "TransactionException.INSUFFICIENT_ACCOUNT_FUNDS";
    assert!(
        matches!(failure(&expecting(&plain, name)).fault, Fault::Accepted { exception } if exception.contains("FUNDS"))
    );
    let right = expecting(&poor, name);
    assert!(matches!(verdict(&right, Revision::ALL), Verdict::Passed { refusal: Some(_) }));
    let says = |field: &str, value: Value| changed(right.clone(), &format!("/post/Cancun/0/{field}"), value);
    // A root of zeros is none.
    assert!(matches!(verdict(&says("hash", json!("0x0")), &[]), Verdict::Passed { .. }));
    assert!(matches!(failure(&says("hash", json!("0x1"))).fault, Fault::Root { .. }));
    assert!(matches!(failure(&says("logs", json!("0x1"))).fault, Fault::Logs { .. }));
    assert!(matches!(verdict(&says("state", right["pre"].clone()), &[]), Verdict::Passed { .. }));
    assert!(matches!(failure(&says("state", json!({}))).fault, Fault::State));
    assert!(failure(&says("receipt", json!({}))).fault.to_string().contains("receipt none"));
}

/// Fields of a receipt by their names, each with a value that is not right.
fn wrong_fields_of_receipts() -> [(&'static str, Value); 15] {
    [
        ("type", json!("0x02")),
        ("cumulativeGasUsed", json!("0x1")),
        ("gasUsed", json!("0x1")),
        ("status", json!(false)),
        ("status", json!("0x0")),
        ("postState", json!("0x11")),
        ("effectiveGasPrice", json!("0x1")),
        ("blobGasUsed", json!("0x1")),
        ("contractAddress", json!(CONTRACT)),
        ("transactionIndex", json!("0x1")),
        ("blockNumber", json!("0x2")),
        ("bloom", json!("0x00")),
        ("rlp", json!("0x00")),
        ("transactionHash", json!("0x1")),
        ("logs", json!([])),
    ]
}

/// The same of a log.
fn wrong_fields_of_logs() -> [(&'static str, Value); 9] {
    [
        ("address", json!(SENDER)),
        ("topics", json!([])),
        ("data", json!("0x")),
        ("logIndex", json!("0x1")),
        ("removed", json!(true)),
        ("blockTimestamp", json!("0x1")),
        ("transactionHash", json!("0x1")),
        ("transactionIndex", json!("0x1")),
        ("blockNumber", json!("0x0")),
    ]
}

#[test]
fn what_an_entry_says_of_the_state_and_the_receipt_is_compared() {
    // PUSH1 7 PUSH1 0 LOG1, with 32 bytes of memory.
    let mut test = calling("0x600760206000a1", "Cancun", json!({}));
    let data = format!("0x{}", "00".repeat(32));
    let topic = format!("0x{}07", "00".repeat(31));
    test["post"]["Cancun"][0]["logs"] = {
        use residue_engine::revm::primitives::{B256, Log};
        let log =
            Log::new_unchecked(CONTRACT.parse().unwrap(), vec![topic.parse::<B256>().unwrap()], data.parse().unwrap());
        json!(crate::state::logs_hash(&[log]).to_string())
    };
    passes(&test);
    let with = |receipt: Value| changed(test.clone(), "/post/Cancun/0/receipt", receipt);
    let gas = "0x5602";
    let right = json!({
        "type": "0x00", "cumulativeGasUsed": gas, "gasUsed": gas, "status": true, "postState": "0x",
        "effectiveGasPrice": "0x0", "blobGasUsed": "0x0", "contractAddress": format!("0x{}", "00".repeat(20)), "transactionIndex": "0x0",
        "blockNumber": "0x1", "blockHash": topic,
        "logs": [{ "address": CONTRACT, "topics": [topic], "data": data, "logIndex": "0x0", "removed": false, "blockTimestamp": "0x3e8" }],
    });
    passes(&with(right.clone()));
    let wrong = |pointer: &str, value: Value| match failure(&changed(
        with(right.clone()),
        &format!("/post/Cancun/0/receipt/{pointer}"),
        value,
    ))
    .fault
    {
        Fault::Fields { differences } => differences.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        other => panic!("{pointer}: {other}"),
    };
    for (pointer, value) in wrong_fields_of_receipts() {
        let message = wrong(pointer, value.clone());
        assert!(
            message.starts_with(&format!("receipt.{pointer}")) && message.contains("expected"),
            "{pointer}: {message}"
        );
    }
    for (name, value) in wrong_fields_of_logs() {
        assert!(wrong(&format!("logs/0/{name}"), value).starts_with(&format!("receipt.logs[0].{name}")), "{name}");
    }
    assert_eq!(wrong("status", json!("0x0")), "receipt.status 0x1, expected 0x0");
    let other_state = changed(test.clone(), &format!("/post/Cancun/0/state/{SENDER}/balance"), json!("0x63"));
    let Failure { fault, differences, .. } = failure(&other_state);
    assert!(matches!(fault, Fault::State));
    assert_eq!(
        differences,
        [format!("{}: balance 100, expected 99", SENDER.parse::<residue_engine::revm::primitives::Address>().unwrap())]
    );
}

#[test]
fn a_signed_transaction_is_that_of_the_fields() {
    let plain = calling("0x00", "Cancun", json!({}));
    let says = |test: &Value, bytes: &str| changed(test.clone(), "/post/Cancun/0/txbytes", json!(bytes));
    for bytes in [UNPROTECTED, PROTECTED] {
        passes(&says(&plain, bytes));
        let hash = changed(says(&plain, bytes), "/post/Cancun/0/receipt", json!({ "transactionHash": "0x01" }));
        assert!(failure(&hash).fault.to_string().starts_with("receipt.transactionHash 0x"));
        for (field, value) in [
            ("nonce", json!("0x1")),
            ("gasPrice", json!("0x1")),
            ("gasLimit", json!(["0x0f4241"])),
            ("to", json!(PAID)),
            ("value", json!(["0x1"])),
            ("data", json!(["0x00"])),
        ] {
            let other = says(&changed(plain.clone(), &format!("/transaction/{field}"), value), bytes);
            let message = failure(&other).fault.to_string();
            assert!(message.starts_with(&format!("txbytes: {field} 0x")), "{message}");
        }
        let flipped = format!("{}{}", &bytes[..bytes.len() - 1], if bytes.ends_with('0') { '1' } else { '0' });
        assert!(failure(&says(&plain, &flipped)).fault.to_string().starts_with("txbytes: signer 0x"));
    }
    let other_chain = changed(says(&plain, PROTECTED), "/transaction/chainId", json!("0x2"));
    assert!(
        failure(&changed(other_chain, "/config", json!({ "chainid": "0x2" })))
            .fault
            .to_string()
            .contains("chainId in v 2, expected 1")
    );
    for (bytes, part) in [
        ("0xc0", "fields 9, expected 0"),
        ("0x02c0", "type 0, expected 2"),
        ("0xf8", "one list of RLP"),
        ("0x83", "one list of RLP"),
    ] {
        let message = failure(&says(&plain, bytes)).fault.to_string();
        assert!(message.contains(part), "{bytes}: {message}");
    }
    let other_sender = changed(plain, "/transaction/sender", json!(PAID));
    assert!(failure(&other_sender).fault.to_string().contains("secretKey is that of"));
}

#[test]
fn tests_of_before_exceptions_expect_the_state_as_it_was() {
    for fork in ["Homestead", "Byzantium"] {
        let mut test = calling("0x", fork, json!({}));
        test = changed(test, "/transaction/value/0", json!("0x65"));
        let before = root(&test["pre"]);
        test = changed(test, &format!("/post/{fork}/0/hash"), json!(before));
        assert!(matches!(failure(&test).fault, Fault::Refused { .. }), "{fork}");
        test = changed(test, &format!("/post/{fork}/0/txbytes"), Value::Null);
        assert!(matches!(verdict(&test, &[]), Verdict::Passed { refusal: Some(_) }), "{fork}");
        let mut with_paid = test["pre"].clone();
        with_paid[PAID] = json!({});
        test = changed(test, &format!("/post/{fork}/0/hash"), json!(root(&with_paid)));
        let is_passed = matches!(verdict(&test, &[]), Verdict::Passed { refusal: Some(_) });
        assert_eq!(is_passed, fork == "Homestead");
    }
}

#[test]
fn what_revm_cannot_express_is_skipped() {
    let plain = calling("0x", "Cancun", json!({}));
    for (pointer, value, part) in [
        ("/transaction/initcodes", json!([]), "EIP-7873"),
        ("/transaction/type", json!("0x09"), "kind"),
        ("/transaction/secretKey", Value::Null, "neither a sender nor a secret key"),
    ] {
        match verdict(&changed(plain.clone(), pointer, value), &[]) {
            Verdict::Skipped(reason) => assert!(reason.contains(part), "{reason}"),
            other => panic!("{pointer}: {other:?}"),
        }
    }
    let rich = changed(plain, &format!("/pre/{SENDER}/balance"), json!(format!("0x1{}", "0".repeat(50))));
    let dear = changed(rich, "/transaction/gasPrice", json!(format!("0x1{}", "0".repeat(32))));
    assert!(matches!(verdict(&dear, &[]), Verdict::Skipped(reason) if reason.contains("128 bits")));
}

#[test]
fn the_use_of_an_opcode_is_attributed_to_it() {
    let uses = |code: &str, revision| match verdict(&calling(code, "Cancun", json!({})), &[revision]) {
        Verdict::Uses(uses) => uses,
        other => panic!("{other:?}"),
    };
    // PUSH1 1 PUSH1 0 SSTORE, then 0xc0 with nothing on the stack does what an unknown opcode does: all is taken back.
    assert_eq!(
        verdict(&calling("0x6001600055c0", "Cancun", json!({})), Revision::ALL),
        Verdict::Passed { refusal: None }
    );
    // CALL with all gas into SETMODX of a modulus that makes sense, so that only what follows changes storage.
    let modulus_101 = "60655f526002600860185fc06001600055";
    let used = Use::Executes { opcode: 0xc0, mnemonic: "SETMODX", pc: 11 };
    assert_eq!(uses(&format!("0x{modulus_101}"), Revision::Eip6690_2024), [(Revision::Eip6690_2024, used)]);
    // PUSH1 7 JUMP, and at 7 a JUMPDEST in what is the immediate of MULMODX at 3: PUSH1 1 PUSH1 0 SSTORE is not reached.
    let jump = "0x600756c50000005b6001600055";
    let test = calling(jump, "Cancun", json!({ "0x00": "0x01" }));
    let used = Use::Jumps { pc: 2, target: 7 };
    assert_eq!(verdict(&test, &[Revision::Eip6690_2024]), Verdict::Uses(vec![(Revision::Eip6690_2024, used)]));
    assert_eq!(verdict(&test, &[Revision::Evm384V7]), Verdict::Passed { refusal: None });
}

#[test]
fn a_contract_created_over_storage_is_skipped() {
    use residue_engine::revm::primitives::Address;
    let created = Address::create(&SENDER.parse().unwrap(), 0).to_string();
    let mut test = changed(calling("0x", "Cancun", json!({})), "/transaction/to", json!(""));
    assert!(matches!(verdict(&test, &[]), Verdict::Failed(_)));
    test["pre"][&created] = json!({ "storage": { "0x01": "0x01" } });
    match verdict(&test, Revision::ALL) {
        Verdict::Skipped(reason) => assert!(reason.contains("EIP-7610"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn precompiles_give_the_same_when_they_are_remembered() {
    // CALL of ECRECOVER, which takes 3000 gas, with that, then with less, then with more; the results of the calls are stored.
    let call = |gas: &str, key: &str| format!("600060006000600060006001{gas}f160{key}55");
    let code = format!("0x{}{}{}00", call("610bb8", "00"), call("610bb7", "01"), call("612710", "02"));
    passes(&calling(&code, "Cancun", json!({ "0x00": "0x01", "0x02": "0x01" })));
}

#[test]
fn memory_beyond_our_limit_is_no_difference() {
    // MSTORE beyond 64 MiB takes 8.6 billion gas.
    let test = calling("0x60016304000020526001600055", "Cancun", json!({ "0x00": "0x01" }));
    let test = changed(test, "/transaction/gasLimit/0", json!("0x0300000000"));
    assert_eq!(verdict(&test, &[Revision::Eip6690_2024]), Verdict::Passed { refusal: None });
}

#[test]
fn every_kind_of_transaction_is_executed() {
    let plain = calling("0x6005600055", "Prague", json!({ "0x00": "0x05" }));
    let mut test =
        changed(plain, "/transaction/accessLists", json!([[{ "address": CONTRACT, "storageKeys": ["0x00"] }]]));
    passes(&test);
    test["transaction"]["gasPrice"] = Value::Null;
    test["transaction"]["maxFeePerGas"] = json!("0x00");
    test["transaction"]["maxPriorityFeePerGas"] = json!("0x00");
    passes(&test);
    let mut blobs = test.clone();
    blobs["env"]["currentExcessBlobGas"] = json!("0x00");
    blobs["pre"][SENDER]["balance"] = json!("0x020064");
    blobs["transaction"]["maxFeePerBlobGas"] = json!("0x01");
    blobs["transaction"]["blobVersionedHashes"] = json!([format!("0x01{}", "00".repeat(31))]);
    // A blob takes 2^17 gas, and its gas costs 1 wei.
    passes(&blobs);
    blobs["config"] = json!({ "chainid": "0x01", "blobSchedule": { "Prague": {
        "target": "0x00", "max": "0x00", "baseFeeUpdateFraction": "0x4c6964",
    } } });
    assert!(matches!(failure(&blobs).fault, Fault::Refused { reason } if reason.contains("too many blobs")));
    // An authorization whose signature is of no account is passed over.
    test["transaction"]["authorizationList"] = json!([{
        "chainId": "0x00", "address": CONTRACT, "nonce": "0x00", "v": "0x01", "yParity": "0x01", "r": "0x00", "s": "0x00",
        "signer": SENDER,
    }]);
    passes(&test);
    test["transaction"]["authorizationList"][0]["v"] = json!("0x0100");
    test["transaction"]["authorizationList"][0]["yParity"] = Value::Null;
    assert!(matches!(failure(&test).fault, Fault::Refused { reason } if reason.contains("yParity of authorization 0")));
}

#[test]
fn a_file_is_refused_with_the_place() {
    let refused = |text: &str, is_named: bool| match parse(&source(is_named), text) {
        Err(FileError::Malformed { line, column, message, .. }) => format!("{line}:{column}: {message}"),
        Err(other) => other.to_string(),
        Ok(content) => content.others.join("; "),
    };
    assert!(refused("{\n \"a\": }", false).starts_with("2:7: "), "{}", refused("{\n \"a\": }", false));
    assert!(refused("", false).starts_with("1:"));
    let test = serde_json::to_string_pretty(&json!({ "first": calling("0x", "Cancun", json!({})) })).unwrap();
    let wrong = test.replace("\"currentNumber\": \"1\"", "\"currentNumber\": \"x\"");
    let line = wrong.lines().position(|line| line.contains("\"x\"")).unwrap() + 1;
    assert!(refused(&wrong, false).starts_with(&format!("{line}:")), "{}", refused(&wrong, false));
    assert!(refused(&wrong, false).ends_with(", in \"first\""));
    let without = test.replace("\"currentTimestamp\"", "\"something\"");
    assert!(refused(&without, false).contains("missing field `currentTimestamp`"));
    for (text, what) in [
        ("[]", "no object of tests"),
        ("{}", "empty object"),
        ("{\"a\": 5}", "\"a\" is no object"),
        ("{\"a\": {\"blocks\": []}}", "\"a\" is a blockchain test"),
    ] {
        assert!(refused(text, false).contains(what), "{text}");
        assert!(refused(text, true).starts_with("test.json holds no state test: "), "{text}");
    }
    let no_such_index = changed(calling("0x", "Cancun", json!({})), "/post/Cancun/0/indexes/gas", json!(1));
    let refusal = refused(&json!({ "a": no_such_index }).to_string(), false);
    assert_eq!(refusal, "1:6: index 1 of \"gasLimit\", which has 1, in entry 0 under Cancun of \"a\"");
}

#[test]
fn the_example_is_right_and_runs_on_any_number_of_threads() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
    let sources = crate::find(&[folder]).unwrap();
    assert_eq!(sources.iter().map(|source| source.path.file_name().unwrap()).collect::<Vec<_>>(), ["example.json"]);
    let with_jobs = |jobs: usize, steps_max| -> Report {
        let revisions = [Revision::Evm384V6, Revision::Eip6690_2024];
        let options = Options {
            subjects: subjects(&revisions),
            filter: Filter::default(),
            steps_max,
            jobs: jobs.try_into().unwrap(),
        };
        run(&sources, &options, &|_| ())
    };
    let report = with_jobs(1, None);
    assert_eq!((report.files, report.tests, report.total.passed, report.total.uses), (1, 2, 3, 2));
    assert_eq!(report.uses_by_opcode()[&(Revision::Eip6690_2024, Some((0xc0, "SETMODX")))], 2);
    let (again, spared) = (with_jobs(4, None), with_jobs(1, Some(7)));
    assert_eq!((&again.uses, again.total), (&report.uses, report.total));
    assert_eq!((report.spared.len(), spared.spared.len()), (0, 2));
}

#[test]
fn traces_have_a_line_for_each_instruction_with_the_names_of_the_revision() {
    let sources = crate::find(&[PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/example.json")]).unwrap();
    let filter = Filter { forks: vec!["osaka".to_owned()], test: Some("square".to_owned()), ..Filter::default() };
    let subjects = subjects(&[Revision::Eip6690_2024]);
    let lines = |traced: Traced<'_>| -> Vec<Value> {
        let mut out = Vec::new();
        let report = trace(&sources, &filter, &[traced], &mut out).unwrap();
        assert_eq!(report.total.all(), 1);
        String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let ours = lines(Traced::Subject(&subjects[0]));
    let names: Vec<&str> = ours.iter().filter_map(|line| line["opName"].as_str()).collect();
    assert_eq!(names.iter().filter(|name| ["SETMODX", "STOREX", "MULMODX", "LOADX"].contains(name)).count(), 4);
    assert_eq!((names[0], *names.last().unwrap()), ("PUSH1", "STOP"));
    let (summary, steps) = ours.split_last().unwrap();
    for pair in steps.windows(2) {
        let gas = |value: &Value| u64::from_str_radix(&value.as_str().unwrap()[2..], 16).unwrap();
        assert_eq!(gas(&pair[0]["gas"]) - gas(&pair[0]["gasCost"]), gas(&pair[1]["gas"]));
    }
    let setmodx = steps.iter().find(|line| line["opName"] == "SETMODX").unwrap();
    assert_eq!(setmodx["stack"], json!(["0x2", "0x8", "0x18", "0x0"]));
    assert_eq!((&setmodx["pc"], &setmodx["op"], &setmodx["depth"]), (&json!(11), &json!(0xc0), &json!(1)));
    assert_eq!(
        (&setmodx["memSize"], &setmodx["returnData"], &setmodx["refund"]),
        (&json!(32), &json!("0x"), &json!("0x0"))
    );
    assert_eq!(
        (&summary["pass"], &summary["fork"], &summary["test"]),
        (&json!(true), &json!("Osaka"), &json!("square"))
    );
    assert_eq!(summary["verdict"], "executes 0xc0 (SETMODX) at 11");

    let stock = lines(Traced::Stock);
    let (summary, steps) = stock.split_last().unwrap();
    let last = steps.last().unwrap();
    assert_eq!((&last["op"], &last["error"], last.get("opName")), (&json!(0xc0), &json!("invalid_instruction"), None));
    assert_eq!((&summary["pass"], &summary["verdict"]), (&json!(false), &json!("passed")));
    let expected: Value = serde_json::from_str(EXAMPLE).unwrap();
    assert_eq!(summary["stateRoot"], expected["square"]["post"]["Osaka"][0]["hash"]);
}

#[test]
fn a_trace_that_cannot_be_written_ends() {
    struct Full;
    impl io::Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("full"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let sources = crate::find(&[PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/example.json")]).unwrap();
    let error = trace(&sources, &Filter::default(), &[Traced::Stock], &mut Full).unwrap_err();
    assert_eq!(error.to_string(), "writing the trace: full");
}

#[test]
fn documents_follow_on_each_other_on_standard_input_alone() {
    let document = json!({ "a": calling("0x", "Cancun", json!({})) }).to_string();
    let two = format!("{document}\n {document}");
    let read = |path: &str, text: &str| {
        let source = Source { path: PathBuf::from(path), folder: String::new(), is_named: true };
        parse(&Arc::new(source), text).map(|content| content.tests.len()).map_err(|error| error.to_string())
    };
    assert_eq!((read("-", &two), read("test.json", &document)), (Ok(2), Ok(1)));
    assert!(read("test.json", &two).unwrap_err().starts_with("test.json:2:2: a second document"));
    assert!(read("-", &format!("{two} {{")).unwrap_err().starts_with("-:2:"));
    assert!(read("-", " \n").unwrap_err().contains("there is nothing"));
}

#[test]
fn fields_that_nothing_reads_and_names_that_are_there_twice_are_refused() {
    let test = calling("0x", "Cancun", json!({}));
    let refused = |test: &Value| parse(&source(true), &json!({ "a": test }).to_string()).unwrap_err().to_string();
    for (pointer, field) in [
        ("/post/Cancun/0/recipt", "recipt"),
        ("/transaction/acessLists", "acessLists"),
        ("/pre/0xa94f5374fce5edbc8e2a8697c15331677e6ebf0b/blance", "blance"),
    ] {
        let message = refused(&changed(test.clone(), pointer, json!({})));
        assert!(message.contains(&format!("unknown field `{field}`")), "{message}");
    }
    let receipt = changed(test.clone(), "/post/Cancun/0/receipt", json!({ "cumulativeGas": "0x1" }));
    assert!(refused(&receipt).contains("unknown field `cumulativeGas`"));
    let slots = changed(test.clone(), &format!("/pre/{CONTRACT}/storage"), json!({ "0x1": "0x1", "0x01": "0x2" }));
    assert!(refused(&slots).contains("0x1 is there twice"), "{}", refused(&slots));
    let upper = changed(test, &format!("/pre/0x{}", SENDER[2..].to_uppercase()), json!({}));
    assert!(refused(&upper).contains("is there twice"));
    for exception in [json!(5), json!({}), json!([1])] {
        let test = changed(calling("0x", "Cancun", json!({})), "/post/Cancun/0/expectException", exception);
        assert!(refused(&test).contains("invalid type"), "{}", refused(&test));
    }
}
