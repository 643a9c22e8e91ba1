//! Halts: the ways a frame ends. Every engine and every report uses these names.

use std::fmt;

/// End of a frame, or the reason why this crate defines none.
///
/// `static_violation` and `call_depth` need other frames and do not occur here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Halt {
    /// `STOP`, or the end of the code.
    Stop,
    /// `RETURN`.
    Return,
    /// `REVERT`.
    Revert,
    /// The gas left does not cover a cost, or memory would grow beyond the ceiling.
    OutOfGas,
    /// An instruction takes more words than the stack has.
    StackUnderflow,
    /// The stack would hold more than 1024 words.
    StackOverflow,
    /// Not an opcode, or the code ends within a field instruction.
    InvalidInstruction,
    /// A jump to something other than a jumpdest.
    InvalidJump,
    /// No field context is active, or the id cannot name one.
    NoContext,
    /// A modulus that the revision does not allow.
    InvalidModulus,
    /// A slot beyond those of the context, or more slots than allowed.
    SlotOutOfRange,
    /// A value that is not below the modulus.
    ValueOutOfRange,
    /// A range beyond the current memory, where the revision does not let memory grow.
    MemoryOutOfRange,
    /// A stride or a count that the revision does not allow.
    InvalidStride,
    /// `RETURNSUB` with an empty return stack.
    ReturnStackUnderflow,
    /// The return stack would hold more than 1024 offsets.
    ReturnStackOverflow,
    /// `RETURNDATACOPY` beyond the returned data (EIP-211).
    OutOfOffset,
    /// No verdict: the opcode needs a world around the frame.
    Unsupported {
        /// The opcode.
        opcode: u8,
    },
    /// No verdict: the prices handed in have no entry for an instruction that ran.
    Unpriced {
        /// The opcode.
        opcode: u8,
    },
}

impl Halt {
    /// Name in reports; `other:` marks halts that only the EVM around us can decide.
    pub fn name(self) -> &'static str {
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
            Halt::OutOfOffset => "other:OutOfOffset",
            Halt::Unsupported { .. } => "unsupported",
            Halt::Unpriced { .. } => "unpriced",
        }
    }

    /// True if the specification defines the end of the frame. If false, no part of the outcome may be compared.
    pub fn is_verdict(self) -> bool {
        !matches!(self, Halt::Unsupported { .. } | Halt::Unpriced { .. })
    }

    /// True if the frame ended by `STOP` or `RETURN`.
    pub fn is_success(self) -> bool {
        matches!(self, Halt::Stop | Halt::Return)
    }

    /// True if the halt consumes all gas of the frame.
    pub fn is_exceptional(self) -> bool {
        self.is_verdict() && !self.is_success() && self != Halt::Revert
    }
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Halt::Unsupported { opcode } | Halt::Unpriced { opcode } => write!(f, "{} 0x{opcode:02x}", self.name()),
            _ => f.write_str(self.name()),
        }
    }
}
