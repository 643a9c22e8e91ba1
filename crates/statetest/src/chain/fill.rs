//! A new blockchain test: blocks of signed transactions on a genesis with the system contracts.

use alloy_consensus::constants::{EMPTY_OMMER_ROOT_HASH, EMPTY_WITHDRAWALS};
use alloy_consensus::transaction::SignerRecoverable;
use alloy_consensus::{BlockBody, EMPTY_ROOT_HASH, Header, TxEnvelope};
use alloy_eips::eip1559::BaseFeeParams;
use alloy_eips::eip2718::Decodable2718;
use alloy_eips::eip4895::Withdrawal;
use alloy_eips::eip7685::EMPTY_REQUESTS_HASH;
use alloy_primitives::{Address, B256};
use serde_json::{Map, Value, json};

use crate::chain::written;
use crate::chain::{Block, Executed, Rules, excess_after, execute, system_contracts};
use crate::encoded;
use crate::execution::Machine;
use crate::fill::FillError;
use crate::fork_rules::{GAS_PER_BLOB, rules_of};
use crate::format::{Accounts, Config, Indexes, TransactionParts};
use crate::quantity::bytes_written;
use crate::state::State;
use crate::transaction::{Built, Wanted, build, secret_key_of};

/// Fee of the genesis block. The fee of a first block after an empty one is 7, as in state tests of execution-specs.
const GENESIS_BASE_FEE: u64 = 8;
/// Gas of a block.
const GAS_LIMIT: u64 = 100_000_000;
/// Seconds of a block.
const SECONDS: u64 = 1_000;

/// A chain that begins with some accounts.
#[derive(Debug)]
pub struct ChainScene {
    fork: String,
    config: Value,
    rules: Config,
    coinbase: Address,
    pre: Value,
    state: State,
}

/// A block that is to be made.
#[derive(Debug, Clone, Default)]
pub struct BlockPlan {
    /// Transactions as state tests have them, of one variant each.
    pub transactions: Vec<Value>,
    /// Wei in units of 10⁹ for accounts, by indexes that go on from block to block.
    pub withdrawals: Vec<([u8; 20], u64)>,
    /// Fault of a block that has to be refused.
    pub damage: Option<Damage>,
}

/// A fault of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// Its header has another state root.
    StateRoot,
    /// Its header has one gas more.
    GasUsed,
    /// Its header has another root of receipts.
    Receipts,
    /// Its header has the root of no withdrawals, which it has.
    Withdrawals,
    /// Its header has the gas of one blob more.
    BlobGasUsed,
    /// Its first transaction is refused, with this exception.
    Transaction(&'static str),
}

impl Damage {
    /// The exception, as execution-specs names it.
    fn name(self) -> String {
        match self {
            Self::StateRoot => "BlockException.INVALID_STATE_ROOT".to_owned(),
            Self::GasUsed => "BlockException.INVALID_GAS_USED".to_owned(),
            Self::Receipts => "BlockException.INVALID_RECEIPTS_ROOT".to_owned(),
            Self::Withdrawals => "BlockException.INVALID_WITHDRAWALS_ROOT".to_owned(),
            Self::BlobGasUsed => "BlockException.INCORRECT_BLOB_GAS_USED".to_owned(),
            Self::Transaction(name) => format!("TransactionException.{name}"),
        }
    }

    fn apply(self, header: &mut Header) {
        match self {
            Self::StateRoot => header.state_root = EMPTY_ROOT_HASH,
            Self::GasUsed => header.gas_used += 1,
            Self::Receipts => header.receipts_root = EMPTY_ROOT_HASH,
            Self::Withdrawals => header.withdrawals_root = Some(EMPTY_WITHDRAWALS),
            Self::BlobGasUsed => header.blob_gas_used = header.blob_gas_used.map(|gas| gas + GAS_PER_BLOB),
            Self::Transaction(_) => {}
        }
    }
}

/// Blocks as they come to be.
struct Growing {
    parent: Header,
    state: State,
    blocks: Vec<Value>,
    withdrawals: u64,
}

fn withdrawal((index, &(address, amount)): (u64, &([u8; 20], u64))) -> Withdrawal {
    Withdrawal { index, validator_index: index, address: address.into(), amount }
}

impl ChainScene {
    /// With these accounts of a test beside the system contracts, under a fork from Prague on. `config`: the chain, as state tests have it.
    pub fn new(pre: &Map<String, Value>, fork: &str, config: &Value, coinbase: [u8; 20]) -> Result<Self, FillError> {
        let malformed = |error: serde_json::Error| FillError::Malformed(error.to_string());
        rules_of(fork).map_err(FillError::Malformed)?;
        let mut all = pre.clone();
        for (address, code) in system_contracts() {
            let account = json!({ "nonce": "0x01", "balance": "0x00", "code": bytes_written(&code), "storage": {} });
            all.insert(bytes_written(address.as_slice()), account);
        }
        let pre = Value::Object(all);
        let accounts: Accounts = serde_json::from_value(pre.clone()).map_err(malformed)?;
        let rules: Config = serde_json::from_value(config.clone()).map_err(malformed)?;
        let mut config = config.clone();
        config["network"] = fork.into();
        let state = State::new(&accounts);
        Ok(Self { fork: fork.to_owned(), config, rules, coinbase: coinbase.into(), pre, state })
    }

