//! The exchanges of the execution clients' JSON-RPC tests: requests with geth's answers. Compared as hive does: as
//! JSON, messages of errors left out; where an exchange holds the schema only to account, its answer must be of the
//! same form.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use residue_isa::Revision;
use residue_node::keys::Keys;
use residue_node::node::{Mining, Node};
use residue_node::rpc::answer;
use residue_node::rpc::params::Params;
use serde_json::{Value, json};

use crate::vectors::{folder, imported};

/// One file of exchanges.
struct Exchange {
    name: String,
    is_schema_only: bool,
    pairs: Vec<(Value, Value)>,
}

fn exchanges(folder: &Path) -> Vec<Exchange> {
    let mut files: Vec<PathBuf> = Vec::new();
    for method in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        files.extend(std::fs::read_dir(method).unwrap().map(|entry| entry.unwrap().path()));
    }
    files.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let parse = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        let mut pairs = Vec::new();
        let mut asked = Value::Null;
        for line in text.lines() {
            if let Some(request) = line.strip_prefix(">> ") {
                asked = parse(request);
            } else if let Some(response) = line.strip_prefix("<< ") {
                pairs.push((asked.clone(), parse(response)));
            }
        }
        let name = path.strip_prefix(folder).unwrap().display().to_string();
        Exchange { name, is_schema_only: text.contains("speconly"), pairs }
    };
    files.iter().map(read).collect()
}

fn respond(node: &Node, request: &Value) -> Value {
    let params = request.get("params").and_then(Value::as_array).cloned().unwrap_or_default();
    match answer(node, request["method"].as_str().unwrap(), &Params(params)) {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }),
        Err(error) => {
            let mut object = json!({ "code": error.code, "message": error.message });
            if let Some(data) = error.data {
                object["data"] = data;
            }
            json!({ "jsonrpc": "2.0", "id": request["id"], "error": object })
        }
    }
}

/// The answer without messages of errors, which every client words as it likes.
fn judged(response: &Value) -> Value {
    let mut response = response.clone();
    if let Some(error) = response.get_mut("error").and_then(Value::as_object_mut) {
        error.remove("message");
    }
    response
}

/// True if an answer has every field of the other one, with values of the same kind.
fn has_form(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            // Accounts and nonces are no fields: what waits in their pool came of exchanges that are not all here. geth forgets logs; we do not.
            let is_field =
                |name: &str| !name.starts_with(|first: char| first.is_ascii_digit()) && name != "deleteStrategy";
            let mut fields = theirs.iter().filter(|(name, _)| is_field(name));
            fields.all(|(name, value)| ours.get(name).is_some_and(|held| has_form(held, value)))
        }
        (Value::Array(ours), Value::Array(theirs)) => match (ours.first(), theirs.first()) {
            (Some(ours), Some(theirs)) => has_form(ours, theirs),
            _ => true,
        },
        _ => std::mem::discriminant(ours) == std::mem::discriminant(theirs),
    }
}

/// Answers of a node to all exchanges, by name, and true if they are right.
fn run(folder: &Path, revision: Option<Revision>) -> BTreeMap<String, (bool, Vec<Value>)> {
    let node = Node::new(imported(folder, revision), Keys::default(), Mining::Never);
    let mut all = BTreeMap::new();
    for exchange in exchanges(folder) {
        let mut is_right = true;
        let mut answers = Vec::new();
        for (request, theirs) in &exchange.pairs {
            let ours = respond(&node, request);
            is_right &= match exchange.is_schema_only {
                true => has_form(&judged(&ours), &judged(theirs)),
                false => judged(&ours) == judged(theirs),
            };
            answers.push(ours);
        }
        if !is_right
            && let Some(wanted) = std::env::var_os("RESIDUE_SHOW").and_then(|name| name.into_string().ok())
            && exchange.name.contains(&wanted)
        {
            for ((request, theirs), ours) in exchange.pairs.iter().zip(&answers) {
                eprintln!("{}\n asked  {request}\n theirs {theirs}\n ours   {ours}", exchange.name);
            }
        }
        all.insert(exchange.name, (is_right, answers));
    }
    all
}

#[test]
fn answers_are_those_of_geth_whatever_revision_is_switched_on() {
    let Some(folder) = folder() else { return };
    let plain = run(&folder, None);
    let is_simulated = |name: &str| name.starts_with("eth_simulateV1");
    let count = |simulated: bool| {
        let of_kind = || plain.iter().filter(move |(name, _)| is_simulated(name) == simulated);
        (of_kind().filter(|(_, (is_right, _))| *is_right).count(), of_kind().count())
    };
    for (name, _) in plain.iter().filter(|(_, (is_right, _))| !is_right) {
        eprintln!("differs: {name}");
    }
    let ((right, all), (right_simulated, all_simulated)) = (count(false), count(true));
    eprintln!("{right} of {all}, and {right_simulated} of {all_simulated} simulations");
    assert!(right * 100 >= all * 98, "{right} of {all}");
    assert!(right_simulated * 100 >= all_simulated * 88, "{right_simulated} of {all_simulated} simulations");
    for revision in [Revision::Eip6690_2024, Revision::Evm384V7] {
        assert_eq!(run(&folder, Some(revision)), plain, "{revision}");
    }
}
