//! revm's EVM with the field instructions: frames run on analysed code, and the field contexts follow revm's frame stack.
//!
//! Only entering and leaving a frame differ from revm. The state of the running frame is in the context, where both of
//! revm's loops find it, the plain one and the inspecting one, so neither is replaced and they cannot disagree. The plain
//! one lets handlers run whole blocks as one (see [`crate::batch`]).

use alloc::sync::Arc;

use revm::context::{ContextSetters, ContextTr, Evm, FrameStack};
use revm::context_interface::Cfg;
use revm::handler::evm::{ContextDbError, FrameInitResult, FrameTr};
use revm::handler::instructions::EthInstructions;
use revm::handler::{
    EthFrame, EthPrecompiles, EvmTr, FrameInitOrResult, FrameResult, ItemOrResult, PrecompileProvider,
};
use revm::inspector::{Inspector, InspectorEvmTr, JournalExt};
use revm::interpreter::InterpreterResult;
use revm::interpreter::interpreter::{EthInterpreter, ExtBytecode};
use revm::interpreter::interpreter_action::FrameInit;

use crate::analysis::Analysis;
use crate::halt::Halt;
use crate::handlers::evm384::blocks::settle_all;
use crate::machine::FieldMachine;
use crate::replacements::Replacements;

/// revm's EVM with the field instructions of one revision, made by [`crate::Engine::evm`]. It executes through revm's own
/// traits (`ExecuteEvm`, `InspectEvm`, …) over any context whose chain is a [`FieldMachine`].
#[derive(Debug)]
pub struct FieldEvm<CTX, INSP = (), P = EthPrecompiles> {
    pub(crate) inner: Evm<CTX, INSP, EthInstructions<EthInterpreter, CTX>, P, EthFrame<EthInterpreter>>,
    pub(crate) analysis: Arc<Analysis>,
    pub(crate) replacements: Arc<Replacements>,
    pub(crate) memory_limit_bytes: u64,
}

impl<CTX, INSP, P> FieldEvm<CTX, INSP, P> {
    /// The context: block, transaction, configuration, journal with the database, and the field contexts.
    pub fn context(&self) -> &CTX {
        &self.inner.ctx
    }

    /// The context, to be changed between transactions.
    pub fn context_mut(&mut self) -> &mut CTX {
        &mut self.inner.ctx
    }

    /// The same EVM, observed by `inspector` in the `inspect_…` methods.
    pub fn with_inspector<I>(self, inspector: I) -> FieldEvm<CTX, I, P> {
        let Self { inner, analysis, replacements, memory_limit_bytes } = self;
        FieldEvm { inner: inner.with_inspector(inspector), analysis, replacements, memory_limit_bytes }
    }

    /// The same EVM with other precompiles.
    pub fn with_precompiles<Q>(self, precompiles: Q) -> FieldEvm<CTX, INSP, Q> {
        let Self { inner, analysis, replacements, memory_limit_bytes } = self;
        FieldEvm { inner: inner.with_precompiles(precompiles), analysis, replacements, memory_limit_bytes }
    }

    /// The context, when the EVM is done with.
    pub fn into_context(self) -> CTX {
        self.inner.ctx
    }

    /// The inspector, with its observations.
    pub fn into_inspector(self) -> INSP {
        self.inner.into_inspector()
    }
}

impl<CTX, INSP, P> EvmTr for FieldEvm<CTX, INSP, P>
where
    CTX: ContextTr<Chain = FieldMachine>,
    P: PrecompileProvider<CTX, Output = InterpreterResult>,
{
    type Context = CTX;
    type Instructions = EthInstructions<EthInterpreter, CTX>;
    type Precompiles = P;
    type Frame = EthFrame<EthInterpreter>;

    fn all(&self) -> (&CTX, &Self::Instructions, &P, &FrameStack<Self::Frame>) {
        self.inner.all()
    }

    fn all_mut(&mut self) -> (&mut CTX, &mut Self::Instructions, &mut P, &mut FrameStack<Self::Frame>) {
        self.inner.all_mut()
    }

    /// Begins a frame: with field state of its own, none yet, and with its code analysed for the revision. Only what [`EvmTr::frame_run`]
    /// runs may run in blocks.
    #[inline]
    fn frame_init(
        &mut self,
        mut input: FrameInit,
    ) -> Result<FrameInitResult<'_, Self::Frame>, ContextDbError<Self::Context>> {
        let limit = self.memory_limit_bytes.min(self.inner.ctx.cfg().memory_limit());
        input.memory.set_memory_limit(limit);
        self.replacements.apply(&mut input);
        let is_first = self.inner.frame_stack.index().is_none();
        if let ItemOrResult::Result(result) = self.inner.frame_init(input)? {
            let halt = Halt::from_revm(result.instruction_result(), None);
            self.inner.ctx.chain_mut().leave_without_frame(halt);
            return Ok(ItemOrResult::Result(result));
        }
        let machine = self.inner.ctx.chain_mut();
        if is_first {
            machine.enter_first();
        } else {
            machine.enter();
        }
        (machine.in_blocks, machine.in_runs) = (false, false);
        let frame = self.inner.frame_stack.get();
        let bytecode = &mut frame.interpreter.bytecode;
        // Code under construction runs once, so it is not worth keeping.
        let kept_by = || bytecode.hash().filter(|_| frame.data.is_call());
        let executed = self.analysis.execute(bytecode, kept_by, &mut machine.codes);
        machine.set_code(executed.met);
        if let Some(code) = executed.code {
            *bytecode = ExtBytecode::new_with_optional_hash(code, bytecode.hash());
        }
        Ok(ItemOrResult::Item(frame))
    }

    /// Runs the frame, block by block where that is faster; the inspecting loop, which is revm's own, never does.
    #[inline]
    fn frame_run(&mut self) -> Result<FrameInitOrResult<Self::Frame>, ContextDbError<Self::Context>> {
        let machine = self.inner.ctx.chain_mut();
        (machine.in_blocks, machine.in_runs) = (self.analysis.has_blocks, true);
        self.inner.frame_run()
    }

    /// Ends a frame, if there was one: the caller's field state is the running one again.
    #[inline]
    fn frame_return_result(
        &mut self,
        result: <Self::Frame as FrameTr>::FrameResult,
    ) -> Result<Option<FrameResult>, ContextDbError<Self::Context>> {
        let frame = self.inner.frame_stack.get();
        let machine = self.inner.ctx.chain_mut();
        let instruction_result = result.instruction_result();
        if frame.is_finished() {
            settle_all(machine, &mut frame.interpreter);
            let from_revm = || Halt::from_revm(instruction_result, Some(&frame.interpreter));
            machine.leave(machine.halt().unwrap_or_else(from_revm));
        } else {
            machine.leave_without_frame(Halt::from_revm(instruction_result, None));
        }
        self.inner.frame_return_result(result)
    }
}

impl<CTX, INSP, P> InspectorEvmTr for FieldEvm<CTX, INSP, P>
where
    CTX: ContextTr<Chain = FieldMachine, Journal: JournalExt> + ContextSetters,
    P: PrecompileProvider<CTX, Output = InterpreterResult>,
    INSP: Inspector<CTX, EthInterpreter>,
{
    type Inspector = INSP;

    fn all_inspector(&self) -> (&CTX, &Self::Instructions, &P, &FrameStack<Self::Frame>, &INSP) {
        self.inner.all_inspector()
    }

    fn all_mut_inspector(
        &mut self,
    ) -> (&mut CTX, &mut Self::Instructions, &mut P, &mut FrameStack<Self::Frame>, &mut INSP) {
        self.inner.all_mut_inspector()
    }
}
