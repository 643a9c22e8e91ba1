//! What the next field instruction is about to work on, as a tracer sees it: operands from wherever the revision has them.

use residue_isa::revision::evm384::{Modulus, Operands, VALUE_BYTES};
use residue_isa::revision::evm384_v7::Operands as Packed;
use residue_isa::revision::{evm384_v6, evm384_v7, evm384_v10};
use residue_isa::{FieldInstruction, FieldOp, ModulusAt, Revision};

use crate::trace::View;

impl View<'_> {
    /// The field instruction at this point with its operands. None for other instructions, for operands that are missing or
    /// beyond 2³², and for `evm384-v0`, which has values for operands.
    pub fn field_instruction(&self, revision: Revision) -> Option<FieldInstruction> {
        let code = self.code().get(self.pc()..)?;
        let Some(evm384) = revision.evm384() else {
            return revision.decode(code).map(|(instruction, _)| instruction);
        };
        let operation = revision.arithmetic_of(*code.first()?)?;
        let ([out, x, y], modulus) = match evm384.operands {
            Operands::Values => return None,
            Operands::Immediate => return revision.decode(code).map(|(instruction, _)| instruction),
            Operands::Words { overwrites_x } => self.words(operation, overwrites_x, evm384.modulus)?,
            Operands::Packed => self.packed(revision)?,
        };
        Some(FieldInstruction::Memory { operation, out, x, y, modulus })
    }

    /// Operands that are words on the stack.
    fn words(&self, operation: FieldOp, overwrites_x: bool, modulus: Modulus) -> Option<([u32; 3], ModulusAt)> {
        let offset = |position: usize| u32::try_from(self.number(position)?).ok();
        let first = usize::from(!overwrites_x);
        let places = [offset(0)?, offset(first)?, offset(first + 1)?];
        let modulus = match (modulus, operation) {
            (Modulus::OperandAndRInv, FieldOp::Mul) => {
                ModulusAt::OffsetAndRInv { offset: offset(first + 2)?, r_inv: self.number(first + 3)? }
            }
            (Modulus::OperandAndRInv | Modulus::Operand, _) => ModulusAt::Offset(offset(first + 2)?),
            _ => ModulusAt::Implied,
        };
        Some((places, modulus))
    }

    /// Operands in one word on the stack.
    fn packed(&self, revision: Revision) -> Option<([u32; 3], ModulusAt)> {
        let word = self.stack(0)?;
        let (_, low) = word.split_last_chunk::<16>()?;
        let low = u128::from_be_bytes(*low);
        let low_64_bits = (low & u128::from(u64::MAX)) as u64; // Masked.
        let place = |slot: u32| slot * VALUE_BYTES as u32; // 48 fits.
        match revision {
            Revision::Evm384V6 => {
                Some((evm384_v6::unpack(low_64_bits).map(|slot| place(slot.into())), ModulusAt::Implied))
            }
            Revision::Evm384V10 => {
                let [out, x, y, modulus] = evm384_v10::unpack(low_64_bits).map(|slot| place(slot.into()));
                Some(([out, x, y], ModulusAt::Offset(modulus)))
            }
            _ => {
                let Packed { out, x, y, modulus } = evm384_v7::unpack(low);
                Some(([out, x, y], ModulusAt::Offset(modulus)))
            }
        }
    }

    /// A word of the stack, if it is below 2⁶⁴.
    pub fn number(&self, position: usize) -> Option<u64> {
        let word = self.stack(position)?;
        let (high, low) = word.split_last_chunk::<8>()?;
        high.iter().all(|&byte| byte == 0).then(|| u64::from_be_bytes(*low))
    }
}
