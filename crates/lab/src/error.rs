//! Errors of measurements and records.

use std::io;
use std::path::PathBuf;

use residue_compiler::CompileError;
use residue_engine::native::NativeError;
use residue_engine::{EngineError, Halt};
use residue_isa::{AssembleError, EncodeError, Revision, ScheduleError};
use residue_workbench::harness::WrongAnswer;
use thiserror::Error;

use crate::record::RecordFault;

/// Why there is no measurement, or no record of it.
#[derive(Debug, Error)]
pub enum LabError {
    /// A subject did not compute what it should.
    #[error(transparent)]
    WrongAnswer(#[from] WrongAnswer),
    /// Code under measurement did not end well.
    #[error("{subject} ended with {halt}")]
    Halted {
        /// Name of the subject.
        subject: String,
        /// Reason for the halt.
        halt: Halt,
    },
    /// A contract that the lab measures is not among the contracts.
    #[error("there is no contract {name:?}")]
    NoContract {
        /// Its name.
        name: &'static str,
    },
    /// A contract that is measured beside a precompile replaces none.
    #[error("the contract {name:?} replaces no precompile")]
    NoPrecompile {
        /// Its name.
        name: &'static str,
    },
    /// A library has no answer to a contract's example.
    #[error("{library} cannot read the example of the contract {name:?}")]
    NotReadable {
        /// The library.
        library: &'static str,
        /// The contract.
        name: &'static str,
    },
    /// A program did not compile.
    #[error("{name}: {error}")]
    Compile {
        /// Name of the program.
        name: &'static str,
        /// Why not.
        error: Box<CompileError>,
    },
    /// A program did not compile, whose name is not ours to know.
    #[error("{name}: {error}")]
    Program {
        /// Name of the program.
        name: String,
        /// Why not.
        error: Box<CompileError>,
    },
    /// A measuring program cannot be assembled.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// An instruction cannot be encoded.
    #[error(transparent)]
    Encode(EncodeError),
    /// There is no such gas schedule, or it is wrong.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// An engine cannot be made.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The precompile failed on the input.
    #[error(transparent)]
    Native(#[from] NativeError),
    /// The native library refuses the input.
    #[error("blst refuses the input of {pairs} pairs")]
    Input {
        /// Pairs in the input.
        pairs: usize,
    },
    /// Prices relative to KECCAK256 without its time, or relative to what was not measured.
    #[error("there is no such pivot: the record has no time of it")]
    NoPivot,
    /// Prices of a revision without times.
    #[error(
        "there are no times of {revision}: `residue lab measure --revisions {revision} --record records` makes a record of them"
    )]
    NoTimes {
        /// The revision.
        revision: Revision,
    },
    /// A program has no module.
    #[error("{name} as WebAssembly: {error}")]
    Lower {
        /// Name of the program.
        name: &'static str,
        /// Why not.
        error: residue_wasm::LowerError,
    },
    /// A module did not run.
    #[error("{subject}: {error}")]
    Module {
        /// Name of the subject.
        subject: String,
        /// Error of the run.
        error: residue_wasm::RunError,
    },
    /// A program outside that measures itself failed.
    #[error("{program}: {reason}")]
    Outside {
        /// The program.
        program: String,
        /// Message of the program.
        reason: String,
    },
    /// Nobody's answer is there to compare with.
    #[error("no library computes {operation}")]
    NoAnswer {
        /// The operation.
        operation: &'static str,
    },
    /// A candidate of a search that cannot be run.
    #[error("a scene of the attack: {reason}")]
    Scene {
        /// Reason.
        reason: String,
    },
    /// A page is asked for whose record is not there.
    #[error("there is no record of {group}; `residue bench {group} --record records` makes one")]
    NoRecord {
        /// The group.
        group: &'static str,
    },
    /// A page has no place for its tables.
    #[error("the page has no <!-- {part} --> with {} after it", residue_pages::END)]
    NoPlace {
        /// The name of the part that they stand in.
        part: &'static str,
    },
    /// A file could not be written or read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// The text of a record is wrong.
    #[error("{file}:{line}: {fault}")]
    Record {
        /// The file as the caller named it.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Fault of the line.
        fault: RecordFault,
    },
}

impl LabError {
    /// True if a revision has no code for a contract.
    pub fn is_inexpressible(&self) -> bool {
        matches!(self, LabError::Compile { error, .. } if error.is_inexpressible())
    }
}
