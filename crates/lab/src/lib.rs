//! Measurements, prices and pages derived from them.
//!
//! Read in this order: [`bench`] measures in groups beside native libraries; [`record`] is what a measurement leaves behind, with the
//! machine that it was made on. [`opcodes`] times every opcode, [`price`] makes gas schedules of such a record, and [`attack`] searches for what
//! the prices do not cover. [`design`] compares sets of instructions over
//! all contracts. [`programs`] runs the published programs, [`published`] has the values that were published.
//! [`render`] draws, and [`job`] is what another process of this program does for a measurement.
//!
//! This crate does not print: progress goes to a callback, results are values.

#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

pub mod attack;
pub mod bench;
pub mod design;
pub mod error;
pub mod job;
mod made;
pub mod opcodes;
pub mod price;
pub mod programs;
pub mod published;
pub mod record;
pub mod render;

#[allow(unsafe_code, reason = "blst's raw routines are foreign functions")]
pub mod native;

pub use bench::effort::{Effort, Progress};
pub use bench::group::Group;
pub use bench::groups::GROUPS;
pub use bench::subjects::Subjects;
pub use error::LabError;
pub use record::table::Column;
pub use record::{Quantity, Record, RecordRow};
