//! Methods that no other node has: disassembly under a revision, profiles of gas, and execution in blocks.

use std::collections::BTreeMap;

use alloy_eips::BlockId;
use alloy_primitives::{Address, B256, Bytes};
use alloy_rpc_types_eth::TransactionRequest;
use residue_engine::Engine;
use residue_engine::revm::inspector::Inspector;
use residue_engine::revm::interpreter::Interpreter;
use residue_engine::revm::interpreter::interpreter_types::InputsTr;
use residue_isa::{Revision, disassemble};
use serde_json::{Value, json};

use super::Method;
use super::blocks::{block_of, numbered};
use super::call::{GAS_MAX, Moved, Place, tx_env};
use super::debug::{Replay, replay};
use super::error::{Answer, RpcError};
use super::format;
use super::params::Params;
use super::state::state_at;
use super::struct_logs::name;
use crate::node::Node;

/// The methods of this file.
pub const METHODS: &[(&str, Method)] = &[
    ("residue_disassemble", disassembled),
    ("residue_profile", profile),
    ("residue_explain", explain),
    ("residue_info", info),
];

/// The engine in force after a block.
fn engine(node: &Node, id: BlockId) -> Result<Option<&Engine>, RpcError> {
    let number = numbered(node, id)?.ok_or_else(|| RpcError::input("header not found"))?;
    let time = node.chain.store().header(number)?.map_or(0, |header| header.timestamp);
    Ok(node.chain.factory().engine_at(time))
}

/// The code that the first parameter names: that of an account, or bytes.
fn code(node: &Node, params: &Params, id: BlockId) -> Result<Bytes, RpcError> {
    let given: Bytes = params.get(0)?;
    if given.len() != Address::len_bytes() {
        return Ok(given);
    }
    let state = state_at(node, id)?;
    let account = state.account(Address::from_slice(&given))?.unwrap_or_default();
    Ok(state.code(account.code_hash)?)
}

/// `residue_disassemble(address or code, block)`: text that the assembler takes.
fn disassembled(node: &Node, params: &Params) -> Answer {
    let id = params.find(1)?.unwrap_or_else(BlockId::latest);
    let code = code(node, params, id)?;
    // Without a revision the EVM's own opcodes are named, whichever is asked.
    let revision = engine(node, id)?.map_or(Revision::Evm384V7, |engine| engine.config().revision);
    Ok(disassemble(&code, revision).into())
}

/// Instructions and gas by contract and name. Gas that a call passes on is its callee's.
#[derive(Debug, Default)]
struct Profile {
    revision: Option<Revision>,
    spent: BTreeMap<Address, BTreeMap<String, (u64, u64)>>,
    begun: Vec<(Address, String, u64)>,
}

impl<CTX> Inspector<CTX> for Profile {
    fn step(&mut self, interpreter: &mut Interpreter, _: &mut CTX) {
        let at = interpreter.input.bytecode_address().copied().unwrap_or_else(|| interpreter.input.target_address());
        self.begun.push((at, name(interpreter, self.revision).0, interpreter.gas.remaining()));
    }

    fn step_end(&mut self, interpreter: &mut Interpreter, _: &mut CTX) {
        let Some((at, name, before)) = self.begun.pop() else { return };
        let mut cost = before.saturating_sub(interpreter.gas.remaining());
        if let Some(residue_engine::revm::interpreter::InterpreterAction::NewFrame(frame)) =
            &interpreter.bytecode.action
        {
            use residue_engine::revm::interpreter::FrameInput;
            let passed = match frame {
                FrameInput::Call(call) => call.gas_limit,
                FrameInput::Create(create) => create.gas_limit(),
                FrameInput::Empty => 0,
            };
            cost = cost.saturating_sub(passed);
        }
        let entry = self.spent.entry(at).or_default().entry(name).or_default();
        *entry = (entry.0 + 1, entry.1 + cost);
    }
}

