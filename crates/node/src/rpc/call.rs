//! Calls that change nothing: `eth_call`, `eth_estimateGas`, `eth_createAccessList`.

use alloy_consensus::Header;
use alloy_eips::BlockId;
use alloy_eips::eip2930::AccessList;
use alloy_evm::overrides::{apply_block_overrides, apply_state_overrides};
use alloy_evm::precompiles::PrecompilesMap;
use alloy_evm::{Evm, EvmEnv, EvmFactory};
use alloy_primitives::{Address, Bytes, TxKind, U256};
use alloy_rpc_types_eth::state::StateOverride;
use alloy_rpc_types_eth::{BlockOverrides, TransactionRequest};
use residue_alloy::{FieldBlockEvm, FieldContext};
use residue_engine::revm::context::result::{EVMError, ExecutionResult, HaltReason, InvalidTransaction};
use residue_engine::revm::context::{BlockEnv, TxEnv};
use residue_engine::revm::database::State;
use residue_engine::revm::database_interface::bal::EvmDatabaseError;
use residue_engine::revm::inspector::{Inspector, NoOpInspector};
use revm_inspectors::access_list::AccessListInspector;
use serde_json::{Value, json};

use super::Method;
use super::blocks::numbered;
use super::error::{Answer, RpcError};
use super::format::{bytes, quantity};
use super::params::Params;
use super::state::state_at;
use crate::node::Node;
use crate::store::{StateView, StoreError};

/// Gas of a call, whatever it asks for: geth's `--rpc.gascap`.
pub const GAS_MAX: u64 = 50_000_000;
/// The part of its gas that a call cannot pass on, in 64ths: EIP-150.
const KEPT: (u64, u64) = (64, 63);
/// An estimate is near enough when it is within this part of what is enough: geth's `estimateGasErrorRatio`, 1.5 %, in thousandths.
const ESTIMATE_ERROR_THOUSANDTHS: u64 = 15;
/// Gas of a transfer.
const TRANSFER_GAS: u64 = 21_000;

/// The methods of this file.
pub const METHODS: &[(&str, Method)] =
    &[("eth_call", eth_call), ("eth_estimateGas", estimate_gas), ("eth_createAccessList", create_access_list)];

/// The error of a transaction here.
pub type CallError = EVMError<EvmDatabaseError<StoreError>>;

/// A state that calls run on, with its environment.
pub struct Place {
    /// The state.
    pub state: State<StateView>,
    /// The environment, without the checks that calls leave out.
    pub env: EvmEnv,
    /// The block's header.
    pub header: Header,
    /// Precompiles that are not where the fork has them.
    pub moved: Moved,
    /// True if the call itself says the base fee.
    has_base_fee: bool,
}

impl Place {
    /// The state after a block, in the environment of that block.
    pub fn after(node: &Node, id: BlockId) -> Result<Self, RpcError> {
        let (header, state) = match id.is_pending() {
            true => {
                let (built, state) = node.pending_state()?;
                (Some(built.block.header), state)
            }
            false => {
                let number = numbered(node, id)?;
                let header = number.map(|number| node.chain.store().header(number)).transpose()?.flatten();
                (header, state_at(node, id)?)
            }
        };
        let header = header.ok_or_else(|| RpcError::input("header not found"))?;
        let env = env_of_calls(node, &header);
        let state = State::builder().with_database(state).build();
        Ok(Self { state, env, header, moved: Moved::default(), has_base_fee: false })
    }

    /// Applies what a call wants to be otherwise.
    pub fn overridden(
        mut self,
        node: &Node,
        state: Option<StateOverride>,
        block: Option<BlockOverrides>,
    ) -> Result<Self, RpcError> {
        if let Some(block) = block {
            if block.beacon_root.is_some() {
                return Err(RpcError::params(
                    "block override beaconRoot: calls have no use for it, only eth_simulateV1",
                ));
            }
            // Forks follow number and time.
            self.header.number = block.number.map_or(self.header.number, |number| number.saturating_to());
            self.header.timestamp = block.time.unwrap_or(self.header.timestamp);
            self.env = env_of_calls(node, &self.header);
            self.has_base_fee = block.base_fee.is_some();
            apply_block_overrides(block, &mut self.state, &mut self.env.block_env);
        }
        if let Some(state) = state {
            check_overrides(&state)?;
            self.moved = Moved::of(node, &self.env, &state)?;
            apply_state_overrides(state, &mut self.state).map_err(|error| RpcError::params(error.to_string()))?;
        }
        Ok(self)
    }

