//! `x-sumx`: `eip6690-2024` with SUM2X to SUM6X.

use super::Revision;
use super::additions::{self, SUM2X, SUM3X, SUM4X, SUM5X, SUM6X};
use crate::field_opcode::FieldOpcode;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "x-sumx",
    summary: "eip6690-2024 with sums of two to six products.",
    opcodes: OPCODES,
    prefix: None,
    prices: || additions::prices(OPCODES),
    start: additions::start,
};

const OPCODES: &[FieldOpcode] = &additions::with::<11>(&[SUM2X, SUM3X, SUM4X, SUM5X, SUM6X]);
