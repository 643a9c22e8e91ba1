//! `x-selectx`: `eip6690-2024` with SELECTX.

use super::Revision;
use super::additions::{self, SELECTX};
use crate::field_opcode::FieldOpcode;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "x-selectx",
    summary: "eip6690-2024 with choices between slots.",
    opcodes: OPCODES,
    prefix: None,
    prices: || additions::prices(OPCODES),
    start: additions::start,
};

const OPCODES: &[FieldOpcode] = &additions::with::<7>(&[SELECTX]);
