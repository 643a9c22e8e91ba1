//! Headers and transactions as execution-specs writes them.

use alloy_consensus::{Header, Transaction, TxEnvelope};
use alloy_eips::eip4895::Withdrawal;
use alloy_primitives::{Address, U256};
use serde_json::{Value, json};

use crate::chain::Block;
use crate::quantity::{bytes_written, padded};

fn number(number: impl Into<u128>) -> String {
    padded(U256::from(number.into()))
}

/// A header with its hash.
pub fn header(header: &Header) -> Value {
    let hash = header.hash_slow();
    let Header { logs_bloom, extra_data, nonce, .. } = header;
    json!({
        "parentHash": header.parent_hash,
        "uncleHash": header.ommers_hash,
        "coinbase": bytes_written(header.beneficiary.as_slice()),
        "stateRoot": header.state_root,
        "transactionsTrie": header.transactions_root,
        "receiptTrie": header.receipts_root,
        "bloom": bytes_written(logs_bloom.as_slice()),
        "difficulty": padded(header.difficulty),
        "number": number(header.number),
        "gasLimit": number(header.gas_limit),
        "gasUsed": number(header.gas_used),
        "timestamp": number(header.timestamp),
        "extraData": bytes_written(extra_data),
        "mixHash": header.mix_hash,
        "nonce": bytes_written(nonce.as_slice()),
        "baseFeePerGas": header.base_fee_per_gas.map(number),
        "withdrawalsRoot": header.withdrawals_root,
        "blobGasUsed": header.blob_gas_used.map(number),
        "excessBlobGas": header.excess_blob_gas.map(number),
        "parentBeaconBlockRoot": header.parent_beacon_block_root,
        "requestsHash": header.requests_hash,
        "hash": hash,
    })
}

/// The withdrawals of a block.
pub fn withdrawals(block: &Block) -> Value {
    let written = |withdrawal: &Withdrawal| {
        json!({
            "index": number(withdrawal.index),
            "validatorIndex": number(withdrawal.validator_index),
            "address": bytes_written(withdrawal.address.as_slice()),
            "amount": number(withdrawal.amount),
        })
    };
    block.body.withdrawals.iter().flat_map(|all| all.iter()).map(written).collect()
}

/// A transaction of a block, with its sender.
pub fn transaction(tx: &TxEnvelope, sender: Address) -> Value {
    let signature = tx.signature();
    let parity = u64::from(signature.v());
    let v = match (tx.is_legacy(), tx.chain_id()) {
        (true, Some(chain_id)) => 35 + 2 * chain_id + parity,
        (true, None) => 27 + parity,
        (false, _) => parity,
    };
    let mut written = json!({
        "type": number(tx.tx_type() as u8),
        "chainId": number(tx.chain_id().unwrap_or_default()),
        "nonce": number(tx.nonce()),
        "gasLimit": number(tx.gas_limit()),
        "to": tx.to().map_or_else(String::new, |to| bytes_written(to.as_slice())),
        "value": padded(tx.value()),
        "data": bytes_written(tx.input()),
        "v": number(v),
        "r": padded(signature.r()),
        "s": padded(signature.s()),
        "sender": bytes_written(sender.as_slice()),
    });
    match tx.gas_price() {
        Some(price) => written["gasPrice"] = number(price).into(),
        None => {
            written["maxFeePerGas"] = number(tx.max_fee_per_gas()).into();
            written["maxPriorityFeePerGas"] = number(tx.max_priority_fee_per_gas().unwrap_or_default()).into();
        }
    }
    if let Some(list) = tx.access_list() {
        written["accessList"] = json!(list);
    }
    if let Some(hashes) = tx.blob_versioned_hashes() {
        written["maxFeePerBlobGas"] = number(tx.max_fee_per_blob_gas().unwrap_or_default()).into();
        written["blobVersionedHashes"] = json!(hashes);
    }
    written
}
