//! Changes of the chain itself: blocks taken back, blocks mined in their place, a beginning anew; and the mode of mining.

use std::collections::BTreeMap;

use alloy_eips::BlockId;
use alloy_eips::eip1559::BaseFeeParams;
use alloy_hardforks::EthereumHardforks;
use alloy_primitives::{Address, Bytes};
use alloy_rpc_types_eth::TransactionRequest;
use serde::Deserialize;
use serde_json::Value;

use super::Method;
use super::error::{Answer, RpcError};
use super::params::Params;
use super::send;
use crate::chain::Sent;
use crate::node::{Mining, Node, Working};
use crate::store::StateAt;

/// Blocks that one request may mine again.
const DEPTH_MAX: u64 = 10_000;
/// Seconds between blocks: more than a century.
const SECONDS_MAX: u64 = 1 << 32;

/// The methods of this file.
pub const METHODS: &[(&str, Method)] = &[
    ("anvil_rollback", |node, params| {
        let depth = params.number(0)?.unwrap_or(1);
        let mut working = node.lock();
        let ancestor = ancestor(node, "rollback", depth)?;
        node.rewind(&mut working, ancestor)?;
        Ok(Value::Null)
    }),
    ("anvil_reorg", reorg),
    // anvil's stays in the mode of mining that was set; Hardhat's node is as it was started.
    ("anvil_reset", |node, params| reset(node, params, None)),
    ("hardhat_reset", |node, params| {
        reset(node, params, Some(node.first_mining()))?;
        Ok(true.into())
    }),
    ("evm_setIntervalMining", set_interval),
    ("anvil_setIntervalMining", set_interval),
    ("anvil_getIntervalMining", |node, _| {
        Ok(match node.lock().mining {
            Mining::Every(seconds) => seconds.into(),
            _ => Value::Null,
        })
    }),
    ("anvil_setMinGasPrice", set_min_gas_price),
    ("hardhat_setMinGasPrice", set_min_gas_price),
];

/// The number of the block that so many blocks before the head.
fn ancestor(node: &Node, what: &str, depth: u64) -> Result<u64, RpcError> {
    let (head, _, _) = node.chain.head()?;
    let found = head.checked_sub(depth).filter(|number| matches!(node.chain.store().hash(*number), Ok(Some(_))));
    found.ok_or_else(|| {
        RpcError::params(format!(
            "{what} of {depth} blocks: the newest block is {head}, and there are not as many here"
        ))
    })
}

/// `[depth, [[transaction or its bytes, block], …]]`, or an object with these, as anvil has it: blocks are numbered from the first new one on.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Reorg {
    depth: u64,
    #[serde(default, alias = "tx_block_pairs")]
    tx_block_pairs: Vec<(Transaction, u64)>,
}

/// A transaction to be mined in place of what was there.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Transaction {
    Raw(Bytes),
    Request(Box<TransactionRequest>),
}

impl Reorg {
    fn of(params: &Params) -> Result<Self, RpcError> {
        if let Some(Value::Object(_)) = params.0.first() {
            return params.get(0);
        }
        let depth = params.number(0)?.ok_or_else(|| RpcError::params("missing value for required argument 0"))?;
        Ok(Self { depth, tx_block_pairs: params.find(1)?.unwrap_or_default() })
    }
}

/// Takes blocks back and mines as many again, with the transactions that are given. Either all is done or nothing.
fn reorg(node: &Node, params: &Params) -> Answer {
    let Reorg { depth, tx_block_pairs } = Reorg::of(params)?;
    if depth > DEPTH_MAX {
        return Err(RpcError::params(format!("reorg of {depth} blocks: at most {DEPTH_MAX} in one request")));
    }
    if let Some((_, number)) = tx_block_pairs.iter().find(|(_, number)| *number >= depth) {
        return Err(RpcError::params(format!("block {number} of the new ones: there are {depth}, from 0 on")));
    }
    let blocks = prepared(node, ancestor(node, "reorg", depth)?, tx_block_pairs)?;
    let mut working = node.lock();
    let ancestor = ancestor(node, "reorg", depth)?;
    let held = (working.time_offset, working.pool.clone());
    let before = node.chain.store().snapshot()?;
    let done = mine_again(node, &mut working, ancestor, depth, blocks);
    if done.is_err() {
        node.chain.store().revert(before)?;
        (working.time_offset, working.pool) = held;
    } else {
        node.chain.store().forget_snapshot(before)?;
    }
    done.map(|()| Value::Null)
}