    /// The test, with what a machine makes of the blocks. `info`: its `_info`.
    pub fn filled(&self, info: Value, plans: &[BlockPlan], machine: Machine<'_>) -> Result<Value, FillError> {
        let genesis = self.genesis();
        let block =
            Block::new(genesis.clone(), BlockBody { withdrawals: Some(Vec::new().into()), ..BlockBody::default() });
        let mut growing =
            Growing { parent: genesis.clone(), state: self.state.clone(), blocks: Vec::new(), withdrawals: 0 };
        for plan in plans {
            self.add(&mut growing, plan, machine)?;
        }
        Ok(json!({
            "_info": info,
            "network": self.fork,
            "genesisBlockHeader": written::header(&genesis),
            "genesisRLP": bytes_written(&alloy_rlp::encode(&block)),
            "pre": self.pre,
            "postState": growing.state.listed(),
            "lastblockhash": growing.parent.hash_slow(),
            "config": self.config,
            "blocks": growing.blocks,
            "sealEngine": "NoProof",
        }))
    }

    fn genesis(&self) -> Header {
        Header {
            ommers_hash: EMPTY_OMMER_ROOT_HASH,
            state_root: self.state.root(),
            gas_limit: GAS_LIMIT,
            extra_data: vec![0].into(),
            base_fee_per_gas: Some(GENESIS_BASE_FEE),
            withdrawals_root: Some(EMPTY_WITHDRAWALS),
            blob_gas_used: Some(0),
            excess_blob_gas: Some(0),
            parent_beacon_block_root: Some(B256::ZERO),
            requests_hash: Some(EMPTY_REQUESTS_HASH),
            ..Header::default()
        }
    }

    fn add(&self, growing: &mut Growing, plan: &BlockPlan, machine: Machine<'_>) -> Result<(), FillError> {
        let rules = Rules { fork: &self.fork, config: &self.rules };
        let parent = &growing.parent;
        let transactions = plan.transactions.iter().map(|tx| self.signed(tx, &growing.state));
        let transactions = transactions.collect::<Result<Vec<_>, _>>()?;
        let header = Header {
            parent_hash: parent.hash_slow(),
            beneficiary: self.coinbase,
            number: parent.number + 1,
            timestamp: parent.timestamp + SECONDS,
            extra_data: Default::default(),
            base_fee_per_gas: parent.next_block_base_fee(BaseFeeParams::ethereum()),
            excess_blob_gas: excess_after(rules, parent),
            ..self.genesis()
        };
        let withdrawals: Vec<Withdrawal> = (growing.withdrawals..).zip(&plan.withdrawals).map(withdrawal).collect();
        growing.withdrawals += withdrawals.len() as u64; // Widens.
        let body = BlockBody { transactions, ommers: Vec::new(), withdrawals: Some(withdrawals.into()) };
        let mut block = Block::new(header, body);
        let executed = execute(machine, rules, parent, &growing.state, &block);
        let executed = match (plan.damage, executed) {
            (Some(Damage::Transaction(name)), Err(refusal)) if refusal.names.contains(&name) => None,
            (Some(Damage::Transaction(name)), _) => {
                return Err(FillError::Malformed(format!("a block is not refused as {name}")));
            }
            (_, executed) => Some(executed.map_err(|refusal| FillError::Refused(refusal.to_string()))?),
        };
        if let Some(Executed { header, .. }) = &executed {
            block.header = header.clone();
        }
        plan.damage.inspect(|damage| damage.apply(&mut block.header));
        let mut written = self.written(&block)?;
        let rlp = bytes_written(&alloy_rlp::encode(&block));
        match (plan.damage, executed) {
            (None, Some(Executed { state, receipts, .. })) => {
                written["receipts"] = receipts.into();
                written["rlp"] = rlp.into();
                growing.blocks.push(written);
                (growing.parent, growing.state) = (block.header, state);
            }
            (Some(damage), _) => growing.blocks.push(json!({
                "rlp": rlp,
                "expectException": damage.name(),
                "rlp_decoded": written,
            })),
            (None, None) => {}
        }
        Ok(())
    }

    /// A block but for its encoding.
    fn written(&self, block: &Block) -> Result<Value, FillError> {
        let transaction = |tx: &TxEnvelope| {
            let sender = tx.recover_signer().map_err(|error| FillError::Malformed(error.to_string()))?;
            Ok(written::transaction(tx, sender))
        };
        let transactions: Result<Vec<Value>, FillError> = block.body.transactions.iter().map(transaction).collect();
        Ok(json!({
            "blockHeader": written::header(&block.header),
            "transactions": transactions?,
            "uncleHeaders": [],
            "withdrawals": written::withdrawals(block),
            "blocknumber": block.header.number.to_string(),
        }))
    }

    fn signed(&self, tx: &Value, state: &State) -> Result<TxEnvelope, FillError> {
        let malformed = |error: String| FillError::Malformed(error);
        let parts: TransactionParts =
            serde_json::from_value(tx.clone()).map_err(|error| malformed(error.to_string()))?;
        let spec = rules_of(&self.fork).map_err(malformed)?;
        let chain_id = self.rules.chainid.map_or(1, |id| id.at_most_u64());
        let wanted = Wanted { indexes: Indexes { data: 0, gas: 0, value: 0 }, chain_id, spec, expected: None };
        let Built::Ready(transaction) = build(&parts, &wanted, state) else {
            return Err(malformed("a transaction that cannot be encoded".to_owned()));
        };
        let key = parts.secret_key.and_then(secret_key_of);
        let key = key.ok_or_else(|| malformed("a transaction without a secret key".to_owned()))?;
        let bytes = encoded::signed(&transaction, &key).map_err(|error| malformed(error.to_string()))?;
        TxEnvelope::decode_2718_exact(&bytes).map_err(|error| malformed(error.to_string()))
    }
}
