//! Nodes that are none, or answer what no node answers: an error that names the method, and nothing is sent.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use crate::residue;

const RICH: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

/// Serves the answers one after the other, each over a connection of its own, and says which methods were asked for.
fn serving(answers: Vec<String>) -> (String, thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = thread::spawn(move || {
        let mut methods = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut piece = [0; 4096];
            // A request is whole with the brace that ends its object.
            while !request.ends_with(b"}") {
                let read = stream.read(&mut piece).unwrap();
                request.extend_from_slice(&piece[..read]);
            }
            let text = String::from_utf8_lossy(&request).into_owned();
            let method = text.split("\"method\":\"").nth(1).and_then(|rest| rest.split('"').next());
            methods.push(method.unwrap_or_default().to_owned());
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", answer.len());
            stream.write_all((head + &answer).as_bytes()).unwrap();
        }
        methods
    });
    (url, served)
}

fn result(value: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"result":{value}}}"#)
}

#[test]
fn answers_of_another_form_are_refused_with_the_method() {
    for (answers, parts) in [
        (vec!["<html>".to_owned()], &["eth_chainId", "no JSON", "is a node there?"][..]),
        (vec!["{}".to_owned()], &["eth_chainId", "not what the method returns"]),
        (vec![result("null")], &["eth_chainId", "null"]),
        (vec![result("\"0xzz\"")], &["eth_chainId", "0xzz"]),
        (vec![r#"{"error":{"code":-1,"message":"no such method"}}"#.to_owned()], &["eth_chainId", "no such method"]),
        (vec![result("\"0x1\""), result("7")], &["eth_getCode", "7"]),
        (vec![result("\"0x1\""), result("\"0x\""), result("\"0x\"")], &["no CREATE2 factory", "chain 1"]),
    ] {
        let (url, served) = serving(answers);
        residue(&["deploy", "hashes/sha1", "--rpc", &url, "--unlocked", RICH]).refused(parts);
        assert!(served.join().unwrap().iter().all(|method| !method.starts_with("eth_send")));
    }
    residue(&["verify", RICH, "--rpc", "http://127.0.0.1:1"]).refused(&["http://127.0.0.1:1", "eth_chainId"]);
    residue(&["verify", RICH, "--rpc", "nowhere"]).refused(&["nowhere"]);
    // Before any question.
    let verify = |rest: &[&str]| residue(&[&["verify"], rest, &["--rpc", "http://127.0.0.1:1"]].concat());
    verify(&["0x12"]).refused(&["0x12", "an address is 20 bytes in hexadecimal"]);
    verify(&["0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266"]).refused(&["EIP-55", RICH]);
    verify(&[RICH, "--catalogue", "/nowhere/catalogue.json"]).refused(&["/nowhere/catalogue.json"]);
    residue(&["deploy", "hashes/sha1", "--rpc", "http://127.0.0.1:1", "--unlocked", "0x12"])
        .refused(&["--unlocked", "20 bytes"]);
    residue(&["deploy", "hashes/sha1", "--rpc", "http://127.0.0.1:1", "--unlocked", RICH, "--chain-id", "abc"])
        .refused(&["--chain-id", "abc"]);
}
