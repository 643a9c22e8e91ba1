//! Measurements and what is made of them.
//!
//! Read in this order: [`bench`] measures in groups beside native libraries; [`record`] is what a measurement leaves behind, with the
//! machine that it was made on. [`opcodes`] times every opcode, [`price`] makes gas schedules of such a record, and [`attack`] searches for what
//! the prices do not cover. [`programs`] runs the published programs, [`published`] has the values that were published. [`inspect`] looks into
//! one execution, [`render`] draws, and [`job`] is what another process of this program does for a measurement.
//!
//! This crate does not print: progress goes to a callback, results are values.

#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

pub mod attack;
pub mod bench;
pub mod error;
pub mod inspect;
pub mod job;
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
pub use record::machine::Machine;
pub use record::table::Column;
pub use record::{Quantity, Record, RecordRow};

/// The revisions that are measured: the last with values in memory that others' programs are written for, and the one of December
/// 2024 with slots, which EIP-6690 is now. The others differ from them in how operands are named.
pub const MEASURED: [residue_isa::Revision; 2] = [residue_isa::Revision::Evm384V7, residue_isa::Revision::Eip6690_2024];
