//! Traces in the words of geth and of parity.

use residue_node::node::Node;
use serde_json::{Value, json};

use crate::development::{ask, node, result, with_contract};

const CONTRACT: &str = "0x00000000000000000000000000000000000000aa";
const OTHER: &str = "0x00000000000000000000000000000000000000bb";

fn sender(node: &Node) -> Value {
    ask(node, "eth_accounts", json!([]))[0].clone()
}

/// Sends value to a contract of some code.
fn sent(node: &Node, code: &str, value: &str) -> Value {
    ask(node, "anvil_setCode", json!([CONTRACT, code]));
    ask(
        node,
        "eth_sendTransaction",
        json!([{ "from": sender(node), "to": CONTRACT, "value": value, "gas": "0x186a0" }]),
    )
}

/// The frames of SELFDESTRUCT in each tracer, as from, to, value; the frame of a call is no such.
fn destroyed(node: &Node, hash: &Value) -> Vec<Vec<Value>> {
    let geth = ask(node, "debug_traceTransaction", json!([hash, { "tracer": "callTracer" }]));
    let frames = geth["calls"].as_array().cloned().unwrap_or_default();
    let geth = frames.iter().filter(|frame| frame["type"] == "SELFDESTRUCT");
    let geth = geth.map(|frame| json!([frame["from"], frame["to"], frame["value"]]));
    let suicides = |frames: Value| {
        let frames = frames.as_array().unwrap().clone();
        let of = frames.into_iter().filter(|frame| frame["type"] == "suicide").map(|frame| frame["action"].clone());
        of.map(|action| json!([action["address"], action["refundAddress"], action["balance"]])).collect()
    };
    let replayed = ask(node, "trace_replayTransaction", json!([hash, ["trace"]]));
    vec![
        geth.collect(),
        suicides(ask(node, "trace_transaction", json!([hash]))),
        suicides(ask(node, "debug_traceTransaction", json!([hash, { "tracer": "flatCallTracer" }]))),
        suicides(replayed["trace"].clone()),
    ]
}

#[test]
fn a_contract_that_destroys_itself_is_a_frame_whoever_is_paid() {
    let node = node(0);
    // ADDRESS or CALLER, SELFDESTRUCT.
    for (code, value) in [("0x30ff", "0x5"), ("0x33ff", "0x7"), ("0x30ff", "0x0")] {
        let held = ask(&node, "eth_getBalance", json!([CONTRACT, "latest"]));
        let number = |text: &Value| u64::from_str_radix(&text.as_str().unwrap()[2..], 16).unwrap();
        let balance = number(&held) + number(&json!(value));
        let hash = sent(&node, code, value);
        let target = if code == "0x30ff" { json!(CONTRACT) } else { sender(&node) };
        let frame = json!([CONTRACT, target, format!("{balance:#x}")]);
        assert_eq!(destroyed(&node, &hash), vec![vec![frame]; 4], "{code} with {value}");
    }
    // One that cannot pay for a new account has destroyed nothing: PUSH1 0xdd, SELFDESTRUCT.
    ask(&node, "anvil_setCode", json!([CONTRACT, "0x60ddff"]));
    let request = json!({ "from": sender(&node), "to": CONTRACT, "value": "0x1", "gas": "0x7530" });
    let hash = ask(&node, "eth_sendTransaction", json!([request]));
    assert_eq!(destroyed(&node, &hash), vec![Vec::<Value>::new(); 4]);
    // A called contract destroys itself and its caller reverts: the frame is there, as it is in geth.
    ask(&node, "anvil_setCode", json!([OTHER, "0x30ff"]));
    let hash = sent(&node, "0x5f5f5f5f5f60bb5af15f5ffd", "0x0");
    let trace = ask(&node, "debug_traceTransaction", json!([hash, { "tracer": "callTracer" }]));
    let frame = &trace["calls"][0]["calls"][0];
    assert_eq!([&frame["type"], &frame["from"], &frame["to"], &frame["value"]], ["SELFDESTRUCT", OTHER, OTHER, "0x0"]);
}

#[test]
fn creation_code_that_destroys_itself_is_one_frame() {
    let node = node(0);
    let request = json!({ "from": sender(&node), "input": "0x30ff", "value": "0x3", "gas": "0x186a0" });
    let hash = ask(&node, "eth_sendTransaction", json!([request]));
    let created = ask(&node, "eth_getTransactionReceipt", json!([hash]))["contractAddress"].clone();
    assert_eq!(destroyed(&node, &hash), vec![vec![json!([created, created, "0x3"])]; 4]);
}

