//! Random and hostile requests over many connections: the node never dies, and its memory is bounded. `RESIDUE_SECONDS` says how long.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use residue_node::rpc;
use serde_json::{Value, json};

use crate::crash::{Running, folder};

/// Connections at a time.
const CONNECTIONS: u64 = 64;
/// Memory that the process may have taken at most, in kB.
const MEMORY_KB_MAX: u64 = 3 << 20;

/// xorshift64*: the tests of this crate need no more.
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Code that does as much as its gas buys: an endless loop of memory, of calls to itself, of logs, of creations, and deep calls.
const CODES: &[&str] = &[
    "5b5f5f52600056",
    "5b5f5f5f5f305afa50600056",
    "5b61ffff5fa0600056",
    "5b5f5f5ff050600056",
    "5f5f5f5f305afa",
    "5b5a5a52600056",
    "5b5860205f20600056",
    "5bfe",
];

fn value(chance: &mut Chance, depth: usize) -> Value {
    let hashes = [
        "0xff",
        "0x",
        "0x0",
        "latest",
        "pending",
        "earliest",
        "0xffffffffffffffff",
        "-1",
        "💣",
        "newHeads",
        "callTracer",
    ];
    match chance.below(if depth > 3 { 9 } else { 12 }) {
        0 => Value::Null,
        1 => json!(chance.next()),
        2 => json!(chance.next() as i64 as f64 * 1e300),
        3 => json!(format!("0x{:x}", chance.next())),
        4 => json!(format!("0x{:064x}", chance.next() % 64)),
        5 => json!(format!("0x{:040x}", 0xc0de00 + chance.below(CODES.len()))),
        6 => json!("0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"),
        7 => json!(chance.below(2) == 0),
        8 => json!(*chance.of(&hashes)),
        9 => (0..chance.below(5)).map(|_| value(chance, depth + 1)).collect(),
        10 => call(chance),
        _ => {
            let names = [
                "to",
                "from",
                "gas",
                "data",
                "tracer",
                "fromBlock",
                "toBlock",
                "topics",
                "address",
                "blockHash",
                "types",
                "limit",
            ];
            let mut fields = serde_json::Map::new();
            for _ in 0..chance.below(5) {
                fields.insert((*chance.of(&names)).to_owned(), value(chance, depth + 1));
            }
            Value::Object(fields)
        }
    }
}

fn call(chance: &mut Chance) -> Value {
    let target = format!("0x{:040x}", 0xc0de00 + chance.below(CODES.len() + 1));
    let gas = *chance.of(&["0x5208", "0xf4240", "0xffffffffffffffff", "0x1c9c380"]);
    json!({ "from": "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266", "to": target, "gas": gas, "input": "0x" })
}

fn request(chance: &mut Chance, names: &[&str]) -> String {
    let params = match chance.below(6) {
        4 => json!([call(chance), ["trace", "vmTrace", "stateDiff"], "latest"]),
        5 => json!([[[call(chance), ["vmTrace"]], [call(chance), ["trace"]]], "pending"]),
        0 => json!([call(chance), "latest", { "tracer": "callTracer" }]),
        1 => json!([call(chance), "latest", { "enableMemory": true, "enableReturnData": true }]),
        2 => json!([{ "blockStateCalls": [{ "calls": [call(chance), call(chance)] }] }, "latest"]),
        _ => (0..chance.below(5)).map(|_| value(chance, 0)).collect(),
    };
    json!({ "jsonrpc": "2.0", "id": value(chance, 3), "method": chance.of(names), "params": params }).to_string()
}

/// Body of a request: requests, requests with a damaged byte, batches, depth, and what is no JSON.
fn body(chance: &mut Chance, names: &[&str]) -> Vec<u8> {
    match chance.below(10) {
        0 => format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)).into_bytes(),
        1 => format!("[{}]", vec![request(chance, names); chance.below(30)].join(",")).into_bytes(),
        2 => (0..chance.below(300)).map(|_| chance.next() as u8).collect(),
        3 => {
            let mut bytes = request(chance, names).into_bytes();
            let at = chance.below(bytes.len());
            bytes[at] = chance.next() as u8;
            bytes
        }
        4 => {
            let types = json!({ "A": [{ "name": "a", "type": "A" }], "EIP712Domain": [] });
            let data = json!({ "types": types, "primaryType": "A", "domain": {}, "message": { "a": {} } });
            let params = json!(["0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266", data]);
            json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_signTypedData_v4", "params": params })
                .to_string()
                .into_bytes()
        }
        _ => request(chance, names).into_bytes(),
    }
}

fn attack(port: u16, seed: u64, until: Instant, names: &[&str]) -> u64 {
    let mut chance = Chance(seed);
    let mut answered = 0;
    while Instant::now() < until {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { continue };
        // One that hangs up is as hostile as one that waits.
        let patience = [1, 50, 3000][chance.below(3)];
        let _ = stream.set_read_timeout(Some(Duration::from_millis(patience)));
        let body = body(&mut chance, names);
        let length = if chance.below(20) == 0 { usize::MAX } else { body.len() };
        let head =
            format!("POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n");
        if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)).is_err() {
            continue;
        }
        let mut answer = [0; 4096];
        answered += u64::from(stream.read(&mut answer).is_ok_and(|read| read > 0));
    }
    answered
}

fn memory_kb(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn hostile_requests_do_not_kill_the_node_and_its_memory_is_bounded() {
    let seconds = std::env::var("RESIDUE_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    let mut node = Running::start(&folder("hostile"), &["--revision", "eip6690-2024"]);
    for (at, code) in CODES.iter().enumerate() {
        let address = format!("0x{:040x}", 0xc0de00 + at);
        node.ask("anvil_setCode", json!([address, format!("0x{code}")])).unwrap();
    }
    // Those that mine many blocks do as they are told.
    let all: Vec<&str> = rpc::methods().map(|(name, _)| *name).filter(|name| !name.ends_with("mine")).collect();
    let names: Arc<[&'static str]> = all.into();
    let until = Instant::now() + Duration::from_secs(seconds);
    let port = node.port;
    let attackers: Vec<_> = (0..CONNECTIONS)
        .map(|at| {
            let names = Arc::clone(&names);
            std::thread::spawn(move || attack(port, 0x9e37_79b9 + at * 7919, until, &names))
        })
        .collect();
    let answered: u64 = attackers.into_iter().map(|attacker| attacker.join().unwrap()).sum();
    assert!(node.child.try_wait().unwrap().is_none(), "the node is gone");
    // What was begun may be ended first.
    let patience = Instant::now() + Duration::from_secs(60);
    while node.ask("eth_blockNumber", json!([])).is_none() {
        assert!(Instant::now() < patience, "the node does not answer");
    }
    eprintln!("{answered} answers in {seconds} s; memory at most {:?} kB", memory_kb(node.child.id()));
    assert!(answered > 100, "{answered} answers");
    assert!(
        memory_kb(node.child.id()).is_none_or(|taken| taken < MEMORY_KB_MAX),
        "{:?} kB",
        memory_kb(node.child.id())
    );
}
