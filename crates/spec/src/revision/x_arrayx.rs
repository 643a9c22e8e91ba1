//! `x-arrayx`: `eip6690-2024` with GETX and PUTX.

use super::Revision;
use super::additions::{self, GETX, PUTX};
use crate::field_opcode::FieldOpcode;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "x-arrayx",
    summary: "eip6690-2024 with copies between slots and an array, at an index from the stack.",
    opcodes: OPCODES,
    prefix: None,
    prices: || additions::prices(OPCODES),
    start: additions::start,
};

const OPCODES: &[FieldOpcode] = &additions::with::<8>(&[GETX, PUTX]);
