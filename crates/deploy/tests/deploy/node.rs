//! A contract goes to its address on a chain once, and is found there.

use serde_json::{Value, json};

use crate::chain::Chain;
use crate::{file, residue};

const SMALL: &str = "bn254/add";
/// anvil's first account, which is public.
const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const RICH: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const FACTORY: &str = "0x4e59b44847b379578588920ca78fbf26c0b4956c";

fn key_file(test: &str, key: &str) -> String {
    file(&format!("{test}.hex"), &format!("{key}\n"))
}

#[test]
fn a_contract_is_created_once_called_and_found() {
    Chain::each(&[]).iter().for_each(created_once);
}

fn created_once(chain: &Chain) {
    let key = key_file("once", KEY);
    let planned = chain.deploy(SMALL, &["--key-file", &key, "--dry-run"]).json(0);
    assert_eq!(
        (planned["outcome"].as_str(), &chain.sent(RICH)),
        (Some("not sent, and would be created"), &json!("0x0"))
    );
    let created = chain.deploy(SMALL, &["--key-file", &key, "--chain-id", "31337"]).json(0);
    assert_eq!((&created["outcome"], &created["chain_id"]), (&"created".into(), &31337.into()));
    let address = created["address"].as_str().unwrap();
    // The gas estimated is enough, and the bytes are the greater part of it.
    let gas = created["gas_used"].as_u64().unwrap();
    assert!(gas > created["deployment_gas"].as_u64().unwrap() && gas <= planned["gas"].as_u64().unwrap(), "{created}");
    // Nothing is sent a second time, whoever pays.
    assert_eq!(chain.sent(RICH), "0x1");
    assert_eq!(chain.deploy(SMALL, &["--key-file", &key]).json(0)["outcome"], "there already");
    assert_eq!(chain.deploy(SMALL, &["--unlocked", RICH]).json(0)["outcome"], "there already");
    assert_eq!(chain.sent(RICH), "0x1");
    // 2 + 2 of the point (1, 2) is the sum that the precompile gives.
    let input = format!("0x{}", format!("{:064x}{:064x}", 1, 2).repeat(2));
    let call = |to: &str| chain.ask("eth_call", json!([{ "to": to, "data": input }, "latest"]));
    assert_eq!(call(address), call("0x0000000000000000000000000000000000000006"));
    let verify = |more: &[&str]| residue(&[&["verify", address, "--json", "--rpc", &chain.url], more].concat());
    let found = verify(&[]).json(0);
    assert_eq!((&found["contract"], &found["precompiles"]), (&SMALL.into(), &false.into()));
    assert_eq!(verify(&[SMALL]).json(0)["contract"], SMALL);
    assert_eq!(verify(&[SMALL, "--use-precompiles"]).json(1)["contract"], Value::Null);
    assert_eq!(verify(&["hashes/sha1"]).json(1)["found"], false);
    verify(&["--use-precompiles"]).refused(&["--use-precompiles has no effect without a contract"]);
    let empty = residue(&["verify", RICH, "--rpc", &chain.url]);
    assert_eq!((empty.code, empty.stdout.contains("it has no code")), (1, true), "{}", empty.stdout);
    let factory = residue(&["verify", FACTORY, "--rpc", &chain.url]);
    assert_eq!((factory.code, factory.stdout.contains("69 bytes of code are no contract of the catalogue")), (1, true));
}

#[test]
fn a_contract_in_linked_form_goes_with_its_stages() {
    Chain::each(&[]).iter().for_each(linked);
}

fn linked(chain: &Chain) {
    const LINKED: &str = "modexp/words";
    let deploy = |more: &[&str]| chain.deploy(LINKED, &[&["--linked", "--unlocked", RICH], more].concat());
    let outcomes = |told: &Value| -> Vec<Value> {
        let of = |code: &Value| code["outcome"].clone();
        told["stages"].as_array().unwrap().iter().map(of).chain([of(told)]).collect()
    };
    // An account that can pay for one of the codes, and not for all, sends none.
    let poor = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
    let planned = deploy(&["--dry-run"]).json(0);
    let wei: u128 = planned["wei_max"].as_str().unwrap().parse().unwrap();
    chain.ask("anvil_setBalance", json!([poor, format!("{:#x}", 4 * wei)]));
    chain.deploy(LINKED, &["--linked", "--unlocked", poor]).refused(&[poor, "are needed for 9 transactions"]);
    assert_eq!((chain.sent(poor), chain.sent(RICH)), (json!("0x0"), json!("0x0")));
    let stage = &planned["stages"][0];
    let code = residue(&["verify", stage["address"].as_str().unwrap(), "--rpc", &chain.url]);
    assert_eq!((code.code, code.stdout.contains("it has no code")), (1, true));
    let created = deploy(&[]).json(0);
    assert_eq!((outcomes(&created), chain.sent(RICH)), (vec![json!("created"); 9], json!("0x9")));
    assert_eq!(outcomes(&deploy(&[]).json(0)), vec![json!("there already"); 9]);
    assert_eq!(chain.sent(RICH), "0x9");
    // A number of 64 bytes, which a stage is for, to the power of 65537: what the precompile gives.
    let lengths = format!("{:064x}{:064x}{:064x}", 64, 3, 64);
    let input = format!("0x{lengths}{}010001{}", "35".repeat(64), "ab".repeat(64));
    let call = |to: &Value| chain.ask("eth_call", json!([{ "to": to, "data": input }, "latest"]));
    assert_eq!(call(&created["address"]), call(&json!("0x0000000000000000000000000000000000000005")));
    let verify = |code: &Value| {
        let address = code["address"].as_str().unwrap().to_owned();
        residue(&["verify", &address, "--json", "--rpc", &chain.url]).json(0)["contract"].clone()
    };
    assert_eq!(verify(&created), LINKED);
    assert_eq!(verify(&created["stages"][6]), "modexp/words/residues-2048-f4");
    // Without the stage the call fails: it has no answer of its own.
    chain.ask("anvil_setCode", json!([stage["address"], "0x"]));
    let node = residue_deploy::rpc::Rpc::new(&chain.url);
    let answer = node.get::<Value>("eth_call", json!([{ "to": created["address"], "data": input }, "latest"]));
    assert!(answer.is_err(), "{answer:?}");
}