#[test]
fn simulated_transfers_have_what_a_contract_pays_to_itself() {
    let node = node(0);
    ask(&node, "anvil_setCode", json!([CONTRACT, "0x30ff"]));
    let call = json!({ "from": sender(&node), "to": CONTRACT, "value": "0x5" });
    let blocks = json!([{ "blockStateCalls": [{ "calls": [call] }], "traceTransfers": true }]);
    let answer = ask(&node, "eth_simulateV1", blocks);
    let logs = answer[0]["calls"][0]["logs"].as_array().unwrap().clone();
    let word = |address: &Value| json!(format!("0x{:0>64}", &address.as_str().unwrap()[2..]));
    let parties: Vec<_> = logs.iter().map(|log| (log["topics"][1].clone(), log["topics"][2].clone())).collect();
    let contract = word(&json!(CONTRACT));
    assert_eq!(parties, [(word(&sender(&node)), contract.clone()), (contract.clone(), contract)]);
}

#[test]
fn replays_calls_and_filters_have_the_frames_of_the_transaction() {
    let node = with_contract(0);
    let request = json!({ "from": sender(&node), "to": CONTRACT, "gas": "0x30d40" });
    let hash = ask(&node, "eth_sendTransaction", json!([request]));
    let frames = ask(&node, "trace_transaction", json!([hash]));
    let bare = |frame: &Value| {
        let fields = ["action", "result", "subtraces", "traceAddress", "type"];
        fields.map(|name| frame[name].clone())
    };
    let all: Vec<_> = frames.as_array().unwrap().iter().map(bare).collect();
    let replayed = ask(&node, "trace_replayTransaction", json!([hash, ["trace", "vmTrace", "stateDiff"]]));
    assert_eq!(replayed["trace"].as_array().unwrap().iter().map(bare).collect::<Vec<_>>(), all);
    assert_eq!(replayed["output"], result());
    let ops = replayed["vmTrace"]["ops"].as_array().unwrap().clone();
    assert!(ops.iter().any(|op| op["op"] == "MULMODX"), "field instructions have their names");
    assert_eq!(
        replayed["stateDiff"][sender(&node).as_str().unwrap()]["nonce"],
        json!({ "*": { "from": "0x0", "to": "0x1" } })
    );
    let block = ask(&node, "trace_replayBlockTransactions", json!(["latest", ["trace"]]));
    assert_eq!((&block[0]["transactionHash"], &block[0]["trace"]), (&hash, &replayed["trace"]));
    let called = ask(&node, "trace_call", json!([request, ["trace"], "latest"]));
    assert_eq!((&called["output"], called["trace"].as_array().unwrap().len()), (&json!(result()), all.len()));
    assert_eq!(ask(&node, "trace_get", json!([hash, []])), frames[0]);

    let filtered = |filter: Value| ask(&node, "trace_filter", json!([filter])).as_array().unwrap().clone();
    assert_eq!(filtered(json!({})), *frames.as_array().unwrap());
    assert_eq!(filtered(json!({ "fromBlock": "earliest", "toBlock": "latest", "toAddress": [CONTRACT] })).len(), 1);
    assert_eq!(filtered(json!({ "toAddress": [OTHER] })).len(), 0);
    assert_eq!(filtered(json!({ "fromAddress": [sender(&node)], "toAddress": [OTHER], "mode": "union" })).len(), 1);
    assert_eq!((filtered(json!({ "after": 1 })).len(), filtered(json!({ "count": 0 })).len()), (0, 0));
}

#[test]
fn calls_of_one_request_find_what_those_before_have_done() {
    let node = node(0);
    // PUSH0, SLOAD, PUSH1 1, ADD, DUP1, PUSH0, SSTORE, PUSH0, MSTORE, PUSH1 32, PUSH0, RETURN.
    ask(&node, "anvil_setCode", json!([CONTRACT, "0x5f54600101805f555f5260205ff3"]));
    let call = json!([{ "to": CONTRACT }, ["trace"]]);
    let answers = ask(&node, "trace_callMany", json!([[call, call, call], "latest"]));
    let outputs: Vec<_> = answers.as_array().unwrap().iter().map(|answer| answer["output"].clone()).collect();
    assert_eq!(outputs, [1, 2, 3].map(|number| json!(format!("0x{number:064x}"))));
    // The state before the second of two transactions of a block.
    ask(&node, "evm_setAutomine", json!([false]));
    let request = json!([{ "from": sender(&node), "to": CONTRACT, "gas": "0x186a0" }]);
    ask(&node, "eth_sendTransaction", request.clone());
    ask(&node, "eth_sendTransaction", request);
    ask(&node, "evm_mine", json!([]));
    let at = |index: Option<&str>| {
        let options = json!({ "txIndex": index });
        ask(&node, "debug_traceCall", json!([{ "to": CONTRACT }, "latest", options]))["returnValue"].clone()
    };
    assert_eq!([at(Some("0x0")), at(Some("0x1")), at(None)], [1, 2, 3].map(|number| json!(format!("0x{number:064x}"))));
}
