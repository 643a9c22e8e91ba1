//! WebAssembly: our field programs as modules, and the engines that run these and others' modules.
//!
//! Read in this order: [`field`] is the field as a module has it; [`lower()`] makes a module of a program, in one of two
//! [`Form`]s; [`host`] holds the host functions that 2020's comparison of interfaces gave to modules; [`engine`] compiles,
//! instantiates and runs, by interpretation (wasmi) or compiled (wasmtime), and counts the calls of host functions;
//! [`prepared`] is a lowered program ready for inputs.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

pub mod engine;
mod engine_kind;
pub mod error;
pub mod field;
pub mod host;
mod lower;
pub mod prepared;

pub use engine::{Compiled, EngineKind, Export, Instance, Number};
pub use error::{LowerError, RunError};
pub use lower::{Form, Lowered, MAIN, lower};
pub use prepared::Prepared;
