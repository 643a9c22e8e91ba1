//! Changes by hand for tests: time, accounts, mining and snapshots. Names are those of ganache (`evm_`), anvil and
//! Hardhat.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_trie::KECCAK_EMPTY;
use serde_json::{Value, json};

use super::Method;
use super::error::{Answer, RpcError};
use super::format::{self, bytes, quantity};
use super::misc::client_version;
use super::params::Params;
use crate::node::{Mining, Node, now};
use crate::store::{StateAt, StateChanges};
use crate::trie::AccountChange;

/// Blocks that one request may mine.
const BLOCKS_MAX: u64 = 100_000;

/// The methods of this file.
pub const METHODS: &[(&str, Method)] = &[
    ("evm_mine", |node, params| {
        let time = match params.find::<Value>(0)? {
            Some(Value::Object(options)) => {
                Params(vec![options.get("timestamp").cloned().unwrap_or_default()]).number(0)?
            }
            _ => params.number(0)?,
        };
        let mut working = node.lock();
        working.next_time = time.or(working.next_time);
        node.mine(&mut working)?;
        Ok("0x0".into())
    }),
    ("anvil_mine", mine),
    ("hardhat_mine", mine),
    ("evm_snapshot", snapshot),
    ("anvil_snapshot", snapshot),
    ("evm_revert", revert),
    ("anvil_revert", revert),
    ("evm_increaseTime", increase_time),
    ("anvil_increaseTime", increase_time),
    ("evm_setTime", set_time),
    ("anvil_setTime", set_time),
    ("evm_setNextBlockTimestamp", set_next_time),
    ("anvil_setNextBlockTimestamp", set_next_time),
    ("anvil_setBlockTimestampInterval", |node, params| {
        set(node, |working| {
            working.interval = params.number(0)?;
            Ok(())
        })
    }),
    ("anvil_removeBlockTimestampInterval", |node, _| {
        let mut working = node.lock();
        Ok(working.interval.take().is_some().into())
    }),
    ("evm_setAutomine", set_automine),
    ("anvil_setAutomine", set_automine),
    ("anvil_getAutomine", |node, _| Ok((node.lock().mining == Mining::WithTransactions).into())),
    ("hardhat_getAutomine", |node, _| Ok((node.lock().mining == Mining::WithTransactions).into())),
    ("evm_setBlockGasLimit", set_gas_limit),
    ("anvil_setBlockGasLimit", set_gas_limit),
    ("anvil_setBalance", set_balance),
    ("hardhat_setBalance", set_balance),
    ("evm_setAccountBalance", set_balance),
    ("anvil_addBalance", |node, params| {
        let more = params.word(1)?;
        change(node, params.get(0)?, |account| account.balance = account.balance.saturating_add(more), None)
    }),
    ("anvil_setNonce", set_nonce),
    ("hardhat_setNonce", set_nonce),
    ("evm_setAccountNonce", set_nonce),
    ("anvil_setCode", set_code),
    ("hardhat_setCode", set_code),
    ("evm_setAccountCode", set_code),
    ("anvil_setStorageAt", set_storage),
    ("hardhat_setStorageAt", set_storage),
    ("evm_setAccountStorageAt", set_storage),
    ("anvil_impersonateAccount", impersonate),
    ("hardhat_impersonateAccount", impersonate),
    ("anvil_stopImpersonatingAccount", stop_impersonating),
    ("hardhat_stopImpersonatingAccount", stop_impersonating),
    ("anvil_autoImpersonateAccount", |node, params| {
        set(node, |working| {
            working.impersonates_all = params.get(0)?;
            Ok(())
        })
    }),
    ("anvil_setCoinbase", set_coinbase),
    ("hardhat_setCoinbase", set_coinbase),
    ("anvil_setNextBlockBaseFeePerGas", set_base_fee),
    ("hardhat_setNextBlockBaseFeePerGas", set_base_fee),
    ("hardhat_setPrevRandao", set_randao),
    ("anvil_setPrevRandao", set_randao),
    ("anvil_dropTransaction", drop_transaction),
    ("hardhat_dropTransaction", drop_transaction),
    ("anvil_dropAllTransactions", |node, _| {
        set(node, |working| {
            working.pool.retain(|_| false);
            Ok(())
        })
    }),
    ("anvil_removePoolTransactions", |node, params| {
        let sender: Address = params.get(0)?;
        set(node, |working| {
            working.pool.retain(|tx| tx.signer() != sender);
            Ok(())
        })
    }),
    ("anvil_nodeInfo", node_info),
    ("hardhat_metadata", |node, _| {
        let (number, hash, _) = node.chain.head()?;
        Ok(json!({
            "clientVersion": client_version(), "chainId": node.chain.rules().chain_id(), "instanceId": bytes(genesis(node)?),
            "latestBlockNumber": number, "latestBlockHash": bytes(hash), "forkedNetwork": null,
        }))
    }),
];

