//! A history made ready to run: codes assembled, inputs laid out, and the state that it begins with.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use residue_engine::revm::context::TxEnv;
use residue_engine::revm::context_interface::either::Either;
use residue_engine::revm::context_interface::transaction::{Authorization, RecoveredAuthority, RecoveredAuthorization};
use residue_engine::revm::database::InMemoryDB;
use residue_engine::revm::primitives::hardfork::SpecId;
use residue_engine::revm::primitives::{TxKind, U256};
use residue_engine::revm::state::{AccountInfo, Bytecode};
use residue_engine::{EngineConfig, Fork};
use residue_isa::assembly::{AssembleError, Code, assemble};
use residue_isa::{GasSchedule, Revision};
use thiserror::Error;

use crate::history::{Account, Body, Datum, History, Run};

/// Gas of a transaction: the most that one may have (EIP-7825). Its outermost frame gets what the run says.
const TRANSACTION_GAS: u64 = 1 << 24;
/// Wei that every account begins with.
const BALANCE: u64 = 1 << 60;
/// Memory of all frames.
const MEMORY_LIMIT_BYTES: u64 = 4 << 20;

/// A history made ready.
#[derive(Debug)]
pub struct Stage {
    /// Revision, prices and fork; batching is another's choice.
    pub config: EngineConfig,
    /// revm's name of the fork.
    pub spec_id: SpecId,
    /// The state at the beginning.
    pub db: InMemoryDB,
    /// The code of each contract, in the order of the history; none for delegations.
    pub codes: Vec<Option<Code>>,
    /// The transaction of each run.
    pub transactions: Vec<TxEnv>,
}

/// A history that cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StageError {
    /// A contract does not assemble.
    #[error("the contract {:#06x} does not assemble: {error}", contract.0)]
    Assemble {
        /// The contract.
        contract: Account,
        /// Why not.
        error: AssembleError,
    },
    /// An input names a jump target that is not there.
    #[error("the input of run {run} names a jump target that the contract {:#06x} does not have", contract.0)]
    Target {
        /// The run, from 0.
        run: usize,
        /// The contract.
        contract: Account,
    },
    /// A schedule that does not exist, or not for the revision.
    #[error("{0}")]
    Schedule(String),
    /// A fork before London.
    #[error("histories run on forks from london on, not on {0}")]
    Fork(Fork),
}

impl Stage {
    /// Makes a history ready.
    pub fn new(history: &History) -> Result<Self, StageError> {
        let schedule = schedule(&history.schedule, history.revision)?;
        let fork = history.fork;
        let spec_id = spec_id(fork).ok_or(StageError::Fork(fork))?;
        let config = EngineConfig {
            fork,
            memory_limit_bytes: MEMORY_LIMIT_BYTES,
            ..EngineConfig::new(history.revision, schedule)
        };
        let codes: Vec<_> = history
            .contracts
            .iter()
            .map(|contract| match &contract.body {
                Body::Code(items) => assemble(items, history.revision)
                    .map(Some)
                    .map_err(|error| StageError::Assemble { contract: contract.address, error }),
                Body::Delegation(_) => Ok(None),
            })
            .collect::<Result<_, _>>()?;
        let mut stage = Self { config, spec_id, db: InMemoryDB::default(), codes, transactions: Vec::new() };
        stage.install(history);
        for (number, run) in history.runs.iter().enumerate() {
            let transaction = stage.transaction(history, number, run)?;
            stage.transactions.push(transaction);
        }
        Ok(stage)
    }

    /// The input of a run.
    pub fn input(&self, run: usize) -> &[u8] {
        &self.transactions[run].data
    }

    fn install(&mut self, history: &History) {
        let mut put = |account: Account, code: Option<Bytecode>| {
            let code = code.unwrap_or_default();
            let info = AccountInfo {
                balance: U256::from(BALANCE),
                nonce: 1,
                code_hash: code.hash_slow(),
                code: Some(code),
                ..AccountInfo::default()
            };
            self.db.insert_account_info(account.address(), info);
        };
        for run in &history.runs {
            put(run.caller, None);
            run.authorisations.iter().for_each(|(authority, _)| put(*authority, None));
        }
        for (contract, code) in history.contracts.iter().zip(&self.codes) {
            let code = match (&contract.body, code) {
                (Body::Delegation(to), _) => Bytecode::new_eip7702(to.address()),
                (_, Some(code)) => Bytecode::new_legacy(code.bytes.clone().into()),
                (_, None) => Bytecode::default(),
            };
            put(contract.address, Some(code));
        }
    }

    fn transaction(&self, history: &History, number: usize, run: &Run) -> Result<TxEnv, StageError> {
        let mut input = Vec::new();
        for datum in &run.input {
            match datum {
                Datum::Bytes(bytes) => input.extend_from_slice(bytes),
                Datum::Target { contract, label, above } => {
                    let at = history.contracts.iter().position(|other| other.address == *contract);
                    let code = at.and_then(|at| self.codes[at].as_ref());
                    let offset = code.and_then(|code| code.labels.get(label));
                    let offset = *offset.ok_or(StageError::Target { run: number, contract: *contract })?;
                    let mut word = [0; 32];
                    word[27] = *above;
                    let offset = u32::try_from(offset).expect("codes are far shorter than 4 GiB");
                    word[28..].copy_from_slice(&offset.to_be_bytes());
                    input.extend_from_slice(&word);
                }
            }
        }
        let authorisations = run.authorisations.iter().map(|(authority, to)| {
            let authorisation = Authorization { chain_id: U256::ZERO, address: to.address(), nonce: 1 };
            let authority = RecoveredAuthority::Valid(authority.address());
            Either::Right(RecoveredAuthorization::new_unchecked(authorisation, authority))
        });
        let authorization_list: Vec<_> = authorisations.collect();
        Ok(TxEnv {
            tx_type: if authorization_list.is_empty() { 0 } else { 4 },
            caller: run.caller.address(),
            gas_limit: TRANSACTION_GAS,
            kind: TxKind::Call(run.to.address()),
            value: U256::from(run.value),
            data: input.into(),
            authorization_list,
            ..TxEnv::default()
        })
    }
}

/// revm's name of a fork from London on.
fn spec_id(fork: Fork) -> Option<SpecId> {
    Some(match fork {
        Fork::London => SpecId::LONDON,
        Fork::Paris => SpecId::MERGE,
        Fork::Shanghai => SpecId::SHANGHAI,
        Fork::Cancun => SpecId::CANCUN,
        Fork::Prague => SpecId::PRAGUE,
        Fork::Osaka => SpecId::OSAKA,
        Fork::Amsterdam => SpecId::AMSTERDAM,
        _ => return None,
    })
}

/// The schedule of a name, which is read once.
fn schedule(name: &str, revision: Revision) -> Result<GasSchedule, StageError> {
    static READ: LazyLock<Mutex<BTreeMap<(Revision, String), GasSchedule>>> = LazyLock::new(Mutex::default);
    // A panic elsewhere cannot leave the map half changed, so a poisoned lock is as good as any.
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (revision, name.to_owned());
    if let Some(schedule) = read.get(&key) {
        return Ok(schedule.clone());
    }
    let schedule = GasSchedule::named(name, revision).map_err(|error| StageError::Schedule(error.to_string()))?;
    read.insert(key, schedule.clone());
    Ok(schedule)
}
