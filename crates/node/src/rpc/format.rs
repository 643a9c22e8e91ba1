//! Blocks, transactions, receipts and logs as JSON, in geth's words.

use alloy_consensus::{ReceiptEnvelope, Transaction, TxEnvelope, TxReceipt, Typed2718};
use alloy_primitives::{Address, B256, Log, U256, hex};
use alloy_rlp::Encodable;
use serde_json::{Map, Value, json};

use crate::store::ChainBlock;

/// A number as JSON-RPC has it: hexadecimal without leading zeros.
pub fn quantity(number: impl TryInto<U256>) -> Value {
    match number.try_into() {
        Ok(number) => Value::String(format!("{number:#x}")),
        Err(_) => Value::Null,
    }
}

/// Bytes as JSON-RPC has them.
pub fn bytes(bytes: impl AsRef<[u8]>) -> Value {
    Value::String(hex::encode_prefixed(bytes))
}

/// An address in lower case.
pub fn address(address: Address) -> Value {
    bytes(address)
}

fn field(object: &mut Map<String, Value>, name: &str, value: Value) {
    object.insert(name.to_owned(), value);
}

/// Position of a transaction in the chain.
#[derive(Debug, Clone, Copy)]
pub struct Position {
    /// The block's hash.
    pub block_hash: B256,
    /// Its number.
    pub block_number: u64,
    /// Its time.
    pub time: u64,
    /// The transaction's index in it.
    pub index: u64,
}

/// A block; `whole` with its transactions, else with their hashes. `hash` is none for a block that is not made yet.
pub fn block(block: &ChainBlock, hash: Option<B256>, senders: &[Address], whole: bool) -> Value {
    let header = &block.header;
    let mut object = header_fields(header, hash);
    let transactions = (0u64..).zip(block.body.transactions.iter().zip(senders)).map(|(index, (tx, sender))| {
        let position = Position {
            block_hash: hash.unwrap_or_default(),
            block_number: header.number,
            time: header.timestamp,
            index,
        };
        if whole { transaction(tx, *sender, Some(position), header.base_fee_per_gas) } else { bytes(tx.tx_hash()) }
    });
    field(&mut object, "size", quantity(block.length()));
    field(&mut object, "transactions", transactions.collect());
    field(&mut object, "uncles", block.body.ommers.iter().map(|ommer| bytes(ommer.hash_slow())).collect());
    if let Some(withdrawals) = &block.body.withdrawals {
        let withdrawal = |withdrawal: &alloy_eips::eip4895::Withdrawal| {
            json!({
                "index": quantity(withdrawal.index),
                "validatorIndex": quantity(withdrawal.validator_index),
                "address": address(withdrawal.address),
                "amount": quantity(withdrawal.amount),
            })
        };
        field(&mut object, "withdrawals", withdrawals.iter().map(withdrawal).collect());
    }
    Value::Object(object)
}

/// The fields of a header.
pub fn header_fields(header: &alloy_consensus::Header, hash: Option<B256>) -> Map<String, Value> {
    let mut object = Map::new();
    let mut set = |name: &str, value: Value| field(&mut object, name, value);
    set("number", quantity(header.number));
    set("hash", hash.map_or(Value::Null, bytes));
    set("mixHash", bytes(header.mix_hash));
    set("parentHash", bytes(header.parent_hash));
    set("nonce", bytes(header.nonce));
    set("sha3Uncles", bytes(header.ommers_hash));
    set("logsBloom", bytes(header.logs_bloom));
    set("stateRoot", bytes(header.state_root));
    set("miner", address(header.beneficiary));
    set("difficulty", quantity(header.difficulty));
    set("extraData", bytes(&header.extra_data));
    set("gasLimit", quantity(header.gas_limit));
    set("gasUsed", quantity(header.gas_used));
    set("timestamp", quantity(header.timestamp));
    set("transactionsRoot", bytes(header.transactions_root));
    set("receiptsRoot", bytes(header.receipts_root));
    let numbers = [
        ("baseFeePerGas", header.base_fee_per_gas),
        ("blobGasUsed", header.blob_gas_used),
        ("excessBlobGas", header.excess_blob_gas),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            set(name, quantity(number));
        }
    }
    let hashes = [
        ("withdrawalsRoot", header.withdrawals_root),
        ("parentBeaconBlockRoot", header.parent_beacon_block_root),
        ("requestsHash", header.requests_hash),
    ];
    for (name, hash) in hashes {
        if let Some(hash) = hash {
            set(name, bytes(hash));
        }
    }
    object
}

