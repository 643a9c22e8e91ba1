//! `x-callsub`: `eip6690-2024` with CALLSUB, ENTERSUB and RETURNSUB.

use super::Revision;
use super::additions;
use super::subroutines::{CALLSUB, ENTERSUB, RETURNSUB};
use crate::field_opcode::FieldOpcode;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "x-callsub",
    summary: "eip6690-2024 with subroutines.",
    opcodes: OPCODES,
    prefix: None,
    prices: || additions::prices(OPCODES),
    start: additions::start,
};

const OPCODES: &[FieldOpcode] = &additions::with::<9>(&[CALLSUB, ENTERSUB, RETURNSUB]);
