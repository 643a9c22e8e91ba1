//! `testing_buildBlockV1`: the block after the head as it would be with given transactions and attributes. Nothing is written.

use alloy_consensus::transaction::SignerRecoverable;
use alloy_consensus::{Transaction, TxEnvelope};
use alloy_eips::eip2718::{Decodable2718, Encodable2718};
use alloy_eips::eip4895::Withdrawal;
use alloy_primitives::{Address, B256, Bytes, U256};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Method;
use super::error::{Answer, RpcError};
use super::format::{address, bytes, quantity};
use super::params::Params;
use crate::chain::{Attributes, Built};
use crate::node::Node;

/// The methods of this file.
pub const METHODS: &[(&str, Method)] = &[("testing_buildBlockV1", build)];

/// Attributes of a payload as the engine API has them.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    #[serde(with = "quantity_text")]
    timestamp: u64,
    prev_randao: B256,
    suggested_fee_recipient: Address,
    #[serde(default)]
    withdrawals: Option<Vec<Withdrawal>>,
    #[serde(default)]
    parent_beacon_block_root: Option<B256>,
}

mod quantity_text {
    use serde::{Deserialize, Deserializer, de::Error};

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = text.strip_prefix("0x").ok_or_else(|| D::Error::custom("hex string without 0x prefix"))?;
        u64::from_str_radix(digits, 16).map_err(D::Error::custom)
    }
}

fn build(node: &Node, params: &Params) -> Answer {
    let parent = params.hash(0)?;
    let payload: Payload = params.get(1)?;
    let raw: Option<Vec<Bytes>> = params.find(2)?;
    let extra_data: Option<Bytes> = params.find(3)?;
    let (_, head, header) = node.chain.head()?;
    if parent != head {
        return Err(RpcError::input(format!("block {parent} is not the head, which is {head}")));
    }
    let working = node.lock();
    let attributes = Attributes {
        time: payload.timestamp,
        beneficiary: payload.suggested_fee_recipient,
        gas_limit: toward(header.gas_limit, GAS_WANTED),
        prev_randao: payload.prev_randao,
        base_fee: None,
        beacon_root: payload.parent_beacon_block_root.unwrap_or_default(),
        extra_data: extra_data.unwrap_or_default(),
        withdrawals: payload.withdrawals.unwrap_or_default().into(),
    };
    let built = match raw {
        None => {
            let state = node.chain.store().state(crate::store::StateAt::Present)?;
            let nonce = |address| Ok::<_, RpcError>(state.account(address)?.map_or(0, |account| account.nonce));
            node.chain.build(&attributes, working.pool.ready(nonce)?)?
        }
        Some(raw) => {
            let decode = |raw: &Bytes| {
                let tx = TxEnvelope::decode_2718_exact(raw).map_err(|error| RpcError::input(error.to_string()))?;
                tx.try_into_recovered().map_err(|error| RpcError::input(error.to_string()))
            };
            let built = node.chain.build(&attributes, raw.iter().map(decode).collect::<Result<_, _>>()?)?;
            if let Some((_, reason)) = built.rejected.first() {
                return Err(RpcError::input(reason.clone()));
            }
            built
        }
    };
    Ok(payload_of(&built))
}

/// The block as the engine API's `getPayload` has it.
fn payload_of(built: &Built) -> Value {
    let header = &built.block.header;
    let base_fee = header.base_fee_per_gas.unwrap_or_default();
    let mut before = 0;
    let tips = built.block.body.transactions.iter().zip(&built.receipts).map(|(tx, receipt)| {
        let gas = receipt.cumulative_gas_used() - before;
        before = receipt.cumulative_gas_used();
        U256::from(gas) * U256::from(tx.effective_tip_per_gas(base_fee).unwrap_or_default())
    });
    let value: U256 = tips.sum();
    let withdrawal = |withdrawal: &Withdrawal| {
        json!({
            "index": quantity(withdrawal.index), "validatorIndex": quantity(withdrawal.validator_index),
            "address": address(withdrawal.address), "amount": quantity(withdrawal.amount),
        })
    };
    json!({
        "executionPayload": {
            "parentHash": bytes(header.parent_hash),
            "feeRecipient": address(header.beneficiary),
            "stateRoot": bytes(header.state_root),
            "receiptsRoot": bytes(header.receipts_root),
            "logsBloom": bytes(header.logs_bloom),
            "prevRandao": bytes(header.mix_hash),
            "blockNumber": quantity(header.number),
            "gasLimit": quantity(header.gas_limit),
            "gasUsed": quantity(header.gas_used),
            "timestamp": quantity(header.timestamp),
            "extraData": bytes(&header.extra_data),
            "baseFeePerGas": quantity(base_fee),
            "blockHash": bytes(built.hash),
            "transactions": built.block.body.transactions.iter().map(|tx| bytes(tx.encoded_2718())).collect::<Value>(),
            "withdrawals": built.block.body.withdrawals.iter().flat_map(|all| all.iter()).map(withdrawal).collect::<Value>(),
            "blobGasUsed": quantity(header.blob_gas_used.unwrap_or_default()),
            "excessBlobGas": quantity(header.excess_blob_gas.unwrap_or_default()),
        },
        "blockValue": quantity(value),
        "blobsBundle": { "commitments": [], "proofs": [], "blobs": [] },
        "executionRequests": built.requests.iter().map(bytes).collect::<Value>(),
        "shouldOverrideBuilder": false,
    })
}

/// Gas of a block that miners move towards: geth's `miner.DefaultConfig.GasCeil`.
const GAS_WANTED: u64 = 60_000_000;

/// A gas limit as near to the wanted one as a block may come in one step: Yellow Paper, eq. 56; geth, `core.CalcGasLimit`.
fn toward(parent: u64, wanted: u64) -> u64 {
    let step = (parent / 1024).saturating_sub(1);
    if parent < wanted { wanted.min(parent + step) } else { wanted.max(parent - step) }
}
