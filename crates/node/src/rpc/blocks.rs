//! Blocks, transactions and receipts as the chain has them.

use alloy_consensus::ReceiptEnvelope;
use alloy_eips::eip2718::Encodable2718;
use alloy_eips::{BlockId, BlockNumberOrTag};
use alloy_primitives::{Address, B256, hex};
use alloy_rlp::Encodable;
use serde_json::{Value, json};

use super::Method;
use super::error::{Answer, RpcError};
use super::format::{self, Around, Position, quantity};
use super::params::Params;
use crate::node::Node;
use crate::store::ChainBlock;

/// The methods of this file.
pub const METHODS: &[(&str, Method)] = &[
    ("eth_blockNumber", |node, _| Ok(quantity(node.chain.head()?.0))),
    ("eth_chainId", |node, _| Ok(quantity(node.chain.rules().chain_id()))),
    ("net_version", |node, _| Ok(node.chain.rules().chain_id().to_string().into())),
    ("eth_getBlockByNumber", |node, params| get_block(node, BlockId::Number(params.get(0)?), params)),
    ("eth_getBlockByHash", |node, params| get_block(node, BlockId::hash(params.hash(0)?), params)),
    ("eth_getBlockTransactionCountByNumber", |node, params| count(node, BlockId::Number(params.get(0)?))),
    ("eth_getBlockTransactionCountByHash", |node, params| count(node, BlockId::hash(params.hash(0)?))),
    ("eth_getUncleCountByBlockNumber", |node, params| uncles(node, BlockId::Number(params.get(0)?))),
    ("eth_getUncleCountByBlockHash", |node, params| uncles(node, BlockId::hash(params.hash(0)?))),
    ("eth_getUncleByBlockNumberAndIndex", |node, params| uncle(node, BlockId::Number(params.get(0)?), params)),
    ("eth_getUncleByBlockHashAndIndex", |node, params| uncle(node, BlockId::hash(params.hash(0)?), params)),
    ("eth_getTransactionByHash", transaction_by_hash),
    ("eth_getRawTransactionByHash", raw_transaction),
    ("eth_getTransactionByBlockNumberAndIndex", |node, params| by_index(node, BlockId::Number(params.get(0)?), params)),
    ("eth_getTransactionByBlockHashAndIndex", |node, params| by_index(node, BlockId::hash(params.hash(0)?), params)),
    ("eth_getRawTransactionByBlockNumberAndIndex", |node, params| {
        raw_by_index(node, BlockId::Number(params.get(0)?), params)
    }),
    ("eth_getRawTransactionByBlockHashAndIndex", |node, params| {
        raw_by_index(node, BlockId::hash(params.hash(0)?), params)
    }),
    ("eth_getTransactionReceipt", receipt),
    ("eth_getBlockReceipts", block_receipts),
    ("eth_getHeaderByNumber", |node, params| get_header(node, BlockId::Number(params.get(0)?))),
    ("eth_getHeaderByHash", |node, params| get_header(node, BlockId::hash(params.hash(0)?))),
    ("debug_getRawBlock", |node, params| {
        let found = find(node, params.get(0)?)?.ok_or_else(not_found)?;
        Ok(format::bytes(alloy_rlp::encode(found.block)))
    }),
    ("debug_getRawHeader", |node, params| {
        let found = find(node, params.get(0)?)?.ok_or_else(not_found)?;
        Ok(format::bytes(alloy_rlp::encode(found.block.header)))
    }),
    ("debug_getRawReceipts", raw_receipts),
    ("debug_getRawTransaction", raw_transaction),
];

fn not_found() -> RpcError {
    RpcError::input("block not found")
}

/// A block with all that belongs to it.
#[derive(Debug)]
pub struct Found {
    /// The block.
    pub block: ChainBlock,
    /// Its hash; none where it is not made yet.
    pub hash: Option<B256>,
    /// Senders of its transactions.
    pub senders: Vec<Address>,
    /// Its receipts, where it is not made yet.
    receipts: Option<Vec<ReceiptEnvelope>>,
}

