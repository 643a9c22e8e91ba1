//! evmone's interface for small fields: the size of the modulus in bits, elements not padded, prices in thousandths of gas.
//!
//! Source: ethereum/evmone branch `evmmax-poseidon`, commit 66e15cd5. As `evmone-2025` otherwise, for odd moduli of up to 384
//! bits and without INVMODX.

use super::rules::{Moduli, SizeUnit, SlotRules};
use super::{Interface, Semantics, codec};
use crate::form::PerForm;
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xc0 SETMODX "Replaces the field context: modulus offset, modulus size in bits, slot count." 3 -> 0;
    0xc1 LOADX   "Copies slots into memory: memory offset, first slot, count." 3 -> 0;
    0xc2 STOREX  "Copies memory into slots: first slot, memory offset, count." 3 -> 0;
    0xc3 ADDMODX "out = x + y mod m in each lane." 0 -> 0 immediate 7;
    0xc4 SUBMODX "out = x - y mod m in each lane." 0 -> 0 immediate 7;
    0xc5 MULMODX "out = x * y mod m in each lane." 0 -> 0 immediate 7;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "evmone-bits",
    summary: "evmone for small fields: sizes in bits, unpadded elements, thousandths of gas",
    semantics: Semantics::Slots(&RULES),
    opcodes: OPCODES,
    immediates: immediate_table(OPCODES),
    arithmetic: PerOp([ADDMODX, SUBMODX, MULMODX]),
    width_limbs_max: 6,
    default_schedule: "evmone",
    encode: codec::encode,
    decode: codec::decode,
};

/// Rules, as differences to `evmone-2025`.
pub const RULES: SlotRules = SlotRules {
    forms: PerForm::NONE,
    prices_count_mod_256: true,
    moduli: Moduli { powers_of_two: false, size_max: 384, unit: SizeUnit::Bits, ..super::evmone_2025::RULES.moduli },
    ..super::evmone_2025::RULES
};
