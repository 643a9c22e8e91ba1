//! One pending state: all that is asked of it is answered as it will be of the block that is mined next.

use serde_json::{Value, json};

use crate::development::{ask, node};

const CONTRACT: &str = "0x00000000000000000000000000000000000000aa";

#[test]
fn what_is_pending_is_what_the_next_block_makes_it() {
    let node = node(0);
    ask(&node, "anvil_setBlockTimestampInterval", json!([1]));
    // Counts in slot 0 and returns the count.
    ask(&node, "anvil_setCode", json!([CONTRACT, "0x5f54600101805f555f5260205ff3"]));
    ask(&node, "evm_mine", json!([]));
    let accounts = ask(&node, "eth_accounts", json!([]));
    let (rich, poor) = (&accounts[0], "0x00000000000000000000000000000000000000cc");
    let before = ask(&node, "eth_getBalance", json!([poor, "pending"]));
    assert_eq!(before, "0x0");
    ask(&node, "evm_setAutomine", json!([false]));
    let send = |request: Value| ask(&node, "eth_sendTransaction", json!([request]));
    send(json!({ "from": rich, "to": poor, "value": "0x1234" }));
    send(json!({ "from": rich, "to": CONTRACT }));
    send(json!({ "from": accounts[1], "to": CONTRACT }));
    // Creation code of PUSH0, CREATE of nothing, and code 0xfe.
    let created = send(json!({ "from": rich, "input": "0x5f5f5ff05060fe5f5360015ff3" }));
    let request = ask(&node, "eth_getTransactionByHash", json!([created]));
    let nonce = u64::from_str_radix(&request["nonce"].as_str().unwrap()[2..], 16).unwrap();
    let sender: alloy_primitives::Address = rich.as_str().unwrap().parse().unwrap();
    let created = format!("{:#x}", sender.create(nonce));
    let answers = |block: &str| {
        let mut answers = Vec::new();
        for address in [rich.as_str().unwrap(), poor, CONTRACT, &created] {
            for method in
                ["eth_getBalance", "eth_getTransactionCount", "eth_getCode", "eth_getAccount", "eth_getAccountInfo"]
            {
                answers.push((method, ask(&node, method, json!([address, block]))));
            }
            answers.push(("eth_getStorageAt", ask(&node, "eth_getStorageAt", json!([address, "0x0", block]))));
            answers.push(("eth_getProof", ask(&node, "eth_getProof", json!([address, ["0x0"], block]))));
        }
        for method in ["eth_call", "eth_estimateGas", "eth_createAccessList"] {
            answers.push((method, ask(&node, method, json!([{ "from": rich, "to": CONTRACT }, block]))));
        }
        answers.push(("debug_traceCall", ask(&node, "debug_traceCall", json!([{ "to": CONTRACT }, block]))));
        answers
            .push(("trace_call", ask(&node, "trace_call", json!([{ "to": CONTRACT }, ["trace", "stateDiff"], block]))));
        answers.push(("residue_disassemble", ask(&node, "residue_disassemble", json!([created, block]))));
        let simulated = json!([{ "blockStateCalls": [{ "calls": [{ "from": rich, "to": CONTRACT }] }] }, block]);
        answers.push(("eth_simulateV1", ask(&node, "eth_simulateV1", simulated)));
        let transactions = ask(&node, "eth_getBlockByNumber", json!([block, false]))["transactions"].clone();
        answers.push(("eth_getBlockByNumber", transactions));
        answers.push(("debug_getRawBlock", ask(&node, "debug_getRawBlock", json!([block]))));
        answers.push(("debug_getRawReceipts", ask(&node, "debug_getRawReceipts", json!([block]))));
        answers
    };
    let pending = answers("pending");
    assert_eq!(ask(&node, "eth_call", json!([{ "to": CONTRACT }, "pending"])), format!("0x{:064x}", 3));
    assert_eq!(ask(&node, "eth_call", json!([{ "to": CONTRACT }, "latest"])), format!("0x{:064x}", 1));
    assert_eq!(ask(&node, "eth_getTransactionCount", json!([created, "pending"])), "0x2", "it has created one itself");
    ask(&node, "evm_mine", json!([]));
    for (mined, pending) in answers("latest").into_iter().zip(pending) {
        assert_eq!(mined, pending);
    }
}
