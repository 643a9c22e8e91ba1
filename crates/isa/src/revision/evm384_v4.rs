//! EVM384 version 4: as version 2 over one field, the base field of BLS12-381, whose modulus the machine knows.
//!
//! Source: jwasinger/evmone branch `evm384-v4`, 65535fa. From the top of the stack: out, x, y. Memory grows to the highest
//! offset plus 48.

use super::evm384::{
    ByteOrder, Evm384, Modulus, Operands, Parts, VALUE_BITS, offset, push_operands, pushed_operands, refused,
};
use super::{EncodeError, Interface, Semantics};
use crate::field_instruction::{FieldInstruction, ModulusAt};
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xc0 ADDMOD384     "out = x + y in memory, less m once if the sum is at least m." 3 -> 0;
    0xc1 SUBMOD384     "out = x - y in memory, plus m once if the difference is negative." 3 -> 0;
    0xc2 MULMODMONT384 "out = Montgomery product of x and y in memory, R = 2^384." 3 -> 0;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "evm384-v4",
    summary: "EVM384 version 4: three offsets on the stack, only the base field of BLS12-381 (evmone branch evm384-v4)",
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
    operands: Operands::Words { overwrites_x: false },
    modulus: Modulus::Fixed,
    byte_order: ByteOrder::Little,
    unit_bytes: 1,
    operand_max: u32::MAX,
    grows: true,
    modulus_bits_max: VALUE_BITS,
};

fn encode(instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    encode_words(instruction, code, INTERFACE.name)
}

/// Reads smallest pushes of all operands with the opcode after them.
fn decode(code: &[u8]) -> Option<(FieldInstruction, usize)> {
    decode_words(code)
}

/// As `evm384-v4` and `evm384-v5` write instructions.
pub(super) fn encode_words(
    instruction: &FieldInstruction,
    code: &mut Vec<u8>,
    revision: &'static str,
) -> Result<(), EncodeError> {
    let Parts { operation, out, x, y, modulus } = Parts::of(instruction, revision)?;
    if modulus != ModulusAt::Implied {
        return Err(refused(instruction, revision));
    }
    push_operands(&[out, x, y].map(u64::from), operation, code);
    Ok(())
}

/// As `evm384-v4` and `evm384-v5` read them.
pub(super) fn decode_words(code: &[u8]) -> Option<(FieldInstruction, usize)> {
    let (operands, operation, bytes) = pushed_operands(code)?;
    let &[out, x, y] = &operands[..] else {
        return None;
    };
    let modulus = ModulusAt::Implied;
    Some((Parts { operation, out: offset(out)?, x: offset(x)?, y: offset(y)?, modulus }.instruction(), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field_instruction::FieldOp;

    #[track_caller]
    fn check(operation: FieldOp, modulus: ModulusAt, expected: &str) {
        let instruction = FieldInstruction::Memory { operation, out: 0, x: 0x30, y: 0x0160, modulus };
        let mut code = Vec::new();
        encode(&instruction, &mut code).unwrap();
        assert_eq!(hex::encode(&code), expected);
        assert_eq!(decode(&code), Some((instruction, code.len())));
        code.insert(0, 0x5f);
        assert_eq!(decode(&code), None, "one push too many");
    }

    #[test]
    fn operands_are_smallest_pushes_with_the_first_on_top() {
        check(FieldOp::Add, ModulusAt::Implied, "61016060305fc0");
        check(FieldOp::Sub, ModulusAt::Implied, "61016060305fc1");
        check(FieldOp::Mul, ModulusAt::Implied, "61016060305fc2");
    }
}
