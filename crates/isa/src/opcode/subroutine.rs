//! Subroutines with a return stack of their own, EIP-7979: their semantics at run time, the same in all code. The EIP's
//! validated code (`MAGIC`) is a rule of creation, and not here.
//!
//! Source: EIP-7979 at commit 00b9b2afa. It leaves the bytes open ("0x.."). Its cases have 0x5c to 0x5e, which TLOAD, TSTORE and MCOPY took in
//! Cancun; its Python has `CALLSUB = 0xB0`. So CALLSUB has 0xb0, and the two others the bytes after it, which neither the EVM nor a revision has.

use super::opcodes;

opcodes! {
    0xb0 CALLSUB   "Continues at an ENTERSUB; the return stack gets the offset after this instruction (EIP-7979)." 1 -> 0;
    0xb1 ENTERSUB  "Marks a valid target of CALLSUB (EIP-7979)." 0 -> 0;
    0xb2 RETURNSUB "Continues at the offset that it takes from the return stack (EIP-7979)." 0 -> 0;
}

/// The most offsets on the return stack of a frame (EIP-7979, "Constraints on valid code", 4).
pub const RETURNS_MAX: usize = 1024;
