//! The instruction set: which field instructions exist, how each revision writes them as bytes, and what they cost.
//!
//! Read in this order: [`field_instruction`] says what an instruction does, whatever its bytes; [`revision`] is the list of
//! interfaces, one file each, with the bytes; [`schedule`] is a complete set of prices as a value; [`assembly`] turns text or
//! a list of items into code and back.

#![forbid(unsafe_code)]

pub mod field_instruction;
pub mod revision;

pub use field_instruction::{Arithmetic, FieldInstruction, Lanes};
pub use revision::Revision;
