//! JSON-RPC 2.0 over HTTP: <https://www.jsonrpc.org/specification>; and the output of the binary.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::crash::{Running, folder};

/// JSON that is no request.
const INVALID: [&str; 15] = [
    "{}",
    "1",
    "\"a\"",
    "null",
    "true",
    r#"{"id":1}"#,
    r#"{"jsonrpc":"2.0","id":1}"#,
    r#"{"id":1,"method":"eth_chainId"}"#,
    r#"{"jsonrpc":"1.0","id":1,"method":"eth_chainId"}"#,
    r#"{"jsonrpc":2.0,"id":1,"method":"eth_chainId"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":1}"#,
    r#"{"jsonrpc":"2.0","method":1,"params":"bar"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":"bar"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":1}"#,
    "[]",
];

/// Bodies that are no JSON.
const NO_JSON: [&str; 7] = [
    "",
    "{",
    "[",
    r#"{"jsonrpc":"2.0","method":"foobar, "params":"bar","baz]"#,
    r#"[{"jsonrpc":"2.0","#,
    "\u{feff}{}",
    "{}{}",
];

fn code(answer: &Value) -> Option<i64> {
    answer["error"]["code"].as_i64()
}

#[test]
fn requests_notifications_and_batches_are_answered_as_the_specification_says() {
    let node = Running::start(&folder("protocol"), &[]);
    let text = |body: &str| node.post(body).unwrap();
    let read =
        |body: &str| serde_json::from_str::<Value>(&text(body)).unwrap_or_else(|_| panic!("{body}: {}", text(body)));
    let with_id = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"eth_chainId","params":[]}}"#);

    // Any string or number is an id, and null is one; it comes back as it was written.
    for id in ["1", "-1", "1.5", "0", "18446744073709551616", "1e3", "\"1\"", "\"a\\u0062\"", "null"] {
        assert_eq!(text(&with_id(id)), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"0x7a69"}}"#));
    }
    for id in ["{}", "[]", "[1]", "true", "false"] {
        let answer = read(&with_id(id));
        assert_eq!((code(&answer), &answer["id"]), (Some(-32600), &Value::Null), "{id}");
    }
    // A notification is carried out and not answered.
    assert_eq!(text(r#"{"jsonrpc":"2.0","method":"evm_mine","params":[]}"#), "");
    assert_eq!(text(r#"{"jsonrpc":"2.0","method":"no_such_method"}"#), "");
    assert_eq!(node.ask("eth_blockNumber", json!([])), Some(json!("0x1")));

    for body in INVALID {
        let answer = read(body);
        let id = if body.contains("\"id\":1") { json!(1) } else { Value::Null };
        assert_eq!((code(&answer), &answer["id"], &answer["jsonrpc"]), (Some(-32600), &id, &json!("2.0")), "{body}");
    }
    for body in NO_JSON {
        let answer = read(body);
        assert_eq!((code(&answer), &answer["id"]), (Some(-32700), &Value::Null), "{body}");
    }
    let answer = read(r#"{"jsonrpc":"2.0","id":1,"method":"no_such_method"}"#);
    assert_eq!((code(&answer), &answer["id"]), (Some(-32601), &json!(1)));
    assert_eq!(code(&read(r#"{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}"#)), Some(-32601));
    let too_deep =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":{}{}}}"#, "[".repeat(500), "]".repeat(500));
    assert_eq!(code(&read(&too_deep)), Some(-32600));

    // Batches: each is answered that wants an answer, and a batch of notifications is not.
    let answers = read("[1,2,{}]");
    assert_eq!(answers.as_array().unwrap().iter().map(code).collect::<Vec<_>>(), [Some(-32600); 3]);
    let notification = r#"{"jsonrpc":"2.0","method":"evm_mine"}"#;
    assert_eq!(text(&format!("[{notification},{notification}]")), "");
    let answers = read(&format!(" [{},{notification},[],{}]", with_id("1.5"), with_id("\"x\"")));
    let ids: Vec<_> = answers.as_array().unwrap().iter().map(|answer| (answer["id"].clone(), code(answer))).collect();
    assert_eq!(ids, [(json!(1.5), None), (Value::Null, Some(-32600)), (json!("x"), None)]);
    assert_eq!(node.ask("eth_blockNumber", json!([])), Some(json!("0x4")));
    let long = format!("[{}]", vec!["{}"; 1001].join(","));
    assert_eq!(code(&read(&long)), Some(-32010));
}

#[test]
fn modules_and_headers_are_told() {
    let node = Running::start(&folder("modules"), &[]);
    let modules = node.ask("rpc_modules", json!([])).unwrap();
    for name in ["anvil", "debug", "eth", "evm", "hardhat", "net", "trace", "txpool", "web3"] {
        assert_eq!(modules[name], "1.0", "{name}");
    }
    let block = node.ask("eth_getBlockByNumber", json!(["0x0", false])).unwrap();
    let header = node.ask("eth_getHeaderByNumber", json!(["0x0"])).unwrap();
    assert!(header.get("transactions").is_none());
    assert!(header.as_object().unwrap().iter().all(|(name, value)| block[name] == *value));
    assert_eq!(node.ask("eth_getHeaderByHash", json!([block["hash"]])), Some(header));
    assert_eq!(node.ask("eth_getHeaderByNumber", json!(["0x9"])), Some(Value::Null));
}

#[test]
fn a_node_that_is_to_be_quiet_prints_nothing_and_no_log_has_colours_in_a_file() {
    // A port that is free now; the node cannot say which one it took.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let start = |more: &[&str]| {
        let program = env!("CARGO_BIN_EXE_residue-node");
        let mut command = Command::new(program);
        command.args(["--port", &port.to_string()]).args(more).env_remove("NO_COLOR").env("TERM", "xterm-256color");
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let ended = |mut child: std::process::Child| {
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(child.try_wait().unwrap().is_none(), "the node is gone");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let running = Running { child: Command::new("true").spawn().unwrap(), port };
        running.ask("evm_mine", json!([])).unwrap();
        assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
        let lines = |from: Box<dyn std::io::Read>| BufReader::new(from).lines().map(Result::unwrap).collect::<Vec<_>>();
        let printed = lines(Box::new(child.stdout.take().unwrap()));
        let logged = lines(Box::new(child.stderr.take().unwrap()));
        child.wait().unwrap();
        (printed, logged)
    };
    assert_eq!(ended(start(&["--quiet"])), (Vec::<String>::new(), Vec::new()));
    let (printed, logged) = ended(start(&[]));
    assert!(printed.iter().any(|line| line.starts_with("Listening on")), "{printed:?}");
    assert!(logged.iter().any(|line| line.contains("block")), "{logged:?}");
    assert!(logged.iter().all(|line| !line.contains('\u{1b}')), "{logged:?}");
}
