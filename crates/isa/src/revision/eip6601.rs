//! EIP-6601: the first interface with slots of their own, its id an immediate byte.
//!
//! Source: ethereum/EIPs pull request 6601 at commit a94e365ee, March 2023. There, modulus size and slot count stand in a setup
//! section of an EOF container; on legacy code there is none, so SETUPX takes them from the stack below the offset, in the
//! order in which EIP-6690 took them over.

use super::rules::{SetForm, SlotBytesMax, SlotRules};
use super::{Interface, Semantics, codec};
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0x21 SETUPX  "Activates the field context of an immediate id, created if new: modulus offset, modulus size, slot count." 3 -> 0 immediate 1;
    0x22 ADDMODX "out = x + y mod m." 0 -> 0 immediate 3;
    0x23 SUBMODX "out = x - y mod m." 0 -> 0 immediate 3;
    0x24 MULMODX "out = x * y mod m." 0 -> 0 immediate 3;
    0x25 LOADX   "Copies slots into memory: memory offset, first slot, count." 3 -> 0;
    0x26 STOREX  "Copies memory into slots: first slot, memory offset, count." 3 -> 0;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "eip6601",
    summary: "EIP-6601 of March 2023 on legacy code: SETUPX with an immediate id, moduli of up to 4096 bits",
    semantics: Semantics::Slots(&RULES),
    opcodes: OPCODES,
    immediates: immediate_table(OPCODES),
    arithmetic: PerOp([ADDMODX, SUBMODX, MULMODX]),
    width_limbs_max: 64,
    default_schedule: "eip6601",
    encode: codec::encode,
    decode: codec::decode,
};

/// Rules, as differences to `eip6690-2023`.
pub const RULES: SlotRules = SlotRules {
    form: SetForm::IdImmediate,
    slots_min: 1,
    slot_bytes_max: SlotBytesMax::Frame(65_536),
    ..SlotRules::EIP6690_2023
};
