//! EVM384 version 7: 48-byte values in EVM memory, four 32-bit byte offsets packed into one stack word.
//!
//! Source: evmone branch `evm384-v7` and the EIP draft in ewasm/EIPs branch `evm384`; `LOGF` from the branches `*-logf`.
//! From the least significant bit the word holds modulus, y, x, out, so a PUSH16 literal reads out x y modulus. The bits
//! above 128 are ignored. Values are little-endian; after the 48 bytes of the modulus follow the 8 bytes of
//! r_inv = −m⁻¹ mod 2⁶⁴. Memory grows to max(offsets) + 48, for a multiplication to max(offsets) + 56, as evmone does.

use alloc::vec::Vec;

use super::evm384::{
    ByteOrder, Evm384, Modulus, Operands as OperandsFrom, Parts, VALUE_BITS, opcode, operation, refused,
};
use super::{EncodeError, Interface, Semantics};
use crate::field_instruction::{FieldInstruction, ModulusAt};
use crate::opcode::{evm::PUSH16, immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xc0 ADDMOD384     "out = x + y in memory, less m once if the sum is at least m." 1 -> 0;
    0xc1 SUBMOD384     "out = x - y in memory, plus m once if the difference is negative." 1 -> 0;
    0xc2 MULMODMONT384 "out = Montgomery product of x and y in memory, R = 2^384." 1 -> 0;
    0xc3 LOGF          "Debugging aid without effect: offset, element size, number of elements." 3 -> 0;
}

/// Bytes of an instruction with its packed operands: PUSH16, the word, the opcode.
pub const INSTRUCTION_BYTES: usize = 18;

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "evm384-v7",
    summary: "EVM384 version 7: values in EVM memory, four packed 32-bit offsets on the stack (evmone branch evm384-v7)",
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
    operands: OperandsFrom::Packed { push: PUSH16 },
    modulus: Modulus::Operand,
    byte_order: ByteOrder::Little,
    unit_bytes: 1,
    operand_max: u32::MAX,
    grows: true,
    modulus_bits_max: VALUE_BITS,
};

/// The byte offsets in memory that an instruction takes from the top of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Operands {
    /// Modulus, then r_inv.
    pub modulus: u32,
    /// Second operand.
    pub y: u32,
    /// First operand.
    pub x: u32,
    /// Result.
    pub out: u32,
}

/// The operands in the low 128 bits of the stack word.
#[inline]
pub const fn unpack(low_128_bits: u128) -> Operands {
    // Each `as` takes the 32 bits that belong to the operand.
    Operands {
        modulus: low_128_bits as u32,
        y: (low_128_bits >> 32) as u32,
        x: (low_128_bits >> 64) as u32,
        out: (low_128_bits >> 96) as u32,
    }
}

/// The inverse of [`unpack`].
#[inline]
pub const fn pack(operands: Operands) -> u128 {
    let Operands { modulus, y, x, out } = operands;
    (out as u128) << 96 | (x as u128) << 64 | (y as u128) << 32 | modulus as u128
}

/// As this revision and `evm384-v8` write instructions.
pub(super) fn encode(
    interface: &Interface,
    instruction: &FieldInstruction,
    code: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let Parts { operation, out, x, y, modulus } = Parts::of(instruction, interface.name)?;
    let ModulusAt::Offset(modulus) = modulus else {
        return Err(refused(instruction, interface.name));
    };
    code.push(PUSH16);
    code.extend_from_slice(&pack(Operands { modulus, y, x, out }).to_be_bytes());
    code.push(opcode(operation));
    Ok(())
}

/// Reads `PUSH16 word` with an arithmetic opcode after it. (Operands may also be computed; then `unpack` at run time.)
pub(super) fn decode(_: &Interface, code: &[u8]) -> Option<(FieldInstruction, usize)> {
    let (&[PUSH16, ref word @ .., opcode], _) = code.split_first_chunk::<INSTRUCTION_BYTES>()? else {
        return None;
    };
    let Operands { modulus, y, x, out } = unpack(u128::from_be_bytes(*word));
    let parts = Parts { operation: operation(opcode)?, out, x, y, modulus: ModulusAt::Offset(modulus) };
    Some((parts.instruction(), INSTRUCTION_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field_instruction::FieldOp;

    #[test]
    fn the_push16_literal_reads_out_x_y_modulus() {
        let instruction = FieldInstruction::Memory {
            operation: FieldOp::Mul,
            out: 0x0102_0304,
            x: 0x30,
            y: 0xffff_ffff,
            modulus: ModulusAt::Offset(0x8000_0000),
        };
        let mut code = Vec::new();
        encode(&INTERFACE, &instruction, &mut code).unwrap();
        assert_eq!(hex::encode(&code), "6f0102030400000030ffffffff80000000c2");
        assert_eq!(decode(&INTERFACE, &code), Some((instruction, 18)));
        assert_eq!(decode(&INTERFACE, &code[..17]), None);
    }

    #[test]
    fn slots_are_refused_and_nothing_is_appended() {
        use crate::field_instruction::Lanes;
        let one = Lanes::one(0);
        let slots = FieldInstruction::Slots { operation: FieldOp::Add, out: one, x: one, y: one, count: 1 };
        let mut code = Vec::new();
        assert!(matches!(
            encode(&INTERFACE, &slots, &mut code),
            Err(EncodeError::OperandKind { revision: "evm384-v7", .. })
        ));
        assert!(code.is_empty());
    }
}
