//! Traces of transactions: struct logs, call frames and the state before, for transactions of the chain and for calls.

use alloy_consensus::transaction::Recovered;
use alloy_eips::BlockId;
use alloy_evm::block::{BlockExecutor, BlockExecutorFactory};
use alloy_evm::eth::EthBlockExecutionCtx;
use alloy_evm::{Evm, EvmEnv, EvmFactory, IntoTxEnv};
use alloy_primitives::{B256, Bytes, hex};
use alloy_rpc_types_eth::{TransactionInfo, TransactionRequest, state::StateOverride};
use alloy_rpc_types_trace::geth::{
    CallConfig, FlatCallConfig, GethDebugBuiltInTracerType as BuiltIn, GethDebugTracerType, GethDebugTracingOptions,
    PreStateConfig,
};
use residue_engine::revm::DatabaseCommit;
use residue_engine::revm::context::TxEnv;
use residue_engine::revm::context::result::ResultAndState;
use residue_engine::revm::database::State;
use residue_isa::Revision;
use revm_inspectors::tracing::{FourByteInspector, TracingInspector, TracingInspectorConfig};
use serde_json::{Value, json};

use super::Method;
use super::blocks::{Found, block_of, find, numbered};
use super::call::{GAS_MAX, Moved, Place, block_overrides, refused, tx_env};
use super::error::{Answer, RpcError};
use super::params::Params;
use super::parity::{info, settled};
use super::struct_logs::StructLogs;
use crate::node::Node;
use crate::store::{StateAt, StateView};

/// The methods of this file.
pub const METHODS: &[(&str, Method)] = &[
    ("debug_traceTransaction", trace_transaction),
    ("debug_traceBlockByNumber", |node, params| trace_block(node, BlockId::Number(params.get(0)?), params)),
    ("debug_traceBlockByHash", |node, params| trace_block(node, BlockId::hash(params.hash(0)?), params)),
    ("debug_traceCall", trace_call),
];

/// A transaction about to be executed again.
pub struct Replay<'a> {
    /// The node.
    pub node: &'a Node,
    /// The state before it.
    pub state: &'a mut State<StateView>,
    /// Its block's environment.
    pub env: EvmEnv,
    /// Precompiles that are not where the fork has them.
    pub moved: Moved,
    /// The transaction.
    pub tx: TxEnv,
}

impl Replay<'_> {
    /// Executes it under an inspector. The state stays as it is.
    pub fn inspect<I>(&mut self, inspector: I) -> Result<(ResultAndState, I), RpcError>
    where
        I: for<'s> residue_engine::revm::inspector::Inspector<residue_alloy::FieldContext<&'s mut State<StateView>>>,
    {
        let mut evm =
            self.node.chain.factory().create_evm_with_inspector(&mut *self.state, self.env.clone(), inspector);
        self.moved.apply(evm.precompiles_mut());
        let result = evm.transact_raw(self.tx.clone()).map_err(refused)?;
        Ok((result, evm.into_inspector()))
    }

    /// The revision in force.
    pub fn revision(&self) -> Option<Revision> {
        let time = self.env.block_env.timestamp.saturating_to();
        self.node.chain.factory().engine_at(time).map(|engine| engine.config().revision)
    }
}

