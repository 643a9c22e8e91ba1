//! One outermost frame with all it calls, over a state in memory and without a transaction around it.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::convert::Infallible;

use revm::context::result::{EVMError, InvalidTransaction};
use revm::context::{BlockEnv, CfgEnv, Context, ContextTr, Journal, JournalTr, LocalContextTr, TxEnv};
use revm::database::InMemoryDB;
use revm::handler::{EvmTr, FrameResult, Handler, MainnetHandler};
use revm::inspector::{Inspector, InspectorHandler};
use revm::interpreter::interpreter::EthInterpreter;
use revm::interpreter::interpreter_action::FrameInit;
use revm::interpreter::{CallInput, CallInputs, CallScheme, CallValue, FrameInput, SharedMemory};
use revm::primitives::{Address, Bytes, U256};
use revm::state::Bytecode;

use crate::evm::FieldEvm;
use crate::halt::Halt;
use crate::machine::FieldMachine;
use crate::outcome::Outcome;

/// The context of frames that the engine runs itself: state in memory, every environment value revm's default.
pub(crate) type FrameContext = Context<BlockEnv, TxEnv, CfgEnv, InMemoryDB, Journal<InMemoryDB>, FieldMachine>;
type FrameError = EVMError<Infallible, InvalidTransaction>;

/// The account that calls from outside.
const CALLER_ADDRESS: Address = Address::repeat_byte(0xca);

/// The call of a contract from outside.
pub(crate) fn call(address: Address, code: &Bytecode, input: &[u8], gas: u64) -> CallInputs {
    CallInputs {
        input: CallInput::Bytes(Bytes::copy_from_slice(input)),
        return_memory_offset: 0..0,
        gas_limit: gas,
        reservoir: 0,
        bytecode_address: address,
        known_bytecode: (code.hash_slow(), code.clone()),
        target_address: address,
        caller: CALLER_ADDRESS,
        value: CallValue::Apparent(U256::ZERO),
        scheme: CallScheme::Call,
        is_static: false,
        charged_new_account_state_gas: false,
    }
}

/// Runs a call from outside on a state as at the start of a transaction. The changes stay in the journal, the memory in the
/// shared buffer ([`memory`]); [`Outcome::memory`] is empty.
pub(crate) fn execute(evm: &mut FieldEvm<FrameContext>, call: CallInputs) -> Outcome {
    let gas = call.gas_limit;
    let init = begin(evm, call);
    let result = MainnetHandler::<_, FrameError, _>::default().run_exec_loop(evm, init);
    end(evm, result, gas)
}

/// As [`execute`], observed by the EVM's inspector.
pub(crate) fn execute_observed<I>(evm: &mut FieldEvm<FrameContext, I>, call: CallInputs) -> Outcome
where
    I: Inspector<FrameContext, EthInterpreter>,
{
    let gas = call.gas_limit;
    let init = begin(evm, call);
    let result = MainnetHandler::<_, FrameError, _>::default().inspect_run_exec_loop(evm, init);
    end(evm, result, gas)
}

/// The memory of the outermost frame, which starts the buffer that frames share; callees have given theirs back.
pub(crate) fn memory<I>(evm: &FieldEvm<FrameContext, I>) -> Vec<u8> {
    evm.inner.ctx.local().shared_memory_buffer().borrow().clone()
}

fn begin<I>(evm: &mut FieldEvm<FrameContext, I>, call: CallInputs) -> FrameInit {
    let context = evm.ctx_mut();
    context.journal_mut().finalize();
    context.local_mut().clear();
    for address in [call.caller, call.target_address] {
        // A transaction loads both accounts first, and revm's SSTORE relies on that.
        match context.journal_mut().load_account(address) {
            Ok(_) => {}
        }
    }
    let memory = SharedMemory::new_with_buffer(context.local().shared_memory_buffer().clone());
    FrameInit { depth: 0, memory, frame_input: FrameInput::Call(Box::new(call)) }
}

fn end<I>(evm: &mut FieldEvm<FrameContext, I>, result: Result<FrameResult, FrameError>, gas: u64) -> Outcome {
    let Ok(result) = result else {
        // Only a precompile that gives up fatally comes here. revm's handler clears the frames it leaves behind.
        evm.frame_stack().clear();
        let halt = Halt::Other("other:FatalExternalError");
        return Outcome { halt, output: Vec::new(), gas_used: gas, gas_left: 0, memory: Vec::new() };
    };
    let mut result = result.into_interpreter_result();
    if !result.is_ok() {
        // As for a callee: what was charged for state that is taken back returns (EIP-8037, from Amsterdam on).
        result.gas.rollback_state_gas();
    }
    let halt = evm.ctx_ref().chain().last_halt().unwrap_or_else(|| Halt::from_revm(result.result, None));
    let gas_left = if halt.is_exceptional() { 0 } else { result.gas.remaining() };
    Outcome { halt, output: result.output.to_vec(), gas_used: gas - gas_left, gas_left, memory: Vec::new() }
}
