//! The EVM as chains have it, without field instructions: the cost of programs without any proposal.
//!
//! Values are words. ADDMOD and MULMOD take the modulus from the stack each time (Yellow Paper, appendix H.2), so
//! moduli have at most 256 bits; the other opcodes are those of the hard fork.

use super::{Interface, Semantics, codec};
use crate::opcode::{evm, immediate_table};
use residue_formula::PerOp;

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "evm",
    summary: "the EVM without field instructions: ADDMOD and MULMOD on words, moduli of up to 430 bits",
    semantics: Semantics::Words,
    opcodes: &[],
    immediates: immediate_table(&[]),
    // What does it there; no instruction of these is a field instruction.
    arithmetic: PerOp([evm::ADDMOD, evm::ADDMOD, evm::MULMOD]),
    width_limbs_max: 4,
    default_schedule: "evm",
    encode: codec::encode,
    decode: codec::decode,
};
