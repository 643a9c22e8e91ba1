//! The text form: a program printed for people, and read back to exactly the same program.
//!
//! Names are positional: `c0` a constant, `v0` a value, `w0` a word, `a0` an array, `x0` a variable, `f0` a function.
//! Words that are expressions are listed at the head of their function; words that a statement defines are listed there
//! as `defined`. The grammar is free of line structure: any white space separates, `#` opens a comment to the line's end.

mod parse;
mod places;
mod print;
mod python;
mod spelling;
mod tokens;

pub use parse::{parse, parse_with_places};
pub use places::Places;
pub use print::print;
pub use python::python;
pub use tokens::ParseError;
pub(crate) use tokens::abridged;

use crate::machine::{ModOp, WordOp};
use crate::program::Program;
use crate::verify::verify;
use std::ops::Range;
use thiserror::Error;

/// Why a text is no program that can be compiled: it cannot be read, or it is not well formed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what}")]
pub struct ReadError {
    /// The bytes of the text that are wrong; empty where no part of it is.
    pub span: Range<usize>,
    /// Description of the error, with the offending value.
    pub what: String,
}

/// Reads a text and verifies the program.
pub fn read(text: &str) -> Result<Program, ReadError> {
    read_with(text, false)
}

/// Prefix of the names of stretches that [`read_by_line`] adds; the number of the line follows, from 1.
pub const LINE_PREFIX: &str = "line ";

/// Reads and verifies a text, and puts each operation into a stretch of its line, such as `line 12`, within those that the text
/// names. Nothing that is computed depends on stretches, so its code is that of [`read`].
pub fn read_by_line(text: &str) -> Result<Program, ReadError> {
    read_with(text, true)
}

fn read_with(text: &str, by_line: bool) -> Result<Program, ReadError> {
    let (program, places) =
        parse::parse_with(text, by_line).map_err(|ParseError { span, expected, found, .. }| ReadError {
            span,
            what: format!("expected {expected}, found {found}"),
        })?;
    verify(&program).map_err(|error| ReadError { span: places.of(&error).unwrap_or(0..0), what: error.to_string() })?;
    Ok(program)
}

const WORD_OPS: [(WordOp, &str); 13] = [
    (WordOp::Add, "add"),
    (WordOp::Sub, "sub"),
    (WordOp::Mul, "mul"),
    (WordOp::Div, "div"),
    (WordOp::Mod, "mod"),
    (WordOp::Lt, "lt"),
    (WordOp::Eq, "eq"),
    (WordOp::And, "and"),
    (WordOp::Or, "or"),
    (WordOp::Xor, "xor"),
    (WordOp::Shl, "shl"),
    (WordOp::Shr, "shr"),
    (WordOp::Byte, "byte"),
];

const MOD_OPS: [(ModOp, &str); 2] = [(ModOp::Add, "addmod"), (ModOp::Mul, "mulmod")];

/// The name that `table` gives to `key`.
fn name_of<K: PartialEq>(table: &[(K, &'static str)], key: &K) -> &'static str {
    table.iter().find(|(known, _)| known == key).map(|(_, name)| *name).expect("the table has every kind")
}
