//! `eip6601`: field contexts chosen by an immediate id.
//!
//! Source: ethereum/EIPs pull request 6601 at commit a94e365ee. Size and slot count, which its setup sections hold, are on the
//! stack below the offset.

use super::Revision;
use super::contexts::{Contexts, EIP6690_2023, Id, Rules};
use crate::field_opcode::FieldOpcode;
use crate::prices::{ByWidth, Prices};

/// The revision.
pub const REVISION: Revision = Revision {
    name: "eip6601",
    summary: "Field contexts by immediate id, moduli of up to 4096 bits.",
    opcodes: OPCODES,
    prefix: None,
    prices: || vec![prices()],
    start: || Box::new(Contexts::new(RULES)),
};

/// Rules, as differences to `eip6690-2023`.
pub(super) const RULES: Rules = Rules { id: Id::Immediate, slots_min: 1, slot_bytes_max: Some(65_536), ..EIP6690_2023 };

pub(super) const OPCODES: &[FieldOpcode] = &[
    FieldOpcode { byte: 0x21, mnemonic: "SETUPX", immediate_bytes: 1, pops: 3 },
    FieldOpcode { byte: 0x22, mnemonic: "ADDMODX", immediate_bytes: 3, pops: 0 },
    FieldOpcode { byte: 0x23, mnemonic: "SUBMODX", immediate_bytes: 3, pops: 0 },
    FieldOpcode { byte: 0x24, mnemonic: "MULMODX", immediate_bytes: 3, pops: 0 },
    FieldOpcode { byte: 0x25, mnemonic: "LOADX", immediate_bytes: 0, pops: 3 },
    FieldOpcode { byte: 0x26, mnemonic: "STOREX", immediate_bytes: 0, pops: 3 },
];

/// The gas helpers of the EIP, at 1 to 64 limbs; its open coefficients are 0.
pub(super) fn prices() -> Prices {
    let base = [("SETUPX", 3), ("LOADX", 3), ("STOREX", 3), ("ADDMODX", 0), ("SUBMODX", 0), ("MULMODX", 0)];
    // round(0.20·L + 0.15) in hundredths, at least 1.
    let add =
        ByWidth((1..=64).map(|limbs| if limbs == 6 { 1 } else { ((20 * limbs + 15 + 50) / 100).max(1) }).collect());
    // ⌈0.09·L² + 0.24⌉ in hundredths; from 50 limbs on 10·L − 270.
    let mul = |limbs: u64| match limbs {
        6 => 2,
        ..50 => (9 * limbs * limbs + 24).div_ceil(100),
        _ => 10 * limbs - 270,
    };
    let mul = ByWidth((1..=64).map(mul).collect());
    Prices {
        set_modulus: ByWidth(vec![0; 64]),
        sub: add.clone(),
        add,
        load: mul.clone(),
        store: mul.clone(),
        mul,
        ..Prices::of_base("eip6601", &base)
    }
}
