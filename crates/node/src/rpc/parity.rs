//! Traces as parity has them: of transactions and blocks of the chain, of calls, and those that a filter wants.

use alloy_consensus::transaction::Recovered;
use alloy_eips::BlockId;
use alloy_evm::IntoTxEnv;
use alloy_primitives::map::HashSet;
use alloy_primitives::{B256, Bytes};
use alloy_rpc_types_eth::{TransactionInfo, TransactionRequest};
use alloy_rpc_types_trace::filter::TraceFilter;
use alloy_rpc_types_trace::parity::{LocalizedTransactionTrace, TraceResults, TraceType, VmTrace};
use residue_engine::revm::DatabaseCommit;
use residue_engine::revm::context::TxEnv;
use residue_isa::Revision;
use revm_inspectors::tracing::{TraceLimits, TracingInspector, TracingInspectorConfig};
use serde::Serialize;
use serde_json::{Value, json};

use super::Method;
use super::blocks::{Found, block_of, find, numbered};
use super::call::{GAS_MAX, Place, block_overrides, tx_env};
use super::debug::{BeforeIt, Replay, replay};
use super::error::{Answer, RpcError};
use super::params::Params;
use super::send;
use crate::node::Node;

/// Blocks that one filter covers: anvil's limit.
const BLOCKS_MAX: u64 = 300;
/// Traces of one answer.
const TRACES_MAX: usize = 100_000;
/// Calls of one `trace_callMany`.
const CALLS_MAX: usize = 1000;
/// Instructions in the machine traces of one transaction.
const STEPS_MAX: u64 = 100_000;
/// Bytes of memory, input and output in a trace, before they are text.
const BYTES_MAX: usize = 32 << 20;

/// The methods of this file.
pub const METHODS: &[(&str, Method)] = &[
    ("trace_transaction", |node, params| {
        let Some((found, index)) = block_of(node, params.hash(0)?)? else { return Ok(Value::Null) };
        shown(traces(node, &found, Some(index))?)
    }),
    ("trace_get", |node, params| {
        let Some((found, index)) = block_of(node, params.hash(0)?)? else { return Ok(Value::Null) };
        let address: Vec<Value> = params.get(1)?;
        let address =
            (0..address.len()).map(|at| Ok::<_, RpcError>(Params(address.clone()).number(at)?.unwrap_or_default()));
        let address: Vec<u64> = address.collect::<Result<_, _>>()?;
        let is_at = |trace: &LocalizedTransactionTrace| {
            trace.trace.trace_address.iter().map(|&at| at as u64).eq(address.iter().copied())
        };
        shown(traces(node, &found, Some(index))?.into_iter().find(is_at))
    }),
    ("trace_block", |node, params| {
        let id: BlockId = params.get(0)?;
        match numbered(node, settled(id)?)? {
            Some(0) => Ok(json!([])),
            Some(number) => match find(node, BlockId::number(number))? {
                Some(found) => shown(traces(node, &found, None)?),
                None => Ok(Value::Null),
            },
            None => Ok(Value::Null),
        }
    }),
    ("trace_filter", filter),
    ("trace_replayTransaction", |node, params| {
        let types = types(params, 1)?;
        let Some((found, index)) = block_of(node, params.hash(0)?)? else { return Ok(Value::Null) };
        let mut answer = Value::Null;
        replay(node, &found, index, |_, replay| {
            answer = shown(results(replay, &types)?)?;
            Ok(false)
        })?;
        Ok(answer)
    }),
    ("trace_replayBlockTransactions", replay_block),
    ("trace_call", |node, params| {
        let (request, types): (TransactionRequest, _) = (params.get(0)?, types(params, 1)?);
        let place = Place::after(node, params.find(2)?.unwrap_or_else(BlockId::latest))?;
        let mut place = place.overridden(node, params.find(3)?, block_overrides(params.find(4)?)?)?;
        shown(call(node, &mut place, &request, &types)?.0)
    }),
    ("trace_callMany", call_many),
    ("trace_rawTransaction", |node, params| {
        let (bytes, types): (Bytes, _) = (params.get(0)?, types(params, 1)?);
        let mut place = Place::after(node, params.find(2)?.unwrap_or_else(BlockId::latest))?;
        let tx: TxEnv = Recovered::into_tx_env(send::raw(&bytes)?);
        let Place { state, env, moved, .. } = &mut place;
        shown(results(&mut Replay { node, state, env: env.clone(), moved: moved.clone(), tx }, &types)?)
    }),
];

