//! `evmone-2025`: EIP-6690 of 2024 in evmone, lanes one after the other, INVMODX.
//!
//! Source: ethereum/evmone branches `evmmax-vectorized`, commit b2194e4e, and `expmod-evmmax-bytecode`, commit f982f39f.

use super::Revision;
use super::contexts::{Contexts, Rules};
use crate::field_opcode::FieldOpcode;
use crate::prices::{ByWidth, Prices};
use std::collections::BTreeMap;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "evmone-2025",
    summary: "EIP-6690 of 2024 as in evmone: one context, memory grows, inverses modulo powers of two.",
    opcodes: OPCODES,
    prefix: None,
    prices: || vec![prices()],
    start: || Box::new(Contexts::new(RULES)),
};

/// Rules, as differences to `evmone-2023`.
pub(super) const RULES: Rules = Rules {
    powers_of_two: true,
    size_allowed: |bytes| (1..=64).contains(&bytes),
    in_turn: true,
    ..super::evmone_2023::RULES
};

pub(super) const OPCODES: &[FieldOpcode] = &[
    FieldOpcode { byte: 0xc0, mnemonic: "SETMODX", immediate_bytes: 0, pops: 3 },
    FieldOpcode { byte: 0xc1, mnemonic: "LOADX", immediate_bytes: 0, pops: 3 },
    FieldOpcode { byte: 0xc2, mnemonic: "STOREX", immediate_bytes: 0, pops: 3 },
    FieldOpcode { byte: 0xc3, mnemonic: "ADDMODX", immediate_bytes: 7, pops: 0 },
    FieldOpcode { byte: 0xc4, mnemonic: "SUBMODX", immediate_bytes: 7, pops: 0 },
    FieldOpcode { byte: 0xc5, mnemonic: "MULMODX", immediate_bytes: 7, pops: 0 },
    FieldOpcode { byte: 0xc6, mnemonic: "INVMODX", immediate_bytes: 5, pops: 0 },
];

/// evmone's formulas, in whole divisions, at 1 to 8 limbs.
pub(super) fn prices() -> Prices {
    let base =
        [("SETMODX", 1), ("LOADX", 1), ("STOREX", 1), ("ADDMODX", 0), ("SUBMODX", 0), ("MULMODX", 0), ("INVMODX", 0)];
    let add = ByWidth((1..=8).map(|limbs| (20 * limbs + 64) / 100).collect());
    let mul = ByWidth((1..=8).map(|limbs| (9 * limbs * limbs + 123) / 100).collect());
    Prices {
        set_modulus: ByWidth((1..=8).map(|limbs| limbs + 5).collect()),
        sub: add.clone(),
        add,
        load: mul.clone(),
        store: mul.clone(),
        added: BTreeMap::from([("invert", ByWidth(mul.0.iter().map(|gas| 10 * gas).collect()))]),
        mul,
        ..Prices::of_base("evmone", &base)
    }
}