/// The transactions of the new blocks, signed, with nonces from the state after a block on.
fn prepared(
    node: &Node,
    ancestor: u64,
    mut pairs: Vec<(Transaction, u64)>,
) -> Result<BTreeMap<u64, Vec<Sent>>, RpcError> {
    pairs.sort_by_key(|(_, number)| *number);
    let place = BlockId::number(ancestor);
    let header = node.chain.store().header(ancestor)?.ok_or_else(|| RpcError::input("header not found"))?;
    let base_fee = header.next_block_base_fee(BaseFeeParams::ethereum()).unwrap_or_default();
    let mut nonces: BTreeMap<Address, u64> = BTreeMap::new();
    let mut blocks: BTreeMap<u64, Vec<Sent>> = BTreeMap::new();
    for (transaction, number) in pairs {
        let sent = match transaction {
            Transaction::Raw(bytes) => send::raw(&bytes)?,
            Transaction::Request(request) => {
                let sender = request.from.or_else(|| node.keys.addresses().first().copied());
                let sender = sender.ok_or_else(|| RpcError::params("missing field `from`"))?;
                let next = match nonces.get(&sender) {
                    Some(nonce) => *nonce,
                    None => node
                        .chain
                        .store()
                        .state(StateAt::Block(ancestor))?
                        .account(sender)?
                        .map_or(0, |account| account.nonce),
                };
                let nonce = request.nonce.unwrap_or(next);
                nonces.insert(sender, nonce.saturating_add(1));
                let request = TransactionRequest { from: Some(sender), nonce: Some(nonce), ..*request };
                send::signed(node, send::completed(node, request, base_fee, place)?, sender)?
            }
        };
        blocks.entry(number).or_default().push(sent);
    }
    Ok(blocks)
}

fn mine_again(
    node: &Node,
    working: &mut Working,
    ancestor: u64,
    depth: u64,
    mut blocks: BTreeMap<u64, Vec<Sent>>,
) -> Result<(), RpcError> {
    node.rewind(working, ancestor)?;
    for number in 0..depth {
        let built = node.mine_these(working, blocks.remove(&number).unwrap_or_default())?;
        if let Some((tx, reason)) = built.rejected.first() {
            return Err(RpcError::params(format!("transaction {} of new block {number}: {reason}", tx.tx_hash())));
        }
    }
    Ok(())
}

/// The parameter of a reset: nothing, or that a forked chain begins anew at a block.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Reset {
    forking: Option<Forking>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Forking {
    json_rpc_url: Option<String>,
    block_number: Option<Value>,
}

fn reset(node: &Node, params: &Params, mining: Option<Mining>) -> Answer {
    let asked = params.find::<Reset>(0)?.unwrap_or_default().forking;
    match (node.chain.store().remote(), asked) {
        (None, None) => {}
        (None, Some(_)) => {
            let reason =
                "the chain is not forked: start the node with --fork-url to go on after a block of another one";
            return Err(RpcError::params(reason));
        }
        (Some(remote), asked) => {
            let (url, block) = (remote.url(), remote.block());
            let is_same = match asked {
                None => false,
                Some(Forking { json_rpc_url, block_number }) => {
                    let number = Params(block_number.into_iter().collect()).number(0)?;
                    json_rpc_url.is_none_or(|other| other.trim_end_matches('/') == url.trim_end_matches('/'))
                        && number.is_none_or(|other| other == block)
                }
            };
            if !is_same {
                return Err(RpcError::params(format!(
                    "the chain goes on after block {block} of {url}, and a running node stays with it: ask for {{\"forking\": {{\"blockNumber\": {block}}}}}"
                )));
            }
        }
    }
    node.reset(&mut node.lock(), mining)?;
    Ok(Value::Null)
}

/// A block every so many seconds, in place of one for every transaction; none at all for 0.
fn set_interval(node: &Node, params: &Params) -> Answer {
    let seconds = params.number(0)?.ok_or_else(|| RpcError::params("missing value for required argument 0"))?;
    if seconds > SECONDS_MAX {
        return Err(RpcError::params(format!("{seconds} seconds between blocks: at most {SECONDS_MAX}")));
    }
    let mining = if seconds == 0 { Mining::Never } else { Mining::Every(seconds) };
    node.set_mining(&mut node.lock(), mining);
    Ok(Value::Null)
}

fn set_min_gas_price(node: &Node, params: &Params) -> Answer {
    let price = params.word(0)?;
    let mut working = node.lock();
    if node.chain.rules().is_london_active_at_block(node.chain.head()?.0.saturating_add(1)) {
        return Err(RpcError::params(
            "a least gas price is not supported where EIP-1559 is active: set the next base fee",
        ));
    }
    working.gas_price_min = price.saturating_to();
    Ok(Value::Null)
}
