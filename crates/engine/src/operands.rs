//! Operands of the next field instruction, for tracers, from any of the places where revisions have them.

use residue_isa::opcode::evm::PUSH0;
use residue_isa::revision::evm384::{Modulus, Operands};
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
        let operation = revision.arithmetic_of(*code.first()?)?; // None of EVM384 has a prefix.
        let ([out, x, y], modulus) = match evm384.operands {
            Operands::Values => return None,
            Operands::Immediate => return revision.decode(code).map(|(instruction, _)| instruction),
            Operands::Words { overwrites_x } => self.words(operation, overwrites_x, evm384.modulus)?,
            Operands::Packed { push } => return self.packed(revision, push, *code.first()?),
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

    /// Operands in one word on the stack: as if its low bytes had just been pushed.
    fn packed(&self, revision: Revision, push: u8, opcode: u8) -> Option<FieldInstruction> {
        let word = self.stack(0)?;
        let (_, operands) = word.split_at_checked(word.len() - usize::from(push - PUSH0))?;
        let code = [&[push], operands, &[opcode]].concat();
        revision.decode(&code).map(|(instruction, _)| instruction)
    }

    /// A word of the stack, if it is below 2⁶⁴.
    pub fn number(&self, position: usize) -> Option<u64> {
        let word = self.stack(position)?;
        let (high, low) = word.split_last_chunk::<8>()?;
        high.iter().all(|&byte| byte == 0).then(|| u64::from_be_bytes(*low))
    }
}
