//! Accounts, code and storage at any block, with proofs.

use std::collections::BTreeMap;

use alloy_eips::BlockId;
use alloy_primitives::{Address, B256, U256};
use alloy_trie::{EMPTY_ROOT_HASH, KECCAK_EMPTY};
use serde_json::{Value, json};

use super::Method;
use super::blocks::numbered;
use super::error::{Answer, INVALID_PARAMS, RpcError};
use super::format::{self, bytes, quantity};
use super::params::{self, Params};
use crate::node::Node;
use crate::store::{StateAt, StateView};

/// Slots of one request, as geth's limit.
const SLOTS_MAX: usize = 1024;

/// The methods of this file.
pub const METHODS: &[(&str, Method)] = &[
    ("eth_getBalance", |node, params| {
        let account = state(node, params, 1)?.account(params.get(0)?)?;
        Ok(quantity(account.map_or(U256::ZERO, |account| account.balance)))
    }),
    ("eth_getTransactionCount", nonce),
    ("eth_getCode", |node, params| {
        let state = state(node, params, 1)?;
        let account = state.account(params.get(0)?)?;
        Ok(bytes(state.code(account.map_or(KECCAK_EMPTY, |account| account.code_hash))?))
    }),
    ("eth_getStorageAt", |node, params| {
        let (address, slot) = (params.get(0)?, params.slot(1)?);
        Ok(bytes(B256::from(state(node, params, 2)?.slot(address, slot)?)))
    }),
    ("eth_getStorageValues", storage_values),
    ("eth_getAccount", |node, params| {
        let account = state(node, params, 1)?.account(params.get(0)?)?.unwrap_or_default();
        Ok(json!({
            "balance": quantity(account.balance),
            "nonce": quantity(account.nonce),
            "codeHash": bytes(account.code_hash),
            "storageRoot": bytes(account.storage_root),
        }))
    }),
    ("eth_getAccountInfo", |node, params| {
        let state = state(node, params, 1)?;
        let account = state.account(params.get(0)?)?.unwrap_or_default();
        let code = state.code(account.code_hash)?;
        Ok(json!({ "balance": quantity(account.balance), "nonce": quantity(account.nonce), "code": bytes(code) }))
    }),
    ("eth_getProof", proof),
];

/// The state that a block's id means: the newest is the present one, with what was changed by hand, and the pending one is what a block of all
/// that waits would make of it.
pub fn state_at(node: &Node, id: BlockId) -> Result<StateView, RpcError> {
    if id.is_pending() {
        return Ok(node.pending_state()?.1);
    }
    let number = numbered(node, id)?.ok_or_else(|| RpcError::input("header not found"))?;
    let head = node.chain.head()?.0;
    Ok(node.chain.store().state(if number == head { StateAt::Present } else { StateAt::Block(number) })?)
}

fn state(node: &Node, params: &Params, at: usize) -> Result<StateView, RpcError> {
    state_at(node, params.find(at)?.unwrap_or_else(BlockId::latest))
}

/// The nonce that the next transaction of an account has to have, after those that wait.
pub fn next_nonce(node: &Node, address: Address) -> Result<u64, RpcError> {
    let state = node.chain.store().state(StateAt::Present)?;
    let nonce = |address| Ok::<_, RpcError>(state.account(address)?.map_or(0, |account| account.nonce));
    let working = node.lock();
    let waiting = working.pool.executable(nonce)?;
    let own = waiting.iter().filter(|(_, tx)| tx.signer() == address).count();
    Ok(nonce(address)?.saturating_add(own as u64)) // No more than the pool's length.
}

fn nonce(node: &Node, params: &Params) -> Answer {
    let address = params.get(0)?;
    let held = state(node, params, 1)?.account(address)?.map_or(0, |account| account.nonce);
    // A block may be too small for all that waits; what is sent next comes after it nevertheless.
    let is_pending = params.find::<BlockId>(1)?.is_some_and(|id| id.is_pending());
    Ok(quantity(if is_pending { held.max(next_nonce(node, address)?) } else { held }))
}

fn storage_values(node: &Node, params: &Params) -> Answer {
    let asked: BTreeMap<Address, Vec<String>> = params.get(0)?;
    let count: usize = asked.values().map(Vec::len).sum();
    if count == 0 {
        return Err(RpcError::params("empty request"));
    }
    if count > SLOTS_MAX {
        return Err(RpcError::new(-38026, format!("too many slots: {count}, at most {SLOTS_MAX}")));
    }
    let state = state(node, params, 1)?;
    let mut answer = serde_json::Map::new();
    for (address, slots) in asked {
        let value = |slot: &String| Ok::<_, RpcError>(bytes(B256::from(state.slot(address, params::slot(slot)?)?)));
        let values = slots.iter().map(value).collect::<Result<Vec<_>, _>>()?;
        answer.insert(format!("{address:#x}"), Value::Array(values));
    }
    Ok(Value::Object(answer))
}

fn proof(node: &Node, params: &Params) -> Answer {
    let address: Address = params.get(0)?;
    let keys: Vec<String> = params.find(1)?.unwrap_or_default();
    if keys.len() > SLOTS_MAX {
        return Err(RpcError::new(INVALID_PARAMS, format!("too many keys: {}, at most {SLOTS_MAX}", keys.len())));
    }
    let slots = keys.iter().map(|key| params::slot(key)).collect::<Result<Vec<_>, _>>()?;
    let state = state(node, params, 2)?;
    if state.is_forked() {
        return Err(RpcError::input("a forked chain has tries of what was changed here only, and so no proofs"));
    }
    let (account, proofs) = state.proofs(address, &slots)?;
    let account = account.unwrap_or_default();
    let nodes = |proof: Vec<Vec<u8>>| proof.into_iter().map(bytes).collect::<Value>();
    let mut storage = Vec::with_capacity(slots.len());
    for ((key, slot), proof) in keys.iter().zip(&slots).zip(proofs.slots) {
        let value = state.slot(address, *slot)?;
        // geth gives a key back as it was written: whole, or as a number.
        let key = if key.len() == 66 { bytes(B256::from(*slot)) } else { quantity(*slot) };
        storage.push(json!({ "key": key, "value": quantity(value), "proof": nodes(proof) }));
    }
    let root = if account.storage_root.is_zero() { EMPTY_ROOT_HASH } else { account.storage_root };
    Ok(json!({
        "address": format::address(address),
        "accountProof": nodes(proofs.account),
        "balance": quantity(account.balance),
        "codeHash": bytes(account.code_hash),
        "nonce": quantity(account.nonce),
        "storageHash": bytes(root),
        "storageProof": storage,
    }))
}
