//! Blocks: their system calls and transactions executed, and the header that comes of them, from Prague's rules on, without
//! requests.

mod fill;
mod judge;
mod written;

use std::cell::RefCell;

use alloy_consensus::constants::EMPTY_OMMER_ROOT_HASH;
use alloy_consensus::proofs::{calculate_transaction_root, calculate_withdrawals_root};
use alloy_consensus::transaction::SignerRecoverable;
use alloy_consensus::{Header, Transaction, TxEnvelope};
use alloy_eips::eip1559::BaseFeeParams;
use alloy_eips::eip2718::Encodable2718;
use alloy_eips::eip4895::Withdrawal;
use alloy_eips::eip7685::EMPTY_REQUESTS_HASH;
use alloy_eips::{eip2935, eip4788, eip7002, eip7251};
use alloy_primitives::{Address, B64, Bloom, Bytes, U256};
use alloy_trie::root::ordered_trie_root_encoded;
use residue_engine::revm::context::TxEnv;
use residue_engine::revm::context::result::ExecutionResult;
use residue_engine::revm::primitives::TxKind;
use serde_json::Value;

use crate::exception::Refusal;
use crate::execution::{Ended, Machine, Setting};
use crate::fork_rules::{GAS_PER_BLOB, blobs_max, environment, next_excess_blob_gas, rules_of};
use crate::format::{Config, Env};
use crate::quantity::{HexAddress, Number, Word};
use crate::receipt;
use crate::state::State;

pub use fill::{BlockPlan, ChainScene, Damage};
pub use judge::ChainTest;

/// A block with its transactions as the network has them.
pub(crate) type Block = alloy_consensus::Block<TxEnvelope>;

/// The rules of a chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules<'a> {
    /// The fork, named as in tests.
    pub fork: &'a str,
    /// The chain's id, and blobs.
    pub config: &'a Config,
}

/// Result of a block.
#[derive(Debug)]
pub(crate) struct Executed {
    /// The header that belongs to what was executed.
    pub header: Header,
    /// The state afterwards.
    pub state: State,
    /// Receipts, as tests have them.
    pub receipts: Vec<Value>,
}

/// The contracts that blocks call, from Prague on.
pub fn system_contracts() -> [(Address, Bytes); 4] {
    [
        (eip4788::BEACON_ROOTS_ADDRESS, eip4788::BEACON_ROOTS_CODE.clone()),
        (eip2935::HISTORY_STORAGE_ADDRESS, eip2935::HISTORY_STORAGE_CODE.clone()),
        (eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS, eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_CODE.clone()),
        (eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS, eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_CODE.clone()),
    ]
}

