//! Requests of JSON-RPC 2.0 and their answers: calls, notifications, which get no answer, and batches of both.
//!
//! An id is given back as it was written, so that any number is one: <https://www.jsonrpc.org/specification>, sections 4 to 6.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::gate::Gate;
use crate::node::Node;
use crate::rpc;
use crate::rpc::error::{INVALID_REQUEST, NO_METHOD, PARSE_ERROR, RpcError};
use crate::rpc::params::Params;

/// Requests of a batch.
pub const BATCH_MAX: usize = 1000;
/// Bytes of an answer.
pub const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Beginnings of the names of methods that execute code, and make answers as long as what it did; and of those that hold a whole state.
const EXECUTING: &[&str] = &[
    "eth_call",
    "eth_estimate",
    "eth_createAccess",
    "eth_simulate",
    "debug_trace",
    "trace_",
    "residue_",
    "anvil_dumpState",
    "anvil_loadState",
    "hardhat_dumpState",
    "hardhat_loadState",
];

/// A node with the gate that bounds what it executes at a time.
#[derive(Debug, Clone)]
pub struct Served {
    /// The node.
    pub node: Arc<Node>,
    gate: Arc<Gate>,
}

impl Served {
    /// The node, executing for as many as the machine has cores.
    pub fn new(node: Arc<Node>) -> Self {
        let gate = Gate::new(std::thread::available_parallelism().map_or(1, usize::from));
        Self { node, gate: gate.into() }
    }

    /// Calls a method. It takes the thread until it is done.
    pub fn call(&self, method: &str, params: &Params) -> rpc::error::Answer {
        let is_executing = EXECUTING.iter().any(|beginning| method.starts_with(beginning));
        let _inside = is_executing.then(|| self.gate.enter());
        let answer = rpc::answer(&self.node, method, params);
        if let Err(error) = &answer {
            tracing::debug!(method, code = error.code, error.message, "refused");
        }
        answer
    }

    /// The answer to a body; none if all of it are notifications.
    pub async fn answer(&self, body: &[u8]) -> Option<String> {
        let Ok(text) = std::str::from_utf8(body) else {
            return Some(refusal("null", &RpcError::new(PARSE_ERROR, "parse error: the request is not UTF-8")));
        };
        if !text.trim_start().starts_with('[') {
            return match serde_json::from_str::<&RawValue>(text) {
                Ok(entry) => self.entry(entry.get()).await,
                Err(error) => Some(refusal("null", &RpcError::new(PARSE_ERROR, format!("parse error: {error}")))),
            };
        }
        let entries: Vec<&RawValue> = match serde_json::from_str(text) {
            Ok(entries) => entries,
            Err(error) => return Some(refusal("null", &RpcError::new(PARSE_ERROR, format!("parse error: {error}")))),
        };
        if entries.is_empty() {
            return Some(refusal("null", &RpcError::new(INVALID_REQUEST, "invalid request: an empty batch")));
        }
        if entries.len() > BATCH_MAX {
            let reason = format!("a batch of {} requests: at most {BATCH_MAX}", entries.len());
            return Some(refusal("null", &RpcError::new(-32010, reason)));
        }
        let mut answers = String::new();
        for entry in entries {
            let Some(answer) = self.entry(entry.get()).await else { continue };
            answers.push(if answers.is_empty() { '[' } else { ',' });
            answers.push_str(&answer);
            if answers.len() > ANSWER_BYTES_MAX {
                return Some(refusal("null", &too_long()));
            }
        }
        if answers.is_empty() {
            return None;
        }
        answers.push(']');
        Some(answers)
    }

    async fn entry(&self, entry: &str) -> Option<String> {
        let call = match Call::read(entry) {
            Ok(call) => call,
            Err(refused) => return Some(refusal(&refused.0, &refused.1)),
        };
        let served = self.clone();
        let Call { id, method, params } = call;
        let done = tokio::task::spawn_blocking(move || served.call(&method, &params)).await;
        let answer = done.unwrap_or_else(|error| Err(RpcError::new(-32603, format!("internal error: {error}"))));
        let id = id?;
        Some(match answer.map(|value| value.to_string()) {
            Ok(result) if result.len() > ANSWER_BYTES_MAX => refusal(&id, &too_long()),
            Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
            Err(error) => refusal(&id, &error),
        })
    }
}

fn too_long() -> RpcError {
    RpcError::new(-32008, format!("the answer is longer than {ANSWER_BYTES_MAX} bytes"))
}

fn refusal(id: &str, error: &RpcError) -> String {
    let mut object = serde_json::json!({ "code": error.code, "message": error.message });
    if let Some(data) = &error.data {
        object["data"] = data.clone();
    }
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{object}}}"#)
}

/// One request.
#[derive(Debug)]
struct Call {
    /// As it was written; none for a notification.
    id: Option<String>,
    method: String,
    params: Params,
}

impl Call {
    /// A request of its text, or why it is none, with the id to answer to.
    fn read(text: &str) -> Result<Self, Box<(String, RpcError)>> {
        let invalid = |id: &str, why: &str| {
            Box::new((id.to_owned(), RpcError::new(INVALID_REQUEST, format!("invalid request: {why}"))))
        };
        let fields: BTreeMap<String, &RawValue> =
            serde_json::from_str(text).map_err(|_| invalid("null", "it is no object"))?;
        let written = |name: &str| fields.get(name).map(|value| value.get());
        let id = match written("id") {
            Some(id) if id.starts_with(['{', '[', 't', 'f']) => {
                return Err(invalid("null", "the id is no string or number"));
            }
            id => id.map(str::to_owned),
        };
        let invalid = |why: &str| invalid(id.as_deref().unwrap_or("null"), why);
        let text = |name: &str| written(name).and_then(|value| serde_json::from_str::<String>(value).ok());
        if text("jsonrpc").as_deref() != Some("2.0") {
            return Err(invalid("\"jsonrpc\" is not \"2.0\""));
        }
        let method = text("method").ok_or_else(|| invalid("\"method\" is no string"))?;
        let params = written("params").map(serde_json::from_str::<Value>).transpose();
        // It is JSON, so it is too deep.
        let params = params.map_err(|error| invalid(&format!("\"params\": {error}")))?;
        let params = match params {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(all)) => all,
            Some(object @ Value::Object(_)) => vec![object],
            Some(_) => return Err(invalid("\"params\" is no array or object")),
        };
        if let "eth_subscribe" | "eth_unsubscribe" = method.as_str() {
            let reason = "subscriptions need a WebSocket connection";
            return Err(Box::new((id.unwrap_or_else(|| "null".to_owned()), RpcError::new(NO_METHOD, reason))));
        }
        Ok(Self { id, method, params: Params(params) })
    }
}
