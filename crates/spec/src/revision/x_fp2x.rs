//! `x-fp2x`: `eip6690-2024` with FP2MULX.

use super::Revision;
use super::additions::{self, FP2MULX};
use crate::field_opcode::FieldOpcode;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "x-fp2x",
    summary: "eip6690-2024 with fused products in Fp2.",
    opcodes: OPCODES,
    prefix: None,
    prices: || additions::prices(OPCODES),
    start: additions::start,
};

const OPCODES: &[FieldOpcode] = &additions::with::<7>(&[FP2MULX]);
