//! The chain with its state as one piece of bytes, and back: JSON in gzip, of anvil's form (foundry, `anvil_dumpState`).
//!
//! A dump has the present state, the blocks with their transactions and receipts, and no state from before. It is read whole and compared with
//! itself before anything of it is written.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use alloy_consensus::proofs::{calculate_receipt_root, calculate_transaction_root, calculate_withdrawals_root};
use alloy_consensus::transaction::SignerRecoverable;
use alloy_consensus::{Block, BlockBody, Header, ReceiptEnvelope, Transaction, TxEnvelope, TxReceipt};
use alloy_eips::eip2718::Encodable2718;
use alloy_eips::eip4895::Withdrawals;
use alloy_primitives::{Address, B256, Bloom, Bytes, U256, hex, keccak256};
use alloy_trie::KECCAK_EMPTY;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::Method;
use super::error::{Answer, RpcError};
use super::params::Params;
use crate::chain::LoadedBlock;
use crate::node::Node;
use crate::store::StateChanges;
use crate::trie::AccountChange;

/// Bytes of a dump's JSON.
const JSON_BYTES_MAX: u64 = 128 << 20;
/// The greatest number of a block: there is place above for twice as many moments.
const NUMBER_MAX: u64 = 1 << 60;
/// The first bytes of gzip: RFC 1952, section 2.3.1.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The methods of this file.
pub const METHODS: &[(&str, Method)] =
    &[("anvil_dumpState", dump), ("hardhat_dumpState", dump), ("anvil_loadState", load), ("hardhat_loadState", load)];

/// A dump.
#[derive(Debug, Serialize, Deserialize)]
struct Dump {
    /// The environment of the newest block, in revm's words.
    #[serde(default)]
    block: Value,
    accounts: BTreeMap<Address, Account>,
    #[serde(default, deserialize_with = "optional_number")]
    best_block_number: Option<u64>,
    #[serde(default)]
    blocks: Vec<DumpedBlock>,
    #[serde(default)]
    transactions: Vec<DumpedTransaction>,
    /// States of earlier blocks.
    #[serde(default)]
    historical_states: Option<Vec<Value>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Account {
    #[serde(deserialize_with = "number")]
    nonce: u64,
    balance: U256,
    code: Bytes,
    storage: BTreeMap<U256, U256>,
}

#[derive(Debug, Serialize, Deserialize)]
struct DumpedBlock {
    header: Header,
    #[serde(default)]
    transactions: Vec<Value>,
    #[serde(default)]
    ommers: Vec<Header>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    withdrawals: Option<Withdrawals>,
}

/// A transaction of a block, with its sender where the signature is not his.
#[derive(Debug, Serialize, Deserialize)]
struct DumpedEnvelope {
    transaction: Value,
    #[serde(default)]
    impersonated_sender: Option<Address>,
}

#[derive(Debug, Serialize, Deserialize)]
struct DumpedTransaction {
    info: Info,
    receipt: ReceiptEnvelope,
    block_hash: B256,
    #[serde(deserialize_with = "number")]
    block_number: u64,
}

/// The outcome of a transaction in anvil's words. Calls are not written down: they can be traced.
#[derive(Debug, Serialize, Deserialize)]
struct Info {
    transaction_hash: B256,
    #[serde(deserialize_with = "number")]
    transaction_index: u64,
    from: Address,
    to: Option<Address>,
    contract_address: Option<Address>,
    #[serde(default)]
    traces: Vec<Value>,
    exit: Value,
    out: Option<Bytes>,
    #[serde(deserialize_with = "number")]
    nonce: u64,
    #[serde(deserialize_with = "number")]
    gas_used: u64,
}

/// A number of JSON, or in text as older dumps have it.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let read = Params(vec![Value::deserialize(deserializer)?]).number(0);
    read.map_err(|error| serde::de::Error::custom(error.message))?
        .ok_or_else(|| serde::de::Error::custom("a number is null"))
}

fn optional_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Params(vec![Value::deserialize(deserializer)?]).number(0).map_err(|error| serde::de::Error::custom(error.message))
}

