//! `evmmax-next`: `eip6690-2024` with the experiments that earn their place.

use super::Revision;
use super::additions::{
    self, GETX, INVMODX, ISZEROX, LOADPX, PUTX, SETMODCX, STORECX, STOREPX, SUM2X, SUM3X, SUM4X, SUM5X, SUM6X,
};
use crate::field_opcode::FieldOpcode;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "evmmax-next",
    summary: "eip6690-2024 with the experiments that earn their place.",
    opcodes: OPCODES,
    prefix: None,
    prices: || additions::prices(OPCODES),
    start: additions::start,
};

const OPCODES: &[FieldOpcode] = &additions::with::<19>(&[
    INVMODX, ISZEROX, SUM2X, SUM3X, SUM4X, SUM5X, SUM6X, GETX, PUTX, LOADPX, STOREPX, SETMODCX, STORECX,
]);
