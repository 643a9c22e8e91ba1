//! Contracts compiled, run and timed: what stands between programs and those who ask what they cost.
//!
//! [`variants`] chooses the formulas that cost least under given prices. [`execution`] runs code under given rules and tells
//! how it ended, what it executed, what its gas went to ([`exact_gas`], [`op_classes`]) and how long it takes ([`harness`],
//! [`statistics`]). [`native()`] is the precompile that a contract replaces; [`specification`] runs the same code
//! on the executable specification.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

pub mod ended;
pub mod exact_gas;
pub mod execution;
pub mod harness;
mod native;
pub mod op_classes;
pub mod specification;
pub mod statistics;
pub mod variants;

pub use execution::{EngineKind, Execution, Job, Setup};
pub use native::native;
pub use variants::{Trial, Variant, VariantError, cheapest, trials};
