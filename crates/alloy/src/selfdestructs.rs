//! SELFDESTRUCT for inspectors: every one that succeeds is reported, also the one to the contract itself.
//!
//! revm reads the report from the journal, and since Cancun (EIP-6780) a contract that names itself leaves no entry there. geth's tracers have a
//! frame from the contract to itself with its balance (go-ethereum `core/vm/instructions.go`, `opSelfdestruct6780`), so it is added here.

use alloy_evm::Database;
use residue_engine::revm::bytecode::opcode::SELFDESTRUCT;
use residue_engine::revm::handler::FrameResult;
use residue_engine::revm::inspector::Inspector;
use residue_engine::revm::interpreter::interpreter_types::{InputsTr, Jumps};
use residue_engine::revm::interpreter::{
    CallInputs, CallOutcome, CreateInputs, CreateOutcome, FrameInput, InstructionResult, Interpreter,
};
use residue_engine::revm::primitives::{Address, Log, U256};

use crate::evm::FieldContext;

/// An inspector that is told of every SELFDESTRUCT.
#[derive(Debug, Clone, Default)]
pub struct Selfdestructs<I> {
    inner: I,
    /// The instruction that has begun and that nothing has been told of: contract, beneficiary, balance. It ends its frame.
    begun: Option<(Address, Address, U256)>,
}

impl<I> Selfdestructs<I> {
    /// Over an inspector.
    pub(crate) const fn new(inner: I) -> Self {
        Self { inner, begun: None }
    }

    /// The inspector.
    pub fn into_inner(self) -> I {
        self.inner
    }

    pub(crate) const fn inner(&self) -> &I {
        &self.inner
    }

    pub(crate) const fn inner_mut(&mut self) -> &mut I {
        &mut self.inner
    }
}

impl<DB: Database, I: Inspector<FieldContext<DB>>> Inspector<FieldContext<DB>> for Selfdestructs<I> {
    fn initialize_interp(&mut self, interpreter: &mut Interpreter, context: &mut FieldContext<DB>) {
        self.inner.initialize_interp(interpreter, context);
    }

    fn step(&mut self, interpreter: &mut Interpreter, context: &mut FieldContext<DB>) {
        self.begun = None;
        if interpreter.bytecode.opcode() == SELFDESTRUCT
            && let Some(target) = interpreter.stack.data().last()
        {
            let contract = interpreter.input.target_address();
            // An account that executes is loaded.
            let balance = context.journaled_state.inner.state.get(&contract).map(|account| account.info.balance);
            let target = Address::from_word((*target).into());
            self.begun = balance.map(|balance| (contract, target, balance));
        }
        self.inner.step(interpreter, context);
    }

    fn step_end(&mut self, interpreter: &mut Interpreter, context: &mut FieldContext<DB>) {
        self.inner.step_end(interpreter, context);
    }

    fn log(&mut self, context: &mut FieldContext<DB>, log: Log) {
        self.inner.log(context, log);
    }

    fn log_full(&mut self, interpreter: &mut Interpreter, context: &mut FieldContext<DB>, log: Log) {
        self.inner.log_full(interpreter, context, log);
    }

    fn frame_start(&mut self, context: &mut FieldContext<DB>, input: &mut FrameInput) -> Option<FrameResult> {
        self.inner.frame_start(context, input)
    }

    fn frame_end(&mut self, context: &mut FieldContext<DB>, input: &FrameInput, result: &mut FrameResult) {
        self.inner.frame_end(context, input, result);
    }

    fn call(&mut self, context: &mut FieldContext<DB>, inputs: &mut CallInputs) -> Option<CallOutcome> {
        self.inner.call(context, inputs)
    }

    fn call_end(&mut self, context: &mut FieldContext<DB>, inputs: &CallInputs, outcome: &mut CallOutcome) {
        self.tell::<DB>(outcome.result.result);
        self.inner.call_end(context, inputs, outcome);
    }

    fn create(&mut self, context: &mut FieldContext<DB>, inputs: &mut CreateInputs) -> Option<CreateOutcome> {
        self.inner.create(context, inputs)
    }

    fn create_end(&mut self, context: &mut FieldContext<DB>, inputs: &CreateInputs, outcome: &mut CreateOutcome) {
        // Creation code that destroys itself returns no code, and its frame ends as one that stops.
        let is_done = outcome.result.result.is_ok();
        self.tell::<DB>(if is_done { InstructionResult::SelfDestruct } else { outcome.result.result });
        self.inner.create_end(context, inputs, outcome);
    }

    fn selfdestruct(&mut self, contract: Address, target: Address, value: U256) {
        self.begun = None;
        self.inner.selfdestruct(contract, target, value);
    }
}

impl<I> Selfdestructs<I> {
    /// Tells of the instruction that the ending frame ended with, if revm has not.
    fn tell<DB: Database>(&mut self, result: InstructionResult)
    where
        I: Inspector<FieldContext<DB>>,
    {
        if let (Some((contract, target, balance)), InstructionResult::SelfDestruct) = (self.begun.take(), result) {
            self.inner.selfdestruct(contract, target, balance);
        }
    }
}