fn dump(node: &Node, params: &Params) -> Answer {
    if params.find(0)?.unwrap_or(false) {
        return Err(RpcError::params("states of earlier blocks are not written into a dump: leave the parameter out"));
    }
    let _working = node.lock();
    let (head, _, header) = node.chain.head()?;
    let state = node.chain.store().dump()?;
    let code = |hash: &B256| state.codes.get(hash).cloned().unwrap_or_default();
    let accounts = state.accounts.iter().map(|(address, (account, slots))| {
        let (nonce, balance, code) = (account.nonce, account.balance, code(&account.code_hash));
        (*address, Account { nonce, balance, code, storage: slots.clone() })
    });
    let (mut blocks, mut transactions) = (Vec::new(), Vec::new());
    for number in 0..=head {
        // A forked chain has none from before.
        let Some(block) = node.chain.store().block(number)? else { continue };
        dump_block(node, block, &mut blocks, &mut transactions)?;
    }
    let dump = Dump {
        block: environment(node, &header),
        accounts: accounts.collect(),
        best_block_number: Some(head),
        blocks,
        transactions,
        historical_states: None,
    };
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = serde_json::to_vec(&dump).map_err(|error| RpcError::input(error.to_string()))?;
    if written.len() as u64 > JSON_BYTES_MAX {
        return Err(RpcError::input(format!(
            "the dump has {} bytes before gzip: at most {JSON_BYTES_MAX}",
            written.len()
        )));
    }
    let bytes = encoder.write_all(&written).and_then(|()| encoder.finish());
    Ok(hex::encode_prefixed(bytes.map_err(|error| RpcError::input(error.to_string()))?).into())
}

fn dump_block(
    node: &Node,
    block: crate::store::ChainBlock,
    blocks: &mut Vec<DumpedBlock>,
    transactions: &mut Vec<DumpedTransaction>,
) -> Result<(), RpcError> {
    let store = node.chain.store();
    let number = block.header.number;
    let (senders, receipts) = (store.senders(number)?, store.receipts(number)?.unwrap_or_default());
    let hash = store.hash(number)?.unwrap_or_default();
    let mut before = 0;
    let mut envelopes = Vec::new();
    for (index, ((tx, sender), receipt)) in (0u64..).zip(block.body.transactions.iter().zip(&senders).zip(receipts)) {
        let is_signed = tx.recover_signer().is_ok_and(|signer| signer == *sender);
        let transaction = serde_json::to_value(tx).map_err(|error| RpcError::input(error.to_string()))?;
        let envelope = DumpedEnvelope { transaction, impersonated_sender: (!is_signed).then_some(*sender) };
        envelopes.push(serde_json::to_value(envelope).map_err(|error| RpcError::input(error.to_string()))?);
        let gas_used = receipt.cumulative_gas_used() - before;
        before = receipt.cumulative_gas_used();
        let info = Info {
            transaction_hash: *tx.tx_hash(),
            transaction_index: index,
            from: *sender,
            to: tx.to(),
            contract_address: tx.to().is_none().then(|| sender.create(tx.nonce())),
            traces: Vec::new(),
            exit: if receipt.status() { "Stop" } else { "Revert" }.into(),
            out: None,
            nonce: tx.nonce(),
            gas_used,
        };
        transactions.push(DumpedTransaction { info, receipt, block_hash: hash, block_number: number });
    }
    let Block { header, body: BlockBody { ommers, withdrawals, .. } } = block;
    blocks.push(DumpedBlock { header, transactions: envelopes, ommers, withdrawals });
    Ok(())
}

/// The environment of a block, as revm's `BlockEnv` is written.
fn environment(node: &Node, header: &Header) -> Value {
    let env = node.chain.env_of(header).block_env;
    let blob = env.blob_excess_gas_and_price;
    json!({
        "number": env.number,
        "beneficiary": env.beneficiary,
        "timestamp": env.timestamp,
        "gas_limit": env.gas_limit,
        "basefee": env.basefee,
        "difficulty": env.difficulty,
        "prevrandao": env.prevrandao,
        "blob_excess_gas_and_price": blob.map(|blob| {
            let price = u64::try_from(blob.blob_gasprice).unwrap_or(u64::MAX);
            json!({ "excess_blob_gas": blob.excess_blob_gas, "blob_gasprice": price })
        }),
        "slot_num": 0,
    })
}

