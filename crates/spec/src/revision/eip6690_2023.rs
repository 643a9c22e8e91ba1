//! `eip6690-2023`: EIP-6601 without EOF, everything on the stack.
//!
//! Source: EIP-6690 until commit 46bb34222. Its prices are those of EIP-6601.

use super::Revision;
use super::contexts::{Contexts, EIP6690_2023, Rules};
use crate::field_opcode::FieldOpcode;
use crate::prices::Prices;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "eip6690-2023",
    summary: "Field contexts with slots, moduli of up to 4096 bits, one lane an instruction.",
    opcodes: OPCODES,
    prefix: None,
    prices: || vec![prices()],
    start: || Box::new(Contexts::new(RULES)),
};

/// Rules: the base of the other revisions with slots.
pub(super) const RULES: Rules = EIP6690_2023;

pub(super) const OPCODES: &[FieldOpcode] = &[
    FieldOpcode { byte: 0x21, mnemonic: "SETUPX", immediate_bytes: 0, pops: 4 },
    FieldOpcode { byte: 0x22, mnemonic: "ADDMODX", immediate_bytes: 3, pops: 0 },
    FieldOpcode { byte: 0x23, mnemonic: "SUBMODX", immediate_bytes: 3, pops: 0 },
    FieldOpcode { byte: 0x24, mnemonic: "MULMODX", immediate_bytes: 3, pops: 0 },
    FieldOpcode { byte: 0x25, mnemonic: "LOADX", immediate_bytes: 0, pops: 3 },
    FieldOpcode { byte: 0x26, mnemonic: "STOREX", immediate_bytes: 0, pops: 3 },
];

fn prices() -> Prices {
    super::eip6601::prices()
}
