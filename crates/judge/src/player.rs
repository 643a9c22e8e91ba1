//! Transactions of a history, one after the other, on an engine that keeps analyses and plans of their codes.

use std::cell::Cell;
use std::convert::Infallible;

use residue_engine::revm::context::result::{EVMError, ExecutionResult, HaltReason, InvalidTransaction, ResultGas};
use residue_engine::revm::context::{
    BlockEnv, CfgEnv, Context, ContextSetters, ContextTr, Journal, JournalTr, LocalContext, LocalContextTr, TxEnv,
};
use residue_engine::revm::database::InMemoryDB;
use residue_engine::revm::handler::{EvmTr, FrameResult, Handler};
use residue_engine::revm::inspector::InspectorHandler;
use residue_engine::revm::interpreter::interpreter::EthInterpreter;
use residue_engine::revm::interpreter::interpreter_action::FrameInit;
use residue_engine::revm::interpreter::{GasTracker, InitialAndFloorGas, Interpreter};
use residue_engine::revm::{DatabaseCommit, Inspector};
use residue_engine::{Engine, FieldEvm, FieldMachine};

use crate::ending::Ending;
use crate::stage::Stage;

type PlayedContext = Context<BlockEnv, TxEnv, CfgEnv, InMemoryDB, Journal<InMemoryDB>, FieldMachine, LocalContext>;
type PlayedEvm = FieldEvm<PlayedContext, Steps>;
type PlayedError = EVMError<Infallible, InvalidTransaction>;

/// Plays transactions on an engine.
#[derive(Debug)]
pub struct Player<'a> {
    stage: &'a Stage,
    engine: Engine,
    evm: PlayedEvm,
}

/// Counts the instructions it sees.
#[derive(Debug, Default)]
struct Steps(u64);

/// revm's handler of transactions, with the gas of the outermost frame as it is told, which keeps that frame's memory.
#[derive(Debug)]
struct Keeping {
    gas: u64,
    initial_gas: Cell<u64>,
    memory: Vec<u8>,
    /// True if a frame has begun, so that its end comes from the engine.
    has_begun: bool,
}

impl<'a> Player<'a> {
    /// Begins with the state of the stage.
    pub fn new(stage: &'a Stage, engine: Engine) -> Self {
        let evm = evm_over(stage, &engine, stage.db.clone());
        Self { stage, engine, evm }
    }

    /// Begins again with the state of the stage, on another EVM.
    pub fn begin_again(&mut self) {
        self.evm = evm_over(self.stage, &self.engine, self.stage.db.clone());
    }

    /// Goes on with the state as it is, on another engine.
    pub fn go_on_with(&mut self, engine: Engine) {
        let db = std::mem::take(self.evm.context_mut().db_mut());
        self.evm = evm_over(self.stage, &engine, db);
        self.engine = engine;
    }

    /// Runs the transaction of a run. Its changes stay.
    pub fn play(&mut self, run: usize, gas: u64, is_inspected: bool) -> Ending {
        let ending = self.run(run, gas, is_inspected);
        self.evm.context_mut().db_mut().commit(ending.state.clone());
        ending
    }

    /// Gas used by a run's transaction in its outermost frame, with all changes reverted.
    pub fn gas_used(&mut self, run: usize, gas: u64) -> u64 {
        self.run(run, gas, false).gas_used
    }

    fn run(&mut self, run: usize, gas: u64, is_inspected: bool) -> Ending {
        let mut keeping = Keeping { gas, initial_gas: Cell::default(), memory: Vec::new(), has_begun: false };
        let evm = &mut self.evm;
        evm.context_mut().set_tx(self.stage.transactions[run].clone());
        let result = if is_inspected { keeping.inspect_run(evm) } else { keeping.run(evm) };
        let state = evm.context_mut().journal_mut().finalize();
        let halt = evm.context().chain().last_halt().filter(|_| keeping.has_begun);
        let spent = result.as_ref().map_or(0, |result| result.gas().total_gas_spent());
        let is_exceptional = matches!(result, Ok(ExecutionResult::Halt { .. }));
        Ending {
            result: result.map_err(|error| error.to_string()),
            halt,
            gas_used: spent.saturating_sub(keeping.initial_gas.get()),
            memory: if is_exceptional { Vec::new() } else { keeping.memory },
            state,
        }
    }
}

fn evm_over(stage: &Stage, engine: &Engine, db: InMemoryDB) -> PlayedEvm {
    type Plain = Context<BlockEnv, TxEnv, CfgEnv, InMemoryDB, Journal<InMemoryDB>, (), LocalContext>;
    let mut context = Plain::new(db, stage.spec_id);
    context.cfg.disable_nonce_check = true;
    engine.evm(context).with_inspector(Steps::default())
}

impl Handler for Keeping {
    type Evm = PlayedEvm;
    type Error = PlayedError;
    type HaltReason = HaltReason;

    fn tx_gas(&self, _: &mut Self::Evm, initial: &InitialAndFloorGas) -> GasTracker {
        let initial_gas = initial.initial_total_gas();
        self.initial_gas.set(initial_gas);
        GasTracker::new(initial_gas + self.gas, self.gas, 0)
    }

    fn first_frame_input(
        &mut self,
        evm: &mut Self::Evm,
        gas: &mut GasTracker,
    ) -> Result<Option<FrameInit>, Self::Error> {
        let input = Plain::default().first_frame_input(evm, gas)?;
        self.has_begun = input.is_some();
        Ok(input)
    }

    fn execution_result(
        &mut self,
        evm: &mut Self::Evm,
        result: FrameResult,
        gas: ResultGas,
    ) -> Result<ExecutionResult<HaltReason>, Self::Error> {
        self.memory = evm.context().local().shared_memory_buffer().borrow().clone();
        Plain::default().execution_result(evm, result, gas)
    }
}

/// The handler that [`Keeping`] adds to.
type Plain = residue_engine::revm::handler::MainnetHandler<PlayedEvm, PlayedError, <PlayedEvm as EvmTr>::Frame>;

impl InspectorHandler for Keeping {
    type IT = EthInterpreter;
}

impl<CTX: ContextTr> Inspector<CTX, EthInterpreter> for Steps {
    fn step(&mut self, _: &mut Interpreter, _: &mut CTX) {
        self.0 += 1;
    }
}
