//! A dump of a state: its content, the chains that load it, and refusals.

use std::io::{Read, Write};

use alloy_primitives::hex;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use residue_node::node::Node;
use residue_node::rpc::answer;
use residue_node::rpc::params::Params;
use serde_json::{Value, json};

use crate::crash::{Running, folder};
use crate::development::{ask, node};

const COUNTER: &str = "0x00000000000000000000000000000000000000aa";
const POOR: &str = "0x00000000000000000000000000000000000000cc";

/// A chain with transactions of several types, one of an impersonated sender, logs, storage and a contract that was created.
fn lived() -> Node {
    let node = node(0);
    let accounts = ask(&node, "eth_accounts", json!([]));
    ask(&node, "anvil_setCode", json!([COUNTER, "0x5f54600101805f555f5260205fa060205ff3"]));
    let send = |request: Value| ask(&node, "eth_sendTransaction", json!([request]));
    send(json!({ "from": accounts[0], "to": POOR, "value": "0xde0b6b3a7640000" }));
    send(json!({ "from": accounts[1], "to": COUNTER, "gasPrice": "0x77359400" }));
    send(json!({ "from": accounts[1], "to": COUNTER, "gasPrice": "0x77359400", "accessList": [] }));
    send(json!({ "from": accounts[2], "input": "0x60fe5f5360015ff3" }));
    ask(&node, "anvil_impersonateAccount", json!([POOR]));
    send(json!({ "from": POOR, "to": COUNTER, "value": "0x5" }));
    ask(&node, "evm_mine", json!([]));
    node
}

/// All that the chain says of itself and of some accounts.
fn told(ask: &dyn Fn(&str, Value) -> Value) -> Vec<Value> {
    let mut told = vec![ask("eth_blockNumber", json!([]))];
    let head = u64::from_str_radix(&told[0].as_str().unwrap()[2..], 16).unwrap();
    for number in 0..=head {
        let number = format!("{number:#x}");
        let block = ask("eth_getBlockByNumber", json!([number, true]));
        for transaction in block["transactions"].as_array().unwrap() {
            told.push(ask("eth_getTransactionByHash", json!([transaction["hash"]])));
            told.push(ask("eth_getTransactionReceipt", json!([transaction["hash"]])));
        }
        told.push(block);
    }
    for address in ask("eth_accounts", json!([])).as_array().unwrap().iter().chain(&[json!(COUNTER), json!(POOR)]) {
        told.push(ask("eth_getProof", json!([address, ["0x0"], "latest"])));
        told.push(ask("eth_getCode", json!([address, "latest"])));
    }
    told.push(ask("eth_getLogs", json!([{ "fromBlock": "earliest" }])));
    told.push(ask("eth_call", json!([{ "to": COUNTER }, "latest"])));
    told
}

