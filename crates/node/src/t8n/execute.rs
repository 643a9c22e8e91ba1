//! The transition: system calls, transactions, rewards or withdrawals, requests.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use alloy_consensus::{Eip658Value, Header, ReceiptEnvelope, Transaction, TxEnvelope};
use alloy_eips::eip7685::Requests;
use alloy_eips::{eip7002, eip7251};
use alloy_evm::block::{BlockExecutionError, BlockExecutor, BlockExecutorFactory, TxResult, calc};
use alloy_evm::eth::EthBlockExecutionCtx;
use alloy_evm::eth::receipt_builder::AlloyReceiptBuilder;
use alloy_evm::{Evm, EvmFactory};
use alloy_primitives::map::AddressMap;
use alloy_primitives::{B256, U256};
use anyhow::{Context, Result};
use residue_alloy::{Activation, FieldEvmFactory};
use residue_engine::revm::Database;
use residue_engine::revm::context::result::ExecutionResult;
use residue_engine::revm::database::State;
use residue_engine::revm::database::states::bundle_state::BundleRetention;
use residue_engine::revm::database_interface::DatabaseCommitExt;
use residue_engine::revm::state::bal::BlockAccessIndex;
use residue_engine::revm::state::bal::alloy::AlloyBal;
use residue_isa::Revision;
use residue_statetest::Eip3155;
use serde_json::json;

use super::alloc::Alloc;
use super::env::Env;
use super::forks::Fork;
use super::transactions::{Given, recovered};
use crate::chain::{Executors, Sent, changes_of, root_within};
use crate::options::config;
use crate::store::{StateAt, StateChanges, StateView, Store, When};

/// Inputs of a transition.
#[derive(Debug)]
pub struct Transition<'a> {
    /// The chain's id.
    pub chain_id: u64,
    /// The fork.
    pub fork: &'a Fork,
    /// The block.
    pub env: &'a Env,
    /// Wei for the miner, where it is not the fork's reward; less than 0 for none.
    pub reward: Option<i128>,
    /// The revision.
    pub revision: Option<Revision>,
    /// Its schedule.
    pub schedule: Option<&'a str>,
    /// True if contracts replace precompiles.
    pub as_precompiles: bool,
    /// Folder for traces, if requested.
    pub traces: Option<&'a Path>,
}

/// Result of a transition.
#[derive(Debug, Default)]
pub struct Done {
    /// Changes of the state.
    pub changes: StateChanges,
    /// The state root after them.
    pub state_root: B256,
    /// Transactions that could be read, by their place among these.
    pub tried: Vec<TxEnvelope>,
    /// Those that were executed, by their place in `tried`, with their receipts.
    pub receipts: Vec<(usize, ReceiptEnvelope)>,
    /// Those that were not, by their place among all, with the reason.
    pub rejected: Vec<(usize, String)>,
    /// Requests, from Prague on.
    pub requests: Option<Requests>,
    /// Why the block would not be valid.
    pub exception: Option<String>,
    /// Gas that counts for the block from Amsterdam on, that of execution and that of state: without refunds (EIP-7778, EIP-8037).
    pub block_gas: Option<[u64; 2]>,
    /// Accounts and slots that the block read and changed, from Amsterdam on (EIP-7928).
    pub accesses: Option<AlloyBal>,
}

type Out = Box<dyn Write>;

