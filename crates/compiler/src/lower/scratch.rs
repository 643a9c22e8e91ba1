//! Elements in scratch memory.

use super::Lowering;
use crate::target::{push, runs};
use num_bigint::BigUint;
use num_traits::One;
use residue_ir::program::{Operand, Value};
use residue_isa::opcode::evm;
use residue_passes::Slot;

/// Bytes of a word.
const WORD_BYTES: u32 = 32;

impl Lowering<'_> {
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
