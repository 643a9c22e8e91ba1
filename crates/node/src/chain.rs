//! The chain: blocks executed on the state of their parent, checked or built, and written as one with all that comes of them.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use alloy_consensus::constants::EMPTY_WITHDRAWALS;
use alloy_consensus::proofs::{calculate_receipt_root, calculate_transaction_root, calculate_withdrawals_root};
use alloy_consensus::transaction::{Recovered, SignerRecoverable};
use alloy_consensus::{
    Block, BlockBody, EMPTY_OMMER_ROOT_HASH, Eip658Value, Header, ReceiptEnvelope, Transaction, TxEnvelope, TxReceipt,
};
use alloy_eips::eip4895::Withdrawals;
use alloy_evm::block::{BlockExecutionError, BlockExecutionResult, BlockExecutor, BlockExecutorFactory};
use alloy_evm::eth::receipt_builder::AlloyReceiptBuilder;
use alloy_evm::eth::{EthBlockExecutionCtx, EthBlockExecutorFactory};
use alloy_evm::{Evm, EvmEnv, EvmFactory};
use alloy_genesis::Genesis;
use alloy_hardforks::EthereumHardforks;
use alloy_primitives::{Address, B256, Bloom, Bytes, U256};
use residue_alloy::{ChainRules, FieldEvmFactory};
use residue_engine::revm::database::states::bundle_state::BundleRetention;
use residue_engine::revm::database::{BundleState, State};
use residue_engine::revm::primitives::hardfork::SpecId;

use crate::genesis;
use crate::store::{ChainBlock, NewBlock, Overlay, StateAt, StateChanges, StateView, Store, StoreError, When};
use crate::trie::AccountChange;

/// Factory of executors of blocks.
pub type Executors = EthBlockExecutorFactory<AlloyReceiptBuilder, ChainRules, FieldEvmFactory>;
/// The entry of the database that names the block which the chain began with.
const FIRST_BLOCK: &str = "first block";
/// A transaction with its sender.
pub type Sent = Recovered<TxEnvelope>;

/// Why a block is not of the chain.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The block's transactions or system calls cannot be executed.
    #[error("block {number} cannot be executed: {reason}")]
    Execution {
        /// Its number.
        number: u64,
        /// alloy-evm's words.
        reason: String,
    },
    /// Its header says something else than what came of it.
    #[error("block {number}: {what} is {found}, and the header has {expected}")]
    Header {
        /// Its number.
        number: u64,
        /// The field.
        what: &'static str,
        /// Value computed for the block.
        found: String,
        /// Value in the header.
        expected: String,
    },
    /// The database is of another chain.
    #[error("the data folder is of the chain with genesis {held}, not of {asked}")]
    OtherChain {
        /// The genesis block it has.
        held: B256,
        /// The one asked for.
        asked: B256,
    },
}

/// The chain over its database.
#[derive(Debug, Clone)]
pub struct Chain {
    store: Store,
    executors: Arc<Executors>,
    beginning: Arc<Beginning>,
    code_bytes_max: Option<usize>,
}

/// The beginning of the chain.
#[derive(Debug)]
enum Beginning {
    /// With a genesis block, on the state that it makes of nothing.
    Genesis { block: ChainBlock, hash: B256, state: Overlay },
    /// After a block of another node, with ether for some.
    Fork { block: ChainBlock, hash: B256, rich: Vec<Address> },
}

/// Inputs of a block to be built.
#[derive(Debug, Clone)]
pub struct Attributes {
    /// Seconds.
    pub time: u64,
    /// Recipient of the block's fees.
    pub beneficiary: Address,
    /// Gas of all transactions.
    pub gas_limit: u64,
    /// The random value of the beacon chain.
    pub prev_randao: B256,
    /// The base fee, where it is not the one that follows from the parent.
    pub base_fee: Option<u64>,
    /// The root of the parent in the beacon chain.
    pub beacon_root: B256,
    /// Bytes of the header.
    pub extra_data: Bytes,
    /// Withdrawals.
    pub withdrawals: Withdrawals,
}

/// A block that was executed, with what came of it.
#[derive(Debug)]
pub struct Built {
    /// The block.
    pub block: ChainBlock,
    /// Its hash.
    pub hash: B256,
    /// Senders of its transactions.
    pub senders: Vec<Address>,
    /// Its receipts.
    pub receipts: Vec<ReceiptEnvelope>,
    /// Requests to the consensus layer (EIP-7685).
    pub requests: alloy_eips::eip7685::Requests,
    /// Transactions that could not be executed, with the reason.
    pub rejected: Vec<(Sent, String)>,
    after: Arc<Overlay>,
}

