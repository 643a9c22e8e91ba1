//! Shared parts of the EVM384 revisions, and the parameters in which they differ: not a revision itself.
//!
//! All have the opcodes c0, c1 and c2 for addition, subtraction and Montgomery multiplication of 48-byte values with
//! R = 2³⁸⁴, push nothing (but `evm384-v0`) and accept any operands; the experiment `x-383` refuses long moduli. Each
//! revision has a file with its encoding of operands; [`Evm384`] has it as data, for the compiler and for generators of
//! programs.

use alloc::vec::Vec;

use super::EncodeError;
use crate::field_instruction::{FieldInstruction, FieldOp, ModulusAt};
use crate::opcode::evm::{PUSH0, PUSH8};

/// Bytes of a value in memory.
pub const VALUE_BYTES: usize = 48;
/// Bits of a value.
pub const VALUE_BITS: u32 = 384;
/// Bytes of r_inv, which follows the modulus.
pub const R_INV_BYTES: usize = 8;
/// The base field of BLS12-381, little-endian limbs: the only field of `evm384-v4` and `evm384-v5`.
pub const BLS12_381_P: [u64; 6] = [
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
];
/// −p⁻¹ mod 2⁶⁴ of that field.
pub const BLS12_381_R_INV: u64 = 0x89f3_fffc_fffc_fffd;

const _: () = assert!(VALUE_BITS as usize == 8 * VALUE_BYTES); // u32 to usize widens.
const _: () = assert!(BLS12_381_P[0].wrapping_mul(BLS12_381_R_INV) == u64::MAX);

/// Parameters in which the revisions of EVM384 differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evm384 {
    /// Source of the operands.
    pub operands: Operands,
    /// Source of modulus and r_inv.
    pub modulus: Modulus,
    /// Order of the bytes of values and of r_inv in memory.
    pub byte_order: ByteOrder,
    /// Bytes between neighbouring places that an operand can name: 1 for byte offsets, 48 for slot numbers.
    pub unit_bytes: u32,
    /// The highest operand.
    pub operand_max: u32,
    /// True if instructions grow memory. If false, ranges outside memory halt.
    pub grows: bool,
    /// The most bits of a modulus in memory: [`VALUE_BITS`], which is no limit, or one less. Under a longer one every instruction halts.
    pub modulus_bits_max: u32,
}

impl Evm384 {
    /// True if some moduli are too long.
    pub const fn limits_moduli(&self) -> bool {
        self.modulus_bits_max < VALUE_BITS
    }

    /// True if the modulus at byte offset `modulus` is too long. It must lie within memory.
    #[inline(always)]
    pub const fn refuses(&self, memory: &[u8], modulus: usize) -> bool {
        let top = match self.byte_order {
            ByteOrder::Little => VALUE_BYTES - 1,
            ByteOrder::Big => 0,
        };
        self.limits_moduli() && memory[modulus + top] >= 0x80
    }
}

/// Source of the operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operands {
    /// The values themselves are on the stack, two words each.
    Values,
    /// Each operand is a word on the stack.
    Words {
        /// There is no operand for the result: it goes where the first operand was.
        overwrites_x: bool,
    },
    /// All are packed in one word on the stack, which this opcode pushes.
    Packed {
        /// A push as long as the operands.
        push: u8,
    },
    /// All are in the immediate.
    Immediate,
}

/// Source of modulus and r_inv.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modulus {
    /// The third value on the stack, r_inv after it.
    Value,
    /// At an operand in memory; r_inv is in the eight bytes after it.
    Operand,
    /// At an operand in memory; r_inv is another operand, of multiplications only.
    OperandAndRInv,
    /// At one byte offset in memory; r_inv is in the eight bytes after it.
    Place(u32),
    /// The base field of BLS12-381.
    Fixed,
    /// As an instruction has set it before.
    Set,
}

/// Order of the bytes of a number in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

/// The parts of an instruction on memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts {
    pub operation: FieldOp,
    pub out: u32,
    pub x: u32,
    pub y: u32,
    pub modulus: ModulusAt,
}

impl Parts {
    /// The parts, or the refusal of a revision that has no such operands.
    pub fn of(instruction: &FieldInstruction, revision: &'static str) -> Result<Self, EncodeError> {
        match *instruction {
            FieldInstruction::Memory { operation, out, x, y, modulus } => Ok(Self { operation, out, x, y, modulus }),
            FieldInstruction::Slots { .. } | FieldInstruction::Formed(_) => Err(refused(instruction, revision)),
        }
    }

    /// The inverse of [`Parts::of`].
    pub fn instruction(self) -> FieldInstruction {
        let Self { operation, out, x, y, modulus } = self;
        FieldInstruction::Memory { operation, out, x, y, modulus }
    }
}

/// The refusal of an instruction with operands of another kind.
pub(super) fn refused(instruction: &FieldInstruction, revision: &'static str) -> EncodeError {
    EncodeError::OperandKind { revision, instruction: *instruction }
}

/// c0, c1 or c2.
pub(super) const fn opcode(operation: FieldOp) -> u8 {
    match operation {
        FieldOp::Add => 0xc0,
        FieldOp::Sub => 0xc1,
        FieldOp::Mul => 0xc2,
    }
}

/// The inverse of [`opcode`].
pub(super) const fn operation(opcode: u8) -> Option<FieldOp> {
    match opcode {
        0xc0 => Some(FieldOp::Add),
        0xc1 => Some(FieldOp::Sub),
        0xc2 => Some(FieldOp::Mul),
        _ => None,
    }
}

/// Appends the smallest push of each number, the last one first so that the first is on top, and the opcode.
pub(super) fn push_operands(operands: &[u64], operation: FieldOp, code: &mut Vec<u8>) {
    for operand in operands.iter().rev() {
        let bytes = operand.to_be_bytes();
        let digits = &bytes[operand.leading_zeros() as usize / 8..]; // u32 to usize widens.
        code.push(PUSH0 + u8::try_from(digits.len()).expect("a limb has eight bytes"));
        code.extend_from_slice(digits);
    }
    code.push(opcode(operation));
}

/// Reads smallest pushes up to an arithmetic opcode: the numbers with the top first, the operation, the length.
pub(super) fn pushed_operands(code: &[u8]) -> Option<(Vec<u64>, FieldOp, usize)> {
    /// More words than any instruction takes.
    const OPERANDS_MAX: usize = 6;
    let mut operands = Vec::new();
    let mut at = 0;
    while operands.len() < OPERANDS_MAX {
        let byte = *code.get(at)?;
        if let Some(operation) = operation(byte) {
            operands.reverse();
            return Some((operands, operation, at + 1));
        }
        if !(PUSH0..=PUSH8).contains(&byte) {
            return None;
        }
        let digits = code.get(at + 1..)?.get(..usize::from(byte - PUSH0))?;
        if digits.first() == Some(&0) {
            return None; // Not the smallest push, so encoding would not give it back.
        }
        operands.push(digits.iter().fold(0, |number, &digit| number << 8 | u64::from(digit)));
        at += 1 + digits.len();
    }
    None
}

/// A pushed number as a byte offset.
pub(super) fn offset(operand: u64) -> Option<u32> {
    u32::try_from(operand).ok()
}
