//! EIP-5843 as go-ethereum read it, which differs in four ways that programs can see.
//!
//! Source: jwasinger/go-ethereum branch `setmodx-mem-offset`, commit f700b0ad0. Slots begin at 0 for any mem_start; the
//! operands of TOMONTX are byte offsets, the output on top; a range must end before the last byte of memory, not with
//! it; SETMODX requires mem_start + mod_offset + 8·L to be inside memory.

use super::eip5843::Reading;
use super::{Interface, Semantics, codec};
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0x21 SETMODX  "Sets the modulus of the frame: modulus offset, size in limbs, where slots begin in memory." 3 -> 0;
    0x22 ADDMODX  "out = x + y mod m on slots in memory." 0 -> 0 immediate 3;
    0x23 SUBMODX  "out = x - y mod m on slots in memory." 0 -> 0 immediate 3;
    0x24 MULMONTX "out = Montgomery product of x and y on slots in memory." 0 -> 0 immediate 3;
    0x25 TOMONTX  "Brings a value into Montgomery form: output offset, input offset." 2 -> 0;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "geth5843",
    summary: "EIP-5843 as in go-ethereum: slots begin at 0, TOMONTX takes byte offsets",
    semantics: Semantics::MemorySlots(Reading::Geth),
    opcodes: OPCODES,
    immediates: immediate_table(OPCODES),
    arithmetic: PerOp([ADDMODX, SUBMODX, MULMONTX]),
    width_limbs_max: super::eip5843::WIDTH_LIMBS_MAX,
    default_schedule: "r5",
    encode: codec::encode,
    decode: codec::decode,
};