    /// The EVM of a call.
    pub fn evm<I>(&mut self, node: &Node, inspector: I) -> FieldBlockEvm<&mut State<StateView>, I>
    where
        I: for<'s> Inspector<FieldContext<&'s mut State<StateView>>>,
    {
        let factory = node.chain.factory();
        let mut evm = factory.create_evm_with_inspector(&mut self.state, self.env.clone(), inspector);
        self.moved.apply(evm.precompiles_mut());
        evm
    }

    /// Runs a transaction on the state, which stays as it was.
    pub fn run(&mut self, node: &Node, tx: TxEnv) -> Result<ExecutionResult, CallError> {
        let mut evm = self.evm(node, NoOpInspector {});
        evm.set_inspector_enabled(false);
        Ok(evm.transact_raw(tx)?.result)
    }

    /// Takes the base fee away for a call that pays nothing and does not say one itself, as geth does.
    pub fn without_base_fee(&mut self, tx: &TxEnv) {
        if tx.gas_price == 0 && !self.has_base_fee {
            self.env.block_env.basefee = 0;
        }
    }
}

/// The environment of a block without the checks that calls leave out.
pub fn env_of_calls(node: &Node, header: &Header) -> EvmEnv {
    let mut env = node.chain.env_of(header);
    env.cfg_env.disable_nonce_check = true;
    env.cfg_env.disable_eip3607 = true;
    env.cfg_env.disable_block_gas_limit = true;
    env.cfg_env.disable_base_fee = true;
    // A call may take more than a transaction (EIP-7825).
    env.cfg_env.tx_gas_limit_cap = Some(u64::MAX);
    env
}

/// Names of block overrides, with those that other clients have for the same.
const BLOCK_OVERRIDES: [&str; 16] = [
    "number",
    "blockNumber",
    "difficulty",
    "time",
    "timestamp",
    "gasLimit",
    "coinbase",
    "feeRecipient",
    "random",
    "prevRandao",
    "baseFee",
    "baseFeePerGas",
    "blobBaseFee",
    "beaconRoot",
    "parentBeaconBlockRoot",
    "blockHash",
];

/// Block overrides of JSON. A name that would be ignored is an error.
pub fn block_overrides(given: Option<Value>) -> Result<Option<BlockOverrides>, RpcError> {
    let Some(given) = given.filter(|given| !given.is_null()) else { return Ok(None) };
    let mut names = given.as_object().into_iter().flat_map(|fields| fields.keys());
    if let Some(name) = names.find(|name| !BLOCK_OVERRIDES.contains(&name.as_str())) {
        return Err(RpcError::params(format!("block override {name:?} is none of {}", BLOCK_OVERRIDES.join(", "))));
    }
    serde_json::from_value(given)
        .map(Some)
        .map_err(|error| RpcError::params(format!("invalid block overrides: {error}")))
}

/// An account cannot have all its storage and a part of it replaced.
pub fn check_overrides(overrides: &StateOverride) -> Result<(), RpcError> {
    let both = overrides.iter().find(|(_, account)| account.state.is_some() && account.state_diff.is_some());
    match both {
        Some((address, _)) => Err(RpcError::input(format!("account {address} has both 'state' and 'stateDiff'"))),
        None => Ok(()),
    }
}

/// Precompiles that overrides take away: each is where it is moved to, or nowhere, as an account that is overridden is none.
#[derive(Debug, Clone, Default)]
pub struct Moved(Vec<(Address, Option<Address>)>);

