//! The subroutine that reverses the bytes of a word, for values that stand little-endian on one side and big-endian on the
//! other.

use super::push;
use num_bigint::BigUint;
use num_traits::One;
use residue_isa::assembly::{Assembly, LabelId};
use residue_isa::opcode::evm;
use std::cell::Cell;

/// The subroutine, which stands in the code only if something calls it.
pub(super) struct Reverse {
    label: LabelId,
    called: Cell<bool>,
}

impl Reverse {
    pub(super) fn new(code: &mut Assembly) -> Self {
        Self { label: code.new_label(), called: Cell::new(false) }
    }

    /// [word] → [word with its bytes reversed]
    pub(super) fn call(&self, code: &mut Assembly) {
        self.called.set(true);
        let back = code.new_label();
        code.push_label(back);
        code.op(evm::SWAP1);
        code.push_label(self.label);
        code.op(evm::JUMP);
        code.label(back);
    }

    /// Copies a little-endian number of `size_bytes` from calldata to memory, big-endian, so that it ends at `end`. A number
    /// shorter than a word gets zeros in front, a word in all. [offset] → []
    pub(super) fn copy_calldata(&self, code: &mut Assembly, size_bytes: u32, end: u32) {
        for start in word_starts(size_bytes) {
            code.op(evm::DUP1);
            push(code, start);
            code.op(evm::ADD);
            code.op(evm::CALLDATALOAD);
            if size_bytes < 32 {
                push(code, 8 * (32 - size_bytes));
                code.op(evm::SHR);
                push(code, 8 * (32 - size_bytes));
                code.op(evm::SHL);
            }
            self.call(code);
            push(code, end - start - 32);
            code.op(evm::MSTORE);
        }
        code.op(evm::POP);
    }

    /// Copies a big-endian number of `size_bytes` at `from` in memory to `to`, little-endian. A number shorter than a word
    /// gets zeros after, a word in all. [] → []
    pub(super) fn copy_memory(&self, code: &mut Assembly, size_bytes: u32, from: u32, to: u32) {
        for start in word_starts(size_bytes) {
            push(code, from + size_bytes.saturating_sub(start + 32));
            code.op(evm::MLOAD);
            if size_bytes < 32 {
                push(code, 8 * (32 - size_bytes));
                code.op(evm::SHR);
            }
            self.call(code);
            push(code, to + start);
            code.op(evm::MSTORE);
        }
    }

    /// The subroutine: neighbouring bytes, then pairs, then fours … change places. [return, word] → [reversed]
    pub(super) fn subroutine(&self, code: &mut Assembly) {
        if !self.called.get() {
            return;
        }
        code.label(self.label);
        for bits in [8u32, 16, 32, 64, 128] {
            // The lower of each two fields of `bits` bits.
            let ones = (BigUint::one() << bits) - 1u8;
            let mask = (0..256 / (2 * bits)).fold(BigUint::ZERO, |mask, _| (mask << (2 * bits)) | &ones);
            let masked = |code: &mut Assembly| {
                if bits < 128 {
                    code.push(mask.clone());
                    code.op(evm::AND);
                }
            };
            code.op(evm::DUP1);
            masked(code);
            push(code, bits);
            code.op(evm::SHL);
            code.op(evm::SWAP1);
            push(code, bits);
            code.op(evm::SHR);
            masked(code);
            code.op(evm::OR);
        }
        code.op(evm::SWAP1);
        code.op(evm::JUMP);
    }
}

/// Offsets of words that cover a number of `size_bytes`; the last two overlap unless words fill it.
fn word_starts(size_bytes: u32) -> impl Iterator<Item = u32> {
    (0..size_bytes).step_by(32).map(move |start| start.min(size_bytes.saturating_sub(32)))
}
