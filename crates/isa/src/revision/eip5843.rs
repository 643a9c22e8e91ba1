//! EIP-5843 in its final text (r5): values in EVM memory at numbered slots, big-endian, Montgomery form visible.
//!
//! Source: ethereum/EIPs pull request 5843 at commit efad4b117, January 2023. The three immediate bytes are out, x, y; slot s
//! is the 8·L bytes from mem_start + 8·L·s on, L limbs being the width of the modulus, and R = 2⁶⁴ᴸ. TOMONTX takes slots in
//! the least significant bytes of two words. Nothing grows memory.

use super::{Interface, Semantics, codec};
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0x21 SETMODX  "Sets the modulus of the frame: modulus offset, size in limbs, where slots begin in memory." 3 -> 0;
    0x22 ADDMODX  "out = x + y mod m on slots in memory." 0 -> 0 immediate 3;
    0x23 SUBMODX  "out = x - y mod m on slots in memory." 0 -> 0 immediate 3;
    0x24 MULMONTX "out = Montgomery product of x and y on slots in memory." 0 -> 0 immediate 3;
    0x25 TOMONTX  "Brings a slot into Montgomery form: input slot, output slot." 2 -> 0;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "eip5843",
    summary: "EIP-5843 of January 2023 (r5): numbered slots of big-endian Montgomery form in EVM memory",
    semantics: Semantics::MemorySlots(Reading::Text),
    opcodes: OPCODES,
    immediates: immediate_table(OPCODES),
    arithmetic: PerOp([ADDMODX, SUBMODX, MULMONTX]),
    width_limbs_max: WIDTH_LIMBS_MAX,
    default_schedule: "r5",
    encode: codec::encode,
    decode: codec::decode,
};

/// Whose reading of the text a revision is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// The text's own.
    Text,
    /// go-ethereum's, which differs in four ways: [`super::geth5843`] lists them.
    Geth,
}

/// The widest modulus in limbs (EIP-5843, `MAX_INPUT_SIZE`).
pub const WIDTH_LIMBS_MAX: usize = 16;
