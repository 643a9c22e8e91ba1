//! `x-codex`: `eip6690-2024` with SETMODCX and STORECX.

use super::Revision;
use super::additions::{self, SETMODCX, STORECX};
use crate::field_opcode::FieldOpcode;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "x-codex",
    summary: "eip6690-2024 with a modulus and values that stand in code.",
    opcodes: OPCODES,
    prefix: None,
    prices: || additions::prices(OPCODES),
    start: additions::start,
};

const OPCODES: &[FieldOpcode] = &additions::with::<8>(&[SETMODCX, STORECX]);
