//! The instruction set: field instructions, their bytes in each revision, and their prices.
//!
//! Read in this order: [`field_instruction`] has the instructions apart from their bytes; [`mod@form`] those beside
//! arithmetic, one row each; [`opcode`] is the table of
//! names; [`revision`] is the list of interfaces, one file each, with the bytes; [`mod@fork`] has the hard forks;
//! [`mod@jumpdests`] finds jump targets; [`precompile`] has the addresses of precompiles; [`schedule`] is a complete
//! set of prices as a value; [`mod@assembly`] turns text or a list of items into code and back; [`mod@nearest`] finds
//! the known names nearest to an unknown one, and [`names`] reports them; [`text`] reads the text of files; [`writer`] has the operands of
//! opcodes that are no field instructions.

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may unwrap"))]

extern crate alloc;

pub mod assembly;
pub mod field_instruction;
pub mod fork;
pub mod form;
pub mod fp2;
pub mod fp6;
pub mod jumpdests;
pub mod names;
pub mod nearest;
pub mod opcode;
pub mod precompile;
pub mod revision;
pub mod schedule;
pub mod text;
pub mod writer;

pub use assembly::{AssembleError, Assembly, Code, Item, LabelId, assemble, assemble_text, disassemble};
pub use field_instruction::{FieldInstruction, FieldOp, Formed, Lanes, ModulusAt, PerOp, SumOfProducts};
pub use fork::Fork;
pub use form::{Form, FormPrice};
pub use fp2::{Fp2Lanes, Fp2Products};
pub use fp6::Fp6Product;
pub use jumpdests::{Jumpdests, jumpdests};
pub use names::UnknownName;
pub use nearest::{did_you_mean, nearest};
pub use opcode::OpcodeRow;
pub use revision::rules::SlotRules;
pub use revision::{EncodeError, Family, Interface, Revision};
pub use schedule::{GasSchedule, Price, ScheduleError, WidthPrices};
pub use text::{TextFault, text_of};
