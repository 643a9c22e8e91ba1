//! Measurements beside native libraries, and their records.
//!
//! Read in this order: [`group`] is the table of what can be measured; [`harness`] runs subjects in turn and checks every
//! answer; [`statistics`] makes medians of samples; [`instructions`] and [`pairing`] are the groups; [`record`] is what a
//! measurement leaves behind, with the [`machine`] that it was made on; [`table`] arranges it for people.
//!
//! This crate does not print: progress goes to a callback, results are values.

#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

pub mod clock;
pub mod date;
pub mod engines;
pub mod environment;
pub mod error;
pub mod group;
pub mod harness;
pub mod instructions;
pub mod machine;
pub mod pairing;
pub mod record;
pub mod statistics;
pub mod table;

#[allow(unsafe_code, reason = "blst's raw routines are foreign functions")]
pub mod native;

pub use error::LabError;
pub use group::{Effort, GROUPS, Group, Progress};
pub use harness::{Sample, Subject, interleave};
pub use machine::Machine;
pub use record::{Quantity, Record, Row};
pub use statistics::Spread;

/// The revisions that are measured: the last with values in memory that others' programs are written for, and the last with
/// slots. The others differ from them in how operands are named.
pub const MEASURED: [residue_isa::Revision; 2] = [residue_isa::Revision::Evm384V7, residue_isa::Revision::Eip6690_2024];
