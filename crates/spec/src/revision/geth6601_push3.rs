//! `geth6601-push3`: as `geth6601`, with the byte 0x62 between opcode and operands.
//!
//! Source: jwasinger/go-ethereum, commit 55076e862.

use super::Revision;
use super::contexts::{Contexts, Rules};
use crate::field_opcode::FieldOpcode;
use crate::prices::Prices;

/// The revision.
pub const REVISION: Revision = Revision {
    name: "geth6601-push3",
    summary: "geth6601 with a PUSH3 byte in front of the operands.",
    opcodes: OPCODES,
    prefix: None,
    prices: || vec![prices()],
    start: || Box::new(Contexts::new(RULES)),
};

/// Rules, as differences to `geth6601`.
pub(super) const RULES: Rules = Rules { marker: Some(0x62), ..super::geth6601::RULES };

pub(super) const OPCODES: &[FieldOpcode] = &[
    FieldOpcode { byte: 0x21, mnemonic: "SETUPX", immediate_bytes: 0, pops: 4 },
    FieldOpcode { byte: 0x22, mnemonic: "ADDMODX", immediate_bytes: 4, pops: 0 },
    FieldOpcode { byte: 0x23, mnemonic: "SUBMODX", immediate_bytes: 4, pops: 0 },
    FieldOpcode { byte: 0x24, mnemonic: "MULMODX", immediate_bytes: 4, pops: 0 },
    FieldOpcode { byte: 0x25, mnemonic: "LOADX", immediate_bytes: 0, pops: 4 },
    FieldOpcode { byte: 0x26, mnemonic: "STOREX", immediate_bytes: 0, pops: 4 },
];

fn prices() -> Prices {
    super::geth6601::prices()
}
