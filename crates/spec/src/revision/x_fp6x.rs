//! `x-fp6x`: `eip6690-2024` with FP6MULX.

use super::Revision;
use super::additions::{self, FP6MULX};
use crate::field_opcode::FieldOpcode;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "x-fp6x",
    summary: "eip6690-2024 with fused products in Fp6.",
    opcodes: OPCODES,
    prefix: None,
    prices: || additions::prices(OPCODES),
    start: additions::start,
};

const OPCODES: &[FieldOpcode] = &additions::with::<7>(&[FP6MULX]);
