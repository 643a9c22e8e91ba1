//! `x-iszerox`: `eip6690-2024` with ISZEROX.

use super::Revision;
use super::additions::{self, ISZEROX};
use crate::field_opcode::FieldOpcode;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "x-iszerox",
    summary: "eip6690-2024 with tests for zero that the stack is told.",
    opcodes: OPCODES,
    prefix: None,
    prices: || additions::prices(OPCODES),
    start: additions::start,
};

const OPCODES: &[FieldOpcode] = &additions::with::<7>(&[ISZEROX]);
