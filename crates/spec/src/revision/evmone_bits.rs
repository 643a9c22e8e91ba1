//! `evmone-bits`: evmone's interface for small fields, sizes in bits, prices in thousandths of gas.
//!
//! Source: ethereum/evmone branch `evmmax-poseidon`, commit 66e15cd5.

use super::Revision;
use super::contexts::{Contexts, Rules};
use crate::field_opcode::FieldOpcode;
use crate::prices::{ByWidth, Narrow, Prices};

/// The revision.
pub const REVISION: Revision = Revision {
    name: "evmone-bits",
    summary: "Sizes in bits, elements not padded, prices in thousandths of gas.",
    opcodes: OPCODES,
    prefix: None,
    prices: || vec![prices()],
    start: || Box::new(Contexts::new(RULES)),
};

/// Rules, as differences to `evmone-2025`.
pub(super) const RULES: Rules = Rules {
    powers_of_two: false,
    size_allowed: |bits| (1..=384).contains(&bits),
    in_bits: true,
    ..super::evmone_2025::RULES
};

pub(super) const OPCODES: &[FieldOpcode] = &[
    FieldOpcode { byte: 0xc0, mnemonic: "SETMODX", immediate_bytes: 0, pops: 3 },
    FieldOpcode { byte: 0xc1, mnemonic: "LOADX", immediate_bytes: 0, pops: 3 },
    FieldOpcode { byte: 0xc2, mnemonic: "STOREX", immediate_bytes: 0, pops: 3 },
    FieldOpcode { byte: 0xc3, mnemonic: "ADDMODX", immediate_bytes: 7, pops: 0 },
    FieldOpcode { byte: 0xc4, mnemonic: "SUBMODX", immediate_bytes: 7, pops: 0 },
    FieldOpcode { byte: 0xc5, mnemonic: "MULMODX", immediate_bytes: 7, pops: 0 },
];

/// evmone's prices in thousandths: at most 32 bits, then by limbs. `PUSH1` to `PUSH32` cost 1.
pub(super) fn prices() -> Prices {
    let base = [("SETMODX", 1), ("LOADX", 1), ("STOREX", 1), ("ADDMODX", 0), ("SUBMODX", 0), ("MULMODX", 0)];
    let mul = vec![1000, 1000, 1000, 2000, 2000, 3000];
    Prices {
        set_modulus: ByWidth((1..=6).map(|row| 1000 * (row + 5)).collect()),
        add: ByWidth(vec![1000; 6]),
        sub: ByWidth(vec![1000; 6]),
        load: ByWidth(mul.clone()),
        store: ByWidth(mul.clone()),
        mul: ByWidth(mul),
        narrow: Some(Narrow { set_modulus: 5000, add: 50, sub: 50, mul: 60, load: 60, store: 60 }),
        in_thousandths: true,
        evm: (0x60..=0x7f).map(|push| (push, 1)).collect(),
        ..Prices::of_base("evmone", &base)
    }
}