impl Transition<'_> {
    /// Carries it out on a state.
    pub fn execute(&self, alloc: &Alloc, given: &[Given]) -> Result<Done> {
        let store = Store::open(None)?;
        let before = alloc.changes();
        let tries = store.state(StateAt::Present)?.changed(&before.accounts)?;
        store.write(|writer| {
            writer.change_state(When::Block(0), &before, &tries)?;
            self.env.hashes.iter().try_for_each(|(number, hash)| writer.set_hash(*number, *hash))
        })?;
        let has_accesses = self.fork.has("amsterdam");
        let state = State::builder().with_database(store.state(StateAt::Present)?).with_bundle_update();
        let mut state = state.with_bal_builder_if(has_accesses).build();
        let mut done = self.run(&mut state, given)?;
        done.accesses = state.take_built_alloy_bal();
        state.merge_transitions(BundleRetention::PlainState);
        done.changes = changes_of(state.take_bundle());
        done.state_root = store.state(StateAt::Present)?.changed(&done.changes.accounts)?.root;
        Ok(done)
    }

    fn factory(&self) -> Result<FieldEvmFactory> {
        let engine = self.revision.map(|revision| config(revision, self.schedule, self.as_precompiles)).transpose()?;
        Ok(FieldEvmFactory::new(engine.map(|engine| Activation { time: 0, engine }))?)
    }

    fn run(&self, state: &mut State<StateView>, given: &[Given]) -> Result<Done> {
        let mut done = Done { block_gas: self.fork.has("amsterdam").then_some([0; 2]), ..Done::default() };
        let (fork, header) = (self.fork, &self.env.header);
        let rules = fork.rules(self.chain_id)?;
        let executors = Executors::new(AlloyReceiptBuilder::default(), rules.clone(), self.factory()?);
        let ommers = self.ommers();
        let context = EthBlockExecutionCtx {
            parent_hash: header.parent_hash,
            parent_beacon_block_root: header.parent_beacon_block_root,
            ommers: &ommers,
            withdrawals: self.env.withdrawals.clone().map(|all| all.into_inner().into()),
            extra_data: Default::default(),
            tx_count_hint: Some(given.len()),
            slot_number: header.slot_number,
        };
        let nowhere: Out = Box::new(std::io::sink());
        let evm = executors.evm_factory().create_evm_with_inspector(
            &mut *state,
            rules.env_of(header),
            Eip3155::new(self.revision, nowhere),
        );
        let mut executor = executors.create_executor(evm, context);
        executor.evm_mut().set_inspector_enabled(self.traces.is_some());
        executor.apply_pre_execution_changes().context("the system calls before the transactions")?;
        let blobs_max = rules.blob_params(header.timestamp).map_or(0, |params| params.max_blob_gas_per_block());
        let roots = self.all(&mut executor, given, blobs_max, &mut done)?;
        executor.evm_mut().db_mut().set_bal_index(access_index(done.tried.len() + 1));
        // Flushes the last file.
        *executor.evm_mut().inspector_mut() = Eip3155::new(self.revision, Box::new(std::io::sink()));
        for ((_, receipt), root) in done.receipts.iter_mut().zip(roots) {
            if let ReceiptEnvelope::Legacy(receipt) = receipt {
                receipt.receipt.status = Eip658Value::PostState(root);
            }
        }
        if !fork.has("paris") {
            drop(executor);
            self.reward(state, &rules)?;
            return Ok(done);
        }
        done.requests = fork.has("prague").then(Requests::default);
        let missing = match fork.has("prague") {
            true => self.without_code(executor.evm_mut().db_mut())?,
            false => None,
        };
        let finished = match missing {
            Some(address) => Err(format!("system contract {address} has no code")),
            None => match executor.finish() {
                Ok((_, result)) => Ok(result.requests),
                Err(BlockExecutionError::Validation(error)) => Err(error.to_string()),
                Err(error) => return Err(error).context("the end of the block"),
            },
        };
        match finished {
            Ok(requests) => done.requests = done.requests.map(|_| requests),
            Err(reason) => {
                done.exception = Some(reason);
                let all = self.env.withdrawals.as_deref().map_or(&[][..], |all| all.as_slice());
                let paid = alloy_evm::block::state_changes::post_block_withdrawals_balance_increments(
                    &rules,
                    header.timestamp,
                    all,
                );
                state.increment_balances(paid)?;
            }
        }
        Ok(done)
    }

    /// Executes the transactions. Before Byzantium their state roots come back.
    fn all<'s, E>(&self, executor: &mut E, given: &[Given], blobs_max: u64, done: &mut Done) -> Result<Vec<B256>>
    where
        E: BlockExecutor<
                Transaction = TxEnvelope,
                Receipt = ReceiptEnvelope,
                Evm: Evm<Inspector = Eip3155<Out>, DB = &'s mut State<StateView>>,
            >,
    {
        let (mut blobs, mut roots) = (0u64, Vec::new());
        for (at, tx) in given.iter().enumerate() {
            let tx = match tx {
                Ok(tx) => tx,
                Err(reason) => {
                    done.rejected.push((at, reason.clone()));
                    continue;
                }
            };
            let index = done.tried.len();
            done.tried.push(tx.clone());
            let after = blobs.saturating_add(tx.blob_gas_used().unwrap_or_default());
            let sent = match recovered(tx, self.fork) {
                Ok(_) if after > blobs_max => Err(format!("{after} blob gas is more than the block's {blobs_max}")),
                other => other,
            };
            let traced = self.trace(executor, index, tx)?;
            executor.evm_mut().db_mut().set_bal_index(access_index(done.tried.len()));
            match sent.map(|sent| self.one(executor, &sent, &mut done.block_gas)) {
                Ok(Ok(())) => {
                    blobs = after;
                    done.receipts.extend(executor.receipts().last().map(|receipt| (index, receipt.clone())));
                    if !self.fork.has("byzantium") {
                        roots.push(root_within(executor.evm_mut().db_mut())?);
                    }
                }
                Ok(Err(BlockExecutionError::Validation(error))) => {
                    done.rejected.push((at, error.to_string()));
                    traced.map(std::fs::remove_file).transpose()?;
                }
                Ok(Err(error)) => return Err(error).with_context(|| format!("transaction {at}")),
                Err(reason) => {
                    done.rejected.push((at, reason));
                    traced.map(std::fs::remove_file).transpose()?;
                }
            }
        }
        Ok(roots)
    }

    /// A system contract that has to be there for requests, and is not.
    fn without_code(&self, state: &mut &mut State<StateView>) -> Result<Option<alloy_primitives::Address>> {
        for address in [eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS, eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS]
        {
            if state.basic(address)?.is_none_or(|account| account.is_empty_code_hash()) {
                return Ok(Some(address));
            }
        }
        Ok(None)
    }

    /// Executes a transaction, and ends its trace.
    fn one<'s, E>(
        &self,
        executor: &mut E,
        sent: &Sent,
        block_gas: &mut Option<[u64; 2]>,
    ) -> Result<(), BlockExecutionError>
    where
        E: BlockExecutor<Transaction = TxEnvelope, Evm: Evm<Inspector = Eip3155<Out>, DB = &'s mut State<StateView>>>,
    {
        let mut summary = None;
        executor.execute_transaction_with_result_closure(sent, |result| {
            let result: &ExecutionResult<_> = &result.result().result;
            let output = result.output().cloned().unwrap_or_default();
            if let Some([execution, state]) = block_gas {
                *execution += result.gas().block_regular_gas_used();
                *state += result.gas().block_state_gas_used();
            }
            let mut line = json!({ "output": output, "gasUsed": format!("{:#x}", result.tx_gas_used()) });
            if !result.is_success() {
                line["error"] = "the transaction failed".into();
            }
            summary = Some(line);
        })?;
        if let (Some(line), true) = (summary, self.traces.is_some()) {
            let written = executor.evm_mut().inspector_mut().end(&line);
            written.map_err(BlockExecutionError::other)?;
        }
        Ok(())
    }

    /// Has what is executed next written to the file of a transaction.
    fn trace<'s, E>(&self, executor: &mut E, index: usize, tx: &TxEnvelope) -> Result<Option<std::path::PathBuf>>
    where
        E: BlockExecutor<Evm: Evm<Inspector = Eip3155<Out>, DB = &'s mut State<StateView>>>,
    {
        let Some(folder) = self.traces else { return Ok(None) };
        std::fs::create_dir_all(folder)?;
        let path = folder.join(format!("trace-{index}-{}.jsonl", tx.tx_hash()));
        let file = File::create(&path).with_context(|| format!("writing {}", path.display()))?;
        *executor.evm_mut().inspector_mut() = Eip3155::new(self.revision, Box::new(BufWriter::new(file)));
        Ok(Some(path))
    }

    fn ommers(&self) -> Vec<Header> {
        let number = self.env.header.number;
        let ommer = |(delta, beneficiary): &(u64, _)| Header {
            number: number.saturating_sub(*delta),
            beneficiary: *beneficiary,
            ..Header::default()
        };
        self.env.ommers.iter().map(ommer).collect()
    }

    /// Pays the miners of a block with proof of work.
    fn reward(&self, state: &mut State<StateView>, rules: &residue_alloy::ChainRules) -> Result<()> {
        let header = &self.env.header;
        let reward = match self.reward {
            Some(reward) => u128::try_from(reward).ok(),
            None => calc::base_block_reward(rules, header.number),
        };
        let Some(reward) = reward else { return Ok(()) };
        let mut paid: AddressMap<u128> = AddressMap::default();
        let ommers = self.ommers();
        for ommer in &ommers {
            *paid.entry(ommer.beneficiary).or_default() += calc::ommer_reward(reward, header.number, ommer.number);
        }
        *paid.entry(header.beneficiary).or_default() += calc::block_reward(reward, ommers.len());
        Ok(state.increment_balances(paid)?)
    }
}

/// The index in the list of accesses of what is done at the n-th transaction, from 1, or after the last of n − 1 (EIP-7928). Rejected ones have
/// their place, as in the root of the transactions.
fn access_index(place: usize) -> BlockAccessIndex {
    BlockAccessIndex::new(place as u64) // Widens.
}

/// Gas of the block.
pub fn gas_used(done: &Done) -> U256 {
    if let Some([execution, state]) = done.block_gas {
        return U256::from(execution.max(state));
    }
    done.receipts.last().map(|(_, receipt)| U256::from(receipt.cumulative_gas_used())).unwrap_or_default()
}
