//! Expectations of a new test: its transaction is signed and executed, and the result recorded as in the `post` of execution-specs' state tests.

use std::cell::RefCell;

use residue_engine::revm::primitives::hardfork::SpecId;
use serde_json::{Value, json};
use thiserror::Error;

use crate::encoded;
use crate::execution::{Ended, Machine, Setting};
use crate::fork_rules::{blobs_max, environment, rules_of};
use crate::format::{Indexes, Unit};
use crate::quantity::bytes_written;
use crate::receipt;
use crate::state::State;
use crate::transaction::{Built, Wanted, build, check, secret_key_of};

/// A test that says what it begins with, but not yet what it expects.
#[derive(Debug)]
pub struct Scene {
    unit: Unit,
    state: State,
    fork: String,
    spec: SpecId,
}

/// A test that nothing can be expected of.
#[derive(Debug, Error)]
pub enum FillError {
    /// It is no test.
    #[error("{0}")]
    Malformed(String),
    /// Its transaction is not executed.
    #[error("the transaction is not executed: {0}")]
    Refused(String),
}

impl Scene {
    /// Reads a test, as it is in a file under its name: `post` may be empty. `fork` is named as in such files.
    pub fn new(unit: &Value, fork: &str) -> Result<Self, FillError> {
        let unit: Unit =
            serde_json::from_value(unit.clone()).map_err(|error| FillError::Malformed(error.to_string()))?;
        let spec = rules_of(fork).map_err(FillError::Malformed)?;
        let state = State::new(&unit.pre);
        Ok(Self { unit, state, fork: fork.to_owned(), spec })
    }

    /// Entry of `post` of a variant of the transaction, by the EVM that is asked for.
    pub fn on(&self, indexes: Indexes, machine: Machine<'_>) -> Result<Value, FillError> {
        let malformed = |error: String| FillError::Malformed(error);
        check(&self.unit.transaction, indexes).map_err(|error| malformed(error.to_string()))?;
        let (cfg, block) = environment(&self.unit.env, &self.unit.config, &self.fork, self.spec);
        let wanted = Wanted { indexes, chain_id: cfg.chain_id, spec: self.spec, expected: None };
        let transaction = match build(&self.unit.transaction, &wanted, &self.state) {
            Built::Ready(transaction) => *transaction,
            Built::Refused(refusal) => return Err(FillError::Refused(refusal.reason)),
            Built::Unsupported(reason) => return Err(FillError::Refused(reason)),
            Built::Contradiction(difference) => return Err(malformed(difference.to_string())),
        };
        let key = self.unit.transaction.secret_key.and_then(secret_key_of);
        let key = key.ok_or_else(|| malformed("the transaction has no secret key of secp256k1".to_owned()))?;
        let signed = encoded::signed(&transaction, &key).map_err(|error| malformed(format!("signing: {error}")))?;
        let (results, blobs_max) = (RefCell::default(), blobs_max(&self.unit.config, &self.fork, self.spec));
        let setting = Setting { state: &self.state, cfg, block, transaction, blobs_max, results };
        let execution = setting.on(machine);
        let Indexes { data, gas, value } = indexes;
        match &execution.ended {
            Ended::Refused(refusal) => {
                let name = refusal.names.first().ok_or_else(|| FillError::Refused(refusal.reason.clone()))?;
                Ok(json!({
                    "hash": self.state.root().to_string(),
                    "logs": execution.logs_hash().to_string(),
                    "txbytes": bytes_written(&signed),
                    "indexes": { "data": data, "gas": gas, "value": value },
                    "state": self.state.listed(),
                    "expectException": format!("TransactionException.{name}"),
                }))
            }
            Ended::Broken(reason) => Err(FillError::Refused(reason.clone())),
            Ended::Executed(result) => {
                let after = setting.state_after(&execution);
                Ok(json!({
                    "hash": after.root().to_string(),
                    "logs": execution.logs_hash().to_string(),
                    "txbytes": bytes_written(&signed),
                    "indexes": { "data": data, "gas": gas, "value": value },
                    "state": after.listed(),
                    "receipt": receipt::filled(&setting, result, after.root(), &signed, 0),
                }))
            }
        }
    }
}
