//! Field programs: the input of the compiler, which everything else counts, prices and checks.
//!
//! A program is generic Rust over [`Machine`] (control) and `residue_formula::Fe` (arithmetic). [`Numbers`] runs that
//! text as plain Rust; [`record`] turns it into a [`Program`]: functions of [`Block`]s and structured control.
//! [`evaluate()`] runs a `Program` slowly and literally, [`verify()`] checks that it is well formed and within its
//! [`limits`], and [`text`] prints it and reads it back.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may stop at the first surprise"))]

mod account;
mod calldata;
pub mod effect;
pub mod evaluate;
pub mod hash;
pub mod keccak_f;
pub mod lanes;
pub mod limits;
pub mod machine;
pub mod modulus;
pub mod mont;
pub mod names;
pub mod no_outcome;
pub mod numbers;
pub mod origin;
pub mod program;
pub mod record;
mod scratch;
pub mod text;
pub mod verify;
mod words;

pub use account::Account;
pub use effect::{Declared, Effect};
pub use evaluate::{evaluate, evaluate_within};
pub use hash::Piece;
pub use lanes::{LaneStep, Lanes};
pub use machine::{
    Array, Capacity, Cells, Feature, FirstSteps, Length, Machine, ModOp, SequenceStep, Table, Variable, WordOp,
};
pub use modulus::Modulus;
pub use names::{ArrayId, ConstantId, FunctionId, Operand, SubprogramId, TableId, Value, VariableId, Word};
pub use no_outcome::NoOutcome;
pub use numbers::Numbers;
pub use origin::Origins;
pub use program::{
    Arm, ArrayDecl, Block, Control, ControlKind, FieldOp, Function, Op, Order, Program, Region, Statement, TableDecl,
    WordDef,
};
pub use record::{
    Form, LinkedProgram, Recorded, Recording, record, record_as, record_checked, record_linked, record_with,
};
pub use residue_formula::bundle::{self, Bundle};
pub use residue_formula::{Fp2Product, scope};
pub use verify::{Place, VerifyError, verify};

/// End of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It returned these bytes.
    Returned(Vec<u8>),
    /// It halted exceptionally: a requirement failed or a number was not below the modulus.
    Failed,
    /// It came to its end without returning anything.
    Ended,
}
