//! A chain that goes on after a block of another node: unchanged state is as it was there at that block, whatever
//! happens there later.

use serde_json::json;

use crate::crash::{Running, folder};

const TARGET: &str = "0x00000000000000000000000000000000000000ee";
/// Adds one to slot 0, and returns it.
const CODE: &str = "0x5f54600101805f555f5260205ff3";

#[test]
fn a_forked_chain_has_the_state_of_its_block_and_keeps_what_it_fetched() {
    let theirs = Running::start(&folder("forked-from"), &["--chain-id", "77"]);
    theirs.ask("anvil_setCode", json!([TARGET, CODE])).unwrap();
    theirs.ask("anvil_setStorageAt", json!([TARGET, "0x0", "0x29"])).unwrap();
    theirs.ask("anvil_setBalance", json!([TARGET, "0x7"])).unwrap();
    theirs.ask("anvil_mine", json!([3])).unwrap();
    let hash = theirs.ask("eth_getBlockByNumber", json!(["0x2", false])).unwrap()["hash"].clone();
    theirs.ask("anvil_setBalance", json!([TARGET, "0x8"])).unwrap();
    theirs.ask("anvil_setStorageAt", json!([TARGET, "0x0", "0x63"])).unwrap();
    theirs.ask("anvil_mine", json!([1])).unwrap();

    let url = format!("http://127.0.0.1:{}", theirs.port);
    let data = folder("forked");
    let options = ["--fork-url", &url, "--fork-block-number", "3"];
    let ours = Running::start(&data, &options);
    let number = |value: u64| json!(format!("0x{value:064x}"));
    assert_eq!(ours.ask("eth_chainId", json!([])), Some(json!("0x4d")));
    assert_eq!(ours.ask("eth_blockNumber", json!([])), Some(json!("0x3")));
    assert_eq!(ours.ask("eth_getBalance", json!([TARGET, "latest"])), Some(json!("0x7")));
    assert_eq!(ours.ask("eth_call", json!([{ "to": TARGET }, "latest"])), Some(number(0x2a)));
    let sender = ours.ask("eth_accounts", json!([])).unwrap()[0].clone();
    let sent = ours.ask("eth_sendTransaction", json!([{ "from": sender, "to": TARGET }])).unwrap();
    assert_eq!(ours.ask("eth_getTransactionReceipt", json!([sent])).unwrap()["blockNumber"], "0x4");
    assert_eq!(ours.ask("eth_getStorageAt", json!([TARGET, "0x0", "latest"])), Some(number(0x2a)));
    assert_eq!(ours.ask("eth_getStorageAt", json!([TARGET, "0x0", "0x3"])), Some(number(0x29)));
    ours.ask("anvil_setStorageAt", json!([TARGET, "0x0", "0x0"])).unwrap();
    assert_eq!(ours.ask("eth_getStorageAt", json!([TARGET, "0x0", "latest"])), Some(number(0)), "zero is not fetched");
    // BLOCKHASH of a block that is only there: PUSH1 2, BLOCKHASH, PUSH0, MSTORE, PUSH1 32, PUSH0, RETURN.
    ours.ask("anvil_setCode", json!([TARGET, "0x6002405f5260205ff3"])).unwrap();
    assert_eq!(ours.ask("eth_call", json!([{ "to": TARGET }, "latest"])), Some(hash));
    // What waits on disk is enough for what was asked before; what was not needs the other node.
    drop(ours);
    let again = Running::start(&data, &["--fork-url", &url]);
    assert_eq!(again.ask("eth_blockNumber", json!([])), Some(json!("0x4")));
    drop(theirs);
    assert_eq!(again.ask("eth_getBalance", json!([TARGET, "latest"])), Some(json!("0x7")));
    assert_eq!(again.ask("eth_getStorageAt", json!([TARGET, "0x0", "latest"])), Some(number(0)));
    let unknown = again.ask("eth_getBalance", json!(["0x00000000000000000000000000000000000000ff", "latest"]));
    assert_eq!(unknown, Some(json!(null)), "an error, not a zero");
}
