//! EIP-6690 as merged in 2023: EIP-6601 without EOF, everything about the modulus on the stack.
//!
//! Source: EIP-6690 from commit 974a67f71 to 46bb34222, the text on main until November 2024. LOADX grows memory; STOREX and
//! SETUPX do not.

use super::rules::SlotRules;
use super::{Interface, Semantics, codec};
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0x21 SETUPX  "Activates a field context, created if new: id, modulus offset, modulus size, slot count." 4 -> 0;
    0x22 ADDMODX "out = x + y mod m." 0 -> 0 immediate 3;
    0x23 SUBMODX "out = x - y mod m." 0 -> 0 immediate 3;
    0x24 MULMODX "out = x * y mod m." 0 -> 0 immediate 3;
    0x25 LOADX   "Copies slots into memory: memory offset, first slot, count." 3 -> 0;
    0x26 STOREX  "Copies memory into slots: first slot, memory offset, count." 3 -> 0;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "eip6690-2023",
    summary: "EIP-6690 of 2023: field contexts with slots, three immediate bytes, moduli of up to 4096 bits",
    semantics: Semantics::Slots(&RULES),
    opcodes: OPCODES,
    immediates: immediate_table(OPCODES),
    arithmetic: PerOp([ADDMODX, SUBMODX, MULMODX]),
    width_limbs_max: 64,
    default_schedule: "eip6601",
    encode: codec::encode,
    decode: codec::decode,
};

/// The rules that the other revisions with these opcodes are compared with.
pub const RULES: SlotRules = SlotRules::EIP6690_2023;