/// Executes a block again, telling `each` about the transactions from `first` on; it says whether there is need of more.
pub fn replay(
    node: &Node,
    found: &Found,
    first: u64,
    mut each: impl FnMut(u64, &mut Replay<'_>) -> Result<bool, RpcError>,
) -> Result<(), RpcError> {
    let header = &found.block.header;
    if header.number == 0 {
        return Err(RpcError::input("genesis is not traceable"));
    }
    let state = node.chain.store().state(StateAt::Before(header.number))?;
    let mut state = State::builder().with_database(state).build();
    let env = node.chain.env_of(header);
    let context = EthBlockExecutionCtx {
        parent_hash: header.parent_hash,
        parent_beacon_block_root: header.parent_beacon_block_root,
        ommers: &[],
        withdrawals: None,
        extra_data: header.extra_data.clone(),
        tx_count_hint: None,
        slot_number: None,
    };
    let evm = node.chain.factory().create_evm(&mut state, env.clone());
    let mut executor = node.chain.executors().create_executor(evm, context);
    executor.apply_pre_execution_changes().map_err(|error| RpcError::input(error.to_string()))?;
    drop(executor);
    let sent = found.block.body.transactions.iter().zip(&found.senders);
    for (index, (tx, sender)) in (0u64..).zip(sent) {
        let tx: TxEnv = Recovered::new_unchecked(tx, *sender).into_tx_env();
        let mut replay = Replay { node, state: &mut state, env: env.clone(), moved: Moved::default(), tx: tx.clone() };
        if index >= first && !each(index, &mut replay)? {
            return Ok(());
        }
        let mut evm = node.chain.factory().create_evm(&mut state, env.clone());
        let result = evm.transact_raw(tx).map_err(refused)?;
        evm.db_mut().commit(result.state);
    }
    Ok(())
}

fn trace_transaction(node: &Node, params: &Params) -> Answer {
    let options: GethDebugTracingOptions = params.find(1)?.unwrap_or_default();
    let Some((found, index)) = block_of(node, params.hash(0)?)? else {
        return Err(RpcError::input("transaction not found"));
    };
    let mut answer = Value::Null;
    replay(node, &found, index, |index, replay| {
        answer = trace(replay, &options, info(&found, index))?;
        Ok(false)
    })?;
    Ok(answer)
}

fn trace_block(node: &Node, id: BlockId, params: &Params) -> Answer {
    let options: GethDebugTracingOptions = params.find(1)?.unwrap_or_default();
    let number = numbered(node, settled(id)?)?.ok_or_else(|| RpcError::input(format!("block {id:?} not found")))?;
    let found = find(node, BlockId::number(number))?.ok_or_else(|| RpcError::input("block not found"))?;
    let mut answers = Vec::new();
    if number == 0 {
        return Err(RpcError::input("genesis is not traceable"));
    }
    replay(node, &found, 0, |index, replay| {
        let hash =
            usize::try_from(index).ok().and_then(|at| found.block.body.transactions.get(at)).map(|tx| *tx.tx_hash());
        answers.push(json!({ "txHash": hash, "result": trace(replay, &options, info(&found, index))? }));
        Ok(true)
    })?;
    Ok(Value::Array(answers))
}

/// The options of `debug_traceCall`: those of tracing, and what the call wants to be otherwise.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CallOptions {
    #[serde(flatten)]
    tracing: GethDebugTracingOptions,
    state_overrides: Option<StateOverride>,
    block_overrides: Option<Value>,
    /// The transaction of the block that the call comes before; after all of them without it.
    tx_index: Option<Value>,
}

fn trace_call(node: &Node, params: &Params) -> Answer {
    let request: TransactionRequest = params.get(0)?;
    let options: CallOptions = params.find(2)?.unwrap_or_default();
    let id = params.find(1)?.unwrap_or_else(BlockId::latest);
    let mut place = match Params(options.tx_index.into_iter().collect()).number(0)? {
        Some(index) => before(node, settled(id)?, index)?,
        None => Place::after(node, id)?,
    };
    place = place.overridden(node, options.state_overrides, block_overrides(options.block_overrides)?)?;
    let gas = request.gas.unwrap_or(GAS_MAX).min(GAS_MAX);
    let tx = tx_env(&request, &place.env.block_env, node.chain.rules().chain_id(), gas)?;
    place.without_base_fee(&tx);
    let Place { mut state, env, moved, .. } = place;
    trace(&mut Replay { node, state: &mut state, env, moved, tx }, &options.tracing, TransactionInfo::default())
}

/// The state before a transaction of a block, or after its last one.
fn before(node: &Node, id: BlockId, index: u64) -> Result<Place, RpcError> {
    let found = find(node, id)?.ok_or_else(|| RpcError::input("block not found"))?;
    let count = found.block.body.transactions.len() as u64; // A length.
    if index >= count {
        return Err(RpcError::params(format!("txIndex {index}: the block has {count} transactions")));
    }
    let mut place = Place::after(node, id)?;
    replay(node, &found, index, |_, replay| {
        let beginning = node.chain.store().state(StateAt::Before(found.block.header.number))?;
        place.state = std::mem::replace(replay.state, State::builder().with_database(beginning).build());
        Ok(false)
    })?;
    Ok(place)
}

