//! Contracts compiled, run and timed: the layer between programs and the commands that measure them.
//!
//! [`variants`] chooses the formulas that cost least under given prices. [`execution`] runs code under given rules and tells
//! how it ended, what it executed, what its gas went to ([`exact_gas`], [`op_classes`]) and how long it takes ([`harness`],
//! [`statistics`]). [`native()`] is the precompile that a contract replaces; [`specification`] runs the same code
//! on the executable specification. [`inspect`] looks into one execution, [`machine`] is where times are measured; [`parallel`] is for what is not.
//! [`report`] tells all of it as JSON, [`catalogue`] what there is to choose from; [`formats`] writes code for other tools; [`output`] is how programs print and write files.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

pub mod catalogue;
pub mod ended;
pub mod exact_gas;
pub mod execution;
pub mod formats;
pub mod harness;
pub mod inspect;
pub mod machine;
mod native;
pub mod op_classes;
pub mod output;
pub mod parallel;
pub mod report;
pub mod session;
pub mod specification;
pub mod statistics;
pub mod svg;
pub mod variants;

pub use execution::{EngineKind, Execution, Job, Setup};
pub use machine::Machine;
pub use native::native;
pub use variants::{Candidates, Trial, Variant, VariantError, cheapest, trials};

/// The revisions that are measured: the last with values in memory that others' programs are written for, and the one of December
/// 2024 with slots, which EIP-6690 is now. The others differ from them in how operands are named.
pub const MEASURED: [residue_isa::Revision; 2] = [residue_isa::Revision::Evm384V7, residue_isa::Revision::Eip6690_2024];