fn shown(value: impl Serialize) -> Answer {
    serde_json::to_value(value).map_err(|error| RpcError::input(error.to_string()))
}

/// A block's id that is not the pending one, which nothing was executed for.
pub fn settled(id: BlockId) -> Result<BlockId, RpcError> {
    if id.is_pending() { Err(RpcError::input("the pending block is not traceable")) } else { Ok(id) }
}

fn types(params: &Params, at: usize) -> Result<HashSet<TraceType>, RpcError> {
    params.get(at)
}

/// The call frames of a block's transactions, or of one of them.
fn traces(node: &Node, found: &Found, only: Option<u64>) -> Result<Vec<LocalizedTransactionTrace>, RpcError> {
    let mut all = Vec::new();
    replay(node, found, only.unwrap_or(0), |index, replay| {
        let inspector = TracingInspector::new(TracingInspectorConfig::default_parity());
        let (result, mut inspector) = replay.inspect(inspector)?;
        inspector.set_transaction_gas_used(result.result.tx_gas_used());
        all.extend(inspector.into_parity_builder().into_localized_transaction_traces(info(found, index)));
        if all.len() > TRACES_MAX {
            return Err(RpcError::new(-32005, format!("more than {TRACES_MAX} traces: ask for fewer blocks")));
        }
        Ok(only.is_none())
    })?;
    Ok(all)
}

/// The place of a transaction in its block, in the words of tracers.
pub fn info(found: &Found, index: u64) -> TransactionInfo {
    let at = usize::try_from(index).unwrap_or(usize::MAX);
    let hash: Option<B256> = found.block.body.transactions.get(at).map(|tx| *tx.tx_hash());
    let header = &found.block.header;
    TransactionInfo {
        hash,
        index: Some(index),
        block_hash: found.hash,
        block_number: Some(header.number),
        base_fee: header.base_fee_per_gas,
        ..TransactionInfo::default()
    }
}

/// The traces that were asked for of one transaction, with what its block says of it left out.
fn results(replay: &mut Replay<'_>, types: &HashSet<TraceType>) -> Result<TraceResults, RpcError> {
    let mut config = TracingInspectorConfig::from_parity_config(types);
    config.step_limit = (STEPS_MAX + 1).try_into().ok();
    let limits = TraceLimits::default().set_max_recorded_bytes(Some(BYTES_MAX));
    let revision = replay.revision();
    let (result, mut inspector) = replay.inspect(TracingInspector::new(config).with_limits(limits))?;
    let steps: usize = inspector.traces().nodes().iter().map(|node| node.trace.steps.len()).sum();
    if steps as u64 > STEPS_MAX || inspector.limit_exceeded() {
        return Err(RpcError::input("the trace is too long: ask for it without vmTrace"));
    }
    inspector.set_transaction_gas_used(result.result.tx_gas_used());
    let builder = inspector.into_parity_builder();
    let mut results = builder.into_trace_results_with_state(&result, types, BeforeIt(&*replay.state))?;
    if let (Some(trace), Some(revision)) = (&mut results.vm_trace, revision) {
        name_instructions(trace, revision);
    }
    Ok(results)
}

/// Gives field instructions their names, which revm has none for.
fn name_instructions(trace: &mut VmTrace, revision: Revision) {
    for instruction in &mut trace.ops {
        if let Some(row) = trace.code.get(instruction.pc..).and_then(|code| revision.own_row_at(code)) {
            instruction.op = Some(row.mnemonic.to_owned());
        }
        if let Some(called) = &mut instruction.sub {
            name_instructions(called, revision);
        }
    }
}

