//! Transactions that change something: sent signed, or signed here with a development key.

use alloy_consensus::transaction::{Recovered, SignerRecoverable};
use alloy_consensus::{
    SignableTransaction, Signed, Transaction, TxEip1559, TxEip2930, TxEip4844Variant, TxEip7702, TxEnvelope, TxLegacy,
};
use alloy_dyn_abi::TypedData;
use alloy_eips::BlockId;
use alloy_eips::eip2718::{Decodable2718, Encodable2718};
use alloy_primitives::{Address, Bytes, Signature, TxKind, U256, eip191_hash_message};
use alloy_rpc_types_eth::TransactionRequest;
use serde_json::{Value, json};

use super::Method;
use super::call::{Place, estimate};
use super::error::{Answer, RpcError};
use super::fees::{next_base_fee, tip};
use super::format::{self, bytes};
use super::params::Params;
use super::state::next_nonce;
use crate::chain::Sent;
use crate::node::{Mining, Node};
use crate::store::StateAt;

/// The methods of this file.
pub const METHODS: &[(&str, Method)] = &[
    ("eth_sendRawTransaction", |node, params| send_raw(node, params).map(|tx| bytes(tx.tx_hash()))),
    ("eth_sendRawTransactionSync", |node, params| {
        let tx = send_raw(node, params)?;
        let receipt = Params(vec![bytes(tx.tx_hash())]);
        super::answer(node, "eth_getTransactionReceipt", &receipt)
    }),
    ("eth_sendTransaction", |node, params| {
        let request: TransactionRequest = params.get(0)?;
        let sender = request.from.or_else(|| node.keys.addresses().first().copied());
        let sender = sender.ok_or_else(|| RpcError::params("missing field `from`"))?;
        let tx = filled(node, request, sender)?;
        let tx = signed(node, tx, sender)?;
        Ok(bytes(submit(node, tx)?.tx_hash()))
    }),
    ("eth_sendUnsignedTransaction", |node, params| {
        let request: TransactionRequest = params.get(0)?;
        let sender = request.from.ok_or_else(|| RpcError::params("missing field `from`"))?;
        let tx = unsigned(filled(node, request, sender)?, sender);
        Ok(bytes(submit(node, tx)?.tx_hash()))
    }),
    ("eth_signTransaction", |node, params| {
        let request: TransactionRequest = params.get(0)?;
        let sender = request.from.ok_or_else(|| RpcError::params("missing field `from`"))?;
        let tx = with_key(node, filled(node, request, sender)?, sender)?;
        Ok(json!({ "raw": bytes(tx.encoded_2718()), "tx": format::transaction(&tx, sender, None, None) }))
    }),
    ("eth_fillTransaction", |node, params| {
        let request: TransactionRequest = params.get(0)?;
        let sender = request.from.unwrap_or_default();
        let tx = unsigned(filled(node, request, sender)?, sender);
        Ok(json!({ "raw": bytes(tx.encoded_2718()), "tx": format::transaction(&tx, sender, None, None) }))
    }),
    ("eth_sign", |node, params| sign(node, params.get(0)?, params.get(1)?)),
    ("eth_signTypedData", sign_typed),
    ("eth_signTypedData_v3", sign_typed),
    ("eth_signTypedData_v4", sign_typed),
    ("personal_sign", |node, params| sign(node, params.get(1)?, params.get(0)?)),
];

fn sign(node: &Node, address: Address, message: Bytes) -> Answer {
    let signature = node.keys.sign(address, eip191_hash_message(&message));
    signature.map(|signature| bytes(signature.as_bytes())).ok_or_else(|| no_key(address))
}

/// EIP-712: the data is an object, or its text.
fn sign_typed(node: &Node, params: &Params) -> Answer {
    let address: Address = params.get(0)?;
    let invalid = |error: &dyn std::fmt::Display| RpcError::params(format!("invalid argument 1: {error}"));
    let data: TypedData = match params.get(1)? {
        Value::String(text) => serde_json::from_str(&text).map_err(|error| invalid(&error))?,
        data => serde_json::from_value(data).map_err(|error| invalid(&error))?,
    };
    let hash = data.eip712_signing_hash().map_err(|error| invalid(&error))?;
    node.keys.sign(address, hash).map(|signature| bytes(signature.as_bytes())).ok_or_else(|| no_key(address))
}

fn no_key(address: Address) -> RpcError {
    RpcError::input(format!("no signer available for {address}"))
}

fn send_raw(node: &Node, params: &Params) -> Result<Sent, RpcError> {
    submit(node, raw(&params.get(0)?)?)
}