impl Built {
    /// The present state after it.
    pub fn after(&self) -> &Arc<Overlay> {
        &self.after
    }
}

/// A block that was written elsewhere, with all that belongs to it.
#[derive(Debug)]
pub struct LoadedBlock {
    /// The block.
    pub block: ChainBlock,
    /// Its hash.
    pub hash: B256,
    /// Senders of its transactions.
    pub senders: Vec<Address>,
    /// Its receipts.
    pub receipts: Vec<ReceiptEnvelope>,
}

/// Result of an execution.
struct Executed {
    result: BlockExecutionResult<ReceiptEnvelope>,
    included: Vec<Sent>,
    rejected: Vec<(Sent, String)>,
    changes: StateChanges,
}

impl Chain {
    /// The chain of a genesis, from its database or with its first block written.
    pub fn open(
        store: Store,
        genesis: &Genesis,
        rules: ChainRules,
        factory: FieldEvmFactory,
        code_bytes_max: Option<usize>,
    ) -> Result<Self, ChainError> {
        let mut header = genesis::header(genesis, &rules);
        let changes = genesis::state(&genesis.alloc);
        let empty = Store::open(None)?;
        let tries = empty.state(StateAt::Present)?.changed(&changes.accounts)?;
        header.state_root = tries.root;
        let (hash, block) = (header.hash_slow(), genesis::block(header));
        let beginning = Beginning::Genesis { block, hash, state: Overlay::new(changes, tries) };
        Self::begun(store, beginning, rules, factory, code_bytes_max)
    }

    /// The chain that goes on after a block of another node, which the store stands on. Who has a key here gets ether.
    pub fn fork(
        store: Store,
        header: &Header,
        rich: &[Address],
        rules: ChainRules,
        factory: FieldEvmFactory,
        code_bytes_max: Option<usize>,
    ) -> Result<Self, ChainError> {
        let (hash, block) = (header.hash_slow(), genesis::block(header.clone()));
        let beginning = Beginning::Fork { block, hash, rich: rich.to_vec() };
        Self::begun(store, beginning, rules, factory, code_bytes_max)
    }

    /// The chain of a beginning, which is written where the database is empty and compared where it is not.
    fn begun(
        store: Store,
        beginning: Beginning,
        rules: ChainRules,
        factory: FieldEvmFactory,
        code_bytes_max: Option<usize>,
    ) -> Result<Self, ChainError> {
        let executors = Executors::new(AlloyReceiptBuilder::default(), rules, factory);
        let chain = Self { store, executors: executors.into(), beginning: beginning.into(), code_bytes_max };
        let (Beginning::Genesis { block, hash, .. } | Beginning::Fork { block, hash, .. }) = &*chain.beginning;
        // A state that was loaded has brought another first block.
        let said = chain.store.meta(FIRST_BLOCK)?.and_then(|hash| hash.parse().ok());
        match said.map_or_else(|| chain.store.hash(block.header.number), |hash| Ok(Some(hash)))? {
            Some(held) if held != *hash => Err(ChainError::OtherChain { held, asked: *hash }),
            Some(_) => Ok(chain),
            None => {
                chain.reset()?;
                Ok(chain)
            }
        }
    }

    /// Makes the chain what it was when it began. Snapshots are gone too.
    pub fn reset(&self) -> Result<(), ChainError> {
        let enriched;
        let (block, hash, when, state) = match &*self.beginning {
            Beginning::Genesis { block, hash, state } => (block, hash, When::Block(0), state),
            Beginning::Fork { block, hash, rich } => {
                let number = block.header.number;
                enriched = self.enriched(rich)?;
                (block, hash, When::ByHandAfter(number), &enriched)
            }
        };
        let number = block.header.number;
        self.store.write_anew(|writer| {
            writer.set_meta(FIRST_BLOCK, &hash.to_string())?;
            writer.forget_history(number)?;
            writer.add_block(&NewBlock { block, hash: *hash, senders: &[], receipts: &[] })?;
            writer.change_state(when, &state.changes, &state.tries)
        })?;
        Ok(())
    }

