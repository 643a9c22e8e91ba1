//! revm's interpreter over one frame of code for today's EVM.

use alloc::vec::Vec;

use residue_engine::revm::bytecode::{Bytecode, opcode};
use residue_engine::revm::context_interface::host::DummyHost;
use residue_engine::revm::interpreter::instructions::gas_table_spec;
use residue_engine::revm::interpreter::interpreter::{EthInterpreter, ExtBytecode, InputsImpl};
use residue_engine::revm::interpreter::interpreter_types::ReturnData;
use residue_engine::revm::interpreter::{
    CallInput, CallInputs, FrameInput, Instruction, InstructionContext, InstructionExecResult, InstructionResult,
    InstructionTable, Interpreter, InterpreterAction, SharedMemory, instruction_table,
};
use residue_engine::revm::primitives::hardfork::SpecId;
use residue_engine::revm::primitives::{Bytes, U256};

use residue_engine::FieldOp;

use crate::form::Form;
use crate::machine::calls::ACCELERATORS;
use crate::native;

/// More than anything measured takes.
pub const GAS: u64 = 1 << 40;

/// Output of code for calldata; none if it halts or reverts.
pub fn run(form: Form, code: &'static [u8], calldata: &'static [u8]) -> Option<Vec<u8>> {
    let code = Bytecode::new_raw(Bytes::from_static(code));
    let input = InputsImpl { input: CallInput::Bytes(Bytes::from_static(calldata)), ..InputsImpl::default() };
    let mut interpreter = Interpreter::<EthInterpreter>::new(
        SharedMemory::new(),
        ExtBytecode::new(code),
        input,
        false,
        SpecId::OSAKA,
        GAS,
    );
    let mut host = DummyHost::new(SpecId::OSAKA);
    let (table, prices) = (table(form), gas_table_spec(SpecId::OSAKA));
    loop {
        match interpreter.run_plain(&table, &prices, &mut host) {
            InterpreterAction::Return(result) => return result.is_ok().then(|| result.output.to_vec()),
            InterpreterAction::NewFrame(FrameInput::Call(call)) if form == Form::Native => {
                answer(&mut interpreter, &call)?;
            }
            InterpreterAction::NewFrame(_) => return None,
        }
    }
}

/// Answers a call of a precompile, which must succeed, and gives back the gas that it left.
fn answer(interpreter: &mut Interpreter<EthInterpreter>, call: &CallInputs) -> Option<()> {
    let output = native(&call.bytecode_address, &call.input.as_bytes_memory(&interpreter.memory), call.gas_limit)?;
    interpreter.gas.erase_cost(call.gas_limit - output.gas_used);
    let place = &call.return_memory_offset;
    interpreter.memory.set(place.start, &output.bytes[..output.bytes.len().min(place.len())]);
    interpreter.return_data.set_buffer(output.bytes);
    interpreter.stack.push(U256::ONE).then_some(())
}

fn table(form: Form) -> InstructionTable<EthInterpreter, DummyHost> {
    let mut table = instruction_table::<EthInterpreter, DummyHost>();
    if form == Form::WordsByCalls {
        table[usize::from(opcode::MULMOD)] = Instruction::new(mulmod);
    }
    table
}

/// MULMOD as one call, whose operands need not be below the modulus; 0 modulo 0, as the EVM has it.
fn mulmod(context: InstructionContext<'_, DummyHost, EthInterpreter>) -> InstructionExecResult {
    let stack = &mut context.interpreter.stack;
    let Some(([x, y], modulus)) = stack.popn_top::<2>() else {
        return Err(InstructionResult::StackUnderflow);
    };
    if !modulus.is_zero() {
        let mut product = [0; 4];
        ACCELERATORS.four[FieldOp::Mul](&mut product, x.as_limbs(), y.as_limbs(), modulus.as_limbs());
        *modulus = U256::from_limbs(product);
    }
    Ok(())
}