/// Executes a block after its parent. What its header says of the results is not looked at. The refusal of the first transaction that is refused, and of a
/// header that no results could make right.
pub(crate) fn execute(
    machine: Machine<'_>,
    rules: Rules<'_>,
    parent: &Header,
    state: &State,
    block: &Block,
) -> Result<Executed, Refusal> {
    let header = &block.header;
    check_header(rules, parent, header)?;
    let withdrawals = withdrawals_of(block)?;
    let mut state = state.clone();
    let call = |state: &mut State, address: Address, data: Bytes| {
        let setting = setting(rules, header, state, TxEnv::default())?;
        let done = setting.system_call(machine, address, data).map_err(|error| unsupported(&error))?;
        let output = done.result.output().cloned().unwrap_or_default();
        *state = setting.state.after(done.state);
        Ok(output)
    };
    let root = header.parent_beacon_block_root.unwrap_or_default();
    call(&mut state, eip4788::BEACON_ROOTS_ADDRESS, root.into())?;
    call(&mut state, eip2935::HISTORY_STORAGE_ADDRESS, header.parent_hash.into())?;
    let (mut receipts, mut encoded, mut bloom, mut gas_used) = (Vec::new(), Vec::new(), Bloom::ZERO, 0);
    let mut blobs: u64 = 0;
    for tx in &block.body.transactions {
        let transaction = transaction(tx)?;
        if gas_used + transaction.gas_limit > header.gas_limit {
            return Err(Refusal::new("the block has no room for its gas".to_owned(), &["GAS_ALLOWANCE_EXCEEDED"]));
        }
        blobs += transaction.blob_hashes.len() as u64; // Widens.
        let setting = setting(rules, header, &state, transaction)?;
        if blobs > setting.blobs_max {
            let reason = format!("{blobs} blobs, and a block has {} at most", setting.blobs_max);
            return Err(Refusal::new(reason, &["TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED"]));
        }
        let execution = setting.on(machine);
        let result: &ExecutionResult<_> = match &execution.ended {
            Ended::Executed(result) => result,
            Ended::Refused(refusal) => return Err(refusal.clone()),
            Ended::Broken(reason) => return Err(unsupported(reason)),
        };
        let after = setting.state_after(&execution);
        // From Byzantium on receipts have no root.
        receipts.push(receipt::filled(&setting, result, Default::default(), &tx.encoded_2718(), gas_used));
        encoded.push(receipt::encoded(&setting, result, gas_used));
        result.logs().iter().for_each(|log| bloom.accrue_log(log));
        gas_used += result.tx_gas_used();
        state = after;
    }
    for withdrawal in withdrawals {
        state = state.with_gain(withdrawal.address, withdrawal.amount_wei());
    }
    for address in [eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS, eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS] {
        if !call(&mut state, address, Bytes::new())?.is_empty() {
            return Err(unsupported("a block with requests"));
        }
    }
    let header = Header {
        state_root: state.root(),
        transactions_root: calculate_transaction_root(&block.body.transactions),
        receipts_root: ordered_trie_root_encoded(&encoded),
        logs_bloom: bloom,
        gas_used,
        ommers_hash: EMPTY_OMMER_ROOT_HASH,
        withdrawals_root: Some(calculate_withdrawals_root(withdrawals)),
        blob_gas_used: Some(blobs * GAS_PER_BLOB),
        requests_hash: Some(EMPTY_REQUESTS_HASH),
        ..header.clone()
    };
    Ok(Executed { header, state, receipts })
}

/// The withdrawals of a block. A refusal where there is no list of them, and of ommers.
fn withdrawals_of(block: &Block) -> Result<&[Withdrawal], Refusal> {
    let withdrawals = block.body.withdrawals.as_deref().filter(|_| block.body.ommers.is_empty());
    let refusal = || unsupported("a block with ommers, or without a list of withdrawals");
    withdrawals.map(Vec::as_slice).ok_or_else(refusal)
}

/// The exception of a field in which a header says something else than was executed.
pub(crate) fn fault_of(said: &Header, executed: &Header) -> Option<&'static str> {
    let fields = [
        (said.gas_used == executed.gas_used, "INVALID_GAS_USED"),
        (said.state_root == executed.state_root, "INVALID_STATE_ROOT"),
        (said.receipts_root == executed.receipts_root, "INVALID_RECEIPTS_ROOT"),
        (said.transactions_root == executed.transactions_root, "INVALID_TRANSACTIONS_ROOT"),
        (said.logs_bloom == executed.logs_bloom, "INVALID_LOG_BLOOM"),
        (said.requests_hash == executed.requests_hash, "INVALID_REQUESTS"),
        (said.withdrawals_root == executed.withdrawals_root, "INVALID_WITHDRAWALS_ROOT"),
        (said.blob_gas_used == executed.blob_gas_used, "INCORRECT_BLOB_GAS_USED"),
        (said == executed, "RLP_STRUCTURES_ENCODING"),
    ];
    fields.into_iter().find(|(is_right, _)| !is_right).map(|(_, name)| name)
}

/// Excess of blob gas of a block by its parent's header; none where that lacks what it follows from.
fn excess_after(rules: Rules<'_>, parent: &Header) -> Option<u64> {
    let known = [parent.excess_blob_gas?, parent.blob_gas_used?, parent.base_fee_per_gas?];
    Some(next_excess_blob_gas(rules.config, rules.fork, rules_of(rules.fork).ok()?, known))
}