/// Adds a dump to the chain: its accounts and slots take the place of those that are here, others stay; its blocks are the chain's from now on.
fn load(node: &Node, params: &Params) -> Answer {
    let bytes: Bytes = params.get(0)?;
    let bad = |why: String| RpcError::params(format!("invalid argument 0: no dump of a state: {why}"));
    let json = match bytes.starts_with(&GZIP) {
        false => bytes.to_vec(),
        true => {
            let mut json = Vec::new();
            let read = GzDecoder::new(&bytes[..]).take(JSON_BYTES_MAX + 1).read_to_end(&mut json);
            read.map_err(|error| bad(format!("gzip: {error}")))?;
            json
        }
    };
    if json.len() as u64 > JSON_BYTES_MAX {
        return Err(bad(format!("more than {JSON_BYTES_MAX} bytes")));
    }
    let dump: Dump = serde_json::from_slice(&json).map_err(|error| bad(error.to_string()))?;
    if dump.historical_states.is_some() {
        tracing::warn!("states of earlier blocks in the dump are left out");
    }
    let newest = dump.best_block_number;
    let (changes, blocks) = (changes(&dump.accounts), blocks(dump.blocks, dump.transactions).map_err(bad)?);
    if let (Some(newest), Some(last)) = (newest, blocks.last())
        && last.block.header.number != newest
    {
        return Err(bad(format!("best_block_number is {newest}, and the last block is {}", last.block.header.number)));
    }
    let mut working = node.lock();
    if let Some(first) = blocks.first().map(|first| &first.block.header)
        && first.number > 0
        && node.chain.store().hash(first.number - 1)? != Some(first.parent_hash)
    {
        return Err(bad(format!("its first block, {}, follows none of this chain", first.number)));
    }
    node.chain.load(&changes, &blocks)?;
    node.follow_chain(&mut working)?;
    Ok(true.into())
}

/// The accounts of a dump as changes.
fn changes(accounts: &BTreeMap<Address, Account>) -> StateChanges {
    let mut changes = StateChanges::default();
    for (address, account) in accounts {
        let code_hash = if account.code.is_empty() { KECCAK_EMPTY } else { keccak256(&account.code) };
        if !account.code.is_empty() {
            changes.codes.insert(code_hash, account.code.clone());
        }
        let info = Some((account.nonce, account.balance, code_hash));
        let change = AccountChange { info, is_wiped: false, slots: account.storage.clone() };
        changes.accounts.insert(*address, change);
    }
    changes
}

/// The blocks of a dump, in order, each the child of the one before, with roots that are those of their bodies.
fn blocks(mut dumped: Vec<DumpedBlock>, transactions: Vec<DumpedTransaction>) -> Result<Vec<LoadedBlock>, String> {
    dumped.sort_by_key(|block| block.header.number);
    let mut receipts: BTreeMap<B256, BTreeMap<u64, (B256, ReceiptEnvelope)>> = BTreeMap::new();
    for DumpedTransaction { info, receipt, block_hash, .. } in transactions {
        let of_block = receipts.entry(block_hash).or_default();
        if of_block.insert(info.transaction_index, (info.transaction_hash, receipt)).is_some() {
            return Err(format!("transaction {} of block {block_hash} twice", info.transaction_index));
        }
    }
    let mut loaded: Vec<LoadedBlock> = Vec::with_capacity(dumped.len());
    for block in dumped {
        let (number, hash) = (block.header.number, block.header.hash_slow());
        if let Some(last) = loaded.last()
            && (last.block.header.number.checked_add(1), last.hash) != (Some(number), block.header.parent_hash)
        {
            return Err(format!("block {number} is no child of block {}", last.block.header.number));
        }
        if number > NUMBER_MAX {
            return Err(format!("block {number}: the greatest number is {NUMBER_MAX}"));
        }
        let own = receipts.remove(&hash).unwrap_or_default();
        loaded.push(block_of(block, hash, own).map_err(|why| format!("block {number}: {why}"))?);
    }
    match receipts.first_key_value() {
        Some((hash, _)) => Err(format!("transactions of block {hash}, which is not there")),
        None => Ok(loaded),
    }
}

