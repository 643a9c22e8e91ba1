//! revm with the field instructions of one revision.
//!
//! [`Engine`] is a revision, a gas schedule and a fork made ready. It runs raw code in a frame of its own
//! ([`Engine::run_code`], [`Engine::prepare`], [`Engine::run_traced`]), gives a state in memory with several contracts
//! ([`World`]), and gives another project a revm EVM with the instructions in it ([`evm()`]). [`Halt`] is the end of a
//! frame; [`Counts`] counts executed instructions; [`native`] calls the precompiles without an EVM.
//!
//! Without its feature `std` the engine runs on machines without an operating system, as in a zkVM: locks wait in a loop, the CPU's features are
//! those of the build, and precompiles are in plain Rust. [`accelerators`] are calls by which such a machine computes modulo numbers.
//!
//! This is the only crate of the project that names revm. The EVM's own instructions are revm's; only
//! field instructions have handlers here.

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

extern crate alloc;

pub mod accounts;
mod analysis;
mod batch;
mod config;
mod counts;
mod engine;
mod evm;
mod fork;
mod frame;
mod halt;
mod handlers;
mod instructions;
mod machine;
pub mod native;
mod operands;
mod outcome;
mod prepared;
mod prices;
#[cfg(feature = "std")]
mod probe;
#[cfg(feature = "std")]
mod probed;
mod replacements;
mod stock;
mod trace;
mod transact;
mod world;

pub use batch::explained::BlockExplained;
pub use batch::tuning::EXECUTIONS_TO_WARM;
pub use batch::{Batching, has_blocks};
pub use config::{EngineConfig, EngineError, Installed, MEMORY_LIMIT_BYTES};
pub use counts::{Counted, Counts, GasSplit, Moved};
pub use engine::{Engine, EvmOver, evm};
pub use evm::FieldEvm;
pub use halt::Halt;
pub use machine::FieldMachine;
pub use outcome::Outcome;
pub use prepared::{PLANNING_RUNS_MAX, Prepared};
#[cfg(feature = "std")]
pub use probe::Probe;
#[cfg(feature = "std")]
pub use probed::Probed;
pub use replacements::Replacement;
pub use residue_isa::{FieldOp, Fork, PerOp};
pub use residue_modular::accelerators;
/// The revm this engine is built on, whose version is exact.
pub use revm;
pub use trace::{FieldStep, Step, Tracer, View};
pub use world::World;
