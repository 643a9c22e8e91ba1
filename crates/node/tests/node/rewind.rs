//! Blocks that are taken back or mined again, a chain that begins anew, and blocks by the clock.

use residue_node::node::Node;
use residue_node::rpc::answer;
use residue_node::rpc::params::Params;
use serde_json::{Value, json};

use crate::crash::{Running, folder};
use crate::development::{ask, node};

const POOR: &str = "0x00000000000000000000000000000000000000cc";

fn code(node: &Node, method: &str, params: Value) -> i32 {
    answer(node, method, &Params(params.as_array().unwrap().clone())).unwrap_err().code
}

fn paid(node: &Node) -> Value {
    let sender = ask(node, "eth_accounts", json!([]))[0].clone();
    ask(node, "eth_sendTransaction", json!([{ "from": sender, "to": POOR, "value": "0x1" }]))
}

#[test]
fn a_rollback_takes_back_blocks_with_all_that_they_have_done() {
    let node = node(0);
    let root = |at: &str| ask(&node, "eth_getBlockByNumber", json!([at, false]))["stateRoot"].clone();
    paid(&node);
    let (kept, proof) = (root("latest"), ask(&node, "eth_getProof", json!([POOR, [], "latest"])));
    ask(&node, "anvil_setBalance", json!([POOR, "0x77"]));
    let lost = paid(&node);
    ask(&node, "anvil_rollback", json!([]));
    assert_eq!(ask(&node, "eth_blockNumber", json!([])), "0x1");
    assert_eq!((root("latest"), ask(&node, "eth_getProof", json!([POOR, [], "latest"]))), (kept, proof));
    assert_eq!(ask(&node, "eth_getTransactionReceipt", json!([lost])), Value::Null);
    // Blocks that follow are children of the one that stayed.
    let hash = ask(&node, "eth_getBlockByNumber", json!(["latest", false]))["hash"].clone();
    let again = paid(&node);
    assert_eq!(ask(&node, "eth_getTransactionReceipt", json!([again]))["status"], "0x1");
    assert_eq!(ask(&node, "eth_getBlockByNumber", json!(["latest", false]))["parentHash"], hash);
    ask(&node, "anvil_rollback", json!(["0x2"]));
    assert_eq!(
        (ask(&node, "eth_blockNumber", json!([])), ask(&node, "eth_getBalance", json!([POOR]))),
        (json!("0x0"), json!("0x0"))
    );
    for depth in [json!([1]), json!(["0x5"]), json!(["x"]), json!([-1])] {
        assert_eq!(code(&node, "anvil_rollback", depth), -32602);
    }
}

#[test]
fn a_reorg_mines_as_many_blocks_with_what_they_are_given_or_changes_nothing() {
    let node = node(0);
    let accounts = ask(&node, "eth_accounts", json!([]));
    let hash = |number: &str| ask(&node, "eth_getBlockByNumber", json!([number, false]))["hash"].clone();
    let first = paid(&node);
    (0..3).for_each(|_| drop(paid(&node)));
    let before: Vec<_> = ["0x1", "0x2", "0x3", "0x4"].map(hash).to_vec();
    let blocks = ask(&node, "eth_newBlockFilter", json!([]));
    let request = |value: &str| json!({ "from": accounts[0], "to": POOR, "value": value });
    // Two of one sender in one block, one in the last.
    ask(&node, "anvil_reorg", json!([3, [[request("0x10"), 0], [request("0x20"), 0], [request("0x40"), 2]]]));
    let after: Vec<_> = ["0x1", "0x2", "0x3", "0x4"].map(hash).to_vec();
    assert_eq!(after[0], before[0]);
    assert!((1..4).all(|at| after[at] != before[at]));
    assert_eq!(ask(&node, "eth_getBalance", json!([POOR, "latest"])), "0x71");
    let counts = ["0x1", "0x2", "0x3", "0x4"].map(|at| ask(&node, "eth_getBlockTransactionCountByNumber", json!([at])));
    assert_eq!(counts, ["0x1", "0x2", "0x0", "0x1"]);
    assert_ne!(ask(&node, "eth_getTransactionReceipt", json!([first])), Value::Null);
    // Filters are told of the new blocks, though the chain is as long as it was.
    assert_eq!(ask(&node, "eth_getFilterChanges", json!([blocks])), json!(after[1..]));
    let raw = ask(
        &node,
        "eth_signTransaction",
        json!([{ "from": accounts[1], "to": POOR, "value": "0x100", "nonce": "0x0", "gas": "0x5208" }]),
    )["raw"]
        .clone();
    ask(&node, "anvil_reorg", json!([{ "depth": 1, "txBlockPairs": [[raw, 0]] }]));
    assert_eq!(ask(&node, "eth_getBalance", json!([POOR, "latest"])), "0x131");
    let state: Vec<_> = ["0x1", "0x2", "0x3", "0x4"].map(hash).to_vec();
    let nonce = json!({ "from": accounts[0], "to": POOR, "nonce": "0x9", "gas": "0x5208" });
    for params in [
        json!([5]),
        json!([2, [[request("0x1"), 2]]]),
        json!([1, [[nonce, 0]]]),
        json!([1, [["0x00", 0]]]),
        json!([]),
        json!(["x"]),
    ] {
        assert!([-32602, -32000].contains(&code(&node, "anvil_reorg", params.clone())), "{params}");
        assert_eq!(["0x1", "0x2", "0x3", "0x4"].map(hash).to_vec(), state, "{params}");
    }
}

