//! Transactions: revm's execution traits for [`FieldEvm`], each one line of revm's own handler.

use revm::context::result::{EVMError, ExecutionResult, HaltReason, InvalidTransaction, ResultAndState};
use revm::context::{ContextSetters, ContextTr, JournalTr};
use revm::handler::system_call::SystemCallTx;
use revm::handler::{EvmTr, Handler, MainnetHandler, PrecompileProvider};
use revm::inspector::{InspectorHandler, JournalExt};
use revm::interpreter::InterpreterResult;
use revm::interpreter::interpreter::EthInterpreter;
use revm::primitives::{Address, Bytes};
use revm::state::EvmState;
use revm::{
    Database, DatabaseCommit, ExecuteCommitEvm, ExecuteEvm, InspectCommitEvm, InspectEvm, InspectSystemCallEvm,
    Inspector, SystemCallEvm,
};

use crate::evm::FieldEvm;
use crate::machine::FieldMachine;

/// The error of a transaction over the database of a context.
type TransactError<CTX> = EVMError<<<CTX as ContextTr>::Db as Database>::Error, InvalidTransaction>;

impl<CTX, INSP, P> ExecuteEvm for FieldEvm<CTX, INSP, P>
where
    CTX: ContextTr<Chain = FieldMachine, Journal: JournalTr<State = EvmState>> + ContextSetters,
    P: PrecompileProvider<CTX, Output = InterpreterResult>,
{
    type ExecutionResult = ExecutionResult<HaltReason>;
    type State = EvmState;
    type Error = TransactError<CTX>;
    type Tx = CTX::Tx;
    type Block = CTX::Block;

    fn set_block(&mut self, block: Self::Block) {
        self.inner.ctx.set_block(block);
    }

    fn transact_one(&mut self, tx: Self::Tx) -> Result<Self::ExecutionResult, Self::Error> {
        self.inner.ctx.set_tx(tx);
        MainnetHandler::default().run(self)
    }

    fn finalize(&mut self) -> Self::State {
        self.inner.ctx.journal_mut().finalize()
    }

    fn replay(&mut self) -> Result<ResultAndState<HaltReason>, Self::Error> {
        let result = MainnetHandler::default().run(self);
        let state = self.finalize();
        result.map(|result| ResultAndState::new(result, state))
    }
}

impl<CTX, INSP, P> ExecuteCommitEvm for FieldEvm<CTX, INSP, P>
where
    CTX: ContextTr<Chain = FieldMachine, Journal: JournalTr<State = EvmState>, Db: DatabaseCommit> + ContextSetters,
    P: PrecompileProvider<CTX, Output = InterpreterResult>,
{
    fn commit(&mut self, state: Self::State) {
        self.ctx().db_mut().commit(state);
    }
}

impl<CTX, INSP, P> SystemCallEvm for FieldEvm<CTX, INSP, P>
where
    CTX: ContextTr<Chain = FieldMachine, Journal: JournalTr<State = EvmState>, Tx: SystemCallTx> + ContextSetters,
    P: PrecompileProvider<CTX, Output = InterpreterResult>,
{
    fn system_call_one_with_caller(
        &mut self,
        caller: Address,
        contract: Address,
        data: Bytes,
    ) -> Result<Self::ExecutionResult, Self::Error> {
        self.inner.ctx.set_tx(CTX::Tx::new_system_tx_with_caller(caller, contract, data));
        MainnetHandler::default().run_system_call(self)
    }
}

impl<CTX, INSP, P> InspectEvm for FieldEvm<CTX, INSP, P>
where
    CTX: ContextTr<Chain = FieldMachine, Journal: JournalTr<State = EvmState> + JournalExt> + ContextSetters,
    P: PrecompileProvider<CTX, Output = InterpreterResult>,
    INSP: Inspector<CTX, EthInterpreter>,
{
    type Inspector = INSP;

    fn set_inspector(&mut self, inspector: INSP) {
        self.inner.inspector = inspector;
    }

    fn inspect_one_tx(&mut self, tx: Self::Tx) -> Result<Self::ExecutionResult, Self::Error> {
        self.inner.ctx.set_tx(tx);
        MainnetHandler::default().inspect_run(self)
    }
}

impl<CTX, INSP, P> InspectCommitEvm for FieldEvm<CTX, INSP, P>
where
    CTX: ContextTr<Chain = FieldMachine, Journal: JournalTr<State = EvmState> + JournalExt, Db: DatabaseCommit>
        + ContextSetters,
    P: PrecompileProvider<CTX, Output = InterpreterResult>,
    INSP: Inspector<CTX, EthInterpreter>,
{
}

impl<CTX, INSP, P> InspectSystemCallEvm for FieldEvm<CTX, INSP, P>
where
    CTX: ContextTr<Chain = FieldMachine, Journal: JournalTr<State = EvmState> + JournalExt, Tx: SystemCallTx>
        + ContextSetters,
    P: PrecompileProvider<CTX, Output = InterpreterResult>,
    INSP: Inspector<CTX, EthInterpreter>,
{
    fn inspect_one_system_call_with_caller(
        &mut self,
        caller: Address,
        contract: Address,
        data: Bytes,
    ) -> Result<Self::ExecutionResult, Self::Error> {
        self.inner.ctx.set_tx(CTX::Tx::new_system_tx_with_caller(caller, contract, data));
        MainnetHandler::default().inspect_run_system_call(self)
    }
}
