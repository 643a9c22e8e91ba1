//! Messages in blocks: the bytes of a message, 0x80, zeros, and the message's length at the end of the last block.
//!
//! FIPS 180-4, §5.1; RIPEMD-160 has the same but for the order of the length's bytes (Dobbertin, Bosselaers and Preneel 1996, §2).

use crate::words::Words;
use residue_ir::Machine;

/// A message that is hashed in blocks.
pub(super) struct Message<W> {
    size: W,
    blocks: W,
    block_words: u64,
}

impl<W: Copy> Message<W> {
    /// A message of `size` bytes in blocks of so many words, of 32 bytes, the last of which ends with `length_bytes` bytes of length.
    pub(super) fn new<M: Machine<Word = W>>(machine: &M, size: W, block_words: u64, length_bytes: u64) -> Self {
        let w = Words(machine);
        let size = machine.bind(size);
        let block_bytes = w.number(32 * block_words);
        let blocks = machine.bind(w.div(w.add(size, w.number(32 * block_words + length_bytes)), block_bytes));
        Self { size, blocks, block_words }
    }

    /// Number of blocks.
    pub(super) fn blocks(&self) -> W {
        self.blocks
    }

    /// Word `part` of a block, without the length. `word_at` gives the 32 bytes that are so many bytes after the start, with zeros after the
    /// last one.
    pub(super) fn word<M: Machine<Word = W>>(
        &self,
        machine: &M,
        (block, part): (W, u64),
        word_at: impl Fn(&M, W) -> W,
    ) -> W {
        let w = Words(machine);
        let offset = machine.bind(w.add(w.mul(block, w.number(32 * self.block_words)), w.number(32 * part)));
        // 0x80 after the last byte: a shift by 256 or more, as by a number below 0, gives 0.
        let bits = w.mul(w.sub(self.size, offset), w.number(8));
        let end = w.shl(w.number(0x80), w.sub(w.number(248), bits));
        w.or(word_at(machine, offset), end)
    }

    /// The length in bits in the last block, 0 in all others.
    pub(super) fn length<M: Machine<Word = W>>(&self, machine: &M, block: W) -> W {
        let w = Words(machine);
        let is_last = w.is_equal(w.add(block, w.number(1)), self.blocks);
        w.mul(is_last, w.mul(self.size, w.number(8)))
    }
}
