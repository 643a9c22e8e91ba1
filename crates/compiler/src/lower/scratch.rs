//! Words, hashes and elements in scratch memory.

use super::{Entry, Lowering};
use crate::error::CompileError;
use crate::target::{push, runs};
use num_bigint::BigUint;
use num_traits::One;
use residue_ir::program::{Operand, Value, Word};
use residue_isa::assembly::KnownAddresses;
use residue_isa::opcode::evm;
use residue_isa::precompile::SHA256;
use residue_passes::Slot;
use ruint::aliases::U256;

/// Bytes of a word.
const WORD_BYTES: u32 = 32;
/// Bound of the bytes of a SHA-256 whose success is not tested. It takes at most 120 gas (60, and 12 a word: Yellow Paper,
/// appendix E), and a call is given all gas but a 64th (EIP-150). A call without gas enough thus leaves 1 gas at most, with
/// which POP ends the frame. A call fails at a depth of 1,024 too: there a frame has at most (63/64)¹⁰²⁴, 10⁻⁷, of the
/// transaction's gas, so that 122 gas need a transaction of 1.2·10⁹, 70 times what EIP-7825 allows.
const UNASKED_BYTES_MAX: U256 = U256::from_limbs([160, 0, 0, 0]);

impl Lowering<'_> {
    /// Writes a word, or its lowest byte, by `opcode`. A word that lies below the offset already is where that wants it. [] → []
    pub(super) fn set_scratch(&mut self, offset: Word, word: Word, opcode: u8) -> Result<(), CompileError> {
        if self.lies_below_the_first_of(word, offset) {
            self.take_below(word);
        } else {
            self.word(word)?;
        }
        self.scratch_address(offset)?;
        self.code.op(opcode);
        self.stack.truncate(self.stack.len() - 2);
        Ok(())
    }

    /// [] → []
    pub(super) fn copy_calldata(&mut self, offset: Word, from: Word, size_bytes: Word) -> Result<(), CompileError> {
        if self.begins_on_top(offset) {
            self.scratch_address(offset)?;
            self.word(from)?;
            self.word(size_bytes)?;
            self.code.op(evm::SWAP1 + 1);
        } else {
            self.word(size_bytes)?;
            self.word(from)?;
            self.scratch_address(offset)?;
        }
        self.code.op(evm::CALLDATACOPY);
        self.stack.truncate(self.stack.len() - 3);
        Ok(())
    }

    /// [] → []
    pub(super) fn copy_scratch(&mut self, offset: u32, from: u32, size_bytes: u32) {
        let [to, from] = [offset, from].map(|byte| self.layout.scratch + byte);
        if size_bytes > 0 {
            push(self.code, size_bytes);
            push(self.code, from);
            push(self.code, to);
            self.code.copy(size_bytes, KnownAddresses { from: Some(from), to: Some(to) });
        }
    }

    /// [] → [the hash]; the result is not in the model of the stack.
    pub(super) fn keccak256_scratch(&mut self, offset: Word, size_bytes: Word) -> Result<(), CompileError> {
        self.word(size_bytes)?;
        self.scratch_address(offset)?;
        self.code.op(evm::KECCAK256);
        self.stack.truncate(self.stack.len() - 2);
        Ok(())
    }

    /// [] → []
    pub(super) fn sha256_scratch(&mut self, offset: Word, size_bytes: Word, to: Word) -> Result<(), CompileError> {
        if self.begins_on_top(to) {
            self.scratch_address(to)?;
            self.code.push_below(WORD_BYTES);
            self.stack.push(Entry::Other);
        } else {
            push(self.code, WORD_BYTES);
            self.stack.push(Entry::Other);
            self.scratch_address(to)?;
        }
        self.word(size_bytes)?;
        self.scratch_address(offset)?;
        self.static_call(SHA256.into());
        self.stack.truncate(self.stack.len() - 4);
        if self.known(size_bytes).is_some_and(|bytes| bytes <= UNASKED_BYTES_MAX) {
            self.code.op(evm::POP);
        } else {
            self.code.op(evm::ISZERO);
            self.code.push_label(self.fail);
            self.code.op(evm::JUMPI);
        }
        Ok(())
    }

    /// Elements come from scratch memory: run by run of neighbouring slots where the target's loads look at them, else each as a word. [] → []
    pub(super) fn take_scratch(&mut self, offset: u32, size_bytes: u32, results: &[Value]) {
        let first = self.layout.scratch + offset;
        let slots = self.slots_of(results);
        if self.target.has_canonical(size_bytes, true) {
            for (slot, count, number) in runs(&slots) {
                self.target.before_load(self.code, slot, count);
                push(self.code, first + number * size_bytes);
                self.target.load(self.code, slot, count);
            }
            return;
        }
        let modulus = self.program.modulus.known().expect("`verify` refuses others");
        let is_any_below = BigUint::one() << (8 * size_bytes) <= *modulus;
        for (slot, address) in slots.into_iter().zip((first..).step_by(size_bytes as usize)) {
            // u32 to usize widens
            push(self.code, address);
            self.code.op(evm::MLOAD);
            if size_bytes < WORD_BYTES {
                push(self.code, 8 * (WORD_BYTES - size_bytes));
                self.code.op(evm::SHR);
            }
            if !is_any_below {
                self.code.op(evm::DUP1);
                self.code.push(modulus.clone());
                self.code.op(evm::GT);
                self.code.op(evm::ISZERO);
                self.code.push_label(self.fail);
                self.code.op(evm::JUMPI);
            }
            self.target.take_words(self.code, slot, 1);
        }
    }

    /// Elements go to scratch memory: run by run of neighbouring slots, else a word at a time, which keeps the bytes
    /// beside them. [] → []
    pub(super) fn put_scratch(&mut self, offset: u32, size_bytes: u32, values: &[Operand]) {
        let first = self.layout.scratch + offset;
        let slots: Vec<Slot> = values.iter().map(|&value| self.slot(value)).collect();
        if self.target.has_canonical(size_bytes, false) {
            for (slot, count, number) in runs(&slots) {
                self.target.before_store(self.code, slot, count);
                push(self.code, first + number * size_bytes);
                self.target.store(self.code, slot, count);
            }
            return;
        }
        let in_word = WORD_BYTES / size_bytes;
        let words = slots.chunks(in_word as usize).zip((first..).step_by((in_word * size_bytes) as usize)); // u32 to usize widens
        for (slots, address) in words {
            let mut bytes = 0;
            for &slot in slots {
                if bytes > 0 {
                    push(self.code, 8 * size_bytes);
                    self.code.op(evm::SHL);
                }
                self.word_of(slot, 0);
                if bytes > 0 {
                    self.code.op(evm::OR);
                }
                bytes += size_bytes;
            }
            if bytes < WORD_BYTES {
                push(self.code, 8 * (WORD_BYTES - bytes));
                self.code.op(evm::SHL);
                push(self.code, address);
                self.code.op(evm::MLOAD);
                for shift in [evm::SHL, evm::SHR] {
                    push(self.code, 8 * bytes);
                    self.code.op(shift);
                }
                self.code.op(evm::OR);
            }
            push(self.code, address);
            self.code.op(evm::MSTORE);
        }
    }
}
