//! `x-movx`: `eip6690-2024` with MOVX.

use super::Revision;
use super::additions::{self, MOVX};
use crate::field_opcode::FieldOpcode;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "x-movx",
    summary: "eip6690-2024 with copies of slots.",
    opcodes: OPCODES,
    prefix: None,
    prices: || additions::prices(OPCODES),
    start: additions::start,
};

const OPCODES: &[FieldOpcode] = &additions::with::<7>(&[MOVX]);
