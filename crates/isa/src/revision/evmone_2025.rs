//! EIP-6690 of 2024 as in evmone, with an inversion modulo powers of two.
//!
//! Source: ethereum/evmone branches `evmmax-vectorized`, commit b2194e4e, and `expmod-evmmax-bytecode`, commit
//! f982f39f, whose limit of 64 bytes holds. One field context without id; memory grows; stored values are reduced,
//! modulo a power of two only when an operation reads them; lanes are computed one after the other, so a later one
//! reads the results of earlier ones. INVMODX has five immediate bytes: out, out_stride, x, x_stride, count.

use super::rules::{EmptyTransfer, Moduli, SetForm, SlotBytesMax, SlotRules, SlotsAsMemory};
use super::{Interface, Semantics, codec};
use crate::form::{Form, PerForm};
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xc0 SETMODX "Replaces the field context: modulus offset, modulus size, slot count." 3 -> 0;
    0xc1 LOADX   "Copies slots into memory: memory offset, first slot, count." 3 -> 0;
    0xc2 STOREX  "Copies memory into slots: first slot, memory offset, count." 3 -> 0;
    0xc3 ADDMODX "out = x + y mod m in each lane." 0 -> 0 immediate 7;
    0xc4 SUBMODX "out = x - y mod m in each lane." 0 -> 0 immediate 7;
    0xc5 MULMODX "out = x * y mod m in each lane." 0 -> 0 immediate 7;
    0xc6 INVMODX "out = inverse of x modulo twice the modulus, a power of two, in each lane." 0 -> 0 immediate 5;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "evmone-2025",
    summary: "EIP-6690 of 2024 as in evmone: one context without id, memory grows, INVMODX modulo powers of two",
    semantics: Semantics::Slots(&RULES),
    opcodes: OPCODES,
    immediates: immediate_table(OPCODES),
    arithmetic: PerOp([ADDMODX, SUBMODX, MULMODX]),
    width_limbs_max: 8,
    default_schedule: "evmone",
    encode: codec::encode,
    decode: codec::decode,
};

/// Rules, as differences to `eip6690-2024`.
pub const RULES: SlotRules = SlotRules {
    forms: PerForm::of(&[Form::Invert]),
    form: SetForm::One,
    moduli: Moduli { min: 1, size_max: 64, ..SlotRules::EIP6690_2024.moduli },
    slots_min: 0,
    slot_bytes_max: SlotBytesMax::Declared(65_536),
    slots_as_memory: SlotsAsMemory::Words,
    set_modulus_grows: true,
    load_grows: true,
    store_grows: true,
    store_reduces: true,
    empty_transfer: EmptyTransfer::ContextAndSlot,
    lanes_in_turn: true,
    ..SlotRules::EIP6690_2024
};
