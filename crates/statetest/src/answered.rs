//! Accounts whose calls are answered by another than the EVM: by the specification of a revision, which has one frame and no world
//! around it. To the EVM they are as if they ran their code.

use std::fmt;

use residue_engine::revm::context::ContextTr;
use residue_engine::revm::context_interface::Cfg;
use residue_engine::revm::handler::PrecompileProvider;
use residue_engine::revm::interpreter::{CallInputs, Gas, InstructionResult, InterpreterResult};
use residue_engine::revm::primitives::{Address, AddressSet, Bytes};

use crate::remembered::Remembered;

/// A call of an account.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The account whose code would run.
    pub code_of: [u8; 20],
    /// Caller.
    pub caller: [u8; 20],
    /// The input.
    pub input: &'a [u8],
    /// The gas given.
    pub gas: u64,
}

/// End of such a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// True if its effects stay.
    pub is_success: bool,
    /// True if it used all gas.
    pub is_exceptional: bool,
    /// Output.
    pub output: Vec<u8>,
    /// Gas that it used.
    pub gas_used: u64,
}

/// Precompiles, and accounts that are answered for. These are as cold as others, unlike precompiles.
pub struct Answered<'a> {
    pub precompiles: Remembered<'a>,
    pub answers: &'a dyn Fn(&Asked<'_>) -> Option<Answer>,
}

impl fmt::Debug for Answered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answered").field("precompiles", &self.precompiles).finish_non_exhaustive()
    }
}

impl<'a, CTX: ContextTr> PrecompileProvider<CTX> for Answered<'a>
where
    Remembered<'a>: PrecompileProvider<CTX, Output = InterpreterResult>,
{
    type Output = InterpreterResult;

    fn set_spec(&mut self, spec: <CTX::Cfg as Cfg>::Spec) -> bool {
        PrecompileProvider::<CTX>::set_spec(&mut self.precompiles, spec)
    }

    fn run(&mut self, context: &mut CTX, inputs: &CallInputs) -> Result<Option<InterpreterResult>, String> {
        let answer = {
            let input = inputs.input.as_bytes(context);
            let code_of: Address = inputs.bytecode_address;
            let asked =
                Asked { code_of: code_of.into(), caller: inputs.caller.into(), input: &input, gas: inputs.gas_limit };
            (self.answers)(&asked)
        };
        let Some(answer) = answer else {
            return self.precompiles.run(context, inputs);
        };
        let mut gas = Gas::new_with_regular_gas_and_reservoir(inputs.gas_limit, inputs.reservoir);
        if answer.is_exceptional {
            gas.spend_all();
            return Ok(Some(InterpreterResult::new(InstructionResult::OpcodeNotFound, Bytes::new(), gas)));
        }
        if !gas.record_regular_cost(answer.gas_used) {
            return Err(format!("an answer used {} gas of {}", answer.gas_used, inputs.gas_limit));
        }
        let result = if answer.is_success { InstructionResult::Return } else { InstructionResult::Revert };
        Ok(Some(InterpreterResult::new(result, answer.output.into(), gas)))
    }

    fn warm_addresses(&self) -> &AddressSet {
        self.precompiles.warm_addresses()
    }
}
