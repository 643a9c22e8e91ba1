//! The EVM without field instructions as a later fork may have it: with the subroutines of EIP-7979.
//!
//! A revision and no fork, as no fork has them: their bytes are ours until one has (`crates/isa/src/opcode/subroutine.rs`).

use super::{Interface, Semantics, codec, evm};
use crate::opcode::{immediate_table, subroutine};

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "evm-callsub",
    summary: "the EVM without field instructions, with the subroutines of EIP-7979",
    semantics: Semantics::Words,
    opcodes: subroutine::OPCODES,
    immediates: immediate_table(subroutine::OPCODES),
    arithmetic: evm::INTERFACE.arithmetic,
    width_limbs_max: evm::INTERFACE.width_limbs_max,
    default_schedule: "evm",
    encode: codec::encode,
    decode: codec::decode,
};
