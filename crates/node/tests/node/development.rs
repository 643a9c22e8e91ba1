//! The development chain: field instructions in calls, traces and transactions, and settings made by hand.

use residue_alloy::{Activation, FieldEvmFactory};
use residue_engine::EngineConfig;
use residue_isa::Revision;
use residue_isa::assembly::assemble_text;
use residue_node::chain::Chain;
use residue_node::genesis;
use residue_node::keys::{Keys, MNEMONIC};
use residue_node::node::{Mining, Node};
use residue_node::rpc::answer;
use residue_node::rpc::params::Params;
use residue_node::store::Store;
use serde_json::{Value, json};

/// 77² mod 101, left in memory by LOADX and returned.
pub const CODE: &str = "
    PUSH 101  PUSH 0  MSTORE  PUSH 2 PUSH 8 PUSH 24 PUSH 0 SETMODX
    PUSH 77   PUSH 0  MSTORE  PUSH 1 PUSH 24 PUSH 0 STOREX
    MULMODX 1 0 0             PUSH 1 PUSH 1 PUSH 24 LOADX
    PUSH 32   PUSH 0  RETURN";
const CONTRACT: &str = "0x00000000000000000000000000000000000000aa";

pub fn node(begins: u64) -> Node {
    node_in(begins, None)
}

/// A development node over a folder, or in memory.
pub fn node_in(begins: u64, folder: Option<&std::path::Path>) -> Node {
    let keys = Keys::of(MNEMONIC, 10).unwrap();
    let genesis = genesis::development(31337, 1_000_000, genesis::GAS_LIMIT, &keys.addresses());
    let engine = EngineConfig::default_for(Revision::Eip6690_2024);
    let factory = FieldEvmFactory::new([Activation { time: begins, engine }]).unwrap();
    let rules = genesis::rules(&genesis).unwrap();
    let chain = Chain::open(Store::open(folder).unwrap(), &genesis, rules, factory, None).unwrap();
    Node::new(chain, keys, Mining::WithTransactions)
}

pub fn ask(node: &Node, method: &str, params: Value) -> Value {
    answer(node, method, &Params(params.as_array().unwrap().clone()))
        .unwrap_or_else(|error| panic!("{method}: {error:?}"))
}

pub fn with_contract(begins: u64) -> Node {
    let node = node(begins);
    let code = assemble_text(CODE, Revision::Eip6690_2024).unwrap().bytes;
    ask(&node, "anvil_setCode", json!([CONTRACT, alloy_primitives::hex::encode_prefixed(code)]));
    node
}

pub fn result() -> String {
    format!("0x{:064x}", 77 * 77 % 101)
}

#[test]
fn a_call_and_a_transaction_execute_field_instructions_and_the_estimate_is_enough() {
    let node = with_contract(0);
    assert_eq!(ask(&node, "eth_call", json!([{ "to": CONTRACT }, "latest"])), result());
    let estimate = ask(&node, "eth_estimateGas", json!([{ "to": CONTRACT }]));
    let sender = ask(&node, "eth_accounts", json!([]))[0].clone();
    let hash = ask(&node, "eth_sendTransaction", json!([{ "from": sender, "to": CONTRACT, "gas": estimate }]));
    let receipt = ask(&node, "eth_getTransactionReceipt", json!([hash]));
    assert_eq!(receipt["status"], "0x1");
    let code = assemble_text(CODE, Revision::Eip6690_2024).unwrap().bytes;
    let engine = residue_engine::Engine::new(EngineConfig::default_for(Revision::Eip6690_2024)).unwrap();
    let gas = 21_000 + engine.run_code(&code, &[], 1_000_000).gas_used;
    assert_eq!(receipt["gasUsed"], format!("{gas:#x}"));
}

#[test]
fn field_instructions_begin_with_the_block_of_their_time() {
    let begins = 5_000_000_000;
    let node = with_contract(begins);
    let call = Params(vec![json!({ "to": CONTRACT }), json!("latest")]);
    assert!(answer(&node, "eth_call", &call).unwrap_err().message.contains("invalid opcode"));
    ask(&node, "evm_setNextBlockTimestamp", json!([begins]));
    ask(&node, "evm_mine", json!([]));
    assert_eq!(answer(&node, "eth_call", &call).unwrap(), result());
}

#[test]
fn struct_logs_have_names_immediates_and_the_memory_that_loadx_has_written() {
    let node = with_contract(0);
    let trace = ask(&node, "debug_traceCall", json!([{ "to": CONTRACT }, "latest", { "enableMemory": true }]));
    assert_eq!(trace["returnValue"], result());
    let logs = trace["structLogs"].as_array().unwrap();
    let at = |op: &str| logs.iter().position(|log| log["op"] == op).unwrap();
    // Output, its stride, x, its stride, y, its stride, lanes: seven bytes in EIP-6690.
    assert_eq!(logs[at("MULMODX")]["immediate"], "0x01010001000101");
    assert!(logs[at("SETMODX")].get("immediate").is_none());
    // 77 was at 0; LOADX writes eight bytes at 24.
    assert_eq!(logs[at("LOADX")]["memory"][0], format!("0x{:064x}", 77));
    assert_eq!(logs[at("LOADX") + 1]["memory"][0], result());
    let charged: u64 = logs.iter().map(|log| log["gasCost"].as_u64().unwrap()).sum();
    assert_eq!(trace["gas"].as_u64().unwrap(), 21_000 + charged);
}