impl Moved {
    /// Those of overrides in the environment of a block.
    pub fn of(node: &Node, env: &EvmEnv, overrides: &StateOverride) -> Result<Self, RpcError> {
        let fork = residue_alloy::precompiles(env.cfg_env.spec);
        let engine = node.chain.factory().engine_at(env.block_env.timestamp.saturating_to());
        let is_replaced = |address: &Address| {
            let mut replaced = engine.into_iter().flat_map(|engine| &engine.config().replacements);
            replaced.any(|replaced| Address::left_padding_from(&replaced.address.to_be_bytes()) == *address)
        };
        let mut moved = Vec::new();
        for (address, account) in overrides {
            if (account.move_precompile_to.is_some() || account.code.is_some()) && is_replaced(address) {
                return Err(RpcError::input(format!(
                    "precompile {address} is a contract of --as-precompiles, which is neither moved nor overridden"
                )));
            }
            let is_precompile = fork.get(address).is_some();
            if let Some(to) = account.move_precompile_to {
                if !is_precompile {
                    return Err(RpcError::input(format!("account {address} is not a precompile")));
                }
                if to == *address {
                    return Err(RpcError::new(-38022, format!("precompile {address} is moved to itself")));
                }
                if overrides.contains_key(&to) {
                    return Err(RpcError::new(-38023, format!("account {to} is already overridden")));
                }
            }
            if is_precompile {
                moved.push((*address, account.move_precompile_to));
            }
        }
        Ok(Self(moved))
    }

    /// Moves them among the precompiles of a fork.
    pub fn apply(&self, map: &mut PrecompilesMap) {
        let mut taken = Vec::with_capacity(self.0.len());
        for (from, to) in &self.0 {
            map.apply_precompile(from, |precompile| {
                taken.push((*to, precompile));
                None
            });
        }
        for (to, precompile) in taken {
            if let (Some(to), Some(precompile)) = (to, precompile) {
                map.apply_precompile(&to, |_| Some(precompile));
            }
        }
    }
}

/// The transaction of a call. What it does not say is as geth takes it: no fees, and as much gas as may be.
pub fn tx_env(request: &TransactionRequest, block: &BlockEnv, chain_id: u64, gas: u64) -> Result<TxEnv, RpcError> {
    if request.gas_price.is_some() && (request.max_fee_per_gas.is_some() || request.max_priority_fee_per_gas.is_some())
    {
        return Err(RpcError::input("both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified"));
    }
    if request.chain_id.is_some_and(|id| id != chain_id) {
        return Err(RpcError::input(format!(
            "chainId does not match node's (have={}, want={chain_id})",
            request.chain_id.unwrap_or_default()
        )));
    }
    if let (Some(input), Some(data)) = (&request.input.input, &request.input.data)
        && input != data
    {
        return Err(RpcError::input(
            "both \"data\" and \"input\" are set and not equal. Please use \"input\" to pass transaction call data",
        ));
    }
    let cap = request.max_fee_per_gas.or(request.max_priority_fee_per_gas);
    if let (Some(cap), Some(tip)) = (request.max_fee_per_gas, request.max_priority_fee_per_gas)
        && tip > cap
    {
        return Err(RpcError::input(format!(
            "max priority fee per gas higher than max fee per gas: maxPriorityFeePerGas: {tip}, maxFeePerGas: {cap}"
        )));
    }
    let is_dynamic = cap.is_some() && request.gas_price.is_none();
    let hashes = request.blob_versioned_hashes.clone().unwrap_or_default();
    let authorizations = request.authorization_list.clone().unwrap_or_default();
    let tx_type = match () {
        () if !authorizations.is_empty() => 4,
        () if !hashes.is_empty() => 3,
        () if is_dynamic => 2,
        () if request.access_list.is_some() => 1,
        () => 0,
    };
    // Without a price there is no base fee either.
    let is_free = request.gas_price.unwrap_or_default() == 0 && !is_dynamic;
    let mut env = TxEnv {
        tx_type,
        caller: request.from.unwrap_or_default(),
        gas_limit: gas,
        gas_price: if is_free {
            0
        } else {
            request.gas_price.or(request.max_fee_per_gas).unwrap_or(u128::from(block.basefee))
        },
        kind: request.to.unwrap_or(TxKind::Create),
        value: request.value.unwrap_or_default(),
        data: request.input.input().cloned().unwrap_or_default(),
        nonce: request.nonce.unwrap_or_default(),
        chain_id: Some(chain_id),
        access_list: request.access_list.clone().unwrap_or_default(),
        gas_priority_fee: is_dynamic.then(|| request.max_priority_fee_per_gas.unwrap_or_default()),
        blob_hashes: hashes,
        max_fee_per_blob_gas: request.max_fee_per_blob_gas.unwrap_or_default(),
        ..TxEnv::default()
    };
    env.set_signed_authorization(authorizations);
    if tx_type == 3 && env.max_fee_per_blob_gas == 0 {
        env.max_fee_per_blob_gas = block.blob_excess_gas_and_price.map_or(0, |blob| blob.blob_gasprice);
    }
    Ok(env)
}