    /// Ether for some, on the state of the other node.
    fn enriched(&self, rich: &[Address]) -> Result<Overlay, ChainError> {
        let mut changes = StateChanges::default();
        for address in rich {
            let theirs =
                self.store.remote().map(|remote| remote.account(*address)).transpose().map_err(StoreError::from)?;
            let account = theirs.flatten().unwrap_or_default();
            let info = Some((account.nonce, genesis::balance(), account.code_hash));
            changes.accounts.insert(*address, AccountChange { info, is_wiped: false, slots: BTreeMap::new() });
        }
        let tries = Store::open(None)?.state(StateAt::Present)?.changed(&changes.accounts)?;
        Ok(Overlay::new(changes, tries))
    }

    /// Adds a state and blocks that were written elsewhere: what they say of accounts and slots is the present state, what they do not say stays.
    /// The blocks are the chain's, from the first of them on, and states before the present one are gone.
    pub fn load(&self, changes: &StateChanges, blocks: &[LoadedBlock]) -> Result<(), ChainError> {
        let (number, _, _) = self.head()?;
        let tries = self.store.state(StateAt::Present)?.changed(&changes.accounts)?;
        let Some((first, last)) = blocks.first().zip(blocks.last()) else {
            return Ok(self.store.write(|writer| writer.change_state(When::ByHandAfter(number), changes, &tries))?);
        };
        Ok(self.store.write(|writer| {
            writer.change_state(When::ByHandAfter(number), changes, &tries)?;
            writer.forget_blocks(first.block.header.number)?;
            for LoadedBlock { block, hash, senders, receipts } in blocks {
                writer.add_block(&NewBlock { block, hash: *hash, senders, receipts })?;
            }
            writer.forget_history(last.block.header.number)
        })?)
    }

    /// Takes back all blocks after one.
    pub fn rewind(&self, number: u64) -> Result<(), ChainError> {
        Ok(self.store.rewind(number)?)
    }

    /// The database.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The rules.
    pub fn rules(&self) -> &ChainRules {
        self.executors.spec()
    }

    /// Factory of block executors.
    pub fn executors(&self) -> &Executors {
        &self.executors
    }

    /// Factory of EVMs.
    pub fn factory(&self) -> &FieldEvmFactory {
        self.executors.evm_factory()
    }

    /// Number, hash and header of the newest block.
    pub fn head(&self) -> Result<(u64, B256, Header), ChainError> {
        let missing = || StoreError::Corrupt { what: "no head block".to_owned() };
        let (number, hash) = self.store.head()?.ok_or_else(missing)?;
        Ok((number, hash, self.store.header(number)?.ok_or_else(missing)?))
    }

    /// The environment of a block.
    pub fn env_of(&self, header: &Header) -> EvmEnv {
        let mut env = self.rules().env_of(header);
        if let Some(bytes) = self.code_bytes_max {
            env.cfg_env.limit_contract_code_size = Some(bytes);
            env.cfg_env.limit_contract_initcode_size = Some(bytes.saturating_mul(2));
        }
        env
    }

    /// Executes a block of another client's making on the head, compares all that came of it with its header, and writes it.
    pub fn import(&self, block: &ChainBlock) -> Result<B256, ChainError> {
        let header = &block.header;
        let number = header.number;
        let differs = |what, found: String, expected: String| ChainError::Header { number, what, found, expected };
        let (_, parent, _) = self.head()?;
        if header.parent_hash != parent {
            return Err(differs("parent hash", parent.to_string(), header.parent_hash.to_string()));
        }
        let execution = |error: &dyn std::fmt::Display| ChainError::Execution { number, reason: error.to_string() };
        let recovered = block.body.transactions.iter().map(|tx| tx.clone().try_into_recovered());
        let sent = recovered.collect::<Result<Vec<_>, _>>().map_err(|error| execution(&error))?;
        let withdrawals = block.body.withdrawals.clone();
        let executed = self.execute(header, &block.body.ommers, withdrawals, sent, true)?;
        let tries = self.store.state(StateAt::Present)?.changed(&executed.changes.accounts)?;
        let receipts = executed.result.receipts;
        let is_prague = self.rules().is_prague_active_at_timestamp(header.timestamp);
        let requests = is_prague.then(|| executed.result.requests.requests_hash());
        let withdrawals = block.body.withdrawals.as_ref().map(|all| calculate_withdrawals_root(all));
        let bloom = receipts.iter().fold(Bloom::ZERO, |bloom, receipt| bloom | receipt.bloom());
        let blobs = self.rules().blob_params(header.timestamp).map(|_| executed.result.blob_gas_used);
        let (receipts_root, transactions_root) =
            (calculate_receipt_root(&receipts), calculate_transaction_root(&block.body.transactions));
        let compared: [(_, &dyn Debug, &dyn Debug); 8] = [
            ("state root", &tries.root, &header.state_root),
            ("receipt root", &receipts_root, &header.receipts_root),
            ("transaction root", &transactions_root, &header.transactions_root),
            ("withdrawal root", &withdrawals, &header.withdrawals_root),
            ("requests hash", &requests, &header.requests_hash),
            ("gas used", &executed.result.gas_used, &header.gas_used),
            ("blob gas used", &blobs, &header.blob_gas_used),
            ("logs bloom", &bloom, &header.logs_bloom),
        ];
        for (what, found, expected) in
            compared.map(|(what, found, expected)| (what, format!("{found:?}"), format!("{expected:?}")))
        {
            if found != expected {
                return Err(differs(what, found, expected));
            }
        }
        let hash = header.hash_slow();
        let senders: Vec<Address> = executed.included.iter().map(Recovered::signer).collect();
        self.store.write(|writer| {
            writer.change_state(When::Block(number), &executed.changes, &tries)?;
            writer.add_block(&NewBlock { block, hash, senders: &senders, receipts: &receipts })
        })?;
        Ok(hash)
    }

