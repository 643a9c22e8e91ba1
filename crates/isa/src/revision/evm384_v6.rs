//! EVM384 version 6: 256 slots of 48 bytes at the bottom of memory, three slot numbers packed in one word on the stack.
//!
//! Source: evmone branch `evm384-v6`, dad5443. From the least significant bit the word holds y, x, out, eight bits each; the
//! bits above 24 are ignored. The modulus is at byte 12288, r_inv at 12336. Memory always grows to 12336, for a
//! multiplication to 12344.

use alloc::vec::Vec;

use super::evm384::{ByteOrder, Evm384, Modulus, Operands, Parts, VALUE_BITS, VALUE_BYTES, opcode, operation, refused};
use super::{EncodeError, Interface, Semantics};
use crate::field_instruction::{FieldInstruction, ModulusAt};
use crate::opcode::{evm::PUSH3, immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xc0 ADDMOD384     "out = x + y in memory, less m once if the sum is at least m." 1 -> 0;
    0xc1 SUBMOD384     "out = x - y in memory, plus m once if the difference is negative." 1 -> 0;
    0xc2 MULMODMONT384 "out = Montgomery product of x and y in memory, R = 2^384." 1 -> 0;
}

/// Number of slots.
pub const SLOTS: usize = 256;
/// Offset of the modulus in memory: after the slots.
pub const MODULUS_AT: usize = SLOTS * VALUE_BYTES;
/// Bytes of an instruction with its packed operands: PUSH3, the word, the opcode.
pub const INSTRUCTION_BYTES: usize = 5;

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "evm384-v6",
    summary: "EVM384 version 6: 256 slots at the bottom of memory, three packed slot numbers (evmone branch evm384-v6)",
    semantics: Semantics::Memory384(&EVM384),
    opcodes: OPCODES,
    immediates: immediate_table(OPCODES),
    arithmetic: PerOp([ADDMOD384, SUBMOD384, MULMODMONT384]),
    width_limbs_max: 6,
    default_schedule: "evmone",
    encode,
    decode,
};

/// Parameters of the revision.
pub const EVM384: Evm384 = Evm384 {
    operands: Operands::Packed { push: PUSH3 },
    modulus: Modulus::Place(12_288),
    byte_order: ByteOrder::Little,
    unit_bytes: 48,
    operand_max: 255,
    grows: true,
    modulus_bits_max: VALUE_BITS,
};

/// The slots out, x and y in the low 24 bits of the stack word.
#[inline]
pub const fn unpack(low_64_bits: u64) -> [u8; 3] {
    let [y, x, out, ..] = low_64_bits.to_le_bytes();
    [out, x, y]
}

fn encode(interface: &Interface, instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    let Parts { operation, out, x, y, modulus } = Parts::of(instruction, interface.name)?;
    if modulus != ModulusAt::Implied {
        return Err(refused(instruction, interface.name));
    }
    let slots = [slot(out)?, slot(x)?, slot(y)?];
    code.push(PUSH3);
    code.extend_from_slice(&slots);
    code.push(opcode(operation));
    Ok(())
}

/// Reads `PUSH3 word` with an arithmetic opcode after it.
fn decode(_: &Interface, code: &[u8]) -> Option<(FieldInstruction, usize)> {
    let (&[PUSH3, out, x, y, opcode], _) = code.split_first_chunk::<INSTRUCTION_BYTES>()? else {
        return None;
    };
    let [out, x, y] = [out, x, y].map(|slot| u32::from(slot) * EVM384.unit_bytes);
    let parts = Parts { operation: operation(opcode)?, out, x, y, modulus: ModulusAt::Implied };
    Some((parts.instruction(), INSTRUCTION_BYTES))
}

/// The slot at a byte offset.
fn slot(offset: u32) -> Result<u8, EncodeError> {
    let slot = u8::try_from(offset / EVM384.unit_bytes).ok().filter(|_| offset.is_multiple_of(EVM384.unit_bytes));
    let operands = "slots 0 to 255 of 48 bytes each";
    slot.ok_or(EncodeError::Offset { revision: INTERFACE.name, offset, operands })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field_instruction::FieldOp;

    fn instruction(out: u32, x: u32, y: u32) -> FieldInstruction {
        FieldInstruction::Memory { operation: FieldOp::Mul, out, x, y, modulus: ModulusAt::Implied }
    }

    #[test]
    fn the_bytes_are_those_of_the_specification() {
        let instruction = instruction(255 * 48, 48, 96);
        let mut code = Vec::new();
        encode(&INTERFACE, &instruction, &mut code).unwrap();
        assert_eq!(hex::encode(&code), "62ff0102c2");
        assert_eq!(decode(&INTERFACE, &code), Some((instruction, code.len())));
        assert_eq!(decode(&INTERFACE, &code[..code.len() - 1]), None);
    }

    #[test]
    fn offsets_between_slots_or_beyond_them_are_refused() {
        for offset in [1, 49, 256 * 48, u32::MAX] {
            let mut code = Vec::new();
            let error = encode(&INTERFACE, &instruction(0, offset, 0), &mut code).unwrap_err();
            assert!(matches!(error, EncodeError::Offset { offset: found, .. } if found == offset));
            assert!(code.is_empty());
        }
    }
}