/// Why a transaction cannot begin.
pub fn refused(error: CallError) -> RpcError {
    match error {
        EVMError::Transaction(InvalidTransaction::LackOfFundForMaxFee { fee, balance }) => {
            RpcError::input(format!("insufficient funds for gas * price + value: have {balance} want {fee}"))
        }
        EVMError::Database(EvmDatabaseError::Database(error)) => error.into(),
        error => RpcError::input(format!("err: {error}")),
    }
}

/// Name of a halt in answers.
pub fn halt_message(reason: &HaltReason) -> String {
    match reason {
        HaltReason::OutOfGas(_) => "out of gas".to_owned(),
        HaltReason::OpcodeNotFound | HaltReason::InvalidFEOpcode => "invalid opcode".to_owned(),
        HaltReason::InvalidJump => "invalid jump destination".to_owned(),
        HaltReason::StackUnderflow => "stack underflow".to_owned(),
        HaltReason::StackOverflow => "stack overflow".to_owned(),
        HaltReason::CreateContractSizeLimit => "max code size exceeded (see --code-size-limit)".to_owned(),
        HaltReason::CallTooDeep => "max call depth exceeded".to_owned(),
        other => format!("{other:?}"),
    }
}

fn output_of(result: ExecutionResult) -> Result<Bytes, RpcError> {
    match result {
        ExecutionResult::Success { output, .. } => Ok(output.into_data()),
        ExecutionResult::Revert { output, .. } => Err(RpcError::reverted(&output)),
        ExecutionResult::Halt { reason, .. } => Err(RpcError::input(halt_message(&reason))),
    }
}

fn place(node: &Node, params: &Params) -> Result<(TransactionRequest, Place), RpcError> {
    let request: TransactionRequest = params.get(0)?;
    let id = params.find(1)?.unwrap_or_else(BlockId::latest);
    let block = block_overrides(params.find(3)?)?;
    Ok((request, Place::after(node, id)?.overridden(node, params.find(2)?, block)?))
}

fn eth_call(node: &Node, params: &Params) -> Answer {
    let (request, mut place) = place(node, params)?;
    let gas = request.gas.unwrap_or(GAS_MAX).min(GAS_MAX);
    let tx = tx_env(&request, &place.env.block_env, node.chain.rules().chain_id(), gas)?;
    place.without_base_fee(&tx);
    output_of(place.run(node, tx).map_err(refused)?).map(bytes)
}

fn estimate_gas(node: &Node, params: &Params) -> Answer {
    let (request, mut place) = place(node, params)?;
    estimate(node, &request, &mut place).map(quantity)
}