#[test]
fn the_node_may_sign() {
    Chain::each(&[]).iter().for_each(signed_by_the_node);
}

fn signed_by_the_node(chain: &Chain) {
    let created = chain.deploy(SMALL, &["--unlocked", RICH]).json(0);
    assert_eq!((&created["outcome"], chain.sent(RICH)), (&"created".into(), json!("0x1")));
    let stranger = "0x00000000000000000000000000000000000000aa";
    chain.ask("anvil_setBalance", json!([stranger, "0xde0b6b3a7640000"]));
    let refused = residue(&["deploy", "hashes/sha1", "--rpc", &chain.url, "--unlocked", stranger]);
    refused.refused(&["eth_sendTransaction", "the node refuses"]);
}

#[test]
fn what_cannot_be_done_is_said_before_anything_is_sent() {
    Chain::each(&[]).iter().for_each(nothing_sent);
}

fn nothing_sent(chain: &Chain) {
    let key = key_file("refused", KEY);
    let refused = |more: &[&str], parts: &[&str]| {
        chain.deploy(SMALL, more).refused(parts);
        assert_eq!(chain.sent(RICH), "0x0");
    };
    refused(&["--key-file", &key, "--chain-id", "1"], &["the chain has the id 31337", "--chain-id is 1"]);
    let poor = "0x0000000000000000000000000000000000000000000000000000000000000001";
    refused(&["--key-file", &key_file("poor", poor)], &["0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf", "0 wei"]);
    refused(&["--key-file", &key_file("short", "0x12")], &["short.hex has no key", "4 characters"]);
    refused(&["--key-file", &key_file("zero", &format!("{:064x}", 0))], &["zero.hex has no key", "0 or beyond"]);
    refused(&["--key-file", "/nowhere/key"], &["/nowhere/key"]);
    refused(&[], &["--key-file"]);
    refused(&["--key-file", &key, "--unlocked", RICH], &["--unlocked"]);
    let code = chain.ask("eth_getCode", json!([FACTORY, "latest"]));
    chain.ask("anvil_setCode", json!([FACTORY, "0x"]));
    refused(&["--key-file", &key], &["no CREATE2 factory at 0x4e59b44847b379578588920cA78FbF26c0B4956C", "31337"]);
    chain.ask("anvil_setCode", json!([FACTORY, "0x00"]));
    refused(&["--key-file", &key], &["is not that of the CREATE2 factory"]);
    chain.ask("anvil_setCode", json!([FACTORY, code]));
    // Somebody else's code at the address: no chain has that, so nothing is done about it.
    let address = chain.deploy(SMALL, &["--key-file", &key, "--dry-run"]).json(0)["address"].clone();
    chain.ask("anvil_setCode", json!([address, "0x00"]));
    refused(&["--key-file", &key], &["has other code, of 1 bytes"]);
}

/// Before London there is no base fee, and a transaction names a price.
#[test]
fn a_chain_without_a_base_fee_takes_a_legacy_transaction() {
    let Some(chain) = Chain::anvil(&["--hardfork", "berlin"]) else { return };
    let more = ["--fork", "berlin", "--key-file", &key_file("legacy", KEY)];
    assert_eq!(chain.deploy(SMALL, &more).json(0)["outcome"], "created");
    assert_eq!(chain.sent(RICH), "0x1");
}

/// A key is in no message, whatever is wrong.
#[test]
fn keys_are_not_shown() {
    let long = format!("{KEY}00");
    let refused = residue(&["deploy", SMALL, "--rpc", "http://127.0.0.1:1", "--key-file", &key_file("long", &long)]);
    refused.refused(&["68 characters"]);
    assert!(!refused.stderr.contains(&KEY[2..20]), "{}", refused.stderr);
}

/// Code that the chain's accounts do not hold is not sent to it.
#[test]
fn a_chain_that_does_not_create_the_code_is_seen() {
    for chain in Chain::each(&["--code-size-limit", "1000"]) {
        let refused = chain.deploy(SMALL, &["--unlocked", RICH]);
        refused.refused(&["chain 31337 does not create bn254/add", "bytes of code for osaka"]);
        assert_eq!(chain.sent(RICH), "0x0");
    }
}