impl Found {
    /// Its receipts.
    pub fn receipts(&self, node: &Node) -> Result<Vec<ReceiptEnvelope>, RpcError> {
        match &self.receipts {
            Some(receipts) => Ok(receipts.clone()),
            None => Ok(node.chain.store().receipts(self.block.header.number)?.unwrap_or_default()),
        }
    }
}

/// The number of a block of the chain; none if there is no such block. The pending one counts as the newest here.
pub fn numbered(node: &Node, id: BlockId) -> Result<Option<u64>, RpcError> {
    let head = node.chain.head()?.0;
    Ok(match id {
        BlockId::Hash(hash) => node.chain.store().number(hash.block_hash)?,
        BlockId::Number(tag) => match tag {
            BlockNumberOrTag::Number(number) => Some(number).filter(|&number| number <= head),
            BlockNumberOrTag::Earliest => Some(0),
            _ => Some(head),
        },
    })
}

/// A block by its id, the pending one included.
pub fn find(node: &Node, id: BlockId) -> Result<Option<Found>, RpcError> {
    if id.is_pending() {
        let built = node.pending(&node.lock())?;
        return Ok(Some(Found {
            block: built.block,
            hash: None,
            senders: built.senders,
            receipts: Some(built.receipts),
        }));
    }
    let Some(number) = numbered(node, id)? else { return Ok(None) };
    let store = node.chain.store();
    let Some(block) = store.block(number)? else { return Ok(None) };
    Ok(Some(Found { block, hash: store.hash(number)?, senders: store.senders(number)?, receipts: None }))
}

fn get_block(node: &Node, id: BlockId, params: &Params) -> Answer {
    let whole = params.find(1)?.unwrap_or(false);
    let found = find(node, id)?;
    Ok(found.map_or(Value::Null, |found| format::block(&found.block, found.hash, &found.senders, whole)))
}

fn get_header(node: &Node, id: BlockId) -> Answer {
    let found = find(node, id)?;
    Ok(found.map_or(Value::Null, |found| Value::Object(format::header_fields(&found.block.header, found.hash))))
}

fn count(node: &Node, id: BlockId) -> Answer {
    Ok(find(node, id)?.map_or(Value::Null, |found| quantity(found.block.body.transactions.len())))
}

fn uncles(node: &Node, id: BlockId) -> Answer {
    Ok(find(node, id)?.map_or(Value::Null, |found| quantity(found.block.body.ommers.len())))
}

fn uncle(node: &Node, id: BlockId, params: &Params) -> Answer {
    let index = params.number(1)?.and_then(|index| usize::try_from(index).ok()).unwrap_or(0);
    let Some(found) = find(node, id)? else { return Ok(Value::Null) };
    let Some(ommer) = found.block.body.ommers.get(index) else { return Ok(Value::Null) };
    let mut fields = format::header_fields(ommer, Some(ommer.hash_slow()));
    fields.insert("uncles".to_owned(), json!([]));
    fields.insert(
        "size".to_owned(),
        quantity(alloy_consensus::Block::<alloy_consensus::TxEnvelope>::uncle(ommer.clone()).length()),
    );
    Ok(Value::Object(fields))
}

/// Position of a transaction of a block.
pub fn position(found: &Found, index: u64) -> Position {
    let header = &found.block.header;
    Position { block_hash: found.hash.unwrap_or_default(), block_number: header.number, time: header.timestamp, index }
}

fn by_index(node: &Node, id: BlockId, params: &Params) -> Answer {
    let index = params.number(1)?.ok_or_else(|| RpcError::params("missing value for required argument 1"))?;
    let Some(found) = find(node, id)? else { return Ok(Value::Null) };
    Ok(transaction_of(&found, index))
}

