//! `eth_simulateV1`: blocks of calls after a block of the chain, with their headers as if they were mined. What the specification leaves open
//! (defaults, error codes, gas of calls) is as in geth's `internal/ethapi/simulate.go`.

use alloy_consensus::proofs::{calculate_receipt_root, calculate_transaction_root};
use alloy_consensus::{
    Block, BlockBody, Header, Receipt, ReceiptEnvelope, SignableTransaction, Transaction, TxEip1559, TxEip2930,
    TxEip4844, TxEip4844Variant, TxEip7702, TxEnvelope, TxLegacy, TxReceipt, TxType,
};
use alloy_eips::BlockId;
use alloy_eips::eip7594::BlobTransactionSidecarVariant;
use alloy_eips::eip7685::Requests;
use alloy_evm::block::SystemCaller;
use alloy_evm::overrides::apply_state_overrides;
use alloy_evm::{Evm, EvmEnv, EvmFactory};
use alloy_hardforks::EthereumHardforks;
use alloy_primitives::{Address, Bloom, Log, Signature, TxKind, U256};
use alloy_rpc_types_eth::simulate::{MAX_SIMULATE_BLOCKS, SimBlock, SimulatePayload};
use alloy_rpc_types_eth::{BlockOverrides, TransactionRequest};
use residue_engine::revm::context::TxEnv;
use residue_engine::revm::context::result::{EVMError, ExecutionResult, InvalidTransaction};
use residue_engine::revm::database::State;
use residue_engine::revm::database::states::bundle_state::BundleRetention;
use residue_engine::revm::{Database, DatabaseCommit};
use serde_json::{Value, json};

use super::Method;
use super::call::{CallError, GAS_MAX, Moved, Place, block_overrides, check_overrides, halt_message, tx_env};
use super::error::{Answer, RpcError, revert_message};
use super::format::{self, Position, bytes, quantity};
use super::params::Params;
use super::transfers::{TRANSFERS, Transfers};
use crate::chain::{Attributes, changes_of};
use crate::node::Node;
use crate::store::StateView;

/// Seconds between blocks that do not say their time.
const SECONDS: u64 = 12;

/// The methods of this file.
pub const METHODS: &[(&str, Method)] = &[("eth_simulateV1", simulate)];

/// Settings shared by the blocks of a simulation, and the gas left to them.
struct Simulation<'a> {
    node: &'a Node,
    state: State<StateView>,
    is_validated: bool,
    traces_transfers: bool,
    shows_whole: bool,
    gas_left: u64,
}

/// A call that has been executed.
struct Called {
    tx: TxEnvelope,
    sender: Address,
    result: ExecutionResult,
    /// With those of transfers.
    logs: Vec<Log>,
}

fn simulate(node: &Node, params: &Params) -> Answer {
    let given: Value = params.get(0)?;
    let blocks = given.get("blockStateCalls").and_then(Value::as_array);
    for block in blocks.into_iter().flatten() {
        block_overrides(block.get("blockOverrides").cloned())?;
    }
    let payload: SimulatePayload = params.get(0)?;
    let id = params.find(1)?.unwrap_or_else(BlockId::latest);
    if payload.block_state_calls.is_empty() {
        return Err(RpcError::params("empty input"));
    }
    if payload.block_state_calls.len() as u64 > MAX_SIMULATE_BLOCKS {
        return Err(RpcError::new(-38026, "too many blocks"));
    }
    let Place { header: base, state, .. } = Place::after(node, id)?;
    let blocks = in_order(payload.block_state_calls, &base)?;
    let state = state.database;
    let mut simulation = Simulation {
        node,
        state: State::builder().with_database(state).with_bundle_update().build(),
        is_validated: payload.validation,
        traces_transfers: payload.trace_transfers,
        shows_whole: payload.return_full_transactions,
        gas_left: GAS_MAX,
    };
    // A block that waits to be made is none that the chain knows the hash of.
    simulation.state.block_hashes.insert(base.number, base.hash_slow());
    let mut parent = base;
    let mut answers = Vec::with_capacity(blocks.len());
    for block in blocks {
        let (header, answer) = simulation.block(&parent, block)?;
        simulation.state.block_hashes.insert(header.number, header.hash_slow());
        parent = header;
        answers.push(answer);
    }
    Ok(Value::Array(answers))
}

