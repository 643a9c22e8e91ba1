//! `eip7747`: the opcodes of today's EIP-6690, one lane an instruction, odd moduli.
//!
//! Source: ethereum/EIPs pull request 8743, commit 58475fc29.

use super::Revision;
use super::contexts::{Contexts, Counted, EIP6690_2023, Empty, Rules};
use crate::field_opcode::FieldOpcode;
use crate::prices::{ByWidth, Prices};

/// The revision.
pub const REVISION: Revision = Revision {
    name: "eip7747",
    summary: "Field contexts with slots, odd moduli of up to 768 bits, one lane an instruction.",
    opcodes: OPCODES,
    prefix: None,
    prices: || vec![prices()],
    start: || Box::new(Contexts::new(RULES)),
};

/// Rules, as differences to `eip6690-2023`.
pub(super) const RULES: Rules = Rules {
    modulus_min: 3,
    size_allowed: |bytes| (1..=96).contains(&bytes),
    top_byte: true,
    slots_min: 1,
    counted: Counted::Bytes(2),
    grows: [false, false, false],
    empty: Empty::Context,
    ..EIP6690_2023
};

pub(super) const OPCODES: &[FieldOpcode] = &[
    FieldOpcode { byte: 0xc0, mnemonic: "SETMODX", immediate_bytes: 0, pops: 4 },
    FieldOpcode { byte: 0xc1, mnemonic: "LOADX", immediate_bytes: 0, pops: 3 },
    FieldOpcode { byte: 0xc2, mnemonic: "STOREX", immediate_bytes: 0, pops: 3 },
    FieldOpcode { byte: 0xc3, mnemonic: "ADDMODX", immediate_bytes: 3, pops: 0 },
    FieldOpcode { byte: 0xc4, mnemonic: "SUBMODX", immediate_bytes: 3, pops: 0 },
    FieldOpcode { byte: 0xc5, mnemonic: "MULMODX", immediate_bytes: 3, pops: 0 },
];

/// The EIP's table. Stores cost nothing.
pub(super) fn prices() -> Prices {
    let base = [("SETMODX", 0), ("LOADX", 0), ("STOREX", 0), ("ADDMODX", 0), ("SUBMODX", 0), ("MULMODX", 0)];
    let add = ByWidth(vec![2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3]);
    let mul = ByWidth(vec![2, 2, 2, 3, 3, 4, 5, 7, 8, 9, 11, 13]);
    Prices {
        set_modulus: ByWidth(vec![32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76]),
        sub: add.clone(),
        add,
        load: mul.clone(),
        store: ByWidth(vec![0; 12]),
        mul,
        ..Prices::of_base("eip7747", &base)
    }
}