#[test]
fn a_trace_finds_what_was_set_by_hand_before_its_block_and_not_after() {
    let node = with_contract(0);
    let tx = json!({ "from": ask(&node, "eth_accounts", json!([]))[0], "to": CONTRACT, "gas": "0x30d40" });
    let hash = ask(&node, "eth_sendTransaction", json!([tx]));
    let receipt = ask(&node, "eth_getTransactionReceipt", json!([hash]));
    ask(&node, "anvil_setCode", json!([CONTRACT, "0x00"]));
    let trace = ask(&node, "debug_traceTransaction", json!([hash]));
    assert_eq!((&trace["returnValue"], trace["failed"].as_bool()), (&json!(result()), Some(false)));
    assert_eq!(format!("{:#x}", trace["gas"].as_u64().unwrap()), receipt["gasUsed"]);
    assert_eq!(
        ask(&node, "eth_getCode", json!([CONTRACT, "0x1"])),
        "0x00",
        "the newest state, until there is another block"
    );
    ask(&node, "evm_mine", json!([]));
    assert_ne!(ask(&node, "eth_getCode", json!([CONTRACT, "0x1"])), "0x00");
    assert_eq!(ask(&node, "eth_getCode", json!([CONTRACT, "latest"])), "0x00");
}

#[test]
fn our_methods_say_what_code_is_where_its_gas_goes_and_what_runs_as_one() {
    let node = with_contract(0);
    let text = ask(&node, "residue_disassemble", json!([CONTRACT]));
    assert!(text.as_str().unwrap().contains("MULMODX 1 0 0"), "{text}");
    let profile = ask(&node, "residue_profile", json!([{ "to": CONTRACT }]));
    assert_eq!(profile["otherGas"], 21_000);
    let ops = profile["contracts"][0]["ops"].as_array().unwrap();
    assert!(ops.iter().any(|row| row["op"] == "SETMODX" && row["count"] == 1), "{profile}");
    let explained = ask(&node, "residue_explain", json!([CONTRACT]));
    assert_eq!((&explained["halt"], &explained["revision"]), (&json!("return"), &json!("eip6690-2024")));
}

#[test]
fn accounts_time_and_mining_are_set_by_hand() {
    let node = node(0);
    let address = "0x00000000000000000000000000000000000000bb";
    ask(&node, "hardhat_setBalance", json!([address, "0xde0b6b3a7640000"]));
    ask(&node, "anvil_setNonce", json!([address, "0x5"]));
    ask(&node, "anvil_setStorageAt", json!([address, "0x1", "0x07"]));
    assert_eq!(ask(&node, "eth_getBalance", json!([address, "latest"])), "0xde0b6b3a7640000");
    assert_eq!(ask(&node, "eth_getTransactionCount", json!([address, "latest"])), "0x5");
    assert_eq!(ask(&node, "eth_getStorageAt", json!([address, "0x1", "latest"])), format!("0x{:064x}", 7));
    ask(&node, "anvil_impersonateAccount", json!([address]));
    let hash = ask(&node, "eth_sendTransaction", json!([{ "from": address, "to": CONTRACT, "value": "0x1" }]));
    assert_eq!(ask(&node, "eth_getTransactionReceipt", json!([hash]))["from"], address);
    ask(&node, "evm_setAutomine", json!([false]));
    let waits = ask(&node, "eth_sendTransaction", json!([{ "from": address, "to": CONTRACT, "value": "0x1" }]));
    assert_eq!(ask(&node, "eth_getTransactionReceipt", json!([waits])), Value::Null);
    assert_eq!(ask(&node, "eth_getTransactionCount", json!([address, "pending"])), "0x7");
    assert_eq!(ask(&node, "eth_getBlockByNumber", json!(["pending", false]))["transactions"][0], waits);
    ask(&node, "anvil_mine", json!(["0x2", "0x3c"]));
    assert_eq!(ask(&node, "eth_getTransactionReceipt", json!([waits]))["blockNumber"], "0x2");
    let time = |number: &str| {
        let block = ask(&node, "eth_getBlockByNumber", json!([number, false]));
        u64::from_str_radix(&block["timestamp"].as_str().unwrap()[2..], 16).unwrap()
    };
    assert_eq!(time("0x3") - time("0x2"), 60);
    // The state before is still there.
    assert_eq!(ask(&node, "eth_getBalance", json!([address, "0x0"])), "0x0");
    assert_eq!(ask(&node, "eth_getBalance", json!([CONTRACT, "0x1"])), "0x1");
    assert_eq!(ask(&node, "eth_getBalance", json!([CONTRACT, "latest"])), "0x2");
}
