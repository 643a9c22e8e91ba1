//! Prices of gas, now and in past blocks.

use alloy_consensus::Transaction;
use alloy_eips::eip1559::BaseFeeParams;
use alloy_eips::{BlockId, BlockNumberOrTag};
use serde_json::{Value, json};

use super::Method;
use super::blocks::{find, numbered};
use super::error::{Answer, RpcError};
use super::format::quantity;
use super::params::Params;
use crate::node::Node;

/// Blocks that one answer covers, as geth's limit.
const BLOCKS_MAX: u64 = 1024;
/// Percentiles that one request may ask for, as geth's limit.
const PERCENTILES_MAX: usize = 100;
/// Suggested tip, in wei: 1 gwei, as anvil's.
const TIP: u64 = 1_000_000_000;

/// The methods of this file.
pub const METHODS: &[(&str, Method)] = &[
    ("eth_gasPrice", |node, _| Ok(quantity(u128::from(next_base_fee(node)?) + u128::from(tip(node)?)))),
    ("eth_maxPriorityFeePerGas", |node, _| Ok(quantity(tip(node)?))),
    ("eth_baseFee", |node, _| Ok(quantity(next_base_fee(node)?))),
    ("eth_blobBaseFee", |node, _| {
        let (_, _, head) = node.chain.head()?;
        Ok(quantity(
            node.chain.rules().blob_params(head.timestamp).and_then(|params| head.blob_fee(params)).unwrap_or(1),
        ))
    }),
    ("eth_feeHistory", fee_history),
];

/// The base fee of the next block.
pub fn next_base_fee(node: &Node) -> Result<u64, RpcError> {
    let (_, _, head) = node.chain.head()?;
    let set = node.lock().next_base_fee;
    Ok(set.or_else(|| head.next_block_base_fee(BaseFeeParams::ethereum())).unwrap_or_default())
}

/// Suggested tip, in wei: block space is not scarce here.
pub fn tip(_: &Node) -> Result<u64, RpcError> {
    Ok(TIP)
}

fn fee_history(node: &Node, params: &Params) -> Answer {
    let count = params.number(0)?.ok_or_else(|| RpcError::params("missing value for required argument 0"))?;
    let newest: BlockNumberOrTag = params.find(1)?.unwrap_or_default();
    let percentiles: Vec<f64> = params.find(2)?.unwrap_or_default();
    if percentiles.len() > PERCENTILES_MAX {
        return Err(RpcError::params(format!("over the query limit {PERCENTILES_MAX} of percentiles")));
    }
    let is_in_order = percentiles.is_sorted_by(|a, b| a < b) && percentiles.iter().all(|at| (0.0..=100.0).contains(at));
    if !is_in_order {
        return Err(RpcError::input("invalid reward percentile"));
    }
    let newest =
        numbered(node, BlockId::Number(newest))?.ok_or_else(|| RpcError::input("request beyond head block"))?;
    let count = count.min(BLOCKS_MAX).min(newest + 1);
    if count == 0 {
        return Ok(json!({ "oldestBlock": "0x0", "gasUsedRatio": null }));
    }
    let oldest = newest + 1 - count;
    let (mut fees, mut ratios, mut blob_fees, mut blob_ratios, mut rewards) = (vec![], vec![], vec![], vec![], vec![]);
    for number in oldest..=newest {
        let found = find(node, BlockId::number(number))?.ok_or_else(|| RpcError::input("header not found"))?;
        let header = &found.block.header;
        let blobs = node.chain.rules().blob_params(header.timestamp);
        fees.push(quantity(header.base_fee_per_gas.unwrap_or_default()));
        ratios.push(ratio(header.gas_used, header.gas_limit));
        blob_fees.push(quantity(blobs.and_then(|params| header.blob_fee(params)).unwrap_or_default()));
        let blob_most = blobs.map_or(0, |params| params.max_blob_gas_per_block());
        blob_ratios.push(ratio(header.blob_gas_used.unwrap_or_default(), blob_most));
        if !percentiles.is_empty() {
            rewards.push(rewards_of(node, &found, &percentiles)?);
        }
        if number == newest {
            // What would follow.
            fees.push(quantity(header.next_block_base_fee(BaseFeeParams::ethereum()).unwrap_or_default()));
            blob_fees.push(quantity(blobs.and_then(|params| header.next_block_blob_fee(params)).unwrap_or_default()));
        }
    }
    let mut answer = json!({
        "oldestBlock": quantity(oldest),
        "baseFeePerGas": fees,
        "gasUsedRatio": ratios,
        "baseFeePerBlobGas": blob_fees,
        "blobGasUsedRatio": blob_ratios,
    });
    if let (false, Some(object)) = (percentiles.is_empty(), answer.as_object_mut()) {
        object.insert("reward".to_owned(), rewards.into());
    }
    Ok(answer)
}

/// A ratio as a number; whole ones without a fraction, as Go writes them.
fn ratio(part: u64, whole: u64) -> Value {
    match (part, whole) {
        (0, _) | (_, 0) => json!(0),
        (part, whole) if part == whole => json!(1),
        (part, whole) => json!(part as f64 / whole as f64),
    }
}

/// Tips by the gas that paid at most so much, in percent of the block's.
fn rewards_of(node: &Node, found: &super::blocks::Found, percentiles: &[f64]) -> Result<Value, RpcError> {
    let header = &found.block.header;
    let receipts = node.chain.store().receipts(header.number)?.unwrap_or_default();
    let mut before = 0;
    let mut paid: Vec<(u128, u64)> = Vec::with_capacity(receipts.len());
    for (tx, receipt) in found.block.body.transactions.iter().zip(&receipts) {
        let gas = receipt.cumulative_gas_used() - before;
        before = receipt.cumulative_gas_used();
        let base = header.base_fee_per_gas.unwrap_or_default();
        paid.push((tx.effective_tip_per_gas(base).unwrap_or_default(), gas));
    }
    paid.sort_unstable();
    let at = |percentile: &f64| {
        // As geth counts: the part of the block's gas, rounded down.
        let threshold = (header.gas_used as f64 * percentile / 100.0) as u64;
        let mut sum = 0;
        let found = paid.iter().find(|(_, gas)| {
            sum += gas;
            sum >= threshold
        });
        quantity(found.or(paid.last()).map_or(0, |(tip, _)| *tip))
    };
    Ok(percentiles.iter().map(at).collect())
}
