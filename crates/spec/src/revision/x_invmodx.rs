//! `x-invmodx`: `eip6690-2024` with INVMODX.

use super::Revision;
use super::additions::{self, INVMODX};
use crate::field_opcode::FieldOpcode;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "x-invmodx",
    summary: "eip6690-2024 with exact inverses, 0 for what has none.",
    opcodes: OPCODES,
    prefix: None,
    prices: || additions::prices(OPCODES),
    start: additions::start,
};

const OPCODES: &[FieldOpcode] = &additions::with::<7>(&[INVMODX]);
