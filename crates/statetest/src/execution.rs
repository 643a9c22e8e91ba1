//! One transaction on one EVM: revm as it is, or the engine with the instructions of a revision.

use std::cell::RefCell;

use residue_engine::revm::context::result::{
    EVMError, ExecutionResult, HaltReason, InvalidTransaction, ResultAndState,
};
use residue_engine::revm::context::{BlockEnv, CfgEnv, Context, Journal, TxEnv};
use residue_engine::revm::database_interface::WrapDatabaseRef;
use residue_engine::revm::primitives::{Address, B256, Bytes};
use residue_engine::revm::state::EvmState;
use residue_engine::revm::{ExecuteEvm, InspectEvm, Inspector, MainBuilder, SystemCallEvm};
use residue_engine::{Engine, FieldMachine};

use crate::answered::{Answer, Answered, Asked};
use crate::exception::Refusal;
use crate::remembered::{Remembered, Results};
use crate::state::{State, logs_hash};

/// The database of an execution: the state before it, shared by all executions of a test.
type Db<'a> = WrapDatabaseRef<&'a State>;
/// The context of revm as it is.
pub type StockContext<'a> = Context<BlockEnv, TxEnv, CfgEnv, Db<'a>, Journal<Db<'a>>, ()>;
/// The context of the engine.
pub type FieldContext<'a> = Context<BlockEnv, TxEnv, CfgEnv, Db<'a>, Journal<Db<'a>>, FieldMachine>;

/// Setting shared by all executions of an entry.
#[derive(Debug)]
pub struct Setting<'a> {
    /// The state before.
    pub state: &'a State,
    /// Fork and chain.
    pub cfg: CfgEnv,
    /// The block.
    pub block: BlockEnv,
    /// The transaction.
    pub transaction: TxEnv,
    /// Blobs of the block at most.
    pub blobs_max: u64,
    /// Results of precompiles so far.
    pub results: RefCell<Results>,
}

/// Whose EVM executes.
#[derive(Clone, Copy)]
pub enum Machine<'a> {
    /// An engine.
    Engine(&'a Engine),
    /// revm as it is, but for accounts whose calls are answered instead.
    Answered(&'a dyn Fn(&Asked<'_>) -> Option<Answer>),
}

/// End of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// It was executed, whether it reverted or halted or not.
    Executed(ExecutionResult<HaltReason>),
    /// It was refused before it changed anything, and why.
    Refused(Refusal),
    /// The EVM gave up, which no transaction may cause.
    Broken(String),
}

/// End of a transaction and its changes.
#[derive(Debug, Clone)]
pub struct Execution {
    /// End of the transaction.
    pub ended: Ended,
    /// Accounts that it loaded, with what it changed.
    pub changes: EvmState,
}

impl<'a> Setting<'a> {
    /// On revm as it is.
    pub fn stock(&self) -> Execution {
        let mut evm = self.context().build_mainnet().with_precompiles(self.precompiles());
        Execution::of(evm.transact(self.transaction.clone()), self.blobs_max)
    }