/// The blocks with their numbers and times, empty ones between them where numbers leave some out.
fn in_order(blocks: Vec<SimBlock>, base: &Header) -> Result<Vec<SimBlock>, RpcError> {
    let (mut number, mut time) = (base.number, base.timestamp);
    let mut ordered: Vec<SimBlock> = Vec::new();
    for mut block in blocks {
        let mut overrides = block.block_overrides.take().unwrap_or_default();
        let asked: u64 = overrides.number.map_or(number + 1, |asked| asked.saturating_to());
        if asked <= number {
            return Err(RpcError::new(-38020, format!("block numbers must be in order: {asked} <= {number}")));
        }
        if asked - base.number > MAX_SIMULATE_BLOCKS {
            return Err(RpcError::new(-38026, "too many blocks"));
        }
        for between in number + 1..asked {
            time += SECONDS;
            let overrides =
                BlockOverrides { number: Some(U256::from(between)), time: Some(time), ..BlockOverrides::default() };
            ordered.push(SimBlock { block_overrides: Some(overrides), ..SimBlock::default() });
        }
        number = asked;
        let at = overrides.time.unwrap_or_else(|| time.saturating_add(SECONDS));
        if at <= time {
            return Err(RpcError::new(-38021, format!("block timestamps must be in order: {at} <= {time}")));
        }
        time = at;
        (overrides.number, overrides.time) = (Some(U256::from(number)), Some(time));
        block.block_overrides = Some(overrides);
        ordered.push(block);
    }
    Ok(ordered)
}

