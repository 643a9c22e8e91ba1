//! Halts: our names for the end of a frame, kept beside revm's closed set of results.

use core::fmt;

use revm::interpreter::{InstructionResult, Interpreter, STACK_LIMIT};

/// End of a frame. The first three leave the remaining gas to the caller, all others consume it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Halt {
    /// STOP, the end of the code, or SELFDESTRUCT.
    Stop,
    /// RETURN.
    Return,
    /// REVERT.
    Revert,
    /// The gas left did not cover a charge, or memory would have grown beyond the ceiling.
    OutOfGas,
    /// An instruction takes more words than the stack has.
    StackUnderflow,
    /// The stack would have more than 1024 words.
    StackOverflow,
    /// A byte that is no opcode of the revision and the fork, or a field instruction cut off by the end of the code.
    InvalidInstruction,
    /// A jump to something else than a JUMPDEST.
    InvalidJump,
    /// A field instruction without an active field context, or an id that none can have.
    NoContext,
    /// A modulus that the revision does not allow.
    InvalidModulus,
    /// A slot that the active field context does not have, or a slot count that is not allowed.
    SlotOutOfRange,
    /// A value to be stored that is not below the modulus.
    ValueOutOfRange,
    /// A range outside memory, for an instruction that does not grow memory.
    MemoryOutOfRange,
    /// Zero lanes, or results that all go to the same slot.
    InvalidStride,
    /// RETURNSUB with an empty return stack.
    ReturnStackUnderflow,
    /// The return stack would have more than 1024 offsets.
    ReturnStackOverflow,
    /// A change of state inside a static call.
    StaticViolation,
    /// More than 1024 nested calls.
    CallDepth,
    /// Any other result of revm: `other:` and revm's name.
    Other(&'static str),
}

impl Halt {
    /// The name in output of every kind, such as `out_of_gas`.
    pub const fn name(self) -> &'static str {
        match self {
            Halt::Stop => "stop",
            Halt::Return => "return",
            Halt::Revert => "revert",
            Halt::OutOfGas => "out_of_gas",
            Halt::StackUnderflow => "stack_underflow",
            Halt::StackOverflow => "stack_overflow",
            Halt::InvalidInstruction => "invalid_instruction",
            Halt::InvalidJump => "invalid_jump",
            Halt::NoContext => "no_context",
            Halt::InvalidModulus => "invalid_modulus",
            Halt::SlotOutOfRange => "slot_out_of_range",
            Halt::ValueOutOfRange => "value_out_of_range",
            Halt::MemoryOutOfRange => "memory_out_of_range",
            Halt::InvalidStride => "invalid_stride",
            Halt::ReturnStackUnderflow => "return_stack_underflow",
            Halt::ReturnStackOverflow => "return_stack_overflow",
            Halt::StaticViolation => "static_violation",
            Halt::CallDepth => "call_depth",
            Halt::Other(name) => name,
        }
    }

    /// True if the frame ended by stop or return.
    pub const fn is_success(self) -> bool {
        matches!(self, Halt::Stop | Halt::Return)
    }

    /// True if the frame's gas is consumed.
    pub const fn is_exceptional(self) -> bool {
        !matches!(self, Halt::Stop | Halt::Return | Halt::Revert)
    }

    /// Result for revm when a field instruction halts: the nearest of its results, all of which consume the gas.
    pub(crate) const fn to_revm(self) -> InstructionResult {
        match self {
            Halt::OutOfGas => InstructionResult::OutOfGas,
            Halt::StackUnderflow => InstructionResult::StackUnderflow,
            Halt::InvalidInstruction => InstructionResult::OpcodeNotFound,
            Halt::SlotOutOfRange | Halt::MemoryOutOfRange => InstructionResult::OutOfOffset,
            _ => InstructionResult::InvalidOperandOOG,
        }
    }

    /// The name for a result of revm's own, given the interpreter that produced it if there is one.
    pub fn from_revm(result: InstructionResult, interpreter: Option<&Interpreter>) -> Self {
        use InstructionResult as R;
        match result {
            R::Stop | R::SelfDestruct => Halt::Stop,
            R::Return => Halt::Return,
            R::Revert => Halt::Revert,
            R::OutOfGas
            | R::MemoryOOG
            | R::MemoryLimitOOG
            | R::PrecompileOOG
            | R::InvalidOperandOOG
            | R::ReentrancySentryOOG => Halt::OutOfGas,
            R::OpcodeNotFound | R::InvalidFEOpcode | R::NotActivated | R::InvalidImmediateEncoding => {
                Halt::InvalidInstruction
            }
            R::InvalidJump => Halt::InvalidJump,
            R::StackUnderflow => Halt::StackUnderflow,
            // revm's DUP answers overflow also when the word to be copied is not there.
            R::StackOverflow => match interpreter {
                Some(interpreter) if interpreter.stack.len() < STACK_LIMIT => Halt::StackUnderflow,
                _ => Halt::StackOverflow,
            },
            R::CallNotAllowedInsideStatic | R::StateChangeDuringStaticCall => Halt::StaticViolation,
            R::CallTooDeep => Halt::CallDepth,
            R::Suspend => Halt::Other("other:Suspend"),
            R::OutOfFunds => Halt::Other("other:OutOfFunds"),
            R::CreateInitCodeStartingEF00 => Halt::Other("other:CreateInitCodeStartingEF00"),
            R::InvalidEOFInitCode => Halt::Other("other:InvalidEOFInitCode"),
            R::InvalidExtDelegateCallTarget => Halt::Other("other:InvalidExtDelegateCallTarget"),
            R::OutOfOffset => Halt::Other("other:OutOfOffset"),
            R::CreateCollision => Halt::Other("other:CreateCollision"),
            R::OverflowPayment => Halt::Other("other:OverflowPayment"),
            R::PrecompileError => Halt::Other("other:PrecompileError"),
            R::NonceOverflow => Halt::Other("other:NonceOverflow"),
            R::CreateContractSizeLimit => Halt::Other("other:CreateContractSizeLimit"),
            R::CreateContractStartingWithEF => Halt::Other("other:CreateContractStartingWithEF"),
            R::CreateInitCodeSizeLimit => Halt::Other("other:CreateInitCodeSizeLimit"),
            R::FatalExternalError => Halt::Other("other:FatalExternalError"),
        }
    }
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_revm_is_told_consumes_the_gas() {
        for halt in [
            Halt::OutOfGas,
            Halt::StackUnderflow,
            Halt::InvalidInstruction,
            Halt::NoContext,
            Halt::InvalidModulus,
            Halt::SlotOutOfRange,
            Halt::ValueOutOfRange,
            Halt::MemoryOutOfRange,
            Halt::InvalidStride,
            Halt::ReturnStackUnderflow,
            Halt::ReturnStackOverflow,
        ] {
            assert!(halt.is_exceptional() && !halt.is_success());
            assert!(halt.to_revm().is_halt(), "{halt}");
        }
    }

    #[test]
    fn only_stop_return_and_revert_keep_the_gas() {
        for result in [InstructionResult::Stop, InstructionResult::Return, InstructionResult::Revert] {
            assert!(!Halt::from_revm(result, None).is_exceptional());
        }
        assert_eq!(Halt::from_revm(InstructionResult::OutOfOffset, None).name(), "other:OutOfOffset");
        assert!(Halt::Other("other:OutOfOffset").is_exceptional());
    }
}