#[test]
fn a_reset_begins_anew_with_the_first_block_that_there_was() {
    let node = node(0);
    let first = ask(&node, "eth_getBlockByNumber", json!(["0x0", true]));
    let snapshot = ask(&node, "evm_snapshot", json!([]));
    paid(&node);
    ask(&node, "evm_increaseTime", json!([1000]));
    ask(&node, "evm_setAutomine", json!([false]));
    let waits = paid(&node);
    ask(&node, "anvil_reset", json!([]));
    assert_eq!(ask(&node, "eth_getBlockByNumber", json!(["latest", true])), first);
    assert_eq!(ask(&node, "eth_getBalance", json!([POOR, "latest"])), "0x0");
    assert_eq!(ask(&node, "eth_getTransactionByHash", json!([waits])), Value::Null);
    assert_eq!(ask(&node, "evm_revert", json!([snapshot])), false, "snapshots are of the chain that was");
    assert_eq!(ask(&node, "anvil_getAutomine", json!([])), false);
    ask(&node, "hardhat_reset", json!([{}]));
    assert_eq!(ask(&node, "anvil_getAutomine", json!([])), true, "as the node was started");
    paid(&node);
    assert_eq!(ask(&node, "eth_getBalance", json!([POOR, "latest"])), "0x1");
    let forking = json!([{ "forking": { "jsonRpcUrl": "http://127.0.0.1:1", "blockNumber": 1 } }]);
    for params in [forking, json!([{ "fork": {} }]), json!([1])] {
        assert_eq!(code(&node, "anvil_reset", params), -32602);
    }
    assert_eq!(ask(&node, "eth_blockNumber", json!([])), "0x1");
    assert_eq!(code(&node, "anvil_setMinGasPrice", json!(["0x1"])), -32602, "EIP-1559 is active");
}

#[test]
fn a_forked_chain_is_reset_to_its_block() {
    let theirs = Running::start(&folder("reset-of"), &[]);
    theirs.ask("anvil_setBalance", json!([POOR, "0x7"])).unwrap();
    theirs.ask("anvil_mine", json!([2])).unwrap();
    let url = format!("http://127.0.0.1:{}", theirs.port);
    let ours = Running::start(&folder("reset-forked"), &["--fork-url", &url]);
    let balance = || ours.ask("eth_getBalance", json!([POOR, "latest"])).unwrap();
    assert_eq!(balance(), "0x7");
    ours.ask("anvil_setBalance", json!([POOR, "0x9"])).unwrap();
    ours.ask("anvil_mine", json!([1])).unwrap();
    assert_eq!((balance(), ours.ask("anvil_reset", json!([]))), (json!("0x9"), Some(Value::Null)), "an error");
    assert_eq!(balance(), "0x9");
    ours.ask("anvil_reset", json!([{ "forking": { "blockNumber": "0x2" } }])).unwrap();
    assert_eq!((balance(), ours.ask("eth_blockNumber", json!([]))), (json!("0x7"), Some(json!("0x2"))));
    let account = ours.ask("eth_accounts", json!([])).unwrap()[0].clone();
    assert_eq!(ours.ask("eth_getBalance", json!([account, "latest"])), Some(json!("0x21e19e0c9bab2400000")));
    // What was before the fork is not here, and nothing is made up.
    assert_eq!(ours.ask("eth_getBalance", json!([POOR, "0x1"])), Some(Value::Null), "an error");
}

#[test]
fn blocks_come_by_the_clock_as_long_as_that_is_asked_for() {
    let node = Running::start(&folder("by-the-clock"), &["--no-mining"]);
    let number = || node.ask("eth_blockNumber", json!([])).unwrap();
    assert_eq!(node.ask("anvil_getIntervalMining", json!([])), Some(Value::Null));
    node.ask("evm_setIntervalMining", json!([1])).unwrap();
    assert_eq!(node.ask("anvil_getIntervalMining", json!([])), Some(json!(1)));
    while number() == "0x0" || number() == "0x1" {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(node.ask("evm_setIntervalMining", json!([u64::MAX])), Some(Value::Null), "an error");
    assert_eq!(node.ask("anvil_getIntervalMining", json!([])), Some(json!(1)));
    node.ask("anvil_setIntervalMining", json!([0])).unwrap();
    let stopped = number();
    std::thread::sleep(std::time::Duration::from_millis(2500));
    assert_eq!(number(), stopped);
    node.ask("evm_setAutomine", json!([true])).unwrap();
    assert_eq!(node.ask("anvil_getAutomine", json!([])), Some(json!(true)));
}