impl Simulation<'_> {
    /// One block: its header and its answer.
    fn block(&mut self, parent: &Header, block: SimBlock) -> Result<(Header, Value), RpcError> {
        let overrides = block.block_overrides.unwrap_or_default();
        let mut header = self.header(parent, &overrides);
        let mut env = self.env(&header);
        for (number, hash) in overrides.block_hash.iter().flatten() {
            self.state.block_hashes.insert(*number, *hash);
        }
        if let Some(fee) = overrides.blob_base_fee
            && let Some(blob) = &mut env.block_env.blob_excess_gas_and_price
        {
            blob.blob_gasprice = fee.saturating_to();
        }
        let state_overrides = block.state_overrides.unwrap_or_default();
        check_overrides(&state_overrides)?;
        let moved = Moved::of(self.node, &env, &state_overrides)?;
        apply_state_overrides(state_overrides, &mut self.state).map_err(|error| RpcError::input(error.to_string()))?;

        let failed = |error: alloy_evm::block::BlockExecutionError| RpcError::input(error.to_string());
        let mut caller = SystemCaller::new(self.node.chain.rules());
        let mut evm = self.node.chain.factory().create_evm(&mut self.state, env.clone());
        caller.apply_blockhashes_contract_call(header.parent_hash, &mut evm).map_err(failed)?;
        caller.apply_beacon_root_contract_call(header.parent_beacon_block_root, &mut evm).map_err(failed)?;
        drop(evm);

        let mut called = Vec::with_capacity(block.calls.len());
        let mut gas_used = 0u64;
        for request in block.calls {
            let call = self.call(&env, &moved, request, header.gas_limit, gas_used)?;
            gas_used += call.result.tx_gas_used();
            self.gas_left = self.gas_left.saturating_sub(call.result.tx_gas_used());
            called.push(call);
        }
        let mut requests = Requests::default();
        if self.node.chain.rules().is_prague_active_at_timestamp(header.timestamp) {
            let mut evm = self.node.chain.factory().create_evm(&mut self.state, env);
            caller.append_post_execution_changes(&mut evm, &mut requests).map_err(failed)?;
            drop(evm);
            header.requests_hash = Some(requests.requests_hash());
        }
        self.finish(header, called, gas_used)
    }

    fn header(&self, parent: &Header, overrides: &BlockOverrides) -> Header {
        let rules = self.node.chain.rules();
        let attributes = Attributes {
            time: overrides.time.unwrap_or_default(),
            beneficiary: overrides.coinbase.unwrap_or(parent.beneficiary),
            gas_limit: overrides.gas_limit.unwrap_or(parent.gas_limit),
            prev_randao: overrides.random.unwrap_or_default(),
            // Without validation gas costs nothing.
            base_fee: overrides.base_fee.map(|fee| fee.saturating_to()).or((!self.is_validated).then_some(0)),
            beacon_root: overrides.beacon_root.unwrap_or_default(),
            extra_data: Default::default(),
            withdrawals: Default::default(),
        };
        let mut header = self.node.chain.next_header(parent, parent.hash_slow(), &attributes);
        let is_merged = rules.is_paris_active_at_block(header.number);
        header.difficulty = overrides.difficulty.unwrap_or(if is_merged { U256::ZERO } else { parent.difficulty });
        header
    }

    fn env(&self, header: &Header) -> EvmEnv {
        let mut env = self.node.chain.env_of(header);
        env.cfg_env.disable_eip3607 = true;
        env.cfg_env.tx_gas_limit_cap = Some(u64::MAX);
        env.cfg_env.disable_block_gas_limit = true;
        env.cfg_env.disable_nonce_check = !self.is_validated;
        env.cfg_env.disable_base_fee = !self.is_validated;
        env
    }

    fn call(
        &mut self,
        env: &EvmEnv,
        moved: &Moved,
        mut request: TransactionRequest,
        gas_limit: u64,
        gas_used: u64,
    ) -> Result<Called, RpcError> {
        let sender = request.from.unwrap_or_default();
        if request.nonce.is_none() {
            let account = self.state.basic(sender).map_err(|error| RpcError::input(error.to_string()))?;
            request.nonce = Some(account.map_or(0, |account| account.nonce));
        }
        let remaining = gas_limit.saturating_sub(gas_used);
        let gas = request.gas.unwrap_or_else(|| remaining.min(self.gas_left));
        if gas > remaining {
            return Err(RpcError::new(
                -38015,
                format!("block gas limit reached: remaining: {remaining}, required: {gas}"),
            ));
        }
        let gas = gas.min(self.gas_left);
        request.gas = Some(gas);
        let chain_id = self.node.chain.rules().chain_id();
        if request.gas_price.is_none() {
            request.max_fee_per_gas.get_or_insert(0);
            request.max_priority_fee_per_gas.get_or_insert(0);
        }
        let tx = tx_env(&request, &env.block_env, chain_id, gas)?;
        let mut transfers = Transfers::default();
        let factory = self.node.chain.factory();
        let mut evm = factory.create_evm_with_inspector(&mut self.state, env.clone(), &mut transfers);
        evm.set_inspector_enabled(self.traces_transfers);
        moved.apply(evm.precompiles_mut());
        let result = evm.transact_raw(tx.clone()).map_err(|error| refused(error, &tx, env))?;
        evm.db_mut().commit(result.state);
        drop(evm);
        let logs = result.result.logs().to_vec();
        Ok(Called { tx: envelope(&request, &tx, chain_id), sender, result: result.result, logs })
    }

    fn finish(&mut self, mut header: Header, called: Vec<Called>, gas_used: u64) -> Result<(Header, Value), RpcError> {
        let mut cumulative = 0;
        let receipts: Vec<ReceiptEnvelope> = called.iter().map(|call| receipt(call, &mut cumulative)).collect();
        let transactions: Vec<TxEnvelope> = called.iter().map(|call| call.tx.clone()).collect();
        self.state.merge_transitions(BundleRetention::PlainState);
        let changes = changes_of(self.state.bundle_state.clone());
        header.state_root = self.state.database.changed(&changes.accounts)?.root;
        header.transactions_root = calculate_transaction_root(&transactions);
        header.receipts_root = calculate_receipt_root(&receipts);
        header.logs_bloom = receipts.iter().fold(Bloom::ZERO, |bloom, receipt| bloom | receipt.bloom());
        header.gas_used = gas_used;
        let blob_gas = transactions.iter().filter_map(Transaction::blob_gas_used).sum();
        header.blob_gas_used = header.blob_gas_used.map(|_| blob_gas);
        let hash = header.hash_slow();
        let withdrawals = header.withdrawals_root.map(|_| Default::default());
        let block = Block { header, body: BlockBody { transactions, ommers: Vec::new(), withdrawals } };
        let senders: Vec<Address> = called.iter().map(|call| call.sender).collect();
        let mut answer = format::block(&block, Some(hash), &senders, self.shows_whole);
        let mut index = 0;
        let calls = (0u64..).zip(&called).map(|(at, call)| {
            let position = Position {
                block_hash: hash,
                block_number: block.header.number,
                time: block.header.timestamp,
                index: at,
            };
            call_answer(call, position, &mut index)
        });
        answer["calls"] = calls.collect();
        Ok((block.header, answer))
    }
}

fn receipt(call: &Called, cumulative: &mut u64) -> ReceiptEnvelope {
    *cumulative += call.result.tx_gas_used();
    let logs = call.logs.iter().filter(|log| log.address != TRANSFERS).cloned().collect();
    let receipt = Receipt { status: call.result.is_success().into(), cumulative_gas_used: *cumulative, logs };
    match call.tx.tx_type() {
        TxType::Legacy => ReceiptEnvelope::Legacy(receipt.into()),
        TxType::Eip2930 => ReceiptEnvelope::Eip2930(receipt.into()),
        TxType::Eip1559 => ReceiptEnvelope::Eip1559(receipt.into()),
        TxType::Eip4844 => ReceiptEnvelope::Eip4844(receipt.into()),
        TxType::Eip7702 => ReceiptEnvelope::Eip7702(receipt.into()),
    }
}

