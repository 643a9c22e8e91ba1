//! Methods about the node itself: net, web3, txpool, and the configuration of forks.

use alloy_consensus::Transaction;
use alloy_primitives::{Address, Bytes, keccak256};
use serde_json::{Map, Value, json};

use super::Method;
use super::error::{Answer, RpcError};
use super::format::{self, bytes, quantity};
use super::params::Params;
use crate::chain::Sent;
use crate::node::Node;
use crate::store::StateAt;

/// The methods of this file.
pub const METHODS: &[(&str, Method)] = &[
    ("web3_clientVersion", |_, _| Ok(client_version().into())),
    ("web3_sha3", |_, params| Ok(bytes(keccak256(params.get::<Bytes>(0)?)))),
    ("rpc_modules", |_, _| {
        let modules: std::collections::BTreeSet<_> =
            super::methods().filter_map(|(name, _)| name.split('_').next()).collect();
        Ok(Value::Object(modules.into_iter().map(|name| (name.to_owned(), "1.0".into())).collect()))
    }),
    ("net_listening", |_, _| Ok(true.into())),
    ("net_peerCount", |_, _| Ok(quantity(0u64))),
    ("eth_syncing", |_, _| Ok(false.into())),
    ("eth_mining", |_, _| Ok(false.into())),
    ("eth_hashrate", |_, _| Ok(quantity(0u64))),
    ("eth_protocolVersion", |_, _| Ok("0x41".into())),
    ("eth_coinbase", |node, _| Ok(format::address(node.lock().coinbase))),
    ("eth_accounts", |node, _| Ok(node.keys.addresses().into_iter().map(format::address).collect())),
    ("eth_capabilities", capabilities),
    ("txpool_status", |node, _| {
        let (pending, queued) = waiting(node)?;
        Ok(json!({ "pending": quantity(pending.len()), "queued": quantity(queued.len()) }))
    }),
    ("txpool_content", |node, _| {
        let (pending, queued) = waiting(node)?;
        Ok(json!({ "pending": by_sender(&pending, whole), "queued": by_sender(&queued, whole) }))
    }),
    ("txpool_contentFrom", |node, params| {
        let sender: Address = params.get(0)?;
        let (pending, queued) = waiting(node)?;
        let own = |all: &[Sent]| {
            all.iter().filter(|tx| tx.signer() == sender).map(|tx| (tx.nonce().to_string(), whole(tx))).collect()
        };
        Ok(json!({ "pending": Value::Object(own(&pending)), "queued": Value::Object(own(&queued)) }))
    }),
    ("txpool_inspect", |node, _| {
        let (pending, queued) = waiting(node)?;
        Ok(json!({ "pending": by_sender(&pending, summary), "queued": by_sender(&queued, summary) }))
    }),
];

/// The name and version.
pub fn client_version() -> String {
    format!("residue/v{}/{}-{}/rust", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH)
}

fn capabilities(node: &Node, _: &Params) -> Answer {
    let (number, hash, _) = node.chain.head()?;
    let all = || json!({ "disabled": false, "oldestBlock": "0x0" });
    Ok(json!({
        "head": { "number": quantity(number), "hash": bytes(hash) },
        "state": all(),
        "tx": all(),
        "logs": all(),
        "receipts": all(),
        "blocks": all(),
        "stateproofs": all(),
    }))
}

/// Executable transactions, and those that wait for something else first.
fn waiting(node: &Node) -> Result<(Vec<Sent>, Vec<Sent>), RpcError> {
    let state = node.chain.store().state(StateAt::Present)?;
    let nonce = |address| Ok::<_, RpcError>(state.account(address)?.map_or(0, |account| account.nonce));
    let working = node.lock();
    let pending: Vec<Sent> = working.pool.executable(nonce)?.into_iter().map(|(_, tx)| tx.clone()).collect();
    let is_pending = |tx: &&Sent| pending.iter().any(|other| other.tx_hash() == tx.tx_hash());
    let queued = working.pool.all().filter(|tx| !is_pending(tx)).cloned().collect();
    Ok((pending, queued))
}

fn whole(tx: &Sent) -> Value {
    format::transaction(tx, tx.signer(), None, None)
}

fn summary(tx: &Sent) -> Value {
    let to = tx.to().map_or("contract creation".to_owned(), |to| to.to_string());
    format!("{to}: {} wei + {} gas × {} wei", tx.value(), tx.gas_limit(), tx.max_fee_per_gas()).into()
}

fn by_sender(all: &[Sent], show: fn(&Sent) -> Value) -> Value {
    let mut senders = Map::new();
    for tx in all {
        let sender = senders.entry(tx.signer().to_string()).or_insert_with(|| json!({}));
        if let Some(nonces) = sender.as_object_mut() {
            nonces.insert(tx.nonce().to_string(), show(tx));
        }
    }
    Value::Object(senders)
}
