//! EVM384 versions 1 to 5, as a table: byte offsets in memory as words on the stack, with the first operand on top.
//!
//! Versions 1 and 2 have an operand for the modulus, and for a multiplication one for r_inv; version 3 is version 2 without growth of memory; versions 4
//! and 5 are the same for the base field of BLS12-381 alone, whose modulus the machine knows. An entry names its source.

use alloc::vec::Vec;

use super::evm384::{Evm384, Modulus, Operands, Parts, offset, push_operands, pushed_operands, refused};
use super::{EncodeError, Interface, Semantics};
use crate::field_instruction::{FieldInstruction, FieldOp, ModulusAt};

/// Makes a module of each entry.
macro_rules! versions {
    ($(
        $(#[$doc:meta])*
        pub mod $module:ident {
            $name:literal, $summary:literal,
            parameters { $($parameter:ident: $value:expr),* }
            opcodes { $($row:tt)* }
        }
    )*) => {$(
        $(#[$doc])*
        pub mod $module {
            use crate::opcode::{immediate_table, opcodes};
            use crate::revision::evm384::{ByteOrder, Evm384, Modulus, Operands, VALUE_BITS};
            use crate::revision::{Interface, Semantics};
            use residue_formula::PerOp;

            opcodes! { $($row)* }

            /// The revision.
            pub const INTERFACE: Interface = Interface {
                name: $name,
                summary: $summary,
                semantics: Semantics::Memory384(&EVM384),
                opcodes: OPCODES,
                immediates: immediate_table(OPCODES),
                arithmetic: PerOp([ADDMOD384, SUBMOD384, MULMODMONT384]),
                width_limbs_max: 6,
                default_schedule: "evmone",
                encode: crate::revision::evm384_words::encode,
                decode: crate::revision::evm384_words::decode,
            };

            /// Parameters of the revision.
            pub const EVM384: Evm384 = Evm384 {
                $($parameter: $value,)*
                byte_order: ByteOrder::Little,
                unit_bytes: 1,
                operand_max: u32::MAX,
                modulus_bits_max: VALUE_BITS,
            };
        }
    )*};
}

versions! {
    /// EVM384 version 1: the result overwrites the first operand.
    ///
    /// Source: ethereum/evmone tag `v0.5.0-evm384-v1`; axic/evmone 72da5ec. From the top of the stack: x, y, modulus, and for a
    /// multiplication r_inv. Memory grows to the highest offset plus 48.
    pub mod evm384_v1 {
        "evm384-v1", "EVM384 version 1: offsets as words on the stack, the result overwrites the first operand (evmone)",
        parameters { operands: Operands::Words { overwrites_x: true }, modulus: Modulus::OperandAndRInv, grows: true }
        opcodes {
            0xc0 ADDMOD384     "x = x + y in memory, less m once if the sum is at least m." 3 -> 0;
            0xc1 SUBMOD384     "x = x - y in memory, plus m once if the difference is negative." 3 -> 0;
            0xc2 MULMODMONT384 "x = Montgomery product of x and y in memory, R = 2^384." 4 -> 0;
        }
    }

    /// EVM384 version 2: the result at any offset.
    ///
    /// Source: ethereum/evmone tag `v0.5.0-evm384-v2`. From the top of the stack: out, x, y, modulus, and for a multiplication
    /// r_inv. Memory grows to the highest offset plus 48.
    pub mod evm384_v2 {
        "evm384-v2", "EVM384 version 2: four offsets, for a multiplication r_inv too, as words on the stack (evmone)",
        parameters { operands: Operands::Words { overwrites_x: false }, modulus: Modulus::OperandAndRInv, grows: true }
        opcodes {
            0xc0 ADDMOD384     "out = x + y in memory, less m once if the sum is at least m." 4 -> 0;
            0xc1 SUBMOD384     "out = x - y in memory, plus m once if the difference is negative." 4 -> 0;
            0xc2 MULMODMONT384 "out = Montgomery product of x and y in memory, R = 2^384." 5 -> 0;
        }
    }

    /// EVM384 version 3: as version 2, but memory does not grow, and ranges are not checked.
    ///
    /// Source: evmone branch `v0.5.0-evm384-v2-unsafe`, c30e1933. Out of bounds it is undefined there; chosen here: a range that
    /// ends beyond the current memory halts with `memory_out_of_range`.
    pub mod evm384_v3 {
        "evm384-v3", "EVM384 version 3: version 2 without growth of memory (evmone v0.5.0-evm384-v2-unsafe)",
        parameters { operands: Operands::Words { overwrites_x: false }, modulus: Modulus::OperandAndRInv, grows: false }
        opcodes {
            0xc0 ADDMOD384     "out = x + y in memory, less m once if the sum is at least m." 4 -> 0;
            0xc1 SUBMOD384     "out = x - y in memory, plus m once if the difference is negative." 4 -> 0;
            0xc2 MULMODMONT384 "out = Montgomery product of x and y in memory, R = 2^384." 5 -> 0;
        }
    }

    /// EVM384 version 4: as version 2 over one field, the base field of BLS12-381, whose modulus the machine knows.
    ///
    /// Source: jwasinger/evmone branch `evm384-v4`, 65535fa. From the top of the stack: out, x, y. Memory grows to the highest
    /// offset plus 48.
    pub mod evm384_v4 {
        "evm384-v4", "EVM384 version 4: three offsets on the stack, only the base field of BLS12-381 (evmone branch evm384-v4)",
        parameters { operands: Operands::Words { overwrites_x: false }, modulus: Modulus::Fixed, grows: true }
        opcodes {
            0xc0 ADDMOD384     "out = x + y in memory, less m once if the sum is at least m." 3 -> 0;
            0xc1 SUBMOD384     "out = x - y in memory, plus m once if the difference is negative." 3 -> 0;
            0xc2 MULMODMONT384 "out = Montgomery product of x and y in memory, R = 2^384." 3 -> 0;
        }
    }

    /// EVM384 version 5: as version 4, but memory does not grow, and ranges are not checked.
    ///
    /// Source: jwasinger/evmone branch `evm384-v5`, 1689324. Out of bounds it is undefined there; chosen here: a range that ends
    /// beyond the current memory halts with `memory_out_of_range`.
    pub mod evm384_v5 {
        "evm384-v5", "EVM384 version 5: version 4 without growth of memory (evmone branch evm384-v5)",
        parameters { operands: Operands::Words { overwrites_x: false }, modulus: Modulus::Fixed, grows: false }
        opcodes {
            0xc0 ADDMOD384     "out = x + y in memory, less m once if the sum is at least m." 3 -> 0;
            0xc1 SUBMOD384     "out = x - y in memory, plus m once if the difference is negative." 3 -> 0;
            0xc2 MULMODMONT384 "out = Montgomery product of x and y in memory, R = 2^384." 3 -> 0;
        }
    }
}

/// Smallest pushes of all operands, the first pushed last, then the opcode.
fn encode(interface: &Interface, instruction: &FieldInstruction, code: &mut Vec<u8>) -> Result<(), EncodeError> {
    let revision = interface.name;
    let Parts { operation, out, x, y, modulus } = Parts::of(instruction, revision)?;
    let Semantics::Memory384(evm384) = interface.semantics else { return Err(refused(instruction, revision)) };
    let mut operands: Vec<u64> = [out, x, y].map(u64::from).to_vec();
    if overwrites_x(evm384) {
        if out != x {
            return Err(EncodeError::ResultApart { revision, out, x });
        }
        operands.remove(0);
    }
    match (evm384.modulus, operation, modulus) {
        (Modulus::Fixed, _, ModulusAt::Implied) => {}
        (Modulus::OperandAndRInv, FieldOp::Mul, ModulusAt::OffsetAndRInv { offset, r_inv }) => {
            operands.extend([offset.into(), r_inv]);
        }
        (Modulus::OperandAndRInv, FieldOp::Add | FieldOp::Sub, ModulusAt::Offset(offset)) => {
            operands.push(offset.into());
        }
        _ => return Err(refused(instruction, revision)),
    }
    push_operands(&operands, operation, code);
    Ok(())
}

/// Reads smallest pushes of all operands with the opcode after them.
fn decode(interface: &Interface, code: &[u8]) -> Option<(FieldInstruction, usize)> {
    let Semantics::Memory384(evm384) = interface.semantics else { return None };
    let (operands, operation, bytes) = pushed_operands(code)?;
    let (out, rest) = if overwrites_x(evm384) { (*operands.first()?, &operands[..]) } else { split(&operands)? };
    let &[x, y, ref modulus @ ..] = rest else { return None };
    let modulus = match (evm384.modulus, operation, modulus) {
        (Modulus::Fixed, _, []) => ModulusAt::Implied,
        (Modulus::OperandAndRInv, FieldOp::Mul, &[at, r_inv]) => {
            ModulusAt::OffsetAndRInv { offset: offset(at)?, r_inv }
        }
        (Modulus::OperandAndRInv, FieldOp::Add | FieldOp::Sub, &[at]) => ModulusAt::Offset(offset(at)?),
        _ => return None,
    };
    Some((Parts { operation, out: offset(out)?, x: offset(x)?, y: offset(y)?, modulus }.instruction(), bytes))
}

fn split(operands: &[u64]) -> Option<(u64, &[u64])> {
    operands.split_first().map(|(out, rest)| (*out, rest))
}

fn overwrites_x(evm384: &Evm384) -> bool {
    matches!(evm384.operands, Operands::Words { overwrites_x: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revision::Revision;
    use Revision::{Evm384V1, Evm384V2, Evm384V4};

    #[track_caller]
    fn check(revision: Revision, out: u32, operation: FieldOp, modulus: ModulusAt, expected: &str) {
        let instruction = FieldInstruction::Memory { operation, out, x: 0x30, y: 0x0160, modulus };
        let mut code = Vec::new();
        revision.encode(&instruction, &mut code).unwrap();
        assert_eq!(hex::encode(&code), expected);
        assert_eq!(revision.decode(&code), Some((instruction, code.len())));
        code.insert(0, 0x5f);
        assert_eq!(revision.decode(&code), None, "one push too many");
    }

    #[test]
    fn operands_are_smallest_pushes_with_the_first_on_top() {
        check(Evm384V1, 0x30, FieldOp::Add, ModulusAt::Offset(0), "5f6101606030c0");
        check(Evm384V1, 0x30, FieldOp::Sub, ModulusAt::Offset(7), "60076101606030c1");
        let modulus = ModulusAt::OffsetAndRInv { offset: 7, r_inv: u64::MAX };
        check(Evm384V1, 0x30, FieldOp::Mul, modulus, "67ffffffffffffffff60076101606030c2");
        check(Evm384V2, 0, FieldOp::Add, ModulusAt::Offset(0), "5f61016060305fc0");
        check(Evm384V2, 0, FieldOp::Sub, ModulusAt::Offset(7), "600761016060305fc1");
        let modulus = ModulusAt::OffsetAndRInv { offset: 7, r_inv: 256 };
        check(Evm384V2, 0, FieldOp::Mul, modulus, "610100600761016060305fc2");
        check(Evm384V4, 0, FieldOp::Add, ModulusAt::Implied, "61016060305fc0");
        check(Evm384V4, 0, FieldOp::Sub, ModulusAt::Implied, "61016060305fc1");
        check(Evm384V4, 0, FieldOp::Mul, ModulusAt::Implied, "61016060305fc2");
    }

    #[test]
    fn a_result_apart_from_the_first_operand_is_refused() {
        let modulus = ModulusAt::Offset(0);
        let instruction = FieldInstruction::Memory { operation: FieldOp::Add, out: 48, x: 0, y: 0, modulus };
        let error = Evm384V1.encode(&instruction, &mut Vec::new()).unwrap_err();
        assert_eq!(error, EncodeError::ResultApart { revision: "evm384-v1", out: 48, x: 0 });
    }
}
