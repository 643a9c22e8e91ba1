//! EVM384 version 1: byte offsets in memory as words on the stack; the result overwrites the first operand.
//!
//! Source: ethereum/evmone tag `v0.5.0-evm384-v1`; axic/evmone 72da5ec. From the top of the stack: x, y, modulus, and for a
//! multiplication r_inv. Memory grows to the highest offset plus 48.

use super::evm384::{
    ByteOrder, Evm384, Modulus, Operands, Parts, VALUE_BITS, offset, push_operands, pushed_operands, refused,
};
use super::{EncodeError, Interface, Semantics};
use crate::field_instruction::{FieldInstruction, FieldOp, ModulusAt};
use crate::opcode::{immediate_table, opcodes};
use residue_formula::PerOp;

opcodes! {
    0xc0 ADDMOD384     "x = x + y in memory, less m once if the sum is at least m." 3 -> 0;
    0xc1 SUBMOD384     "x = x - y in memory, plus m once if the difference is negative." 3 -> 0;
    0xc2 MULMODMONT384 "x = Montgomery product of x and y in memory, R = 2^384." 4 -> 0;
}

/// The revision.
pub const INTERFACE: Interface = Interface {
    name: "evm384-v1",
    summary: "EVM384 version 1: offsets as words on the stack, the result overwrites the first operand (evmone)",
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
    operands: Operands::Words { overwrites_x: true },
    modulus: Modulus::OperandAndRInv,
    byte_order: ByteOrder::Little,
    unit_bytes: 1,
    operand_max: u32::MAX,
    grows: true,
    modulus_bits_max: VALUE_BITS,
};

fn encode(instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    let Parts { operation, out, x, y, modulus } = Parts::of(instruction, INTERFACE.name)?;
    if out != x {
        return Err(EncodeError::ResultApart { revision: INTERFACE.name, out, x });
    }
    let [x, y] = [x, y].map(u64::from);
    match (operation, modulus) {
        (FieldOp::Mul, ModulusAt::OffsetAndRInv { offset, r_inv }) => {
            push_operands(&[x, y, offset.into(), r_inv], operation, code);
        }
        (FieldOp::Add | FieldOp::Sub, ModulusAt::Offset(offset)) => {
            push_operands(&[x, y, offset.into()], operation, code);
        }
        _ => return Err(refused(instruction, INTERFACE.name)),
    }
    Ok(())
}

/// Reads smallest pushes of all operands with the opcode after them.
fn decode(code: &[u8]) -> Option<(FieldInstruction, usize)> {
    let (operands, operation, bytes) = pushed_operands(code)?;
    let (x, y, modulus) = match (operation, &operands[..]) {
        (FieldOp::Mul, &[x, y, at, r_inv]) => (x, y, ModulusAt::OffsetAndRInv { offset: offset(at)?, r_inv }),
        (FieldOp::Add | FieldOp::Sub, &[x, y, at]) => (x, y, ModulusAt::Offset(offset(at)?)),
        _ => return None,
    };
    let x = offset(x)?;
    Some((Parts { operation, out: x, x, y: offset(y)?, modulus }.instruction(), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field_instruction::FieldOp;

    #[track_caller]
    fn check(operation: FieldOp, modulus: ModulusAt, expected: &str) {
        let instruction = FieldInstruction::Memory { operation, out: 0x30, x: 0x30, y: 0x0160, modulus };
        let mut code = Vec::new();
        encode(&instruction, &mut code).unwrap();
        assert_eq!(hex::encode(&code), expected);
        assert_eq!(decode(&code), Some((instruction, code.len())));
        code.insert(0, 0x5f);
        assert_eq!(decode(&code), None, "one push too many");
    }

    #[test]
    fn operands_are_smallest_pushes_with_the_first_on_top() {
        check(FieldOp::Add, ModulusAt::Offset(0), "5f6101606030c0");
        check(FieldOp::Sub, ModulusAt::Offset(7), "60076101606030c1");
        let modulus = ModulusAt::OffsetAndRInv { offset: 7, r_inv: u64::MAX };
        check(FieldOp::Mul, modulus, "67ffffffffffffffff60076101606030c2");
    }

    #[test]
    fn a_result_apart_from_the_first_operand_is_refused() {
        let modulus = ModulusAt::Offset(0);
        let instruction = FieldInstruction::Memory { operation: FieldOp::Add, out: 48, x: 0, y: 0, modulus };
        let error = encode(&instruction, &mut Vec::new()).unwrap_err();
        assert_eq!(error, EncodeError::ResultApart { revision: "evm384-v1", out: 48, x: 0 });
    }
}
