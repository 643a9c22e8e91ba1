//! Expectations of a new test: its transaction is executed, and the state root afterwards recorded.

use std::cell::RefCell;

use residue_engine::Engine;
use residue_engine::revm::primitives::B256;
use residue_engine::revm::primitives::hardfork::SpecId;
use serde_json::Value;
use thiserror::Error;

use crate::answered::{Answer, Asked};
use crate::execution::{Ended, Execution, Setting};
use crate::fork_rules::{blobs_max, environment, rules_of};
use crate::format::{Indexes, Unit};
use crate::state::State;
use crate::transaction::{Built, Wanted, build, check};

/// A test that says what it begins with, but not yet what it expects.
#[derive(Debug)]
pub struct Scene {
    unit: Unit,
    state: State,
    fork: String,
    spec: SpecId,
}

/// Expectation of an entry of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filled {
    /// The root of the state.
    pub hash: B256,
    /// The hash of the logs.
    pub logs: B256,
    /// Gas that the sender pays for.
    pub gas_used: u64,
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

    /// Result of a variant of the transaction, with the calls of some accounts answered.
    pub fn answered(
        &self,
        indexes: Indexes,
        answers: &dyn Fn(&Asked<'_>) -> Option<Answer>,
    ) -> Result<Filled, FillError> {
        self.filled(indexes, |setting| setting.answered(answers))
    }

    /// Result of a variant on an engine.
    pub fn executed(&self, indexes: Indexes, engine: &Engine) -> Result<Filled, FillError> {
        self.filled(indexes, |setting| setting.with_engine(engine))
    }

    fn filled(&self, indexes: Indexes, run: impl Fn(&Setting<'_>) -> Execution) -> Result<Filled, FillError> {
        check(&self.unit.transaction, indexes).map_err(|error| FillError::Malformed(error.to_string()))?;
        let (cfg, block) = environment(&self.unit, &self.fork, self.spec);
        let wanted = Wanted { indexes, chain_id: cfg.chain_id, spec: self.spec, expected: None };
        let transaction = match build(&self.unit.transaction, &wanted, &self.state) {
            Built::Ready(transaction) => *transaction,
            Built::Refused(refusal) => return Err(FillError::Refused(refusal.reason)),
            Built::Unsupported(reason) => return Err(FillError::Refused(reason)),
            Built::Contradiction(difference) => return Err(FillError::Malformed(difference.to_string())),
        };
        let (results, blobs_max) = (RefCell::default(), blobs_max(&self.unit, &self.fork, self.spec));
        let setting = Setting { state: &self.state, cfg, block, transaction, blobs_max, results };
        let execution = run(&setting);
        match &execution.ended {
            Ended::Refused(refusal) => Err(FillError::Refused(refusal.reason.clone())),
            Ended::Broken(reason) => Err(FillError::Refused(reason.clone())),
            Ended::Executed(_) => Ok(Filled {
                hash: setting.state_after(&execution).root(),
                logs: execution.logs_hash(),
                gas_used: execution.gas_used(),
            }),
        }
    }
}
