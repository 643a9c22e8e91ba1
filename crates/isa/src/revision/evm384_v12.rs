//! EVM384 version 12: a modulus of up to 48 bytes set once, three 16-bit byte offsets after the opcode.
//!
//! Source: poemm/EVMcurves, `tests/evm.py` and `genhuff.py`. SETMOD takes the offset of the modulus (on top) and its
//! length in bytes, copies it and keeps it for the frame; then values have that length and R = 2^(8·length). After an
//! arithmetic opcode stands 65, which is PUSH6 for machines without the extension, then out, x and y, two bytes each,
//! little-endian; any other byte there halts. Memory grows to the highest offset plus the length. Chosen here: evm.py
//! takes any length, at prices that are the same for all; a length above [`MODULUS_BYTES_MAX`] halts.

use alloc::vec::Vec;

use super::evm384::{ByteOrder, Evm384, Modulus, Operands, Parts, VALUE_BITS, VALUE_BYTES, opcode, operation, refused};
use super::{EncodeError, Interface, Semantics};
use crate::field_instruction::{FieldInstruction, ModulusAt};
use crate::opcode::{evm::PUSH6, immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xc0 ADDMODMONT "out = x + y in memory, less m once if the sum is at least m." 0 -> 0 immediate 7;
    0xc1 SUBMODMONT "out = x - y in memory, plus m once if the difference is negative." 0 -> 0 immediate 7;
    0xc2 MULMODMONT "out = Montgomery product of x and y in memory, R = 2^(8 * length)." 0 -> 0 immediate 7;
    0xc3 SETMOD     "Sets the modulus of the frame: offset, length in bytes." 2 -> 0;
}

/// Immediate bytes of the arithmetic instructions.
pub const IMMEDIATE_BYTES: usize = 7;
/// Bytes of an arithmetic instruction.
pub const INSTRUCTION_BYTES: usize = 1 + IMMEDIATE_BYTES;
/// The byte after the opcode.
pub const MARKER: u8 = PUSH6;

/// The longest modulus: a product of 48 bytes takes about nine nanoseconds for each of its six gas, one of 96 thirty.
pub const MODULUS_BYTES_MAX: usize = VALUE_BYTES;

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "evm384-v12",
    summary: "EVM384 version 12: SETMOD for a modulus of up to 48 bytes, three 16-bit offsets after the opcode (poemm/EVMcurves)",
    semantics: Semantics::Memory384(&EVM384),
    opcodes: OPCODES,
    immediates: immediate_table(OPCODES),
    arithmetic: PerOp([ADDMODMONT, SUBMODMONT, MULMODMONT]),
    width_limbs_max: 6,
    default_schedule: "evmcurves",
    encode,
    decode,
};

/// Parameters of the revision.
pub const EVM384: Evm384 = Evm384 {
    operands: Operands::Immediate,
    modulus: Modulus::Set,
    byte_order: ByteOrder::Little,
    unit_bytes: 1,
    operand_max: 65_535,
    grows: true,
    modulus_bits_max: VALUE_BITS,
};

/// The offsets out, x and y in the immediate; none without the marker.
#[inline]
pub const fn unpack(immediate: [u8; IMMEDIATE_BYTES]) -> Option<[u16; 3]> {
    let [MARKER, a, b, c, d, e, f] = immediate else {
        return None;
    };
    Some([u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]), u16::from_le_bytes([e, f])])
}

fn encode(interface: &Interface, instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    let Parts { operation, out, x, y, modulus } = Parts::of(instruction, interface.name)?;
    if modulus != ModulusAt::Implied {
        return Err(refused(instruction, interface.name));
    }
    let offsets = [narrow(out)?, narrow(x)?, narrow(y)?];
    code.extend([opcode(operation), MARKER]);
    code.extend(offsets.iter().flat_map(|offset| offset.to_le_bytes()));
    Ok(())
}

fn decode(_: &Interface, code: &[u8]) -> Option<(FieldInstruction, usize)> {
    let (&[opcode, ref immediate @ ..], _) = code.split_first_chunk::<INSTRUCTION_BYTES>()?;
    let operation = operation(opcode)?;
    let [out, x, y] = unpack(*immediate)?.map(u32::from);
    Some((Parts { operation, out, x, y, modulus: ModulusAt::Implied }.instruction(), INSTRUCTION_BYTES))
}

fn narrow(offset: u32) -> Result<u16, EncodeError> {
    let operands = "byte offsets below 65536";
    u16::try_from(offset).map_err(|_| EncodeError::Offset { revision: INTERFACE.name, offset, operands })
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
        let instruction = instruction(0x0304, 0x30, 0xffff);
        let mut code = Vec::new();
        encode(&INTERFACE, &instruction, &mut code).unwrap();
        assert_eq!(hex::encode(&code), "c26504033000ffff");
        assert_eq!(decode(&INTERFACE, &code), Some((instruction, code.len())));
        assert_eq!(decode(&INTERFACE, &code[..code.len() - 1]), None);
    }

    #[test]
    fn nothing_is_decoded_without_the_marker_and_far_offsets_are_refused() {
        let code = hex::decode("c26604033000ffff").unwrap();
        assert_eq!(decode(&INTERFACE, &code), None);
        let error = encode(&INTERFACE, &instruction(0, 65_536, 0), &mut Vec::new()).unwrap_err();
        assert!(matches!(error, EncodeError::Offset { offset: 65_536, .. }));
    }
}
