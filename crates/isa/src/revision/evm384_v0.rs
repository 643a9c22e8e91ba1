//! EVM384 version 0: the values themselves on the stack, two words each.
//!
//! Source: the first EVM384 note ("EVM384 specification", poemm), of which only the opening is public; no
//! implementation exists. Each instruction takes three pairs of words, the first word of a pair above the second: x, y,
//! and the modulus. The first 48 of a pair's 64 bytes are the value, little-endian; the 8 bytes after the modulus are
//! r_inv, little-endian too. It pushes a pair. Chosen here, without a source: the bytes of the result after its 48 are
//! zero.

use alloc::vec::Vec;

use super::evm384::{ByteOrder, Evm384, Modulus, Operands, VALUE_BITS, refused};
use super::{EncodeError, Interface, Semantics};
use crate::field_instruction::FieldInstruction;
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xc0 ADDMOD384     "out = x + y on the stack, less m once if the sum is at least m." 6 -> 2;
    0xc1 SUBMOD384     "out = x - y on the stack, plus m once if the difference is negative." 6 -> 2;
    0xc2 MULMODMONT384 "out = Montgomery product of x and y on the stack, R = 2^384." 6 -> 2;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "evm384-v0",
    summary: "EVM384 version 0: the values themselves on the stack, two words each (EVM384 note, its opening)",
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
    operands: Operands::Values,
    modulus: Modulus::Value,
    byte_order: ByteOrder::Little,
    unit_bytes: 1,
    operand_max: 0,
    grows: false,
    modulus_bits_max: VALUE_BITS,
};

/// No instruction of this revision has its operands in code.
fn encode(interface: &Interface, instruction: &FieldInstruction, _: &mut Vec<u8>) -> Result<(), EncodeError> {
    Err(refused(instruction, interface.name))
}

fn decode(_: &Interface, _: &[u8]) -> Option<(FieldInstruction, usize)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field_instruction::{FieldOp, ModulusAt};

    #[test]
    fn operands_in_code_are_refused() {
        let modulus = ModulusAt::Offset(0);
        let instruction = FieldInstruction::Memory { operation: FieldOp::Add, out: 0, x: 0, y: 0, modulus };
        let mut code = Vec::new();
        assert!(matches!(encode(&INTERFACE, &instruction, &mut code), Err(EncodeError::OperandKind { .. })));
        assert!(code.is_empty());
    }
}
