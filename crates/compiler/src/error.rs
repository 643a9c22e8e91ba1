//! Why a program cannot be compiled.

use residue_isa::{Fork, Revision};
use thiserror::Error;

/// Why a program cannot be compiled for a revision. A limit names the function and the number.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CompileError {
    /// The program is not well formed.
    #[error("the program is not well formed: {0}")]
    Program(#[from] residue_ir::VerifyError),
    /// The modulus has a width that the revision does not have.
    #[error("{revision} has moduli up to {limit_bits} bits; this program's has {bits}")]
    Width {
        /// The revision.
        revision: Revision,
        /// Bits of the modulus.
        bits: u64,
        /// The most the revision can have.
        limit_bits: u64,
    },
    /// The revision has moduli of one width only.
    #[error("{revision} has moduli of {limbs} limbs only; this program's has {bits} bits")]
    OnlyWidth {
        /// The revision.
        revision: Revision,
        /// Bits of the modulus.
        bits: u64,
        /// The only width in 64-bit limbs.
        limbs: usize,
    },
    /// It has no instruction that inverts, and the program does not ask.
    #[error("{revision} has no instruction that inverts: ask with `has inversion`")]
    Inversion {
        /// The revision.
        revision: Revision,
    },
    /// It has no instruction that tells which of two elements is less, and the program does not ask.
    #[error("{revision} has no instruction that tells which of two elements is less: ask with `has order`")]
    Order {
        /// The revision.
        revision: Revision,
    },
    /// Montgomery form needs an odd modulus.
    #[error("{revision} needs an odd modulus")]
    EvenModulus {
        /// The revision.
        revision: Revision,
    },
    /// The revision has one field, and the program is over another.
    #[error("{revision} has one field only, the base field of BLS12-381; this program is over another")]
    FixedField {
        /// The revision.
        revision: Revision,
    },
    /// The revision cannot go from one modulus to another and back.
    #[error("{revision} cannot have subprogram `{subprogram}`: {reason}")]
    Subprogram {
        /// The revision.
        revision: Revision,
        /// The subprogram.
        subprogram: String,
        /// Why not.
        reason: &'static str,
    },
    /// More slots are needed at once than there are.
    #[error(transparent)]
    Slots(#[from] residue_passes::TooFewSlots),
    /// More constants than there are slots.
    #[error("the program has {count} constants; {limit} slots hold them and at least one value")]
    Constants {
        /// How many there are.
        count: usize,
        /// How many slots there are.
        limit: u32,
    },
    /// Slots together take more bytes than a frame may have.
    #[error("{slots} slots of {element_bytes} bytes, with those of other moduli, are more than {limit_bytes} bytes")]
    SlotBytes {
        /// Slots of the modulus that takes the most.
        slots: u32,
        /// Bytes of one.
        element_bytes: usize,
        /// The most that one frame may have.
        limit_bytes: usize,
    },
    /// Arrays of fixed size, elements and output together take too much memory.
    #[error("the program uses {bytes} bytes of memory whatever its input; at most {limit_bytes} can be used")]
    Memory {
        /// Bytes up to the first that is too far.
        bytes: u64,
        /// The most that there can be.
        limit_bytes: u64,
    },
    /// A word lies too deep in the stack for DUP16.
    #[error("function `{function}` keeps more than 16 words on the stack")]
    Stack {
        /// The function.
        function: String,
    },
    /// The stack would have more words than the EVM's.
    #[error("the stack would have {words} words in function `{function}`; the EVM's has {limit}")]
    Height {
        /// The function where it is highest.
        function: String,
        /// The words, with those of callers.
        words: usize,
        /// The most there can be.
        limit: usize,
    },
    /// Parts of a sequence that words choose are too far from the beginning of the code.
    #[error("parts that words choose end at offset {offset}; their addresses have to be at most {limit}")]
    Far {
        /// Where they end.
        offset: usize,
        /// The last address there can be.
        limit: usize,
    },
    /// The program needs an opcode that the fork lacks, and nothing there does the same.
    #[error("the program needs {opcode}, which {fork} lacks: it came with {since}")]
    Fork {
        /// The fork.
        fork: Fork,
        /// What it lacks.
        opcode: &'static str,
        /// The first fork that has it.
        since: Fork,
    },
    /// The program calls a precompile that code may not call, or that the fork lacks.
    #[error(
        "the program calls the precompile at {address:#x}: code may do that if it is asked to, and if {fork} has it"
    )]
    Precompile {
        /// Its address.
        address: u32,
        /// The fork.
        fork: Fork,
    },
    /// Portable code has a jump target, or a byte that is taken for one, where only data of PUSH is skipped. This is a mistake in the compiler.
    #[error("the code is not portable: offset {offset} is a jump target for one analysis only")]
    NotPortable {
        /// Where.
        offset: usize,
    },
    /// The code could not be encoded.
    #[error("assembling: {0}")]
    Assemble(#[from] residue_isa::assembly::AssembleError),
    /// The checker found code that does not mean its block. This is a mistake in the compiler.
    #[error("function `{function}`: compiled code does not mean its block: {what}")]
    Judged {
        /// The function.
        function: String,
        /// What differs.
        what: String,
    },
}

impl CompileError {
    /// Whether it says that the revision has no code for such a program: moduli that the revision does not have, or too few of them, or
    /// inversions or comparisons; or that the code would be so long that addresses of parts that words choose do not fit two bytes, or would
    /// need a higher stack than there is.
    pub fn is_inexpressible(&self) -> bool {
        use CompileError::{EvenModulus, Far, FixedField, Height, Inversion, OnlyWidth, Order, Subprogram, Width};
        let is_of_modulus = matches!(self, Width { .. } | OnlyWidth { .. } | EvenModulus { .. } | FixedField { .. });
        is_of_modulus
            || matches!(self, Subprogram { .. } | Inversion { .. } | Order { .. } | Far { .. } | Height { .. })
    }
}
