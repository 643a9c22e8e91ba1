//! The cost of proving, in instructions of RISC-V: precompiles beside the bytecode in their place, in a guest with revm's interpreter.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

pub mod area;
pub mod area_record;
pub mod figure;
/// The guest has the same file.
#[path = "../guest/src/form.rs"]
pub mod form;
pub mod machine;
pub mod memory;
pub mod record;
pub mod subjects;