fn unpacked(dump: &Value) -> Value {
    let bytes = hex::decode(dump.as_str().unwrap()).unwrap();
    let mut text = String::new();
    GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn packed(dump: &Value) -> Value {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(dump.to_string().as_bytes()).unwrap();
    hex::encode_prefixed(encoder.finish().unwrap()).into()
}

fn load(node: &Node, dump: Value) -> Result<Value, (i32, String)> {
    answer(node, "anvil_loadState", &Params(vec![dump])).map_err(|error| (error.code, error.message))
}

#[test]
fn a_dump_is_loaded_by_a_new_node_which_keeps_it_and_goes_on_from_it() {
    let first = lived();
    let dump = ask(&first, "anvil_dumpState", json!([]));
    let expected = told(&|method, params| ask(&first, method, params));
    let data = folder("loaded");
    let second = Running::start(&data, &[]);
    assert_eq!(second.ask("anvil_loadState", json!([dump])), Some(json!(true)));
    assert_eq!(told(&|method, params| second.ask(method, params).unwrap()), expected);
    drop(second);
    let again = Running::start(&data, &[]);
    assert_eq!(told(&|method, params| again.ask(method, params).unwrap()), expected, "after a restart");
    // It goes on, and what it is now can be dumped again.
    let accounts = again.ask("eth_accounts", json!([])).unwrap();
    let sent = again.ask("eth_sendTransaction", json!([{ "from": accounts[0], "to": COUNTER }])).unwrap();
    let receipt = again.ask("eth_getTransactionReceipt", json!([sent])).unwrap();
    assert_eq!((&receipt["blockNumber"], &receipt["status"]), (&json!("0x7"), &json!("0x1")));
    assert_eq!(again.ask("eth_call", json!([{ "to": COUNTER }, "latest"])), Some(json!(format!("0x{:064x}", 5))));
    assert_eq!(again.ask("eth_call", json!([{ "to": COUNTER }, "0x6"])), Some(json!(format!("0x{:064x}", 4))));
    let third = node(0);
    assert_eq!(load(&third, again.ask("anvil_dumpState", json!([])).unwrap()), Ok(json!(true)));
    assert_eq!(ask(&third, "eth_getTransactionReceipt", json!([sent])), receipt);
    // States from before the dump are not in it.
    let before = Params(vec![json!(COUNTER), json!("0x3")]);
    let error = answer(&third, "eth_getBalance", &before).unwrap_err();
    assert!(error.message.contains("block 3") && error.message.contains("block 7"), "{}", error.message);
}

#[test]
fn a_dump_has_the_form_of_anvils_and_those_of_older_ones_are_read() {
    let first = lived();
    let dump = unpacked(&ask(&first, "anvil_dumpState", json!([])));
    let account = &dump["accounts"][COUNTER];
    assert_eq!(
        (&account["nonce"], &account["balance"], &account["storage"]["0x0"]),
        (&json!(0), &json!("0x5"), &json!("0x3"))
    );
    assert_eq!((&dump["best_block_number"], &dump["block"]["number"]), (&json!(6), &json!("0x6")));
    let transaction = &dump["blocks"][5]["transactions"][0];
    assert_eq!(
        (&transaction["impersonated_sender"], &transaction["transaction"]["type"]),
        (&json!(POOR), &json!("0x2"))
    );
    assert_eq!(dump["transactions"].as_array().unwrap().len(), 5);
    // As older ones: plain JSON, numbers as text, transactions under the names of their types, no receipts and blocks at all.
    let expected = told(&|method, params| ask(&first, method, params));
    let mut older = dump.clone();
    older["accounts"][COUNTER]["nonce"] = json!("0x0");
    older["best_block_number"] = json!("0x6");
    older["blocks"][0]["withdrawals"] = Value::Null;
    let held = older["blocks"][1]["transactions"][0]["transaction"].clone();
    older["blocks"][1]["transactions"][0] = json!({ "EIP1559": held });
    let second = node(0);
    assert_eq!(load(&second, hex::encode_prefixed(older.to_string()).into()), Ok(json!(true)));
    assert_eq!(told(&|method, params| ask(&second, method, params)), expected);
    let third = node(0);
    let state = json!({ "accounts": { POOR: { "nonce": 1, "balance": "0x9", "code": "0x", "storage": {} } } });
    assert_eq!(load(&third, packed(&state)), Ok(json!(true)));
    assert_eq!(ask(&third, "eth_getBalance", json!([POOR, "latest"])), "0x9");
    assert_eq!(ask(&third, "eth_blockNumber", json!([])), "0x0");
}

#[test]
fn a_bad_dump_is_refused_and_nothing_of_it_is_loaded() {
    let dump = unpacked(&ask(&lived(), "anvil_dumpState", json!([])));
    let second = node(0);
    let before = told(&|method, params| ask(&second, method, params));
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut dump = dump.clone();
        change(&mut dump);
        packed(&dump)
    };
    let whole = packed(&dump);
    let bytes = whole.as_str().unwrap();
    let refused = [
        ("a number", json!(1)),
        ("no bytes", json!("0xzz")),
        ("empty", json!("0x")),
        ("no dump", json!("0x7b7d")),
        ("cut", json!(&bytes[..bytes.len() / 4 * 2])),
        ("no accounts", changed(&|dump| drop(dump.as_object_mut().unwrap().remove("accounts")))),
        (
            "an account without a balance",
            changed(&|dump| drop(dump["accounts"][POOR].as_object_mut().unwrap().remove("balance"))),
        ),
        ("a nonce of 65 bits", changed(&|dump| dump["accounts"][POOR]["nonce"] = json!("0x10000000000000000"))),
        ("another newest block", changed(&|dump| dump["best_block_number"] = json!(7))),
        ("a block left out", changed(&|dump| drop(dump["blocks"].as_array_mut().unwrap().remove(3)))),
        ("a block that was changed", changed(&|dump| dump["blocks"][2]["header"]["gasUsed"] = json!("0x1"))),
        ("a transaction left out", changed(&|dump| dump["blocks"][1]["transactions"] = json!([]))),
        (
            "a transaction that was changed",
            changed(&|dump| dump["blocks"][1]["transactions"][0]["transaction"]["value"] = json!("0x1")),
        ),
        ("a receipt left out", changed(&|dump| drop(dump["transactions"].as_array_mut().unwrap().remove(0)))),
        (
            "a receipt twice",
            changed(&|dump| {
                let first = dump["transactions"][0].clone();
                dump["transactions"].as_array_mut().unwrap().push(first);
            }),
        ),
        (
            "a receipt that was changed",
            changed(&|dump| dump["transactions"][0]["receipt"]["cumulativeGasUsed"] = json!("0x1")),
        ),
        (
            "a receipt of no block",
            changed(&|dump| dump["transactions"][0]["block_hash"] = json!(format!("0x{:064x}", 1))),
        ),
    ];
    for (what, given) in refused {
        let error = load(&second, given).unwrap_err();
        assert_eq!(error.0, -32602, "{what}: {}", error.1);
        assert_eq!(told(&|method, params| ask(&second, method, params)), before, "{what}");
    }
    // A small file that is a large one: 300 MiB of zeros.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let zeros = vec![b' '; 1 << 20];
    (0..300).for_each(|_| encoder.write_all(&zeros).unwrap());
    let error = load(&second, hex::encode_prefixed(encoder.finish().unwrap()).into()).unwrap_err();
    assert!(error.0 == -32602 && error.1.contains("more than"), "{}", error.1);
    assert_eq!(answer(&second, "anvil_dumpState", &Params(vec![json!(true)])).unwrap_err().code, -32602);
    assert_eq!(load(&second, whole), Ok(json!(true)));
}
