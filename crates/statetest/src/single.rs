//! Transaction tests: a signed transaction by itself, and its hash, sender and intrinsic gas, or the exception with which it is refused before any
//! state is looked at.

use std::collections::BTreeMap;
use std::sync::Arc;

use alloy_consensus::transaction::SignerRecoverable;
use alloy_consensus::{Transaction, TxEnvelope};
use alloy_eips::eip2718::Decodable2718;
use alloy_primitives::U256;
use residue_engine::revm::context_interface::cfg::gas::calculate_initial_tx_gas;
use residue_engine::revm::primitives::eip3860::MAX_INITCODE_SIZE;
use residue_engine::revm::primitives::eip7825::TX_GAS_LIMIT_CAP;
use residue_engine::revm::primitives::hardfork::SpecId;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::difference::Difference;
use crate::encoded;
use crate::exception::{Expected, Refusal, SIGNATURE};
use crate::fill::FillError;
use crate::fork_rules::rules_of;
use crate::format::{Indexes, Info, TransactionParts};
use crate::json::unique;
use crate::judge::{Failure, Fault, Rules, Verdict};
use crate::quantity::{HexBytes, bytes_written, padded};
use crate::sources::Source;
use crate::state::State;
use crate::transaction::{Built, Wanted, build, secret_key_of};

/// A transaction test with its name.
#[derive(Debug)]
pub struct SingleTest {
    /// The file.
    pub source: Arc<Source>,
    /// Its name there.
    pub name: String,
    /// Body of the test in the file.
    pub unit: SingleUnit,
}

/// A transaction test as its file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SingleUnit {
    #[serde(rename = "_info")]
    _info: Info,
    txbytes: HexBytes,
    #[serde(deserialize_with = "unique")]
    result: BTreeMap<String, Value>,
}

impl SingleTest {
    /// Verdict of revm's rules of the fork: no instruction is executed.
    pub(crate) fn judge(&self) -> Verdict {
        let differences = self.unit.differences();
        if differences.is_empty() {
            return Verdict::Passed { refusal: None };
        }
        let fault = Fault::Fields { differences };
        Verdict::Failed(vec![Failure { rules: Rules::Stock, fault, differences: Vec::new() }])
    }
}

impl SingleUnit {
    /// The first fork of it.
    pub fn fork(&self) -> &str {
        self.result.keys().next().map_or("", String::as_str)
    }

    fn differences(&self) -> Vec<Difference> {
        if self.result.is_empty() {
            return vec![Difference::new("result", "empty".to_owned(), "a fork".to_owned())];
        }
        let of_fork = |(fork, said): (&String, &Value)| {
            let (got, names) = match rules_of(fork).map(|spec| result(&self.txbytes.0, spec)) {
                Err(reason) => (reason.into(), Vec::new()),
                Ok(Ok(result)) => (result, Vec::new()),
                Ok(Err(refusal)) => {
                    (json!({ "exception": refusal.to_string(), "intrinsicGas": "0x00" }), refusal.names)
                }
            };
            let expected = said["exception"].as_str().map(Expected::of);
            let is_right = match expected {
                Some(expected) => expected.allows_any(&names) && said["intrinsicGas"] == "0x00",
                None => *said == got,
            };
            (!is_right).then(|| Difference::new(format!("result.{fork}"), got.to_string(), said.to_string()))
        };
        self.result.iter().filter_map(of_fork).collect()
    }
}

/// The test of a transaction. `info`: its `_info`; `transaction`: one variant, as state tests have it.
pub fn filled(info: Value, transaction: &Value, fork: &str) -> Result<Value, FillError> {
    let malformed = |error: String| FillError::Malformed(error);
    let parts: TransactionParts =
        serde_json::from_value(transaction.clone()).map_err(|error| malformed(error.to_string()))?;
    let spec = rules_of(fork).map_err(malformed)?;
    let wanted = Wanted { indexes: Indexes { data: 0, gas: 0, value: 0 }, chain_id: 1, spec, expected: None };
    let Built::Ready(transaction) = build(&parts, &wanted, &State::new(&BTreeMap::new())) else {
        return Err(malformed("a transaction that cannot be encoded".to_owned()));
    };
    let key = parts.secret_key.and_then(secret_key_of);
    let key = key.ok_or_else(|| malformed("a transaction without a secret key".to_owned()))?;
    let signed = encoded::signed(&transaction, &key).map_err(|error| malformed(error.to_string()))?;
    let result = result(&signed, spec).unwrap_or_else(|refusal| {
        let name = refusal.names.first().copied().unwrap_or_default();
        json!({ "exception": format!("TransactionException.{name}"), "intrinsicGas": "0x00" })
    });
    Ok(json!({ "_info": info, "txbytes": bytes_written(&signed), "result": { fork: result } }))
}

/// Hash, sender and intrinsic gas of a signed transaction, or why it is refused.
fn result(bytes: &[u8], spec: SpecId) -> Result<Value, Refusal> {
    let refused = |reason: String, names: &[&'static str]| Refusal::new(reason, names);
    let tx = TxEnvelope::decode_2718_exact(bytes)
        .map_err(|error| refused(error.to_string(), &["TYPE_NOT_SUPPORTED", "RLP_INVALID_HEADER"]))?;
    let (accounts, keys) = tx.access_list().map_or((0, 0), |list| {
        (list.len() as u64, list.iter().map(|item| item.storage_keys.len() as u64).sum()) // Widens.
    });
    let authorizations = tx.authorization_list().map_or(0, |list| list.len() as u64); // Widens.
    let gas = calculate_initial_tx_gas(spec, tx.input(), tx.is_create(), accounts, keys, authorizations, None);
    let faults: [(bool, &[&str]); 5] = [
        (tx.gas_limit() < gas.initial_total_gas(), &["INTRINSIC_GAS_TOO_LOW"]),
        (tx.gas_limit() < gas.floor_gas, &["INTRINSIC_GAS_BELOW_FLOOR_GAS_COST", "INTRINSIC_GAS_TOO_LOW"]),
        (tx.nonce() == u64::MAX, &["NONCE_IS_MAX", "NONCE_TOO_BIG"]),
        (tx.is_create() && tx.input().len() > MAX_INITCODE_SIZE, &["INITCODE_SIZE_EXCEEDED"]),
        (spec.is_enabled_in(SpecId::OSAKA) && tx.gas_limit() > TX_GAS_LIMIT_CAP, &["GAS_LIMIT_EXCEEDS_MAXIMUM"]),
    ];
    if let Some((_, names)) = faults.into_iter().find(|(is_wrong, _)| *is_wrong) {
        return Err(Refusal::new(format!("{} gas of {}", tx.gas_limit(), gas.initial_total_gas()), names));
    }
    let sender = tx.recover_signer().map_err(|error| refused(error.to_string(), SIGNATURE))?;
    Ok(json!({
        "hash": tx.tx_hash(),
        "intrinsicGas": padded(U256::from(gas.initial_total_gas())),
        "sender": bytes_written(sender.as_slice()),
    }))
}