fn set(node: &Node, change: impl FnOnce(&mut crate::node::Working) -> Result<(), RpcError>) -> Answer {
    change(&mut node.lock())?;
    Ok(Value::Null)
}

fn genesis(node: &Node) -> Result<B256, RpcError> {
    Ok(node.chain.store().hash(0)?.unwrap_or_default())
}

fn mine(node: &Node, params: &Params) -> Answer {
    let count = params.number(0)?.unwrap_or(1);
    let interval = params.number(1)?;
    if count > BLOCKS_MAX {
        return Err(RpcError::params(format!("{count} blocks: at most {BLOCKS_MAX} in one request")));
    }
    let mut working = node.lock();
    for at in 0..count {
        if let (Some(seconds), true) = (interval, at > 0) {
            let (_, _, head) = node.chain.head()?;
            working.next_time = Some(head.timestamp.saturating_add(seconds));
        }
        node.mine(&mut working)?;
    }
    Ok(Value::Null)
}

fn snapshot(node: &Node, _: &Params) -> Answer {
    let mut working = node.lock();
    let id = node.chain.store().snapshot()?;
    let offset = working.time_offset;
    working.snapshots.insert(id, offset);
    Ok(quantity(id))
}

fn revert(node: &Node, params: &Params) -> Answer {
    let id = params.number(0)?.ok_or_else(|| RpcError::params("missing value for required argument 0"))?;
    let mut working = node.lock();
    match node.chain.store().revert(id) {
        Ok(()) => {}
        Err(crate::store::StoreError::NoSnapshot { .. }) => return Ok(false.into()),
        Err(error) => return Err(error.into()),
    }
    // A snapshot from before a restart has no offset here; the clock goes on.
    if let Some(offset) = working.snapshots.get(&id).copied() {
        working.time_offset = offset;
    }
    working.snapshots.retain(|other, _| *other < id);
    working.pool.retain(|_| false);
    node.follow_chain(&mut working)?;
    Ok(true.into())
}

fn increase_time(node: &Node, params: &Params) -> Answer {
    let seconds = params.number(0)?.ok_or_else(|| RpcError::params("missing value for required argument 0"))?;
    let mut working = node.lock();
    working.time_offset = working.time_offset.saturating_add_unsigned(seconds);
    Ok(working.time_offset.into())
}

fn set_time(node: &Node, params: &Params) -> Answer {
    let time = params.number(0)?.ok_or_else(|| RpcError::params("missing value for required argument 0"))?;
    // Some clients give milliseconds.
    let seconds = if time > 100_000_000_000 { time / 1000 } else { time };
    let mut working = node.lock();
    working.time_offset = i64::try_from(i128::from(seconds) - i128::from(now())).unwrap_or(i64::MAX);
    Ok(working.time_offset.into())
}

fn set_next_time(node: &Node, params: &Params) -> Answer {
    let time = params.number(0)?.ok_or_else(|| RpcError::params("missing value for required argument 0"))?;
    let (_, _, head) = node.chain.head()?;
    if time <= head.timestamp {
        let head = head.timestamp;
        return Err(RpcError::params(format!("timestamp {time} is not after that of the newest block, {head}")));
    }
    set(node, |working| {
        working.next_time = Some(time);
        Ok(())
    })
}

fn set_automine(node: &Node, params: &Params) -> Answer {
    let automine: bool = params.get(0)?;
    let mut working = node.lock();
    let is_automine = working.mining == Mining::WithTransactions;
    match automine {
        true => node.set_mining(&mut working, Mining::WithTransactions),
        // Blocks by the clock go on.
        false if is_automine => node.set_mining(&mut working, Mining::Never),
        false => {}
    }
    if automine && working.pool.all().next().is_some() {
        node.mine(&mut working)?;
    }
    Ok(true.into())
}

fn set_gas_limit(node: &Node, params: &Params) -> Answer {
    let limit = params.number(0)?;
    node.lock().gas_limit = limit;
    Ok(true.into())
}

fn set_coinbase(node: &Node, params: &Params) -> Answer {
    let address = params.get(0)?;
    set(node, |working| {
        working.coinbase = address;
        Ok(())
    })
}

