//! `geth6601`: go-ethereum's EIP-6601, 384-bit moduli, contexts named by loads and stores.
//!
//! Source: jwasinger/go-ethereum, commit 9335437f0.

use super::Revision;
use super::contexts::{Contexts, Counted, EIP6690_2023, Empty, Rules};
use crate::field_opcode::FieldOpcode;
use crate::prices::{ByWidth, Prices};

/// The revision.
pub const REVISION: Revision = Revision {
    name: "geth6601",
    summary: "EIP-6601 as in go-ethereum: 384-bit moduli only.",
    opcodes: OPCODES,
    prefix: None,
    prices: || vec![prices()],
    start: || Box::new(Contexts::new(RULES)),
};

/// Rules, as differences to `eip6690-2023`.
pub(super) const RULES: Rules = Rules {
    transfers_name_context: true,
    // The length and its remainder by 8 make 48.
    size_allowed: |bytes| bytes <= 48 && bytes + bytes % 8 == 48,
    counted: Counted::Nothing,
    grows: [false, false, false],
    empty: Empty::Context,
    ..EIP6690_2023
};

pub(super) const OPCODES: &[FieldOpcode] = &[
    FieldOpcode { byte: 0x21, mnemonic: "SETUPX", immediate_bytes: 0, pops: 4 },
    FieldOpcode { byte: 0x22, mnemonic: "ADDMODX", immediate_bytes: 3, pops: 0 },
    FieldOpcode { byte: 0x23, mnemonic: "SUBMODX", immediate_bytes: 3, pops: 0 },
    FieldOpcode { byte: 0x24, mnemonic: "MULMODX", immediate_bytes: 3, pops: 0 },
    FieldOpcode { byte: 0x25, mnemonic: "LOADX", immediate_bytes: 0, pops: 4 },
    FieldOpcode { byte: 0x26, mnemonic: "STOREX", immediate_bytes: 0, pops: 4 },
];

/// go-ethereum's constants.
pub(super) fn prices() -> Prices {
    let base = [("SETUPX", 1), ("LOADX", 1), ("STOREX", 1), ("ADDMODX", 0), ("SUBMODX", 0), ("MULMODX", 0)];
    let all = |gas| ByWidth(vec![gas; 6]);
    Prices {
        set_modulus: all(0),
        add: all(1),
        sub: all(1),
        mul: all(2),
        load: all(0),
        store: all(0),
        ..Prices::of_base("geth6601", &base)
    }
}