fn call_answer(call: &Called, position: Position, index: &mut u64) -> Value {
    let gas = call.result.gas();
    let hash = *call.tx.tx_hash();
    let logs = call.logs.iter().map(|log| {
        *index += 1;
        format::log(log, position, hash, *index - 1)
    });
    let logs: Vec<Value> = if call.result.is_success() { logs.collect() } else { Vec::new() };
    let output = match &call.result {
        ExecutionResult::Success { output, .. } => output.data().clone(),
        _ => Default::default(),
    };
    let mut answer = json!({
        "returnData": bytes(output),
        "logs": logs,
        "gasUsed": quantity(gas.tx_gas_used()),
        "maxUsedGas": quantity(gas.total_gas_spent().max(gas.floor_gas())),
        "status": quantity(u64::from(call.result.is_success())),
    });
    match &call.result {
        ExecutionResult::Success { .. } => {}
        ExecutionResult::Revert { output, .. } => {
            answer["error"] = json!({ "message": revert_message(output), "code": 3, "data": bytes(output) });
        }
        ExecutionResult::Halt { reason, .. } => {
            answer["error"] = json!({ "message": halt_message(reason), "code": -32015 });
        }
    }
    answer
}

/// Why a call cannot begin, by the codes of the specification.
fn refused(error: CallError, tx: &TxEnv, env: &EvmEnv) -> RpcError {
    let EVMError::Transaction(error) = error else {
        return RpcError::input(error.to_string());
    };
    let code = match &error {
        InvalidTransaction::NonceTooLow { .. } => -38010,
        InvalidTransaction::NonceTooHigh { .. } => -38011,
        InvalidTransaction::GasPriceLessThanBasefee => -38012,
        InvalidTransaction::CallGasCostMoreThanGasLimit { .. }
        | InvalidTransaction::GasFloorMoreThanGasLimit { .. } => -38013,
        InvalidTransaction::LackOfFundForMaxFee { .. } => -38014,
        InvalidTransaction::CallerGasLimitMoreThanBlock => -38015,
        InvalidTransaction::RejectCallerWithCode => -38024,
        InvalidTransaction::CreateInitCodeSizeLimit => -38025,
        _ => -32603,
    };
    let (caller, gas, fee) = (tx.caller, tx.gas_limit, env.block_env.basefee);
    RpcError::new(code, format!("err: {error}: address {caller}, baseFee: {fee} (supplied gas {gas})"))
}

/// The transaction of a call, without a signature.
fn envelope(request: &TransactionRequest, tx: &TxEnv, chain_id: u64) -> TxEnvelope {
    let unsigned = Signature::new(U256::ZERO, U256::ZERO, false);
    let (nonce, gas_limit, value, input) = (tx.nonce, tx.gas_limit, tx.value, tx.data.clone());
    let to_or_zero = tx.kind.to().copied().unwrap_or_default();
    let access_list = request.access_list.clone().unwrap_or_default();
    let max_fee_per_gas = request.max_fee_per_gas.or(request.gas_price).unwrap_or_default();
    let max_priority_fee_per_gas = request.max_priority_fee_per_gas.or(request.gas_price).unwrap_or_default();
    let authorization_list = request.authorization_list.clone().unwrap_or_default();
    match request.gas_price {
        Some(gas_price) if request.access_list.is_some() => {
            let to: TxKind = tx.kind;
            TxEip2930 { chain_id, nonce, gas_price, gas_limit, to, value, access_list, input }
                .into_signed(unsigned)
                .into()
        }
        Some(gas_price) => TxLegacy { chain_id: None, nonce, gas_price, gas_limit, to: tx.kind, value, input }
            .into_signed(unsigned)
            .into(),
        None if !authorization_list.is_empty() => {
            let to = to_or_zero;
            let tx = TxEip7702 {
                chain_id,
                nonce,
                gas_limit,
                max_fee_per_gas,
                max_priority_fee_per_gas,
                to,
                value,
                access_list,
                authorization_list,
                input,
            };
            tx.into_signed(unsigned).into()
        }
        None if !tx.blob_hashes.is_empty() => {
            let tx = TxEip4844 {
                chain_id,
                nonce,
                gas_limit,
                max_fee_per_gas,
                max_priority_fee_per_gas,
                to: to_or_zero,
                value,
                access_list,
                blob_versioned_hashes: tx.blob_hashes.clone(),
                max_fee_per_blob_gas: request.max_fee_per_blob_gas.unwrap_or_default(),
                input,
            };
            TxEip4844Variant::<BlobTransactionSidecarVariant>::TxEip4844(tx).into_signed(unsigned).into()
        }
        None => {
            let to = tx.kind;
            let tx = TxEip1559 {
                chain_id,
                nonce,
                gas_limit,
                max_fee_per_gas,
                max_priority_fee_per_gas,
                to,
                value,
                access_list,
                input,
            };
            tx.into_signed(unsigned).into()
        }
    }
}
