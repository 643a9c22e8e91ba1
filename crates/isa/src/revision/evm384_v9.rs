//! EVM384 version 9: as version 7 with the four byte offsets after the opcode instead of on the stack.
//!
//! Source: evmone branch `evm384-v9`, a19ae3a. The 16 immediate bytes are out, x, y and modulus, four bytes each,
//! little-endian. Jump analysis skips them; an immediate cut off by the end of the code halts (undefined at the origin).

use alloc::vec::Vec;

use super::evm384::{ByteOrder, Evm384, Modulus, Operands, Parts, VALUE_BITS, opcode, operation, refused};
use super::{EncodeError, Interface, Semantics};
use crate::field_instruction::{FieldInstruction, ModulusAt};
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xc0 ADDMOD384     "out = x + y in memory, less m once if the sum is at least m." 0 -> 0 immediate 16;
    0xc1 SUBMOD384     "out = x - y in memory, plus m once if the difference is negative." 0 -> 0 immediate 16;
    0xc2 MULMODMONT384 "out = Montgomery product of x and y in memory, R = 2^384." 0 -> 0 immediate 16;
}

/// Immediate bytes of the instructions.
pub const IMMEDIATE_BYTES: usize = 16;
/// Bytes of an instruction.
pub const INSTRUCTION_BYTES: usize = 1 + IMMEDIATE_BYTES;

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "evm384-v9",
    summary: "EVM384 version 9: four 32-bit offsets after the opcode (evmone branch evm384-v9)",
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
    operands: Operands::Immediate,
    modulus: Modulus::Operand,
    byte_order: ByteOrder::Little,
    unit_bytes: 1,
    operand_max: u32::MAX,
    grows: true,
    modulus_bits_max: VALUE_BITS,
};

/// The offsets out, x, y and modulus in the immediate.
#[inline]
pub const fn unpack(immediate: [u8; IMMEDIATE_BYTES]) -> [u32; 4] {
    let all = u128::from_le_bytes(immediate);
    // Each `as` takes the 32 bits that belong to the operand.
    [all as u32, (all >> 32) as u32, (all >> 64) as u32, (all >> 96) as u32]
}

/// As this revision and `x-383` write instructions.
pub(super) fn encode(
    interface: &Interface,
    instruction: &FieldInstruction,
    code: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let Parts { operation, out, x, y, modulus } = Parts::of(instruction, interface.name)?;
    let ModulusAt::Offset(modulus) = modulus else {
        return Err(refused(instruction, interface.name));
    };
    code.push(opcode(operation));
    for offset in [out, x, y, modulus] {
        code.extend_from_slice(&offset.to_le_bytes());
    }
    Ok(())
}

/// As both read them.
pub(super) fn decode(_: &Interface, code: &[u8]) -> Option<(FieldInstruction, usize)> {
    let (&[opcode, ref immediate @ ..], _) = code.split_first_chunk::<INSTRUCTION_BYTES>()?;
    let [out, x, y, modulus] = unpack(*immediate);
    let parts = Parts { operation: operation(opcode)?, out, x, y, modulus: ModulusAt::Offset(modulus) };
    Some((parts.instruction(), INSTRUCTION_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field_instruction::FieldOp;

    fn instruction(out: u32, x: u32, y: u32) -> FieldInstruction {
        FieldInstruction::Memory { operation: FieldOp::Mul, out, x, y, modulus: ModulusAt::Offset(0x8000_0000) }
    }

    #[test]
    fn the_bytes_are_those_of_the_specification() {
        let instruction = instruction(0x0102_0304, 0x30, 0x6001);
        let mut code = Vec::new();
        encode(&INTERFACE, &instruction, &mut code).unwrap();
        assert_eq!(hex::encode(&code), "c204030201300000000160000000000080");
        assert_eq!(decode(&INTERFACE, &code), Some((instruction, code.len())));
        assert_eq!(decode(&INTERFACE, &code[..code.len() - 1]), None);
    }
}
