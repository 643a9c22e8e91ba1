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

/// What the only entry of a test comes to.
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

#[test]
fn an_expected_exception_is_a_refusal() {
    let plain = calling("0x", "Cancun", json!({}));
    let poor = changed(plain.clone(), "/transaction/value/0", json!("0x65"));
    assert!(matches!(failure(&poor).fault, Fault::Refused { reason } if reason.contains("lack of funds (100)")));
    let expected = json!("TransactionException.INSUFFICIENT_ACCOUNT_FUNDS");
    let refused = |test: &Value, part: &str| match verdict(test, Revision::ALL) {
        Verdict::Passed { refusal: Some(reason) } => assert!(reason.contains(part), "{reason}"),
        other => panic!("{other:?}"),
    };
    let expects = |test: Value| changed(test, "/post/Cancun/0/expectException", expected.clone());
    refused(&expects(poor), "lack of funds");
    assert!(
        matches!(failure(&expects(plain.clone())).fault, Fault::Accepted { exception } if exception.contains("FUNDS"))
    );
    let huge = format!("0x:bigint 0x1{}", "0".repeat(64));
    refused(&expects(changed(plain.clone(), "/transaction/value/0", json!(huge))), "value has more than 256 bits");
    refused(
        &expects(changed(plain.clone(), "/transaction/nonce", json!("0x010000000000000000"))),
        "nonce has more than 64",
    );
    refused(&expects(changed(plain.clone(), "/transaction/chainId", json!("0x02"))), "chain");
    refused(
        &expects(changed(plain.clone(), "/transaction/gasPrice", json!(format!("0x1{}", "0".repeat(32))))),
        "128 bits",
    );
    refused(&expects(changed(plain.clone(), "/transaction/secretKey", Value::Null)), "no secret key");
    let blobs = json!(["0x0100000000000000000000000000000000000000000000000000000000000000"]);
    let blob = changed(plain, "/transaction/blobVersionedHashes", blobs);
    refused(&expects(changed(blob, "/transaction/to", json!(""))), "kind 3 cannot create");
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
        ("/transaction/gasPrice", json!(format!("0x1{}", "0".repeat(32))), "128 bits"),
        ("/transaction/initcodes", json!([]), "EIP-7873"),
        ("/transaction/type", json!("0x09"), "kind"),
        ("/transaction/secretKey", Value::Null, "neither a sender nor a secret key"),
    ] {
        match verdict(&changed(plain.clone(), pointer, value), &[]) {
            Verdict::Skipped(reason) => assert!(reason.contains(part), "{reason}"),
            other => panic!("{pointer}: {other:?}"),
        }
    }
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
