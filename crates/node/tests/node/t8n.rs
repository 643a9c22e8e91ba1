//! `residue t8n`: the chain of the JSON-RPC tests, block by block, each on the state that the one before left; and field instructions.

use std::io::Write;
use std::process::{Command, Stdio};

use alloy_genesis::Genesis;
use alloy_primitives::hex;
use residue_isa::Revision;
use residue_isa::assembly::assemble_text;
use residue_node::store::ChainBlock;
use serde_json::{Map, Value, json};

use crate::vectors::{chain, folder};

/// Forks with the names that tools know them by, and from which number or time on they are in force.
fn fork(genesis: &Genesis, number: u64, time: u64) -> &'static str {
    let config = &genesis.config;
    let times = [
        (config.bpo2_time, "BPO2"),
        (config.bpo1_time, "BPO1"),
        (config.osaka_time, "Osaka"),
        (config.prague_time, "Prague"),
        (config.cancun_time, "Cancun"),
        (config.shanghai_time, "Shanghai"),
    ];
    let numbers = [
        (config.merge_netsplit_block, "Paris"),
        (config.gray_glacier_block, "GrayGlacier"),
        (config.arrow_glacier_block, "ArrowGlacier"),
        (config.london_block, "London"),
        (config.berlin_block, "Berlin"),
        (config.muir_glacier_block, "MuirGlacier"),
        (config.istanbul_block, "Istanbul"),
        (config.constantinople_block, "ConstantinopleFix"),
        (config.byzantium_block, "Byzantium"),
        (config.eip158_block, "EIP158"),
        (config.eip150_block, "EIP150"),
        (config.homestead_block, "Homestead"),
    ];
    let by_time = times.into_iter().find(|(from, _)| from.is_some_and(|from| from <= time));
    let begun = by_time.or_else(|| numbers.into_iter().find(|(from, _)| from.is_some_and(|from| from <= number)));
    begun.map_or("Frontier", |(_, name)| name)
}

fn run(given: &Value, options: &[&str]) -> Value {
    let mut child = Command::new(env!("CARGO_BIN_EXE_residue-t8n"))
        .args(["--input.alloc", "stdin", "--input.env", "stdin", "--input.txs", "stdin"])
        .args(["--output.alloc", "stdout", "--output.result", "stdout"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(given.to_string().as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

fn env_of(block: &ChainBlock, hashes: &Map<String, Value>) -> Value {
    let header = &block.header;
    let number = |number: u64| format!("{number:#x}");
    let ommers = block.body.ommers.iter();
    json!({
        "currentCoinbase": header.beneficiary,
        "currentGasLimit": number(header.gas_limit),
        "currentNumber": number(header.number),
        "currentTimestamp": number(header.timestamp),
        "currentDifficulty": header.difficulty,
        "currentRandom": header.mix_hash,
        "currentBaseFee": header.base_fee_per_gas.map(number),
        "currentExcessBlobGas": header.excess_blob_gas.map(number),
        "parentBeaconBlockRoot": header.parent_beacon_block_root,
        "blockHashes": hashes,
        "withdrawals": block.body.withdrawals,
        "ommers": ommers.map(|ommer| json!({ "delta": header.number - ommer.number, "address": ommer.beneficiary })).collect::<Vec<_>>(),
    })
}

#[test]
fn every_block_of_the_chain_is_a_transition_to_its_roots() {
    let Some(folder) = folder() else { return };
    let (genesis, blocks) = chain(&folder);
    let mut alloc = serde_json::to_value(&genesis.alloc).unwrap();
    let mut hashes = Map::new();
    hashes.insert("0x0".to_owned(), json!(blocks[0].header.parent_hash));
    for block in &blocks {
        let header = &block.header;
        let fork = fork(&genesis, header.number, header.timestamp);
        let txs = hex::encode_prefixed(alloy_rlp::encode(&block.body.transactions));
        let given = json!({ "alloc": alloc, "env": env_of(block, &hashes), "txs": txs });
        let chain_id = genesis.config.chain_id.to_string();
        let done = run(&given, &["--state.fork", fork, "--state.chainid", &chain_id]);
        let result = &done["result"];
        let at = format!("block {}, {fork}", header.number);
        assert_eq!(result["rejected"], json!([]), "{at}");
        assert_eq!(result["stateRoot"], json!(header.state_root), "{at}");
        assert_eq!(result["txRoot"], json!(header.transactions_root), "{at}");
        assert_eq!(result["receiptsRoot"], json!(header.receipts_root), "{at}");
        assert_eq!(result["logsBloom"], json!(header.logs_bloom), "{at}");
        assert_eq!(result["gasUsed"], format!("{:#x}", header.gas_used), "{at}");
        assert_eq!(result.get("withdrawalsRoot").cloned(), header.withdrawals_root.map(|root| json!(root)), "{at}");
        assert_eq!(result.get("requestsHash").cloned(), header.requests_hash.map(|hash| json!(hash)), "{at}");
        alloc = done["alloc"].clone();
        hashes.insert(format!("{:#x}", header.number), json!(header.hash_slow()));
    }
}

#[test]
fn field_instructions_of_a_revision_are_executed_and_traced() {
    let code = assemble_text(crate::development::CODE, Revision::Eip6690_2024).unwrap().bytes;
    let secret = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
    let given = json!({
        "alloc": {
            "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266": { "balance": "0xde0b6b3a7640000" },
            "0x00000000000000000000000000000000000000aa": { "code": hex::encode_prefixed(&code) },
        },
        "env": {
            "currentCoinbase": "0x00000000000000000000000000000000000000cc", "currentGasLimit": "30000000",
            "currentNumber": "1", "currentTimestamp": "12", "currentRandom": "0x0", "currentBaseFee": "7",
            "currentExcessBlobGas": "0", "parentBeaconBlockRoot": "0x0", "withdrawals": [],
        },
        "txs": [{ "to": "0x00000000000000000000000000000000000000aa", "gas": "0x186a0", "gasPrice": "0x7", "nonce": "0x0",
            "value": "0x0", "input": "0x", "v": "0x0", "r": "0x0", "s": "0x0", "secretKey": secret }],
    });
    let traces = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("t8n");
    let _ = std::fs::remove_dir_all(&traces);
    let basedir = traces.to_str().unwrap();
    let options = ["--state.fork", "Cancun", "--revision", "eip6690-2024", "--trace", "--output.basedir", basedir];
    let done = run(&given, &options);
    let engine = residue_engine::EngineConfig::default_for(Revision::Eip6690_2024);
    let gas = 21_000 + residue_engine::Engine::new(engine).unwrap().run_code(&code, &[], 1_000_000).gas_used;
    assert_eq!(done["result"]["receipts"][0]["succeeded"], true);
    assert_eq!(done["result"]["gasUsed"], format!("{gas:#x}"));
    let files: Vec<_> = std::fs::read_dir(&traces).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let text = std::fs::read_to_string(&files[0]).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["opName"] == "MULMODX"), "{text}");
    let last = lines.last().unwrap();
    assert_eq!(
        (&last["gasUsed"], &last["output"]),
        (&json!(format!("{gas:#x}")), &json!(crate::development::result()))
    );
    let stock = run(&given, &["--state.fork", "Cancun"]);
    assert_eq!(stock["result"]["receipts"][0]["succeeded"], false);
}