    /// On revm as it is, observed.
    pub fn stock_observed<I: Inspector<StockContext<'a>>>(&self, inspector: I) -> (Execution, I) {
        let evm = self.context().build_mainnet_with_inspector(inspector);
        let mut evm = evm.with_precompiles(self.precompiles());
        let result = evm.inspect_tx(self.transaction.clone());
        (Execution::of(result, self.blobs_max), evm.into_inspector())
    }

    /// On an engine.
    pub fn with_engine(&self, engine: &Engine) -> Execution {
        let mut evm = engine.evm(self.context()).with_precompiles(self.precompiles());
        Execution::of(evm.transact(self.transaction.clone()), self.blobs_max)
    }

    /// On the EVM that is asked for.
    pub fn on(&self, machine: Machine<'_>) -> Execution {
        match machine {
            Machine::Engine(engine) => self.with_engine(engine),
            Machine::Answered(answers) => self.answered(answers),
        }
    }

    /// A call of a block itself, from the system's address and without a transaction (EIP-4788, EIP-2935, EIP-7002, EIP-7251).
    pub fn system_call(&self, machine: Machine<'_>, address: Address, data: Bytes) -> Result<ResultAndState, String> {
        let result = match machine {
            Machine::Engine(engine) => engine.evm(self.context()).system_call(address, data),
            Machine::Answered(_) => self.context().build_mainnet().system_call(address, data),
        };
        result.map_err(|error| error.to_string())
    }

    /// On revm as it is, but for accounts whose code is not run: calls of them are answered instead.
    pub fn answered(&self, answers: &dyn Fn(&Asked<'_>) -> Option<Answer>) -> Execution {
        let evm = self.context().build_mainnet();
        let mut evm = evm.with_precompiles(Answered { precompiles: self.precompiles(), answers });
        Execution::of(evm.transact(self.transaction.clone()), self.blobs_max)
    }

    /// On an engine, observed; then no blocks run as plans.
    pub fn with_engine_observed<I: Inspector<FieldContext<'a>>>(
        &self,
        engine: &Engine,
        inspector: I,
    ) -> (Execution, I) {
        let evm = engine.evm(self.context()).with_inspector(inspector);
        let mut evm = evm.with_precompiles(self.precompiles());
        let result = evm.inspect_tx(self.transaction.clone());
        (Execution::of(result, self.blobs_max), evm.into_inspector())
    }

    /// The state after an execution.
    pub fn state_after(&self, execution: &Execution) -> State {
        self.state.after(execution.changes.clone())
    }

    fn precompiles(&self) -> Remembered<'_> {
        Remembered::new(self.cfg.spec, &self.results)
    }

    fn context(&self) -> StockContext<'a> {
        let context = StockContext::new(WrapDatabaseRef(self.state), self.cfg.spec);
        context.with_cfg(self.cfg.clone()).with_block(self.block.clone())
    }
}

impl Execution {
    fn of<E>(result: Result<ResultAndState<HaltReason>, EVMError<E, InvalidTransaction>>, blobs_max: u64) -> Self
    where
        EVMError<E, InvalidTransaction>: std::fmt::Display,
    {
        match result {
            Ok(ResultAndState { result, state }) => Self { ended: Ended::Executed(result), changes: state },
            Err(EVMError::Transaction(error)) => Self::without_changes(Ended::Refused(Refusal::of(&error, blobs_max))),
            Err(other) => Self::without_changes(Ended::Broken(other.to_string())),
        }
    }

    fn without_changes(ended: Ended) -> Self {
        Self { ended, changes: EvmState::default() }
    }

    /// True if two executions agree in every observable part: result, gas, output, logs and every account. The reason
    /// of a halt, which is no part of the rules, is left out.
    pub fn is_same(&self, other: &Self) -> bool {
        use ExecutionResult::Halt;
        let is_same_end = match (&self.ended, &other.ended) {
            (Ended::Executed(Halt { gas: a, logs: x, .. }), Ended::Executed(Halt { gas: b, logs: y, .. })) => {
                (a, x) == (b, y)
            }
            (a, b) => a == b,
        };
        is_same_end && self.changes == other.changes
    }

    /// The hash of its logs.
    pub fn logs_hash(&self) -> B256 {
        match &self.ended {
            Ended::Executed(result) => logs_hash(result.logs()),
            Ended::Refused(_) | Ended::Broken(_) => logs_hash(&[]),
        }
    }

    /// Output.
    pub fn output(&self) -> Bytes {
        match &self.ended {
            Ended::Executed(result) => result.output().cloned().unwrap_or_default(),
            Ended::Refused(_) | Ended::Broken(_) => Bytes::new(),
        }
    }

    /// Gas that the sender paid for.
    pub fn gas_used(&self) -> u64 {
        match &self.ended {
            Ended::Executed(result) => result.tx_gas_used(),
            Ended::Refused(_) | Ended::Broken(_) => 0,
        }
    }
}
