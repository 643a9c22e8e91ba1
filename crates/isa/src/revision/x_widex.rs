//! An experiment: EIP-6690 of 2024 with moduli of up to 4096 bits, as EIP-6690 of 2023 had them; that of 2024 ends at
//! 768.
//!
//! Source: none outside. All is as in EIP-6690 of 2024 but the longest modulus. Above 12 limbs the prices are those of its own schedule, by time.

use alloc::vec::Vec;

use super::rules::{Addition, Moduli, SlotRules};
use super::{EncodeError, Interface, Semantics, codec, eip6690_2024};
use crate::field_instruction::FieldInstruction;
use crate::opcode::immediate_table;

/// The longest modulus in bytes.
pub const MODULUS_BYTES_MAX: usize = 512;

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "x-widex",
    summary: "experiment: EIP-6690 of 2024 with moduli of up to 4096 bits",
    semantics: Semantics::Slots(&RULES),
    opcodes: eip6690_2024::INTERFACE.opcodes,
    immediates: immediate_table(eip6690_2024::INTERFACE.opcodes),
    arithmetic: eip6690_2024::INTERFACE.arithmetic,
    width_limbs_max: MODULUS_BYTES_MAX / 8,
    default_schedule: "next",
    encode,
    decode,
};

/// Rules, as differences to `eip6690-2024`.
pub const RULES: SlotRules = SlotRules {
    moduli: Moduli { size_max: MODULUS_BYTES_MAX, ..SlotRules::EIP6690_2024.moduli },
    additions: &[Addition::Width],
    ..SlotRules::EIP6690_2024
};

fn encode(instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    codec::encode_strided(&INTERFACE, instruction, code)
}

fn decode(code: &[u8]) -> Option<(FieldInstruction, usize)> {
    codec::decode_strided(&INTERFACE, code)
}