/// A transaction; one that waits has no position.
pub fn transaction(tx: &TxEnvelope, sender: Address, position: Option<Position>, base_fee: Option<u64>) -> Value {
    let place = |number: fn(Position) -> u64| position.map_or(Value::Null, |position| quantity(number(position)));
    let price = match position {
        Some(_) => tx.effective_gas_price(base_fee),
        None => tx.max_fee_per_gas(),
    };
    let mut object = Map::new();
    let mut set = |name: &str, value: Value| field(&mut object, name, value);
    set("blockHash", position.map_or(Value::Null, |position| bytes(position.block_hash)));
    set("blockNumber", place(|position| position.block_number));
    set("blockTimestamp", place(|position| position.time));
    set("transactionIndex", place(|position| position.index));
    set("from", address(sender));
    set("gas", quantity(tx.gas_limit()));
    set("gasPrice", quantity(price));
    set("hash", bytes(tx.tx_hash()));
    set("input", bytes(tx.input()));
    set("nonce", quantity(tx.nonce()));
    set("to", tx.to().map_or(Value::Null, address));
    set("value", quantity(tx.value()));
    set("type", quantity(tx.ty()));
    if let Some(chain_id) = tx.chain_id() {
        set("chainId", quantity(chain_id));
    }
    if tx.is_dynamic_fee() {
        set("maxFeePerGas", quantity(tx.max_fee_per_gas()));
        set("maxPriorityFeePerGas", quantity(tx.max_priority_fee_per_gas().unwrap_or_default()));
    }
    if let Some(list) = tx.access_list() {
        set("accessList", serde_json::to_value(list).unwrap_or_default());
    }
    if let Some(fee) = tx.max_fee_per_blob_gas() {
        set("maxFeePerBlobGas", quantity(fee));
    }
    if let Some(hashes) = tx.blob_versioned_hashes() {
        set("blobVersionedHashes", hashes.iter().map(bytes).collect());
    }
    if let Some(list) = tx.authorization_list() {
        set("authorizationList", list.iter().map(authorization).collect());
    }
    let signature = tx.signature();
    let parity = u64::from(signature.v());
    let v = match (tx, tx.chain_id()) {
        (TxEnvelope::Legacy(_), Some(chain_id)) => U256::from(chain_id) * U256::from(2) + U256::from(35 + parity),
        (TxEnvelope::Legacy(_), None) => U256::from(27 + parity),
        _ => U256::from(parity),
    };
    set("v", quantity(v));
    set("r", quantity(signature.r()));
    set("s", quantity(signature.s()));
    if !tx.is_legacy() {
        set("yParity", quantity(parity));
    }
    Value::Object(object)
}

fn authorization(signed: &alloy_eips::eip7702::SignedAuthorization) -> Value {
    json!({
        "chainId": quantity(*signed.chain_id()),
        "address": address(*signed.address()),
        "nonce": quantity(signed.nonce()),
        "yParity": quantity(signed.y_parity()),
        "r": quantity(signed.r()),
        "s": quantity(signed.s()),
    })
}

/// A log of a transaction.
pub fn log(log: &Log, position: Position, transaction: B256, index: u64) -> Value {
    json!({
        "address": address(log.address),
        "topics": log.topics().iter().map(bytes).collect::<Value>(),
        "data": bytes(&log.data.data),
        "blockNumber": quantity(position.block_number),
        "transactionHash": bytes(transaction),
        "transactionIndex": quantity(position.index),
        "blockHash": bytes(position.block_hash),
        "blockTimestamp": quantity(position.time),
        "logIndex": quantity(index),
        "removed": false,
    })
}

/// Context of a transaction's receipt.
#[derive(Debug, Clone, Copy)]
pub struct Around {
    /// Position of the transaction.
    pub position: Position,
    /// Gas used before it in its block.
    pub gas_before: u64,
    /// Logs before it in its block.
    pub logs_before: u64,
    /// The block's base fee.
    pub base_fee: Option<u64>,
    /// Price of a unit of blob gas in its block, in wei.
    pub blob_fee: Option<u128>,
}

/// A receipt.
pub fn receipt(receipt: &ReceiptEnvelope, tx: &TxEnvelope, sender: Address, around: Around) -> Value {
    let Around { position, gas_before, logs_before, base_fee, blob_fee } = around;
    let hash = *tx.tx_hash();
    let created = tx.to().is_none().then(|| sender.create(tx.nonce()));
    let logs = (logs_before..).zip(receipt.logs()).map(|(index, entry)| log(entry, position, hash, index));
    let mut object = Map::new();
    let mut set = |name: &str, value: Value| field(&mut object, name, value);
    set("blockHash", bytes(position.block_hash));
    set("blockNumber", quantity(position.block_number));
    set("contractAddress", created.map_or(Value::Null, address));
    set("cumulativeGasUsed", quantity(receipt.cumulative_gas_used()));
    set("effectiveGasPrice", quantity(tx.effective_gas_price(base_fee)));
    set("from", address(sender));
    set("gasUsed", quantity(receipt.cumulative_gas_used().saturating_sub(gas_before)));
    set("logs", logs.collect());
    set("logsBloom", bytes(receipt.bloom()));
    match receipt.status_or_post_state() {
        alloy_consensus::Eip658Value::PostState(root) => set("root", bytes(root)),
        alloy_consensus::Eip658Value::Eip658(is_success) => set("status", quantity(u64::from(is_success))),
    }
    set("to", tx.to().map_or(Value::Null, address));
    set("transactionHash", bytes(hash));
    set("transactionIndex", quantity(position.index));
    set("type", quantity(tx.ty()));
    if let Some(gas) = tx.blob_gas_used() {
        set("blobGasUsed", quantity(gas));
        set("blobGasPrice", blob_fee.map_or(Value::Null, quantity));
    }
    Value::Object(object)
}
