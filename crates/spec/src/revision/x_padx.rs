//! `x-padx`: `eip6690-2024` with LOADPX and STOREPX.

use super::Revision;
use super::additions::{self, LOADPX, STOREPX};
use crate::field_opcode::FieldOpcode;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "x-padx",
    summary: "eip6690-2024 with loads and stores of values with zeros in front of them.",
    opcodes: OPCODES,
    prefix: None,
    prices: || additions::prices(OPCODES),
    start: additions::start,
};

const OPCODES: &[FieldOpcode] = &additions::with::<8>(&[LOADPX, STOREPX]);