/// The least gas that a transaction can be sent with, within 1.5 %: by running it with all there is, and bisection from what that used.
pub fn estimate(node: &Node, request: &TransactionRequest, place: &mut Place) -> Result<u64, RpcError> {
    let chain_id = node.chain.rules().chain_id();
    // What a block, the protocol's limit of a transaction and this node allow.
    let cap = node.chain.env_of(&place.header).cfg_env.tx_gas_limit_cap.unwrap_or(u64::MAX);
    let mut most = request.gas.filter(|&gas| gas >= TRANSFER_GAS).unwrap_or(place.env.block_env.gas_limit);
    most = most.min(GAS_MAX).min(cap);
    let first = tx_env(request, &place.env.block_env, chain_id, most)?;
    if first.gas_price > 0 {
        most = most.min(affordable(place, &first)?);
    }
    let run = |gas: u64, place: &mut Place| {
        let tx = TxEnv { gas_limit: gas, ..first.clone() };
        match place.run(node, tx) {
            Err(EVMError::Transaction(InvalidTransaction::CallGasCostMoreThanGasLimit { .. }))
            | Err(EVMError::Transaction(InvalidTransaction::GasFloorMoreThanGasLimit { .. })) => Ok(None),
            Ok(result) => Ok(Some(result)),
            Err(error) => Err(refused(error)),
        }
    };
    let out_of_gas = || RpcError::input(format!("gas required exceeds allowance ({most})"));
    let result = run(most, place)?.ok_or_else(out_of_gas)?;
    if let ExecutionResult::Halt { reason: HaltReason::OutOfGas(_), .. } = result {
        return Err(out_of_gas());
    }
    let gas = *result.gas();
    output_of(result)?;
    let is_enough =
        |gas: u64, place: &mut Place| Ok::<_, RpcError>(run(gas, place)?.is_some_and(|result| result.is_success()));
    let mut too_little = gas.tx_gas_used().saturating_sub(1);
    let mut enough = most;
    // With what it took before refunds, and what calls must leave, it is enough in most cases.
    let guess = (gas.total_gas_spent().saturating_add(2300)).saturating_mul(KEPT.0) / KEPT.1;
    if guess < enough {
        if is_enough(guess, place)? { enough = guess } else { too_little = guess }
    }
    if too_little < enough && is_enough(too_little + 1, place)? {
        return Ok(too_little + 1);
    }
    while too_little + 1 < enough {
        if (enough - too_little).saturating_mul(1000) < enough.saturating_mul(ESTIMATE_ERROR_THOUSANDTHS) {
            break;
        }
        let middle = (too_little + (enough - too_little) / 2).min(too_little.saturating_mul(2).max(too_little + 1));
        if is_enough(middle, place)? { enough = middle } else { too_little = middle }
    }
    Ok(enough)
}

/// Gas that the sender can pay for.
fn affordable(place: &mut Place, tx: &TxEnv) -> Result<u64, RpcError> {
    use residue_engine::revm::Database;
    let balance = place.state.basic(tx.caller).map_err(|error| RpcError::input(error.to_string()))?;
    let balance = balance.map_or(U256::ZERO, |info| info.balance);
    let left = balance.checked_sub(tx.value).ok_or_else(|| RpcError::input("insufficient funds for transfer"))?;
    Ok((left / U256::from(tx.gas_price)).saturating_to())
}

fn create_access_list(node: &Node, params: &Params) -> Answer {
    let (request, mut place) = place(node, params)?;
    let gas = request.gas.unwrap_or(GAS_MAX).min(GAS_MAX);
    let chain_id = node.chain.rules().chain_id();
    let mut tx = tx_env(&request, &place.env.block_env, chain_id, gas)?;
    let mut list = tx.access_list.clone();
    // A list changes what gas there is for what, so it is asked for until it stays as it is.
    loop {
        let mut inspector = AccessListInspector::new(list.clone());
        tx.access_list = list.clone();
        tx.tx_type = tx.tx_type.max(1);
        let mut evm = place.evm(node, &mut inspector);
        let result = evm.transact_raw(tx.clone()).map_err(refused)?.result;
        drop(evm);
        let next = inspector.into_access_list();
        if next == list {
            let sorted = sorted(next);
            let mut answer = json!({ "accessList": sorted, "gasUsed": quantity(result.tx_gas_used()) });
            let error = match &result {
                ExecutionResult::Success { .. } => None,
                ExecutionResult::Revert { .. } => Some("execution reverted".to_owned()),
                ExecutionResult::Halt { reason, .. } => Some(halt_message(reason)),
            };
            if let (Some(error), Some(object)) = (error, answer.as_object_mut()) {
                object.insert("error".to_owned(), Value::String(error));
            }
            return Ok(answer);
        }
        list = next;
    }
}

fn sorted(list: AccessList) -> AccessList {
    let mut items = list.0;
    items.iter_mut().for_each(|item| item.storage_keys.sort_unstable());
    items.sort_unstable_by_key(|item| item.address);
    AccessList(items)
}
