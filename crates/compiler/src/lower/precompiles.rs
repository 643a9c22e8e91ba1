//! Calls of precompiles: input and output are scratch memory, or the whole calldata and all that a program returns. So are those of accounts that have a
//! program's stages.

use super::{Entry, Lowering};
use crate::error::CompileError;
use crate::target::push;
use num_bigint::BigUint;
use residue_ir::Account;
use residue_ir::program::{Program, Word};
use residue_isa::opcode::evm;
use residue_isa::precompile::MODEXP;
use residue_passes::Slot;

/// Bytes of a number that MODEXP is given: a word, or those of a longer modulus, as they decide its price.
fn number_bytes(program: &Program) -> u32 {
    u32::try_from(program.modulus.bits().div_ceil(8)).expect("a modulus has a few words").max(32)
}

/// Bytes of memory for MODEXP's input for an inverse: three lengths, a, p − 2 and p.
pub(super) fn inversion_bytes(program: &Program) -> u32 {
    3 * 32 + (3 * number_bytes(program)).next_multiple_of(32)
}

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

    /// Ends the program as the precompile does.
    pub(super) fn return_precompile(&mut self, address: u32) {
        self.return_called(|lowering| lowering.static_call(address));
    }

    /// Ends the program as the account does. A call of an account without code succeeds, with no output; a stage has output, so there is no code where there is
    /// none, and the program fails.
    pub(super) fn return_account(&mut self, account: Account) {
        self.return_called(|lowering| {
            lowering.code.push(BigUint::from_bytes_be(&account.address().to_be_bytes::<32>()));
            lowering.code.op(evm::GAS);
            lowering.code.op(evm::STATICCALL);
            lowering.code.op(evm::RETURNDATASIZE);
            lowering.code.op(evm::MUL);
        });
    }

    /// Returns what `call` does, which has [output bytes, output, input bytes, input] → [0 if it failed]. Nothing of memory is read any more, so calldata and
    /// output stand at its beginning.
    fn return_called(&mut self, call: impl FnOnce(&mut Self)) {
        self.code.op(evm::CALLDATASIZE);
        push(self.code, 0);
        push(self.code, 0);
        self.code.op(evm::CALLDATACOPY);
        push(self.code, 0);
        push(self.code, 0);
        self.code.op(evm::CALLDATASIZE);
        push(self.code, 0);
        call(self);
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

    /// aᵖ⁻² by the precompile of EIP-198, which is the inverse of a, and 0 for 0. The prime p is below 2^(8·bytes). [] → []
    pub(super) fn invert_by_modexp(&mut self, out: Slot, value: Slot) {
        let modulus = self.program.modulus.known().expect("`is_by_modexp` asks for it");
        let bytes = number_bytes(self.program);
        let start = self.layout.output;
        let store = |lowering: &mut Self, at: u32| {
            push(lowering.code, at);
            lowering.code.op(evm::MSTORE);
        };
        for at in [0, 32, 64] {
            push(self.code, bytes);
            store(self, start + at);
        }
        let base = start + 3 * 32;
        if self.target.push_word(self.code, value) {
            store(self, base);
        } else {
            self.target.output(self.code, value, base, bytes);
        }
        // p − 2 and p one after the other, a word at a time from the first byte on.
        let both = ((modulus - 2u8) << (8 * bytes)) + modulus;
        let words = (2 * bytes).div_ceil(32);
        let padded = both << (8 * (32 * words - 2 * bytes));
        let word_max = (BigUint::from(1u8) << 256) - 1u8;
        for word in 0..words {
            self.code.push((&padded >> (256 * (words - 1 - word))) & &word_max);
            store(self, base + bytes + 32 * word);
        }
        for word in [bytes, start, 3 * (32 + bytes), start] {
            push(self.code, word);
        }
        self.static_call(MODEXP.into());
        self.code.op(evm::ISZERO);
        self.code.push_label(self.fail);
        self.code.op(evm::JUMPI);
        let words = bytes.div_ceil(32);
        for below in (0..words).rev() {
            // The first word has the bytes that are left.
            let end = bytes - 32 * below;
            push(self.code, start + end.saturating_sub(32));
            self.code.op(evm::MLOAD);
            if end < 32 {
                push(self.code, 8 * (32 - end));
                self.code.op(evm::SHR);
            }
        }
        self.target.take_words(self.code, out, words);
    }

    /// [output bytes, output, input bytes, input] → [1 if it succeeded, else 0]
    pub(super) fn static_call(&mut self, address: u32) {
        push(self.code, address);
        self.code.op(evm::GAS);
        self.code.op(evm::STATICCALL);
    }
}
