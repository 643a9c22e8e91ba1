//! Overrides of calls: honoured by every method that takes them, or refused.

use residue_node::node::Node;
use residue_node::rpc::answer;
use residue_node::rpc::params::Params;
use serde_json::{Value, json};

use crate::development::{ask, node};

const SHA256: &str = "0x0000000000000000000000000000000000000002";
const ELSEWHERE: &str = "0x8888888888888888888888888888888888888888";
/// SHA-256 of "abc": FIPS 180-4, example.
const ABC: &str = "0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const CONTRACT: &str = "0x00000000000000000000000000000000000000aa";

/// A method that calls, with its answer's output; none where the method has no such.
type Caller = fn(&Node, Value, Value, Value) -> Result<Option<Value>, i32>;

fn asked(node: &Node, method: &str, params: Value) -> Result<Value, i32> {
    answer(node, method, &Params(params.as_array().unwrap().clone())).map_err(|error| error.code)
}

/// All methods that take overrides: call, state, block.
const CALLERS: [(&str, Caller); 6] = [
    ("eth_call", |node, call, state, block| asked(node, "eth_call", json!([call, "latest", state, block])).map(Some)),
    ("eth_estimateGas", |node, call, state, block| {
        asked(node, "eth_estimateGas", json!([call, "latest", state, block])).map(|_| None)
    }),
    ("eth_createAccessList", |node, call, state, block| {
        asked(node, "eth_createAccessList", json!([call, "latest", state, block])).map(|_| None)
    }),
    ("debug_traceCall", |node, call, state, block| {
        let options = json!({ "tracer": "callTracer", "stateOverrides": state, "blockOverrides": block });
        let trace = asked(node, "debug_traceCall", json!([call, "latest", options]))?;
        Ok(Some(trace.get("output").cloned().unwrap_or(json!("0x"))))
    }),
    ("trace_call", |node, call, state, block| {
        Ok(Some(asked(node, "trace_call", json!([call, ["trace"], "latest", state, block]))?["output"].clone()))
    }),
    ("eth_simulateV1", |node, call, state, block| {
        let blocks = json!([{ "stateOverrides": state, "blockOverrides": block, "calls": [call] }]);
        let answer = asked(node, "eth_simulateV1", json!([{ "blockStateCalls": blocks }, "latest"]))?;
        let last = answer.as_array().and_then(|blocks| blocks.last()).cloned().unwrap();
        Ok(Some(last["calls"][0]["returnData"].clone()))
    }),
];

#[test]
fn a_precompile_that_is_moved_is_where_it_is_moved_to_and_nowhere_else() {
    let node = node(0);
    let state = json!({ SHA256: { "movePrecompileToAddress": ELSEWHERE } });
    let call = |to: &str| json!({ "to": to, "data": "0x616263" });
    for (name, caller) in CALLERS {
        let there = caller(&node, call(ELSEWHERE), state.clone(), Value::Null).unwrap();
        assert!(there.is_none_or(|output| output == ABC), "{name}");
        let here = caller(&node, call(SHA256), state.clone(), Value::Null).unwrap();
        assert!(here.is_none_or(|output| output == "0x"), "{name}");
        let no_precompile = json!({ CONTRACT: { "movePrecompileToAddress": ELSEWHERE } });
        assert_eq!(caller(&node, call(ELSEWHERE), no_precompile, Value::Null), Err(-32000), "{name}");
        let itself = json!({ SHA256: { "movePrecompileToAddress": SHA256 } });
        assert_eq!(caller(&node, call(SHA256), itself, Value::Null), Err(-38022), "{name}");
        let twice = json!({ SHA256: { "movePrecompileToAddress": ELSEWHERE }, ELSEWHERE: { "balance": "0x1" } });
        assert_eq!(caller(&node, call(SHA256), twice, Value::Null), Err(-38023), "{name}");
        // PUSH1 7, PUSH0, MSTORE, PUSH1 32, PUSH0, RETURN in place of the precompile.
        let code = json!({ SHA256: { "code": "0x60075f5260205ff3" } });
        let output = caller(&node, call(SHA256), code, Value::Null).unwrap();
        assert!(output.is_none_or(|output| output == format!("0x{:064x}", 7)), "{name}");
    }
    // The estimate of a call that needs the precompile says that it has run: 60 gas and 12 a word, beside the bytes of the call.
    let estimate = ask(&node, "eth_estimateGas", json!([call(ELSEWHERE), "latest", state]));
    assert_eq!(estimate, format!("{:#x}", 21_000 + 3 * 16 + 60 + 12));
}

#[test]
fn every_block_override_is_what_the_call_sees() {
    let node = node(0);
    ask(&node, "anvil_mine", json!([3]));
    // The opcode of what is overridden; PUSH1 2, BLOCKHASH for the hash of block 2.
    let hash = format!("0x{}", "ab".repeat(32));
    let cases = [
        ("43", json!({ "number": "0x64" }), 0x64),
        ("43", json!({ "blockNumber": "0x64" }), 0x64),
        ("42", json!({ "time": "0x7fffffff" }), 0x7fff_ffff),
        ("42", json!({ "timestamp": "0x7fffffff" }), 0x7fff_ffff),
        ("45", json!({ "gasLimit": "0x1312d00" }), 0x131_2d00),
        ("41", json!({ "coinbase": "0x00000000000000000000000000000000000000cc" }), 0xcc),
        ("41", json!({ "feeRecipient": "0x00000000000000000000000000000000000000cc" }), 0xcc),
        ("44", json!({ "prevRandao": format!("0x{:064x}", 77) }), 77),
        ("44", json!({ "random": format!("0x{:064x}", 77) }), 77),
        ("48", json!({ "baseFeePerGas": "0x9" }), 9),
        ("48", json!({ "baseFee": "0x9" }), 9),
        ("4a", json!({ "blobBaseFee": "0x9" }), 9),
    ];
    for (opcode, block, seen) in cases {
        ask(&node, "anvil_setCode", json!([CONTRACT, format!("0x{opcode}5f5260205ff3")]));
        for (name, caller) in CALLERS {
            let output = caller(&node, json!({ "to": CONTRACT }), Value::Null, block.clone()).unwrap();
            assert!(output.is_none_or(|output| output == format!("0x{seen:064x}")), "{name} {block}");
        }
    }
    ask(&node, "anvil_setCode", json!([CONTRACT, "0x6002405f5260205ff3"]));
    for (name, caller) in CALLERS {
        let block = json!({ "blockHash": { "2": hash } });
        let output = caller(&node, json!({ "to": CONTRACT }), Value::Null, block).unwrap();
        assert!(output.is_none_or(|output| output == hash), "{name}");
        let refused = |block: Value| caller(&node, json!({ "to": CONTRACT }), Value::Null, block);
        assert_eq!(refused(json!({ "withdrawals": [] })), Err(-32602), "{name}");
        assert_eq!(refused(json!({ "nmuber": "0x1" })), Err(-32602), "{name}");
        let root = json!({ "beaconRoot": hash });
        let expected = if name == "eth_simulateV1" { Ok(()) } else { Err(-32602) };
        assert_eq!(refused(root).map(|_| ()), expected, "{name}");
        let unknown = json!({ CONTRACT: { "storage": {} } });
        assert_eq!(caller(&node, json!({ "to": CONTRACT }), unknown, Value::Null), Err(-32602), "{name}");
    }
}