/// A signed transaction of its bytes.
pub fn raw(raw: &Bytes) -> Result<Sent, RpcError> {
    let invalid = |error: &dyn std::fmt::Display| RpcError::input(format!("invalid transaction: {error}"));
    let tx = TxEnvelope::decode_2718_exact(raw).map_err(|error| invalid(&error))?;
    without_sidecar(tx).try_into_recovered().map_err(|error| invalid(&error))
}

/// A blob transaction as blocks have it: its blobs are not the chain's.
fn without_sidecar(tx: TxEnvelope) -> TxEnvelope {
    match tx {
        TxEnvelope::Eip4844(signed) => {
            let (tx, signature, hash) = signed.into_parts();
            let tx = TxEip4844Variant::TxEip4844(tx.into());
            TxEnvelope::Eip4844(Signed::new_unchecked(tx, signature, hash))
        }
        other => other,
    }
}

/// Checks a transaction, lets it wait and mines it, if that is to be done at once.
fn submit(node: &Node, tx: Sent) -> Result<Sent, RpcError> {
    let mut working = node.lock();
    let state = node.chain.store().state(StateAt::Present)?;
    let account = state.account(tx.signer())?.unwrap_or_default();
    let attributes = node.attributes(&working)?;
    let (_, hash, head) = node.chain.head()?;
    let header = node.chain.next_header(&head, hash, &attributes);
    let env = node.chain.env_of(&header);
    if tx.chain_id().is_some_and(|id| id != node.chain.rules().chain_id()) {
        return Err(RpcError::input("invalid sender: invalid chain id for signer"));
    }
    if tx.nonce() < account.nonce {
        return Err(RpcError::input(format!("nonce too low: next nonce {}, tx nonce {}", account.nonce, tx.nonce())));
    }
    if tx.gas_limit() > header.gas_limit {
        return Err(RpcError::input(format!("exceeds block gas limit: {} > {}", tx.gas_limit(), header.gas_limit)));
    }
    if tx.gas_limit() > env.cfg_env.tx_gas_limit_cap.unwrap_or(u64::MAX) {
        return Err(RpcError::input(format!(
            "transaction gas limit too high (EIP-7825): {} > {}",
            tx.gas_limit(),
            env.cfg_env.tx_gas_limit_cap.unwrap_or(u64::MAX)
        )));
    }
    let blob_cost =
        U256::from(tx.blob_gas_used().unwrap_or_default()) * U256::from(tx.max_fee_per_blob_gas().unwrap_or_default());
    let cost = U256::from(tx.gas_limit()) * U256::from(tx.max_fee_per_gas()) + blob_cost;
    let cost = cost.saturating_add(tx.value());
    if cost > account.balance {
        return Err(RpcError::input(format!(
            "insufficient funds for gas * price + value: balance {}, tx cost {cost}",
            account.balance
        )));
    }
    if tx.max_fee_per_gas() < tx.max_priority_fee_per_gas().unwrap_or_default() {
        return Err(RpcError::input("max priority fee per gas higher than max fee per gas"));
    }
    // With automine a transaction that no block would take would wait for ever without a word.
    if working.mining == Mining::WithTransactions
        && tx.max_fee_per_gas() < u128::from(header.base_fee_per_gas.unwrap_or_default())
    {
        return Err(RpcError::input(format!(
            "max fee per gas less than block base fee: maxFeePerGas: {}, baseFee: {}",
            tx.max_fee_per_gas(),
            header.base_fee_per_gas.unwrap_or_default()
        )));
    }
    if tx.max_fee_per_gas() < working.gas_price_min && header.base_fee_per_gas.is_none() {
        let (price, min) = (tx.max_fee_per_gas(), working.gas_price_min);
        return Err(RpcError::input(format!("transaction underpriced: gas price {price}, at least {min}")));
    }
    working.pool.accepts(&tx).map_err(|error| RpcError::input(error.to_string()))?;
    node.submit(&mut working, tx.clone())?;
    Ok(tx)
}

/// A transaction with all that its request left open.
fn filled(node: &Node, mut request: TransactionRequest, sender: Address) -> Result<TxLike, RpcError> {
    request.from = Some(sender);
    if request.nonce.is_none() {
        request.nonce = Some(next_nonce(node, sender)?);
    }
    // What waits comes first, so the transaction will find what it has done.
    let has_waiting = node.lock().pool.all().next().is_some();
    let place = if has_waiting { BlockId::pending() } else { BlockId::latest() };
    completed(node, request, next_base_fee(node)?, place)
}