    /// A header for the block after a parent, before anything is executed.
    pub fn next_header(&self, parent: &Header, parent_hash: B256, attributes: &Attributes) -> Header {
        let rules = self.rules();
        let number = parent.number + 1;
        let time = attributes.time;
        let base_fee = rules.is_london_active_at_block(number).then(|| {
            let next = || parent.next_block_base_fee(alloy_eips::eip1559::BaseFeeParams::ethereum());
            attributes.base_fee.or_else(next).unwrap_or(1_000_000_000)
        });
        let blobs = rules.blob_params(time);
        let excess = blobs.map(|params| parent.next_block_excess_blob_gas(params).unwrap_or_default());
        Header {
            parent_hash,
            ommers_hash: EMPTY_OMMER_ROOT_HASH,
            beneficiary: attributes.beneficiary,
            number,
            gas_limit: attributes.gas_limit,
            timestamp: time,
            extra_data: attributes.extra_data.clone(),
            mix_hash: attributes.prev_randao,
            base_fee_per_gas: base_fee,
            withdrawals_root: rules.is_shanghai_active_at_timestamp(time).then_some(EMPTY_WITHDRAWALS),
            excess_blob_gas: excess,
            blob_gas_used: blobs.map(|_| 0),
            parent_beacon_block_root: rules.is_cancun_active_at_timestamp(time).then_some(attributes.beacon_root),
            ..Header::default()
        }
    }

    /// Builds the block after the head of those transactions that can be executed, in the order given. Nothing is written.
    pub fn build(&self, attributes: &Attributes, candidates: Vec<Sent>) -> Result<Built, ChainError> {
        let (_, parent_hash, parent) = self.head()?;
        let mut header = self.next_header(&parent, parent_hash, attributes);
        let withdrawals = header.withdrawals_root.map(|_| attributes.withdrawals.clone());
        let executed = self.execute(&header, &[], withdrawals.clone(), candidates, false)?;
        let tries = self.store.state(StateAt::Present)?.changed(&executed.changes.accounts)?;
        let senders = executed.included.iter().map(Recovered::signer).collect();
        let transactions: Vec<TxEnvelope> = executed.included.into_iter().map(Recovered::into_inner).collect();
        let BlockExecutionResult { receipts, requests, gas_used, blob_gas_used } = executed.result;
        header.state_root = tries.root;
        header.transactions_root = calculate_transaction_root(&transactions);
        header.receipts_root = calculate_receipt_root(&receipts);
        header.logs_bloom = receipts.iter().fold(Bloom::ZERO, |bloom, receipt| bloom | receipt.bloom());
        header.gas_used = gas_used;
        header.blob_gas_used = header.blob_gas_used.map(|_| blob_gas_used);
        header.withdrawals_root = withdrawals.as_ref().map(|all| calculate_withdrawals_root(all));
        header.requests_hash =
            self.rules().is_prague_active_at_timestamp(header.timestamp).then(|| requests.requests_hash());
        let hash = header.hash_slow();
        let block = Block { header, body: BlockBody { transactions, ommers: Vec::new(), withdrawals } };
        let after = Overlay::new(executed.changes, tries).into();
        Ok(Built { block, hash, senders, receipts, requests, rejected: executed.rejected, after })
    }

    /// Writes a block that was built on the head. It is on disk when this returns.
    pub fn commit(&self, built: &Built) -> Result<(), ChainError> {
        let Built { block, hash, senders, receipts, after, .. } = built;
        Ok(self.store.write(|writer| {
            writer.change_state(When::Block(block.header.number), &after.changes, &after.tries)?;
            writer.add_block(&NewBlock { block, hash: *hash, senders, receipts })
        })?)
    }

