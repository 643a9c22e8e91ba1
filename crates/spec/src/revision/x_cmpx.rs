//! `x-cmpx`: `eip6690-2024` with EQX and LTX.

use super::Revision;
use super::additions::{self, EQX, LTX};
use crate::field_opcode::FieldOpcode;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "x-cmpx",
    summary: "eip6690-2024 with comparison of slots.",
    opcodes: OPCODES,
    prefix: None,
    prices: || additions::prices(OPCODES),
    start: additions::start,
};

const OPCODES: &[FieldOpcode] = &additions::with::<8>(&[EQX, LTX]);