fn set_base_fee(node: &Node, params: &Params) -> Answer {
    let fee = params.number(0)?;
    set(node, |working| {
        working.next_base_fee = fee;
        Ok(())
    })
}

fn set_randao(node: &Node, params: &Params) -> Answer {
    let value = params.get(0)?;
    set(node, |working| {
        working.next_randao = Some(value);
        Ok(())
    })
}

fn impersonate(node: &Node, params: &Params) -> Answer {
    let address = params.get(0)?;
    node.lock().impersonated.insert(address);
    Ok(Value::Null)
}

fn stop_impersonating(node: &Node, params: &Params) -> Answer {
    let address: Address = params.get(0)?;
    node.lock().impersonated.remove(&address);
    Ok(Value::Null)
}

fn drop_transaction(node: &Node, params: &Params) -> Answer {
    let hash: B256 = params.get(0)?;
    Ok(node.lock().pool.remove(hash).map_or(Value::Null, |tx| bytes(tx.tx_hash())))
}

fn set_balance(node: &Node, params: &Params) -> Answer {
    let balance = params.word(1)?;
    change(node, params.get(0)?, |account| account.balance = balance, None)
}

fn set_nonce(node: &Node, params: &Params) -> Answer {
    let nonce = params.number(1)?.ok_or_else(|| RpcError::params("missing value for required argument 1"))?;
    change(node, params.get(0)?, |account| account.nonce = nonce, None)
}

fn set_code(node: &Node, params: &Params) -> Answer {
    let code: Bytes = params.get(1)?;
    change(node, params.get(0)?, |_| {}, Some(code))
}

fn set_storage(node: &Node, params: &Params) -> Answer {
    let (address, slot): (Address, U256) = (params.get(0)?, params.slot(1)?);
    let value = params.slot(2)?;
    let _working = node.lock();
    let state = node.chain.store().state(StateAt::Present)?;
    let account = state.account(address)?.unwrap_or_default();
    // On a forked chain it is fetched now, so that history has what was there before.
    state.slot(address, slot)?;
    let info = Some((account.nonce, account.balance, account.code_hash));
    let change = AccountChange { info, is_wiped: false, slots: BTreeMap::from([(slot, value)]) };
    let changes = StateChanges { accounts: BTreeMap::from([(address, change)]), codes: BTreeMap::new() };
    node.chain.change(&changes)?;
    Ok(true.into())
}

/// Changes an account, with new code if there is some.
fn change(
    node: &Node,
    address: Address,
    change: impl FnOnce(&mut alloy_trie::TrieAccount),
    code: Option<Bytes>,
) -> Answer {
    let _working = node.lock();
    let mut account = node.chain.store().state(StateAt::Present)?.account(address)?.unwrap_or_default();
    change(&mut account);
    let mut codes = BTreeMap::new();
    if let Some(code) = code {
        account.code_hash = if code.is_empty() { KECCAK_EMPTY } else { keccak256(&code) };
        if !code.is_empty() {
            codes.insert(account.code_hash, code);
        }
    }
    let info = Some((account.nonce, account.balance, account.code_hash));
    let change = AccountChange { info, is_wiped: false, slots: BTreeMap::new() };
    node.chain.change(&StateChanges { accounts: BTreeMap::from([(address, change)]), codes })?;
    Ok(Value::Null)
}

fn fork_config(node: &Node) -> Value {
    let remote = node.chain.store().remote();
    json!({ "forkUrl": remote.map(|remote| remote.url()), "forkBlockNumber": remote.map(|remote| remote.block()), "forkRetryBackoff": null })
}

fn node_info(node: &Node, _: &Params) -> Answer {
    let (number, hash, head) = node.chain.head()?;
    let spec = node.chain.rules().spec(head.timestamp, number);
    let base_fee = super::fees::next_base_fee(node)?;
    let working = node.lock();
    Ok(json!({
        "currentBlockNumber": quantity(number),
        "currentBlockTimestamp": head.timestamp,
        "currentBlockHash": bytes(hash),
        "hardFork": format!("{spec:?}").to_lowercase(),
        "transactionOrder": "fees",
        "environment": {
            "baseFee": quantity(base_fee),
            "chainId": node.chain.rules().chain_id(),
            "gasLimit": quantity(working.gas_limit.unwrap_or(head.gas_limit)),
            "gasPrice": quantity(base_fee),
        },
        "forkConfig": fork_config(node),
        "coinbase": format::address(working.coinbase),
    }))
}
