//! Field programs: what the compiler compiles and everything else counts, prices and checks.

#![forbid(unsafe_code)]

pub mod bundle;
pub mod machine;

pub use bundle::Bundle;
pub use machine::{Array, Capacity, Machine, Variable, WordOp};