/// As [`filled`], with a sender and a nonce that are known, after a block.
pub fn completed(node: &Node, request: TransactionRequest, base_fee: u64, at: BlockId) -> Result<TxLike, RpcError> {
    let chain_id = node.chain.rules().chain_id();
    if request.chain_id.is_some_and(|id| id != chain_id) {
        return Err(RpcError::input(format!("chainId does not match node's, which is {chain_id}")));
    }
    let gas = match request.gas {
        Some(gas) => gas,
        None => estimate(node, &request, &mut Place::after(node, at)?)?,
    };
    let tip = request.max_priority_fee_per_gas.map_or_else(|| tip(node).map(u128::from), Ok)?;
    let fee = request.max_fee_per_gas.unwrap_or_else(|| (u128::from(base_fee) * 2).saturating_add(tip));
    Ok(TxLike {
        nonce: request.nonce.unwrap_or_default(),
        gas,
        chain_id,
        gas_price: request.gas_price,
        tip: tip.min(fee),
        fee,
        to: request.to.unwrap_or(TxKind::Create),
        value: request.value.unwrap_or_default(),
        input: request.input.input().cloned().unwrap_or_default(),
        access_list: request.access_list,
        authorizations: request.authorization_list.unwrap_or_default(),
    })
}

/// All that a transaction says, whatever its type.
#[derive(Debug)]
pub struct TxLike {
    nonce: u64,
    gas: u64,
    chain_id: u64,
    gas_price: Option<u128>,
    tip: u128,
    fee: u128,
    to: TxKind,
    value: U256,
    input: Bytes,
    access_list: Option<alloy_eips::eip2930::AccessList>,
    authorizations: Vec<alloy_eips::eip7702::SignedAuthorization>,
}

impl TxLike {
    /// The transaction, signed by `sign`, which is given the hash to be signed.
    fn into_envelope(self, sign: impl FnOnce(alloy_primitives::B256) -> Option<Signature>) -> Option<TxEnvelope> {
        fn finish<T: SignableTransaction<Signature>>(
            tx: T,
            sign: impl FnOnce(alloy_primitives::B256) -> Option<Signature>,
        ) -> Option<Signed<T>>
        where
            Signed<T>: Sized,
        {
            let signature = sign(tx.signature_hash())?;
            Some(tx.into_signed(signature))
        }
        let TxLike { nonce, gas: gas_limit, chain_id, tip, fee, to, value, input, .. } = self;
        let access_list = self.access_list.clone().unwrap_or_default();
        let (max_fee_per_gas, max_priority_fee_per_gas) = (fee, tip);
        Some(match (self.gas_price, self.access_list, to) {
            (_, _, TxKind::Call(to)) if !self.authorizations.is_empty() => {
                let authorization_list = self.authorizations;
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
                finish(tx, sign)?.into()
            }
            (Some(gas_price), None, _) => {
                finish(TxLegacy { chain_id: Some(chain_id), nonce, gas_price, gas_limit, to, value, input }, sign)?
                    .into()
            }
            (Some(gas_price), Some(access_list), _) => {
                finish(TxEip2930 { chain_id, nonce, gas_price, gas_limit, to, value, access_list, input }, sign)?.into()
            }
            (None, _, _) => {
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
                finish(tx, sign)?.into()
            }
        })
    }
}

/// Signed with the key of its sender, or by nobody if the sender is impersonated.
pub fn signed(node: &Node, tx: TxLike, sender: Address) -> Result<Sent, RpcError> {
    if node.keys.has(sender) {
        return Ok(Recovered::new_unchecked(with_key(node, tx, sender)?, sender));
    }
    let working = node.lock();
    let is_impersonated = working.impersonates_all || working.impersonated.contains(&sender);
    drop(working);
    if is_impersonated { Ok(unsigned(tx, sender)) } else { Err(no_key(sender)) }
}

fn with_key(node: &Node, tx: TxLike, sender: Address) -> Result<TxEnvelope, RpcError> {
    tx.into_envelope(|hash| node.keys.sign(sender, hash)).ok_or_else(|| no_key(sender))
}

/// A transaction of a sender without a signature of his: the sender stands in its place, so that hashes differ.
fn unsigned(tx: TxLike, sender: Address) -> Sent {
    let stand_in = Signature::new(U256::from_be_slice(sender.as_slice()), U256::ONE, false);
    let tx = tx.into_envelope(|_| Some(stand_in)).expect("the signature does not depend on a key");
    Recovered::new_unchecked(tx, sender)
}
