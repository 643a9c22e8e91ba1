//! The binary, killed while it mines: everything it has answered is there when it starts again, with nothing to be
//! repaired.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use alloy_primitives::{B256, Bytes, keccak256};
use alloy_trie::proof::verify_proof;
use alloy_trie::{Nibbles, TrieAccount};
use serde_json::{Value, json};

/// Sends of one round, of which the process is killed at one.
const SENDS: usize = 1000;

pub struct Running {
    pub child: Child,
    pub port: u16,
}

impl Running {
    pub fn start(data: &Path, more: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_residue-node"))
            .args(["--port", "0", "--data"])
            .arg(data)
            .args(more)
            .env("RESIDUE_LOG", "warn")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let line = lines.find(|line| line.starts_with("Listening on")).unwrap();
        let port = line.trim().rsplit(':').next().unwrap().parse().unwrap();
        Self { child, port }
    }

    /// Answer to a request; none if the process ends first.
    pub fn ask(&self, method: &str, params: Value) -> Option<Value> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let answer: Value = serde_json::from_str(&self.post(&body)?).ok()?;
        Some(answer["result"].clone())
    }

    /// The answer to a body over HTTP.
    pub fn post(&self, body: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
        let length = body.len();
        write!(
            stream,
            "POST / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer.split("\r\n\r\n").nth(1)?.to_owned())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn folder(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// The state root of the head is that of the tries that are there.
fn is_whole(node: &Running) {
    let head = node.ask("eth_getBlockByNumber", json!(["latest", false])).unwrap();
    let root: B256 = head["stateRoot"].as_str().unwrap().parse().unwrap();
    for address in node.ask("eth_accounts", json!([])).unwrap().as_array().unwrap() {
        let proof = node.ask("eth_getProof", json!([address, [], "latest"])).unwrap();
        let nodes: Vec<Bytes> = serde_json::from_value(proof["accountProof"].clone()).unwrap();
        let account = TrieAccount {
            nonce: u64::from_str_radix(&proof["nonce"].as_str().unwrap()[2..], 16).unwrap(),
            balance: proof["balance"].as_str().unwrap().parse().unwrap(),
            storage_root: proof["storageHash"].as_str().unwrap().parse().unwrap(),
            code_hash: proof["codeHash"].as_str().unwrap().parse().unwrap(),
        };
        let address: alloy_primitives::Address = address.as_str().unwrap().parse().unwrap();
        verify_proof(root, Nibbles::unpack(keccak256(address)), Some(alloy_rlp::encode(account)), &nodes).unwrap();
    }
}

#[test]
fn every_receipt_that_was_answered_survives_a_kill() {
    let rounds = std::env::var("RESIDUE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(3);
    let data = folder("killed");
    for round in 0..rounds {
        let node = Running::start(&data, &["--revision", "eip6690-2024"]);
        let accounts = node.ask("eth_accounts", json!([])).unwrap();
        let pid = node.child.id();
        let mut answered = Vec::new();
        let mut killer = None;
        for send in 0..SENDS {
            let tx = json!({ "from": accounts[send % 10], "to": accounts[(send + 1) % 10], "value": "0x1" });
            let Some(hash) = node.ask("eth_sendTransaction", json!([tx])) else { break };
            let Some(receipt) = node.ask("eth_getTransactionReceipt", json!([hash])) else { break };
            assert!(receipt.is_object(), "{receipt}");
            answered.push((hash, receipt));
            // From the first answer on, however slow the machine is: long enough for some blocks, and never the same.
            killer.get_or_insert_with(|| {
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(50 + (round * 7919) % 700));
                    Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
                })
            });
        }
        killer.expect("something was answered").join().unwrap();
        drop(node);
        let again = Running::start(&data, &["--revision", "eip6690-2024"]);
        for (hash, receipt) in answered {
            assert_eq!(again.ask("eth_getTransactionReceipt", json!([hash])), Some(receipt), "round {round}");
        }
        is_whole(&again);
    }
}

#[test]
fn a_snapshot_is_there_after_a_restart_and_brings_the_root_back() {
    let data = folder("snapshot");
    let node = Running::start(&data, &[]);
    let root =
        |node: &Running| node.ask("eth_getBlockByNumber", json!(["latest", false])).unwrap()["stateRoot"].clone();
    node.ask("anvil_mine", json!([3])).unwrap();
    let before = root(&node);
    let id = node.ask("evm_snapshot", json!([])).unwrap();
    node.ask("anvil_mine", json!([5])).unwrap();
    assert_ne!(root(&node), before);
    drop(node);
    let again = Running::start(&data, &[]);
    assert_eq!(again.ask("eth_blockNumber", json!([])), Some(json!("0x8")));
    assert_eq!(again.ask("evm_revert", json!([id])), Some(json!(true)));
    assert_eq!((again.ask("eth_blockNumber", json!([])), root(&again)), (Some(json!("0x3")), before));
    assert_eq!(again.ask("evm_revert", json!([id])), Some(json!(false)), "a snapshot is used up");
    is_whole(&again);
}

#[test]
fn a_folder_is_not_opened_with_another_revision() {
    let data = folder("identity");
    drop(Running::start(&data, &["--revision", "eip6690-2024"]));
    let other = Command::new(env!("CARGO_BIN_EXE_residue-node"))
        .args(["--port", "0", "--revision", "evm384-v7", "--data"])
        .arg(&data)
        .output()
        .unwrap();
    assert_eq!(other.status.code(), Some(2));
    let said = String::from_utf8(other.stderr).unwrap();
    assert!(said.contains("eip6690-2024") && said.contains("evm384-v7"), "{said}");
}
