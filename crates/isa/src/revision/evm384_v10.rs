//! EVM384 version 10: as version 7 with slot numbers of 16 bits in place of byte offsets of 32.
//!
//! Source: go-ethereum branch `evm384-v10`, f837e833e. From the least significant bit the word holds modulus, y, x,
//! out, 16 bits each; the bits above 64 are ignored. A slot is 48 bytes; r_inv is in the first 8 bytes of the slot
//! after the modulus. The arithmetic is that of version 7, as the interface intends it; the one checked in is an
//! experiment over another field. Memory does not grow: the highest slot must end before the last byte of memory,
//! otherwise the frame halts with `memory_out_of_range`; the origin aborts.

use alloc::vec::Vec;

use super::evm384::{ByteOrder, Evm384, Modulus, Operands, Parts, VALUE_BITS, opcode, operation, refused};
use super::{EncodeError, Interface, Semantics};
use crate::field_instruction::{FieldInstruction, ModulusAt};
use crate::opcode::{evm::PUSH8, immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xc0 ADDMOD384     "out = x + y in memory, less m once if the sum is at least m." 1 -> 0;
    0xc1 SUBMOD384     "out = x - y in memory, plus m once if the difference is negative." 1 -> 0;
    0xc2 MULMODMONT384 "out = Montgomery product of x and y in memory, R = 2^384." 1 -> 0;
}

/// Bytes of an instruction with its packed operands: PUSH8, the word, the opcode.
pub const INSTRUCTION_BYTES: usize = 10;

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "evm384-v10",
    summary: "EVM384 version 10: four packed 16-bit slot numbers, slots of 48 bytes (go-ethereum branch evm384-v10)",
    semantics: Semantics::Memory384(&EVM384),
    opcodes: OPCODES,
    immediates: immediate_table(OPCODES),
    arithmetic: PerOp([ADDMOD384, SUBMOD384, MULMODMONT384]),
    width_limbs_max: 6,
    default_schedule: "geth",
    encode,
    decode,
};

/// Parameters of the revision.
pub const EVM384: Evm384 = Evm384 {
    operands: Operands::Packed { push: PUSH8 },
    modulus: Modulus::Operand,
    byte_order: ByteOrder::Little,
    unit_bytes: 48,
    operand_max: 65_535,
    grows: false,
    modulus_bits_max: VALUE_BITS,
};

/// The slots out, x, y and modulus in the low 64 bits of the stack word.
#[inline]
pub const fn unpack(low_64_bits: u64) -> [u16; 4] {
    // Each `as` takes the 16 bits that belong to the operand.
    [(low_64_bits >> 48) as u16, (low_64_bits >> 32) as u16, (low_64_bits >> 16) as u16, low_64_bits as u16]
}

fn encode(interface: &Interface, instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    let Parts { operation, out, x, y, modulus } = Parts::of(instruction, interface.name)?;
    let ModulusAt::Offset(modulus) = modulus else {
        return Err(refused(instruction, interface.name));
    };
    let slots = [slot(out)?, slot(x)?, slot(y)?, slot(modulus)?];
    code.push(PUSH8);
    code.extend(slots.iter().flat_map(|slot| slot.to_be_bytes()));
    code.push(opcode(operation));
    Ok(())
}

/// Reads `PUSH8 word` with an arithmetic opcode after it.
fn decode(_: &Interface, code: &[u8]) -> Option<(FieldInstruction, usize)> {
    let (&[PUSH8, ref word @ .., opcode], _) = code.split_first_chunk::<INSTRUCTION_BYTES>()? else {
        return None;
    };
    let [out, x, y, modulus] = unpack(u64::from_be_bytes(*word)).map(|slot| u32::from(slot) * EVM384.unit_bytes);
    let parts = Parts { operation: operation(opcode)?, out, x, y, modulus: ModulusAt::Offset(modulus) };
    Some((parts.instruction(), INSTRUCTION_BYTES))
}

/// The slot at a byte offset.
fn slot(offset: u32) -> Result<u16, EncodeError> {
    let slot = u16::try_from(offset / EVM384.unit_bytes).ok().filter(|_| offset.is_multiple_of(EVM384.unit_bytes));
    let operands = "slots 0 to 65535 of 48 bytes each";
    slot.ok_or(EncodeError::Offset { revision: INTERFACE.name, offset, operands })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field_instruction::FieldOp;

    fn instruction(out: u32, x: u32, y: u32) -> FieldInstruction {
        FieldInstruction::Memory { operation: FieldOp::Mul, out, x, y, modulus: ModulusAt::Offset(96) }
    }

    #[test]
    fn the_bytes_are_those_of_the_specification() {
        let instruction = instruction(0xffff * 48, 48, 256 * 48);
        let mut code = Vec::new();
        encode(&INTERFACE, &instruction, &mut code).unwrap();
        assert_eq!(hex::encode(&code), "67ffff000101000002c2");
        assert_eq!(decode(&INTERFACE, &code), Some((instruction, code.len())));
        assert_eq!(decode(&INTERFACE, &code[..code.len() - 1]), None);
    }

    #[test]
    fn offsets_between_slots_or_beyond_them_are_refused() {
        for offset in [1, 49, 65_536 * 48, u32::MAX] {
            let mut code = Vec::new();
            let error = encode(&INTERFACE, &instruction(0, offset, 0), &mut code).unwrap_err();
            assert!(matches!(error, EncodeError::Offset { offset: found, .. } if found == offset));
            assert!(code.is_empty());
        }
    }
}