fn transaction_of(found: &Found, index: u64) -> Value {
    let at = usize::try_from(index).unwrap_or(usize::MAX);
    let (Some(tx), Some(sender)) = (found.block.body.transactions.get(at), found.senders.get(at)) else {
        return Value::Null;
    };
    format::transaction(tx, *sender, Some(position(found, index)), found.block.header.base_fee_per_gas)
}

/// The block of a transaction, and its index there.
pub fn block_of(node: &Node, hash: B256) -> Result<Option<(Found, u64)>, RpcError> {
    let Some((number, index)) = node.chain.store().place(hash)? else { return Ok(None) };
    Ok(find(node, BlockId::number(number))?.map(|found| (found, index)))
}

fn transaction_by_hash(node: &Node, params: &Params) -> Answer {
    let hash = params.hash(0)?;
    if let Some((found, index)) = block_of(node, hash)? {
        return Ok(transaction_of(&found, index));
    }
    let working = node.lock();
    Ok(working.pool.find(hash).map_or(Value::Null, |tx| format::transaction(tx, tx.signer(), None, None)))
}

fn raw_transaction(node: &Node, params: &Params) -> Answer {
    let hash = params.hash(0)?;
    if let Some((found, index)) = block_of(node, hash)? {
        let tx = usize::try_from(index).ok().and_then(|at| found.block.body.transactions.get(at));
        return Ok(tx.map_or(Value::Null, |tx| format::bytes(tx.encoded_2718())));
    }
    Ok(node.lock().pool.find(hash).map_or(Value::Null, |tx| format::bytes(tx.encoded_2718())))
}

fn raw_by_index(node: &Node, id: BlockId, params: &Params) -> Answer {
    let index = params.number(1)?.unwrap_or_default();
    let found = find(node, id)?;
    let tx = found.as_ref().and_then(|found| found.block.body.transactions.get(usize::try_from(index).ok()?));
    Ok(tx.map_or(Value::Null, |tx| format::bytes(tx.encoded_2718())))
}

/// The receipts of a block as JSON.
pub fn receipts_of(node: &Node, found: &Found) -> Result<Vec<Value>, RpcError> {
    let header = &found.block.header;
    let receipts = found.receipts(node)?;
    let blob_fee = node.chain.rules().blob_params(header.timestamp).and_then(|params| header.blob_fee(params));
    let (mut gas_before, mut logs_before) = (0, 0);
    let mut answers = Vec::with_capacity(receipts.len());
    let sent = found.block.body.transactions.iter().zip(&found.senders);
    for (index, (receipt, (tx, sender))) in (0u64..).zip(receipts.iter().zip(sent)) {
        let around = Around {
            position: position(found, index),
            gas_before,
            logs_before,
            base_fee: header.base_fee_per_gas,
            blob_fee,
        };
        answers.push(format::receipt(receipt, tx, *sender, around));
        gas_before = receipt.cumulative_gas_used();
        logs_before += receipt.logs().len() as u64; // A block's gas bounds its logs.
    }
    Ok(answers)
}

fn receipt(node: &Node, params: &Params) -> Answer {
    let Some((found, index)) = block_of(node, params.hash(0)?)? else { return Ok(Value::Null) };
    let mut receipts = receipts_of(node, &found)?;
    let at = usize::try_from(index).unwrap_or(usize::MAX);
    Ok(if at < receipts.len() { receipts.swap_remove(at) } else { Value::Null })
}

fn block_receipts(node: &Node, params: &Params) -> Answer {
    let Some(found) = find(node, params.get(0)?)? else { return Ok(Value::Null) };
    Ok(Value::Array(receipts_of(node, &found)?))
}

fn raw_receipts(node: &Node, params: &Params) -> Answer {
    let receipts = find(node, params.get(0)?)?.ok_or_else(not_found)?.receipts(node)?;
    Ok(receipts.iter().map(|receipt| Value::String(hex::encode_prefixed(receipt.encoded_2718()))).collect())
}