/// Checks of a header before anything is executed.
fn check_header(rules: Rules<'_>, parent: &Header, header: &Header) -> Result<(), Refusal> {
    let limit = parent.gas_limit / 1024;
    let excess = excess_after(rules, parent);
    let base_fee = parent.next_block_base_fee(BaseFeeParams::ethereum());
    let rules = [
        (header.parent_hash == parent.hash_slow(), "UNKNOWN_PARENT"),
        (header.number == parent.number + 1, "INVALID_BLOCK_NUMBER"),
        (header.timestamp > parent.timestamp, "INVALID_BLOCK_TIMESTAMP_OLDER_THAN_PARENT"),
        (header.gas_limit.abs_diff(parent.gas_limit) < limit && header.gas_limit >= 5000, "INVALID_GASLIMIT"),
        (header.base_fee_per_gas == base_fee, "INVALID_BASEFEE_PER_GAS"),
        (excess.is_some() && header.excess_blob_gas == excess, "INCORRECT_EXCESS_BLOB_GAS"),
        (header.extra_data.len() <= 32, "EXTRA_DATA_TOO_BIG"),
        (header.difficulty.is_zero() && header.nonce == B64::ZERO, "IMPORT_IMPOSSIBLE_DIFFICULTY_OVER_PARIS"),
    ];
    match rules.into_iter().find(|(holds, _)| !holds) {
        Some((_, name)) => Err(Refusal::new(format!("the header: {name}"), &[name])),
        None => Ok(()),
    }
}

fn setting<'a>(
    rules: Rules<'_>,
    header: &Header,
    state: &'a State,
    transaction: TxEnv,
) -> Result<Setting<'a>, Refusal> {
    let spec = rules_of(rules.fork).map_err(|reason| unsupported(&reason))?;
    let env = Env {
        current_chain_id: None,
        current_coinbase: HexAddress(header.beneficiary),
        current_difficulty: None,
        current_gas_limit: header.gas_limit.into(),
        current_number: Word(U256::from(header.number)),
        current_timestamp: Word(U256::from(header.timestamp)),
        current_base_fee: header.base_fee_per_gas.map(Number::from),
        current_random: Some(Word(header.mix_hash.into())),
        current_excess_blob_gas: header.excess_blob_gas.map(Number::from),
        parent_blob_gas_used: None,
        parent_excess_blob_gas: None,
        slot_number: None,
    };
    let (cfg, block) = environment(&env, rules.config, rules.fork, spec);
    let blobs_max = blobs_max(rules.config, rules.fork, spec);
    Ok(Setting { state, cfg, block, transaction, blobs_max, results: RefCell::default() })
}

/// A transaction as revm takes it, of a type before EIP-7702.
pub(crate) fn transaction(tx: &TxEnvelope) -> Result<TxEnv, Refusal> {
    if tx.is_eip7702() {
        return Err(unsupported("a transaction of EIP-7702"));
    }
    let signer = tx.recover_signer();
    let caller = signer.map_err(|error| Refusal::new(error.to_string(), crate::exception::SIGNATURE))?;
    Ok(TxEnv {
        tx_type: tx.tx_type() as u8,
        caller,
        gas_limit: tx.gas_limit(),
        gas_price: tx.max_fee_per_gas(),
        gas_priority_fee: tx.max_priority_fee_per_gas(),
        kind: tx.to().map_or(TxKind::Create, TxKind::Call),
        value: tx.value(),
        data: tx.input().clone(),
        nonce: tx.nonce(),
        chain_id: tx.chain_id(),
        access_list: tx.access_list().cloned().unwrap_or_default(),
        max_fee_per_blob_gas: tx.max_fee_per_blob_gas().unwrap_or_default(),
        blob_hashes: tx.blob_versioned_hashes().unwrap_or_default().to_vec(),
        ..TxEnv::default()
    })
}

fn unsupported(reason: &str) -> Refusal {
    Refusal::new(format!("not executed here: {reason}"), &[])
}
