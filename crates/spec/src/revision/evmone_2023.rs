//! `evmone-2023`: EIP-6690 of 2023 in evmone, one context without id.
//!
//! Source: ethereum/evmone branch `evmmax-intructions`, commit da87a62c.

use super::Revision;
use super::contexts::{Contexts, EIP6690_2023, Empty, Id, Rules};
use crate::field_opcode::FieldOpcode;
use crate::prices::{ByWidth, Prices};

/// The revision.
pub const REVISION: Revision = Revision {
    name: "evmone-2023",
    summary: "EIP-6690 of 2023 as in evmone: one context, memory grows, values are reduced.",
    opcodes: OPCODES,
    prefix: None,
    prices: || vec![prices()],
    start: || Box::new(Contexts::new(RULES)),
};

/// Rules, as differences to `eip6690-2023`.
pub(super) const RULES: Rules = Rules {
    id: Id::None,
    size_allowed: |bytes| (1..=48).contains(&bytes),
    slot_bytes_max: Some(65_536),
    grows: [true, true, true],
    stores_any: true,
    empty: Empty::Slot,
    ..EIP6690_2023
};

pub(super) const OPCODES: &[FieldOpcode] = &[
    FieldOpcode { byte: 0x21, mnemonic: "SETUPX", immediate_bytes: 0, pops: 3 },
    FieldOpcode { byte: 0x22, mnemonic: "ADDMODX", immediate_bytes: 3, pops: 0 },
    FieldOpcode { byte: 0x23, mnemonic: "SUBMODX", immediate_bytes: 3, pops: 0 },
    FieldOpcode { byte: 0x24, mnemonic: "MULMODX", immediate_bytes: 3, pops: 0 },
    FieldOpcode { byte: 0x25, mnemonic: "LOADX", immediate_bytes: 0, pops: 3 },
    FieldOpcode { byte: 0x26, mnemonic: "STOREX", immediate_bytes: 0, pops: 3 },
];

/// evmone's formulas, in whole divisions, at 1 to 6 limbs.
pub(super) fn prices() -> Prices {
    let base = [("SETUPX", 3), ("LOADX", 3), ("STOREX", 3), ("ADDMODX", 0), ("SUBMODX", 0), ("MULMODX", 0)];
    let add = ByWidth((1..=6).map(|limbs| (20 * limbs + 64) / 100).collect());
    let mul = ByWidth((1..=6).map(|limbs| (9 * limbs * limbs + 123) / 100).collect());
    Prices {
        set_modulus: ByWidth((1..=6).map(|limbs| limbs + 5).collect()),
        sub: add.clone(),
        add,
        load: mul.clone(),
        store: mul.clone(),
        mul,
        ..Prices::of_base("evmone", &base)
    }
}
