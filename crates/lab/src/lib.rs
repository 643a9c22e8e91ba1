//! Measurements beside native libraries, and their records.
//!
//! Read in this order: [`group`] is the table of what can be measured, by the workbench's harness; [`instructions`], [`lanes`], [`pairing`], [`eip2537`], [`operations`],
//! [`comparison`], [`scaling`] and [`memory`] are the groups, [`subjects`] chooses whom they measure; [`record`] is what a
//! measurement leaves behind, with the [`machine`] that it
//! was made on; [`table`] arranges it for people. [`measure`] times every opcode, [`price`] makes gas schedules of such a record;
//! [`trace`] and [`profile`] look into one execution; [`programs`] runs the published programs, [`figures`] sets them beside
//! [`published`] values, [`report`] makes one page of all, [`baselines`] the tables of one of its own; [`attack`] searches for what the prices do not cover.
//!
//! This crate does not print: progress goes to a callback, results are values.

#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

pub mod attack;
pub mod baselines;
pub mod clock;
pub mod comparison;
pub mod date;
pub mod effort;
pub mod eip2537;
pub mod engines;
pub mod environment;
pub mod error;
pub mod figures;
pub mod go;
pub mod group;
pub mod groups;
pub mod instructions;
pub mod job;
pub mod lanes;
pub mod machine;
pub mod measure;
pub mod memory;
pub mod operations;
pub mod pairing;
pub mod price;
mod process;
pub mod profile;
pub mod programs;
pub mod published;
pub mod record;
pub mod report;
pub mod scaling;
pub mod subjects;
pub mod svg;
pub mod table;
pub mod trace;

#[allow(unsafe_code, reason = "blst's raw routines are foreign functions")]
pub mod native;

pub use effort::{Effort, Progress};
pub use error::LabError;
pub use group::Group;
pub use groups::GROUPS;
pub use machine::Machine;
pub use record::{Quantity, Record, Row};
pub use subjects::Subjects;
pub use table::Column;

/// The revisions that are measured: the last with values in memory that others' programs are written for, and the one of December
/// 2024 with slots, which EIP-6690 is now. The others differ from them in how operands are named.
pub const MEASURED: [residue_isa::Revision; 2] = [residue_isa::Revision::Evm384V7, residue_isa::Revision::Eip6690_2024];
