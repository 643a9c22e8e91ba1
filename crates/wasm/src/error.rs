//! Why a program has no module, and why a module does not run.

use residue_passes::TooFewSlots;
use thiserror::Error;

use crate::field::WIDTH_LIMBS_MAX;

/// Why a program cannot be lowered to a module.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LowerError {
    /// The program is not well formed.
    #[error("the program is not well formed: {0}")]
    Program(#[from] residue_ir::VerifyError),
    /// Its values find no place.
    #[error(transparent)]
    Placement(#[from] TooFewSlots),
    /// Montgomery form needs an odd modulus.
    #[error("WebAssembly has programs over odd moduli only")]
    EvenModulus,
    /// A module has neither the EVM's precompile of SHA-256 nor KECCAK256.
    #[error("the program hashes, which the EVM does for it; a module has no hash")]
    Hash,
    /// A module is over one modulus, which is known.
    #[error("the program has subprograms over other moduli; a module is over one modulus")]
    OtherModuli,
    /// A module's words have 256 bits; products of 512 would be routines that no program but a contract for the EVM asks for.
    #[error("the program computes with words modulo a word, for which modules have no routine")]
    WordModulus,
    /// Modules have nothing for such a statement yet.
    #[error("the program has `{0}`, for which modules have nothing")]
    Effect(&'static str),
    /// The modulus is wider than sums of products can be kept in one 64-bit accumulator.
    #[error("WebAssembly has moduli of up to {} bits; this program's has {bits}", 64 * WIDTH_LIMBS_MAX)]
    Width {
        /// Bits of the modulus.
        bits: u64,
    },
    /// The host functions have one field.
    #[error("the host functions have one field only, the base field of BLS12-381; this program is over another")]
    ForeignField,
    /// More memory than a module can address in comfort.
    #[error("the program needs {bytes} bytes of memory of fixed size; a module has up to {limit_bytes}")]
    Memory {
        /// Bytes of memory that the module needs.
        bytes: u64,
        /// The most there is.
        limit_bytes: u64,
    },
}

/// Why a module does not run, or ended badly.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RunError {
    /// The bytes are no module that the engine takes.
    #[error("this is no valid module: {0}")]
    Module(String),
    /// An import that nobody defines.
    #[error("the module imports {module}.{name} {ty}, which there is not; modules may import memories and {known}")]
    Import {
        /// The module it is to come from.
        module: String,
        /// Its name.
        name: String,
        /// Its type in words.
        ty: String,
        /// Names of the imports that the host defines.
        known: String,
    },
    /// The module has no function of that name.
    #[error("the module exports no function {name:?}; {known}")]
    Export {
        /// The name asked for.
        name: String,
        /// Names of the functions that the module exports.
        known: String,
    },
    /// The function takes other arguments.
    #[error("{name:?} takes {expected} and was given {given}")]
    Arguments {
        /// The function.
        name: String,
        /// Parameters of the function.
        expected: String,
        /// Arguments of the call.
        given: String,
    },
    /// The module has no memory to write or read.
    #[error("the module has no memory")]
    NoMemory,
    /// A range outside of memory, or growth beyond the limit of memory.
    #[error("memory of {memory_bytes} bytes has no {size_bytes} bytes at {address}")]
    Range {
        /// First byte.
        address: u64,
        /// Number of bytes.
        size_bytes: u64,
        /// Size of the memory.
        memory_bytes: u64,
    },
    /// The engine is an optional feature, and this build is without it.
    #[error("this build is without {engine}; `cargo build --release --features {engine}` has it")]
    NotBuiltIn {
        /// The engine.
        engine: crate::engine_kind::EngineKind,
    },
    /// The engine could not be set up.
    #[error("the engine cannot be set up: {0}")]
    Engine(String),
    /// Execution trapped: the module's own doing.
    #[error("the module trapped: {0}")]
    Trap(String),
}

impl RunError {
    /// True if the module ran and failed; false if the module or the request is invalid.
    pub fn is_trap(&self) -> bool {
        matches!(self, RunError::Trap(_))
    }
}