    /// Changes the present state by hand. The next block finds it so, and its state root has it.
    pub fn change(&self, changes: &StateChanges) -> Result<(), ChainError> {
        let (number, _, _) = self.head()?;
        let tries = self.store.state(StateAt::Present)?.changed(&changes.accounts)?;
        Ok(self.store.write(|writer| writer.change_state(When::ByHandAfter(number), changes, &tries))?)
    }

    fn execute(
        &self,
        header: &Header,
        ommers: &[Header],
        withdrawals: Option<Withdrawals>,
        candidates: Vec<Sent>,
        is_strict: bool,
    ) -> Result<Executed, ChainError> {
        let number = header.number;
        let fails = |error: BlockExecutionError| ChainError::Execution { number, reason: error.to_string() };
        let mut state =
            State::builder().with_database(self.store.state(StateAt::Present)?).with_bundle_update().build();
        let evm = self.factory().create_evm(&mut state, self.env_of(header));
        let context = EthBlockExecutionCtx {
            parent_hash: header.parent_hash,
            parent_beacon_block_root: header.parent_beacon_block_root,
            ommers,
            withdrawals: withdrawals.map(|all| all.into_inner().into()),
            extra_data: header.extra_data.clone(),
            tx_count_hint: Some(candidates.len()),
            slot_number: None,
        };
        let has_roots = self.rules().spec(header.timestamp, number) < SpecId::BYZANTIUM;
        let mut executor = self.executors.create_executor(evm, context);
        executor.apply_pre_execution_changes().map_err(fails)?;
        let (mut included, mut rejected, mut roots) = (Vec::new(), Vec::new(), Vec::new());
        // The executor counts blobs, and does not limit them.
        let blobs_max = self.rules().blob_params(header.timestamp).map_or(0, |params| params.max_blob_gas_per_block());
        let mut blobs = 0u64;
        for transaction in candidates {
            let after = blobs.saturating_add(transaction.blob_gas_used().unwrap_or_default());
            if after > blobs_max {
                let reason = format!("{after} blob gas is more than the block's {blobs_max}");
                if is_strict {
                    return Err(ChainError::Execution { number, reason });
                }
                rejected.push((transaction, reason));
                continue;
            }
            match executor.execute_transaction(&transaction) {
                Ok(_) => {
                    blobs = after;
                    included.push(transaction);
                }
                Err(BlockExecutionError::Validation(error)) if !is_strict => {
                    rejected.push((transaction, error.to_string()));
                    continue;
                }
                Err(error) => return Err(fails(error)),
            }
            if has_roots {
                roots.push(root_within(executor.evm_mut().db_mut())?);
            }
        }
        let (_, mut result) = executor.finish().map_err(fails)?;
        for (receipt, root) in result.receipts.iter_mut().zip(roots) {
            if let ReceiptEnvelope::Legacy(receipt) = receipt {
                receipt.receipt.status = Eip658Value::PostState(root);
            }
        }
        state.merge_transitions(BundleRetention::PlainState);
        Ok(Executed { result, included, rejected, changes: changes_of(state.take_bundle()) })
    }
}

/// The state root after what was executed of a block: what receipts had before Byzantium.
pub fn root_within(state: &mut State<StateView>) -> Result<B256, StoreError> {
    state.merge_transitions(BundleRetention::PlainState);
    let changes = changes_of(state.bundle_state.clone());
    Ok(state.database.changed(&changes.accounts)?.root)
}

/// The changes of an execution.
pub fn changes_of(bundle: BundleState) -> StateChanges {
    let codes = bundle.contracts.into_iter().map(|(hash, code)| (hash, code.original_bytes()));
    let mut accounts = BTreeMap::new();
    for (address, account) in bundle.state {
        let is_wiped = account.status.was_destroyed();
        let is_new = |slot: &(U256, U256, U256)| is_wiped || slot.1 != slot.2;
        let slots = account.storage.into_iter();
        let slots =
            slots.map(|(slot, value)| (slot, value.previous_or_original_value, value.present_value)).filter(is_new);
        let info = account.info.map(|info| (info.nonce, info.balance, info.code_hash));
        let slots = slots.map(|(slot, _, value)| (slot, value)).collect();
        accounts.insert(address, AccountChange { info, is_wiped, slots });
    }
    StateChanges { accounts, codes: codes.collect() }
}
