//! Calls of precompiles: input and output are scratch memory, or the whole calldata and all that a program returns.

use super::{Entry, Lowering};
use crate::error::CompileError;
use crate::target::push;
use residue_ir::program::Word;
use residue_isa::opcode::evm;
use residue_isa::precompile::MODEXP;
use residue_passes::Slot;

/// Bytes of MODEXP's input for an inverse: three lengths, a, p − 2 and p.
pub(super) const INVERSION_BYTES: u32 = 6 * 32;

impl Lowering<'_> {
    /// [] → [1 if it succeeded, else 0]; the result is not in the model of the stack. It forwards all gas that EIP-150
    /// allows: the chain defines the price of the precompile.
    pub(super) fn precompile(
        &mut self,
        address: u32,
        (offset, size_bytes): (Word, Word),
        (to, output_bytes): (Word, u32),
    ) -> Result<(), CompileError> {
        push(self.code, output_bytes);
        self.stack.push(Entry::Other);
        self.scratch_address(to)?;
        self.word(size_bytes)?;
        self.scratch_address(offset)?;
        self.static_call(address);
        self.stack.truncate(self.stack.len() - 4);
        Ok(())
    }

    /// Nothing of memory is read any more, so calldata and output stand at its beginning.
    pub(super) fn return_precompile(&mut self, address: u32) {
        self.code.op(evm::CALLDATASIZE);
        push(self.code, 0);
        push(self.code, 0);
        self.code.op(evm::CALLDATACOPY);
        push(self.code, 0);
        push(self.code, 0);
        self.code.op(evm::CALLDATASIZE);
        push(self.code, 0);
        self.static_call(address);
        self.code.op(evm::ISZERO);
        self.code.push_label(self.fail);
        self.code.op(evm::JUMPI);
        self.code.op(evm::RETURNDATASIZE);
        push(self.code, 0);
        push(self.code, 0);
        self.code.op(evm::RETURNDATACOPY);
        self.code.op(evm::RETURNDATASIZE);
        push(self.code, 0);
        self.code.op(evm::RETURN);
    }

    /// aᵖ⁻² by the precompile of EIP-198, which is the inverse of a, and 0 for 0. [] → []
    pub(super) fn invert_by_modexp(&mut self, out: Slot, value: Slot) {
        let modulus = self.program.modulus.known().expect("`is_by_modexp` asks for it");
        let (exponent, modulus) = (modulus - 2u8, modulus.clone());
        let start = self.layout.output;
        for (number, word) in
            (0..).zip([Some(32u8.into()), Some(32u8.into()), Some(32u8.into()), None, Some(exponent), Some(modulus)])
        {
            match word {
                Some(word) => {
                    self.code.push(word);
                }
                None => {
                    self.target.push_word(self.code, value);
                }
            }
            push(self.code, start + 32 * number);
            self.code.op(evm::MSTORE);
        }
        for word in [32, start, INVERSION_BYTES, start] {
            push(self.code, word);
        }
        self.static_call(MODEXP.into());
        self.code.op(evm::ISZERO);
        self.code.push_label(self.fail);
        self.code.op(evm::JUMPI);
        push(self.code, start);
        self.code.op(evm::MLOAD);
        self.target.take_words(self.code, out, 1);
    }

    /// [output bytes, output, input bytes, input] → [1 if it succeeded, else 0]
    pub(super) fn static_call(&mut self, address: u32) {
        push(self.code, address);
        self.code.op(evm::GAS);
        self.code.op(evm::STATICCALL);
    }
}
