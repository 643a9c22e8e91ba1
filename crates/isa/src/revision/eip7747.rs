//! EIP-7747: the opcodes of today's EIP-6690 with three immediate bytes, for odd moduli of up to 768 bits.
//!
//! Source: ethereum/EIPs pull request 8743, commit 58475fc29, July 2024; on legacy code. The text charges loads by
//! value and stores not at all, and counts two slots more than requested as memory.

use super::rules::{Moduli, SlotBytesMax, SlotRules, SlotsAsMemory};
use super::{Interface, Semantics, codec};
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xc0 SETMODX "Activates a field context, created if new: id, modulus offset, modulus size, slot count." 4 -> 0;
    0xc1 LOADX   "Copies slots into memory: memory offset, first slot, count." 3 -> 0;
    0xc2 STOREX  "Copies memory into slots: first slot, memory offset, count." 3 -> 0;
    0xc3 ADDMODX "out = x + y mod m." 0 -> 0 immediate 3;
    0xc4 SUBMODX "out = x - y mod m." 0 -> 0 immediate 3;
    0xc5 MULMODX "out = x * y mod m." 0 -> 0 immediate 3;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "eip7747",
    summary: "EIP-7747 of July 2024 on legacy code: field contexts with slots, three immediate bytes, odd moduli",
    semantics: Semantics::Slots(&RULES),
    opcodes: OPCODES,
    immediates: immediate_table(OPCODES),
    arithmetic: PerOp([ADDMODX, SUBMODX, MULMODX]),
    width_limbs_max: 12,
    default_schedule: "eip7747",
    encode: codec::encode,
    decode: codec::decode,
};

/// Rules, as differences to `eip6690-2024`.
pub const RULES: SlotRules = SlotRules {
    is_strided: false,
    moduli: Moduli { powers_of_two: false, top_byte: true, ..SlotRules::EIP6690_2024.moduli },
    slot_bytes_max: SlotBytesMax::None,
    slots_as_memory: SlotsAsMemory::Bytes { extra_slots: 2 },
    ..SlotRules::EIP6690_2024
};
