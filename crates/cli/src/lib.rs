//! The commands that most people need, and the common parts of all commands: options, input, output, reports of
//! executions.
//!
//! [`args`] is the command line of `residue`, [`commands`] does what it asks for. The full program (`crates/full`) has these commands
//! and all others; [`handover`] is how `residue` starts it. These two crates and the programs of the node
//! print, all through `residue_workbench::output`; nothing else does.
//!
//! Exit code 0: done; 1: the code under test reverted or halted exceptionally, or a comparison failed; 2: bad usage or
//! input. Results go to stdout, messages to stderr.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

pub mod args;
pub mod code_limit;
pub mod commands;
pub mod deployable;
pub mod excerpt;
pub mod formats;
pub mod formulas;
pub mod handover;
pub mod input;
pub mod options;
pub mod output;
pub mod program_file;
pub mod proof;
pub mod report;
pub mod subject;
pub mod tables;
pub mod takers;
pub mod verdict;
pub mod waiting;

pub use commands::run;