/// A transaction as a tracer sees it.
fn trace(replay: &mut Replay<'_>, options: &GethDebugTracingOptions, info: TransactionInfo) -> Answer {
    let read = |error: serde_json::Error| RpcError::params(format!("invalid argument 1: {error}"));
    let show = |value: Result<Value, serde_json::Error>| value.map_err(|error| RpcError::input(error.to_string()));
    let config = options.tracer_config.clone();
    match &options.tracer {
        None => struct_logs(replay, options),
        Some(GethDebugTracerType::BuiltInTracer(BuiltIn::CallTracer)) => {
            let config: CallConfig = config.into_call_config().map_err(read)?;
            let inspector = TracingInspector::new(TracingInspectorConfig::from_geth_call_config(&config));
            let gas_limit = replay.tx.gas_limit;
            let (result, mut inspector) = replay.inspect(inspector)?;
            inspector.set_transaction_gas_limit(gas_limit);
            show(serde_json::to_value(
                inspector.into_geth_builder().geth_call_traces(config, result.result.tx_gas_used()),
            ))
        }
        Some(GethDebugTracerType::BuiltInTracer(BuiltIn::PreStateTracer)) => {
            let config: PreStateConfig = config.into_pre_state_config().map_err(read)?;
            let inspector = TracingInspector::new(TracingInspectorConfig::from_geth_prestate_config(&config));
            let (result, inspector) = replay.inspect(inspector)?;
            let builder = inspector.into_geth_builder();
            let frame = builder.geth_prestate_traces(&result, &config, BeforeIt(&*replay.state));
            show(serde_json::to_value(frame?))
        }
        Some(GethDebugTracerType::BuiltInTracer(BuiltIn::FourByteTracer)) => {
            let (_, inspector) = replay.inspect(FourByteInspector::default())?;
            show(serde_json::to_value(alloy_rpc_types_trace::geth::FourByteFrame::from(&inspector)))
        }
        Some(GethDebugTracerType::BuiltInTracer(BuiltIn::FlatCallTracer)) => {
            let config: FlatCallConfig = config.into_flat_call_config().map_err(read)?;
            let inspector = TracingInspector::new(TracingInspectorConfig::from_flat_call_config(&config));
            let (result, mut inspector) = replay.inspect(inspector)?;
            inspector.set_transaction_gas_used(result.result.tx_gas_used());
            show(serde_json::to_value(inspector.into_parity_builder().into_localized_transaction_traces(info)))
        }
        Some(GethDebugTracerType::BuiltInTracer(BuiltIn::NoopTracer)) => Ok(json!({})),
        Some(other) => Err(RpcError::input(format!(
            "tracer {other:?} is not one of callTracer, flatCallTracer, prestateTracer, 4byteTracer, noopTracer"
        ))),
    }
}

fn struct_logs(replay: &mut Replay<'_>, options: &GethDebugTracingOptions) -> Answer {
    let inspector = StructLogs::new(options.config, replay.revision());
    let (result, inspector) = replay.inspect(inspector)?;
    if !inspector.is_complete() {
        return Err(RpcError::input("the trace is too long: ask for a limit, or without stack and memory"));
    }
    let result = result.result;
    Ok(json!({
        "gas": result.tx_gas_used(),
        "failed": !result.is_success(),
        "returnValue": hex::encode_prefixed(result.output().unwrap_or(&Bytes::new())),
        "structLogs": inspector.into_entries(),
    }))
}

/// The state before a transaction, to be looked into: what was loaded of it, and the database below.
pub struct BeforeIt<'a>(pub &'a State<StateView>);

impl residue_engine::revm::DatabaseRef for BeforeIt<'_> {
    type Error = crate::store::StoreError;

    fn basic_ref(
        &self,
        address: alloy_primitives::Address,
    ) -> Result<Option<residue_engine::revm::state::AccountInfo>, Self::Error> {
        match self.0.cache.accounts.get(&address) {
            Some(account) => Ok(account.account_info()),
            None => self.0.database.basic_ref(address),
        }
    }

    fn code_by_hash_ref(&self, hash: B256) -> Result<residue_engine::revm::bytecode::Bytecode, Self::Error> {
        match self.0.cache.contracts.get(&hash) {
            Some(code) => Ok(code.clone()),
            None => self.0.database.code_by_hash_ref(hash),
        }
    }

    fn storage_ref(
        &self,
        address: alloy_primitives::Address,
        slot: alloy_primitives::U256,
    ) -> Result<alloy_primitives::U256, Self::Error> {
        let cached = self.0.cache.accounts.get(&address).and_then(|account| account.storage_slot(slot));
        cached.map_or_else(|| self.0.database.storage_ref(address, slot), Ok)
    }

    fn block_hash_ref(&self, number: u64) -> Result<B256, Self::Error> {
        self.0.database.block_hash_ref(number)
    }
}