/// `residue_profile(transaction hash)` or `residue_profile(call, block)`: what the gas went to.
fn profile(node: &Node, params: &Params) -> Answer {
    if let Some(hash) = params.find::<Value>(0)?.and_then(|value| serde_json::from_value::<B256>(value).ok()) {
        let (found, index) = block_of(node, hash)?.ok_or_else(|| RpcError::input("transaction not found"))?;
        let mut answer = Value::Null;
        replay(node, &found, index, |_, replay| {
            answer = profile_of(replay)?;
            Ok(false)
        })?;
        return Ok(answer);
    }
    let request: TransactionRequest = params.get(0)?;
    let mut place = Place::after(node, params.find(1)?.unwrap_or_else(BlockId::latest))?;
    let gas = request.gas.unwrap_or(GAS_MAX).min(GAS_MAX);
    let tx = tx_env(&request, &place.env.block_env, node.chain.rules().chain_id(), gas)?;
    profile_of(&mut Replay { node, state: &mut place.state, env: place.env, moved: Moved::default(), tx })
}

fn profile_of(replay: &mut Replay<'_>) -> Answer {
    let (result, profile) = replay.inspect(Profile { revision: replay.revision(), ..Profile::default() })?;
    let contracts = profile.spent.into_iter().map(|(address, names)| {
        let mut rows: Vec<(String, (u64, u64))> = names.into_iter().collect();
        rows.sort_by_key(|(_, (_, gas))| std::cmp::Reverse(*gas));
        let row = |(name, (count, gas)): (String, (u64, u64))| json!({ "op": name, "count": count, "gas": gas });
        let gas: u64 = rows.iter().map(|(_, (_, gas))| gas).sum();
        json!({ "address": format::address(address), "gas": gas, "ops": rows.into_iter().map(row).collect::<Vec<_>>() })
    });
    let contracts: Vec<Value> = contracts.collect();
    let executed: u64 = contracts.iter().filter_map(|contract| contract["gas"].as_u64()).sum();
    let used = result.result.tx_gas_used();
    Ok(json!({
        "gasUsed": used,
        "executionGas": executed,
        "otherGas": i128::from(used) - i128::from(executed),
        "success": result.result.is_success(),
        "contracts": contracts,
    }))
}

/// `residue_explain(address or code, input, gas, block)`: the blocks that the engine runs as one once it knows the code, on an empty state.
fn explain(node: &Node, params: &Params) -> Answer {
    let id = params.find(3)?.unwrap_or_else(BlockId::latest);
    let input: Bytes = params.find(1)?.unwrap_or_default();
    let gas = params.number(2)?.unwrap_or(GAS_MAX).min(GAS_MAX);
    let code = code(node, params, id)?;
    let engine = engine(node, id)?.ok_or_else(|| RpcError::input("no revision is in force at this block"))?;
    let mut prepared = engine.prepare(&code);
    let outcome = prepared.plan_ahead(&input, gas);
    let blocks = prepared.blocks().into_iter().map(|block| {
        json!({
            "code": [block.code.start, block.code.end],
            "runs": block.runs,
            "instructions": format!("{:?}", block.instructions),
            "operations": format!("{:?}", block.operations),
            "scalarCycles": block.scalar_cycles,
            "isPlanned": block.plan.is_some(),
            "traceSteps": block.trace_steps,
        })
    });
    Ok(json!({
        "revision": engine.config().revision.to_string(),
        "halt": outcome.halt.name(),
        "gasUsed": outcome.gas_used,
        "blocks": blocks.collect::<Vec<_>>(),
    }))
}

/// `residue_info()`: the revisions of the chain with the block times that they begin at.
fn info(node: &Node, _: &Params) -> Answer {
    let engines = node.chain.factory().engines().iter().map(|(time, engine)| {
        let config = engine.config();
        json!({
            "time": time,
            "revision": config.revision.to_string(),
            "schedule": config.schedule.name(),
            "replacedPrecompiles": config.replacements.iter().map(|replaced| format!("{:#x}", replaced.address)).collect::<Vec<_>>(),
        })
    });
    Ok(json!({ "revisions": engines.collect::<Vec<_>>() }))
}
