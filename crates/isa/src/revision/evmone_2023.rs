//! EIP-6690 of 2023 as in evmone: one field context without id, growing memory, stored values reduced.
//!
//! Source: ethereum/evmone branch `evmmax-intructions`, commit da87a62c. Every SETUPX drops the slots before it.

use super::rules::{EmptyTransfer, Moduli, SetForm, SlotBytesMax, SlotRules, SlotsAsMemory};
use super::{Interface, Semantics, codec};
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0x21 SETUPX  "Replaces the field context: modulus offset, modulus size, slot count." 3 -> 0;
    0x22 ADDMODX "out = x + y mod m." 0 -> 0 immediate 3;
    0x23 SUBMODX "out = x - y mod m." 0 -> 0 immediate 3;
    0x24 MULMODX "out = x * y mod m." 0 -> 0 immediate 3;
    0x25 LOADX   "Copies slots into memory: memory offset, first slot, count." 3 -> 0;
    0x26 STOREX  "Copies memory into slots: first slot, memory offset, count." 3 -> 0;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "evmone-2023",
    summary: "EIP-6690 of 2023 as in evmone: one context without id, memory grows, values are reduced",
    semantics: Semantics::Slots(&RULES),
    opcodes: OPCODES,
    immediates: immediate_table(OPCODES),
    arithmetic: PerOp([ADDMODX, SUBMODX, MULMODX]),
    width_limbs_max: 6,
    default_schedule: "evmone",
    encode: codec::encode,
    decode: codec::decode,
};

/// Rules, as differences to `eip6690-2023`.
pub const RULES: SlotRules = SlotRules {
    form: SetForm::One,
    moduli: Moduli { size_max: 48, ..SlotRules::EIP6690_2023.moduli },
    slot_bytes_max: SlotBytesMax::Declared(65_536),
    slots_as_memory: SlotsAsMemory::Words,
    set_modulus_grows: true,
    store_grows: true,
    store_reduces: true,
    empty_transfer: EmptyTransfer::ContextAndSlot,
    ..SlotRules::EIP6690_2023
};
