//! General state tests: transactions with the state that they should leave behind, in the format of ethereum/tests and of
//! execution-spec-tests.
//!
//! Every entry of a test runs on revm as it is, and then on the engine with each revision switched on, with and without
//! batches: [`run()`]. The programs of these tests use no opcodes of ours, so nothing may change; where a byte that they take for
//! unknown is an opcode of a revision, the entry is counted apart, and [`Use`] says what it executes. A [`Report`] says how all
//! entries went. A test whose `_info` names a `revision` is about field instructions: it runs on the engine of that revision alone.
//!
//! [`Scene`] says what a new test is to expect, with calls of some accounts answered by another than the engine, [`ChainScene`] the same of a blockchain
//! test, and [`filled_transaction`] of a transaction test. Such tests run where they name a revision; those of others are passed over.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

mod answered;
mod attribution;
mod chain;
mod collision;
mod difference;
mod encoded;
mod exception;
mod execution;
mod file;
mod fill;
mod filter;
mod fork_rules;
mod format;
pub mod json;
mod judge;
mod quantity;
mod receipt;
mod remembered;
mod report;
mod run;
mod single;
mod sources;
mod state;
mod steps;
#[cfg(test)]
mod tests;
mod trace;
mod transaction;

/// A file with two small tests: one whose program is the EVM's alone, and one that uses field instructions.
pub const EXAMPLE: &str = include_str!("example.json");

pub use answered::{Answer, Asked};
pub use attribution::Use;
pub use chain::{BlockPlan, ChainScene, Damage, system_contracts};
pub use difference::Difference;
pub use execution::Machine;
pub use file::FileError;
pub use fill::{FillError, Scene};
pub use filter::{Filter, IndexesError};
pub use fork_rules::names as fork_names;
pub use format::Indexes;
pub use judge::{BatchingName, Failure, Fault, Rules, Subject, Verdict, batching_name};
pub use report::{Counts, ForkName, Place, Report, UsedOpcode};
pub use run::{Options, Progress, SubjectError, run, run_text};
pub use single::filled as filled_transaction;
pub use sources::{Source, SourceError, find};
pub use trace::{Eip3155, HaltOf, TraceError, Traced, trace, trace_text};