fn block_of(
    dumped: DumpedBlock,
    hash: B256,
    mut dumped_receipts: BTreeMap<u64, (B256, ReceiptEnvelope)>,
) -> Result<LoadedBlock, String> {
    let DumpedBlock { header, transactions: envelopes, ommers, withdrawals } = dumped;
    let (mut transactions, mut senders, mut receipts) = (Vec::new(), Vec::new(), Vec::new());
    for (index, envelope) in (0u64..).zip(envelopes) {
        let (tx, sender) = transaction(envelope).map_err(|why| format!("transaction {index}: {why}"))?;
        let (of, receipt) = dumped_receipts.remove(&index).ok_or_else(|| format!("transaction {index}: no receipt"))?;
        if of != *tx.tx_hash() {
            return Err(format!("transaction {index}: its hash is {}, and the receipt is of {of}", tx.tx_hash()));
        }
        transactions.push(tx);
        senders.push(sender);
        receipts.push(receipt);
    }
    if let Some((index, _)) = dumped_receipts.first_key_value() {
        return Err(format!("a receipt of transaction {index}, which is not there"));
    }
    let mut used = receipts.iter().map(TxReceipt::cumulative_gas_used);
    if !used.clone().is_sorted() || used.next_back().unwrap_or_default() != header.gas_used {
        return Err(format!("the gas of its receipts does not add up to {}", header.gas_used));
    }
    if receipts.iter().fold(Bloom::ZERO, |bloom, receipt| bloom | receipt.bloom()) != header.logs_bloom {
        return Err("the bloom of its logs is not that of its receipts".to_owned());
    }
    // anvil's dumps leave withdrawals out where there are none.
    let withdrawals = withdrawals.or_else(|| header.withdrawals_root.map(|_| Withdrawals::default()));
    let compared = [
        ("transactions", calculate_transaction_root(&transactions), header.transactions_root),
        ("receipts", calculate_receipt_root(&receipts), header.receipts_root),
        (
            "withdrawals",
            withdrawals.as_ref().map(|all| calculate_withdrawals_root(all)).unwrap_or_default(),
            header.withdrawals_root.unwrap_or_default(),
        ),
    ];
    for (what, found, said) in compared {
        if found != said {
            return Err(format!("the root of its {what} is {found}, and the header has {said}"));
        }
    }
    let block = Block { header, body: BlockBody { transactions, ommers, withdrawals } };
    Ok(LoadedBlock { block, hash, senders, receipts })
}

/// A transaction of a dump, with its sender.
fn transaction(dumped: Value) -> Result<(TxEnvelope, Address), String> {
    let envelope = match dumped.get("transaction") {
        Some(_) => serde_json::from_value(dumped).map_err(|error| error.to_string())?,
        None => DumpedEnvelope { transaction: dumped, impersonated_sender: None },
    };
    let tx: TxEnvelope = serde_json::from_value(typed(envelope.transaction)).map_err(|error| error.to_string())?;
    let hash = keccak256(tx.encoded_2718());
    if hash != *tx.tx_hash() {
        return Err(format!("its hash is {hash}, not {}", tx.tx_hash()));
    }
    let sender = match envelope.impersonated_sender {
        Some(sender) => sender,
        None => tx.recover_signer().map_err(|error| error.to_string())?,
    };
    Ok((tx, sender))
}

/// The transaction with its type among its fields; older dumps have them under the name of the type.
fn typed(transaction: Value) -> Value {
    let names = [("Legacy", "0x0"), ("EIP2930", "0x1"), ("EIP1559", "0x2"), ("EIP4844", "0x3"), ("EIP7702", "0x4")];
    let named = names.into_iter().find_map(|(name, number)| Some((transaction.get(name)?.clone(), number)));
    match named {
        Some((Value::Object(mut fields), number)) => {
            fields.insert("type".to_owned(), number.into());
            Value::Object(fields)
        }
        _ => transaction,
    }
}
