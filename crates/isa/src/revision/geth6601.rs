//! go-ethereum's reading of EIP-6601 on legacy code: 384-bit moduli only, loads and stores name their field context.
//!
//! Source: jwasinger/go-ethereum, commit 9335437f0. A modulus is 48 bytes, or 44, which its padding also accepts. Nothing grows
//! memory. Its STOREX reverses the bytes it has read inside EVM memory; that is a mistake and not done here.

use super::rules::{EmptyTransfer, Moduli, SlotRules, SlotsAsMemory};
use super::{Interface, Semantics, codec};
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0x21 SETUPX  "Activates a field context, created if new: id, modulus offset, modulus size, slot count." 4 -> 0;
    0x22 ADDMODX "out = x + y mod m." 0 -> 0 immediate 3;
    0x23 SUBMODX "out = x - y mod m." 0 -> 0 immediate 3;
    0x24 MULMODX "out = x * y mod m." 0 -> 0 immediate 3;
    0x25 LOADX   "Copies slots into memory: id, memory offset, first slot, count." 4 -> 0;
    0x26 STOREX  "Copies memory into slots: id, first slot, memory offset, count." 4 -> 0;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "geth6601",
    summary: "EIP-6601 as in go-ethereum without EOF: 384-bit moduli, loads and stores name their context",
    semantics: Semantics::Slots(&RULES),
    opcodes: OPCODES,
    immediates: immediate_table(OPCODES),
    arithmetic: PerOp([ADDMODX, SUBMODX, MULMODX]),
    width_limbs_max: 6,
    default_schedule: "geth6601",
    encode: codec::encode,
    decode: codec::decode,
};

/// Rules, as differences to `eip6690-2023`. Executions halt at inputs that panic in geth.
pub const RULES: SlotRules = SlotRules {
    transfer_names_context: true,
    moduli: Moduli { size_max: 48, sizes: Some(&[44, 48]), ..SlotRules::EIP6690_2023.moduli },
    slots_as_memory: SlotsAsMemory::No,
    load_grows: false,
    empty_transfer: EmptyTransfer::Context,
    ..SlotRules::EIP6690_2023
};
