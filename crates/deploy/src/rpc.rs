//! A node that is asked by JSON-RPC over HTTP.

use std::time::Duration;

use alloy_primitives::{Address, Bytes, U256};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Time that the node has for an answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of an answer.
const ANSWER_BYTES_MAX: u64 = 16 << 20;
/// Characters of an answer that a message shows.
const SHOWN: usize = 160;

/// The reason why the node does not help.
#[derive(Debug, thiserror::Error)]
pub enum RpcError {
    /// There is no node, or what is there does not speak JSON-RPC.
    #[error("{url}: {method}: {reason}; is a node there?")]
    NoNode {
        /// URL of the node.
        url: String,
        /// The method that was asked for.
        method: &'static str,
        /// Response in place of an answer.
        reason: String,
    },
    /// The node answers with an error.
    #[error("{url}: {method}: the node refuses: {reason}")]
    Refused {
        /// URL of the node.
        url: String,
        /// The method that was asked for.
        method: &'static str,
        /// The node's message.
        reason: String,
    },
    /// An answer of another form.
    #[error("{url}: {method}: the answer {answer} is not what the method returns")]
    Form {
        /// URL of the node.
        url: String,
        /// The method that was asked for.
        method: &'static str,
        /// The answer, cut.
        answer: String,
    },
}

type Result<T> = std::result::Result<T, RpcError>;

/// The node.
#[derive(Debug)]
pub struct Rpc {
    agent: ureq::Agent,
    url: String,
}

impl Rpc {
    /// The node at a URL, `http` or `https`. Nothing is asked yet.
    pub fn new(url: &str) -> Self {
        // A status that is no success has an answer too, whose message says more.
        let config = ureq::Agent::config_builder().timeout_global(Some(PATIENCE)).http_status_as_error(false);
        Self { agent: config.build().into(), url: url.to_owned() }
    }

    /// The chain's id (EIP-155).
    pub fn chain_id(&self) -> Result<u64> {
        Ok(self.get::<U256>("eth_chainId", json!([]))?.saturating_to())
    }

    /// The code of an account at the newest block.
    pub fn code(&self, address: Address) -> Result<Bytes> {
        self.get("eth_getCode", json!([address, "latest"]))
    }

    /// Calls a method. `null` is an answer only where the type takes it.
    pub fn get<T: DeserializeOwned>(&self, method: &'static str, params: Value) -> Result<T> {
        let answer = self.ask(method, params)?;
        T::deserialize(&answer).map_err(|_| self.form(method, &answer))
    }

    fn form(&self, method: &'static str, answer: &Value) -> RpcError {
        RpcError::Form { url: self.url.clone(), method, answer: cut(&answer.to_string()) }
    }

    fn ask(&self, method: &'static str, params: Value) -> Result<Value> {
        let no_node = |reason: String| RpcError::NoNode { url: self.url.clone(), method, reason };
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let sent = self.agent.post(&self.url).header("content-type", "application/json").send(body);
        let mut answer = sent.map_err(|error| no_node(error.to_string()))?;
        let status = answer.status();
        let text = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_string();
        let text = text.map_err(|error| no_node(error.to_string()))?;
        let value: Value = serde_json::from_str(&text)
            .map_err(|_| no_node(format!("{status}, and the answer {} is no JSON", cut(&format!("{text:?}")))))?;
        match (value.get("error").filter(|error| !error.is_null()), value.get("result")) {
            (Some(error), _) => {
                let message = error.get("message").and_then(Value::as_str).map(str::to_owned);
                let reason = cut(&message.unwrap_or_else(|| error.to_string()));
                Err(RpcError::Refused { url: self.url.clone(), method, reason })
            }
            (None, Some(result)) => Ok(result.clone()),
            (None, None) => Err(self.form(method, &value)),
        }
    }
}

/// The beginning of a text.
fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