fn replay_block(node: &Node, params: &Params) -> Answer {
    let types = types(params, 1)?;
    let Some(number) = numbered(node, settled(params.get(0)?)?)? else { return Ok(Value::Null) };
    let Some(found) = find(node, BlockId::number(number))? else { return Ok(Value::Null) };
    let mut all = Vec::new();
    if number == 0 {
        return Ok(json!([]));
    }
    replay(node, &found, 0, |index, replay| {
        let mut results = shown(results(replay, &types)?)?;
        results["transactionHash"] = shown(info(&found, index).hash)?;
        all.push(results);
        Ok(true)
    })?;
    Ok(Value::Array(all))
}

/// The traces of a call, with what it has done to the state.
fn call(
    node: &Node,
    place: &mut Place,
    request: &TransactionRequest,
    types: &HashSet<TraceType>,
) -> Result<(TraceResults, TxEnv), RpcError> {
    let gas = request.gas.unwrap_or(GAS_MAX).min(GAS_MAX);
    let tx = tx_env(request, &place.env.block_env, node.chain.rules().chain_id(), gas)?;
    let base_fee = place.env.block_env.basefee;
    place.without_base_fee(&tx);
    let env = place.env.clone();
    place.env.block_env.basefee = base_fee;
    let Place { state, moved, .. } = place;
    let mut replay = Replay { node, state, env, moved: moved.clone(), tx: tx.clone() };
    Ok((results(&mut replay, types)?, tx))
}

/// Calls one after the other, each on the state that the one before has left.
fn call_many(node: &Node, params: &Params) -> Answer {
    let calls: Vec<(TransactionRequest, HashSet<TraceType>)> = params.get(0)?;
    if calls.len() > CALLS_MAX {
        return Err(RpcError::params(format!("{} calls: at most {CALLS_MAX}", calls.len())));
    }
    let mut place = Place::after(node, params.find(1)?.unwrap_or_else(BlockId::latest))?;
    let mut all = Vec::with_capacity(calls.len());
    for (request, types) in &calls {
        let (results, tx) = call(node, &mut place, request, types)?;
        all.push(shown(results)?);
        let mut evm = place.evm(node, residue_engine::revm::inspector::NoOpInspector {});
        let state = alloy_evm::Evm::transact_raw(&mut evm, tx).map_err(super::call::refused)?.state;
        drop(evm);
        place.state.commit(state);
    }
    Ok(Value::Array(all))
}

fn filter(node: &Node, params: &Params) -> Answer {
    let mut given: Value = params.get(0)?;
    for name in ["fromBlock", "toBlock"] {
        // The type takes numbers only, clients give names of blocks too.
        let Some(bound) = given.get_mut(name) else { continue };
        if let Ok(id) = serde_json::from_value::<alloy_eips::BlockNumberOrTag>(bound.clone())
            && !id.is_number()
        {
            *bound = super::format::quantity(numbered(node, BlockId::Number(id))?.unwrap_or_default());
        }
    }
    let filter: TraceFilter =
        serde_json::from_value(given).map_err(|error| RpcError::params(format!("invalid argument 0: {error}")))?;
    let head = node.chain.head()?.0;
    let (from, to) = (filter.from_block.unwrap_or(0), filter.to_block.unwrap_or(head).min(head));
    if from > filter.to_block.unwrap_or(head) {
        return Err(RpcError::params(format!("fromBlock {from} is after toBlock {}", filter.to_block.unwrap_or(head))));
    }
    if to.saturating_sub(from) >= BLOCKS_MAX {
        return Err(RpcError::params(format!("blocks {from} to {to}: at most {BLOCKS_MAX} in one request")));
    }
    let matcher = filter.matcher();
    let (mut skipped, mut all) = (filter.after.unwrap_or(0), Vec::new());
    let count = usize::try_from(filter.count.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    for number in from.max(1)..=to {
        if all.len() >= count {
            break;
        }
        let Some(found) = find(node, BlockId::number(number))? else { continue };
        if found.block.body.transactions.is_empty() {
            continue;
        }
        for trace in traces(node, &found, None)?.into_iter().filter(|trace| matcher.matches(&trace.trace)) {
            if skipped > 0 {
                skipped -= 1;
            } else if all.len() < count {
                all.push(trace);
            }
        }
        if all.len() > TRACES_MAX {
            return Err(RpcError::new(-32005, format!("more than {TRACES_MAX} traces: ask for fewer blocks")));
        }
    }
    shown(all)
}
