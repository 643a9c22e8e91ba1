//! As `geth6601`, with a PUSH3 byte between opcode and operands, so that a jump analysis that knows nothing of them skips them.
//!
//! Source: jwasinger/go-ethereum, commit 55076e862. Without the byte the instruction is invalid; nothing is pushed.

use super::rules::SlotRules;
use super::{Interface, Semantics, codec};
use crate::opcode::evm::PUSH3;
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0x21 SETUPX  "Activates a field context, created if new: id, modulus offset, modulus size, slot count." 4 -> 0;
    0x22 ADDMODX "out = x + y mod m." 0 -> 0 immediate 4;
    0x23 SUBMODX "out = x - y mod m." 0 -> 0 immediate 4;
    0x24 MULMODX "out = x * y mod m." 0 -> 0 immediate 4;
    0x25 LOADX   "Copies slots into memory: id, memory offset, first slot, count." 4 -> 0;
    0x26 STOREX  "Copies memory into slots: id, first slot, memory offset, count." 4 -> 0;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "geth6601-push3",
    summary: "geth6601 with a PUSH3 byte in front of the operands",
    semantics: Semantics::Slots(&RULES),
    opcodes: OPCODES,
    immediates: immediate_table(OPCODES),
    arithmetic: PerOp([ADDMODX, SUBMODX, MULMODX]),
    width_limbs_max: 6,
    default_schedule: "geth6601",
    encode: codec::encode,
    decode: codec::decode,
};

/// Rules, as differences to `geth6601`: the marker alone.
pub const RULES: SlotRules = SlotRules { marker: Some(PUSH3), ..super::geth6601::RULES };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marker_must_be_there() {
        assert!(codec::decode(&INTERFACE, &[MULMODX, PUSH3, 1, 2, 3]).is_some());
        assert_eq!(codec::decode(&INTERFACE, &[MULMODX, PUSH3 + 1, 1, 2, 3]), None);
        assert_eq!(codec::decode(&INTERFACE, &[MULMODX, PUSH3, 1, 2]), None);
    }
}
