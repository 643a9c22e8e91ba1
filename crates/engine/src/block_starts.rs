//! Where blocks begin in a code, how long each still waits for its plan, and which are known to have neither one that pays nor a
//! chain: a few bytes for each, so that asking is cheap where every few instructions begin another block.

use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

/// Set where a block is asked for no plan any more, and where none begins.
const PLAIN: u32 = 1 << 31;
/// Set where a block has a chain.
const CHAINED: u32 = 1 << 30;
/// The bits of a block's number.
const NUMBER: u32 = CHAINED - 1;
/// No block begins here.
const NONE: u32 = u32::MAX;
/// Entries that one counts as where values lie in rows already: without a plan they have to move.
const ENTRIES_BESIDE_ROWS: u16 = 32;

/// The blocks of a code by offset.
#[derive(Debug)]
pub(crate) struct BlockStarts {
    /// The number of the block that begins at each offset.
    at: Box<[AtomicU32]>,
    /// Of each block, the entries that it still waits for. Threads may count one at once as one: nothing depends on it.
    waits: Vec<AtomicU16>,
}

impl BlockStarts {
    /// No blocks yet.
    pub fn new(code_bytes: usize) -> Self {
        Self { at: (0..code_bytes).map(|_| AtomicU32::new(NONE)).collect(), waits: Vec::new() }
    }

    /// Notes that the next block begins at `pc`, which lies in the code, and waits for so many entries.
    pub fn push(&mut self, pc: usize, entries: u16) {
        let block = u32::try_from(self.waits.len()).ok().filter(|block| *block <= NUMBER);
        *self.at[pc].get_mut() = block.expect("a code has fewer than 2³⁰ blocks");
        self.waits.push(AtomicU16::new(entries));
    }

    /// The number of the block that begins at `pc`.
    #[inline(always)]
    pub fn get(&self, pc: usize) -> Option<usize> {
        let block = self.at.get(pc)?.load(Ordering::Relaxed);
        (block != NONE).then_some((block & NUMBER) as usize) // u32 to usize widens.
    }

    /// Whether the block that begins at `pc`, if one does, is to be asked for its plan, if plans run, or for its chain; else this is
    /// one entry less to wait for.
    #[inline(always)]
    pub fn is_due(&self, pc: usize, plans_run: bool, is_beside_rows: impl FnOnce() -> bool) -> bool {
        let Some(block) = self.at.get(pc).map(|block| block.load(Ordering::Relaxed)) else { return false };
        // Where no block begins, both bits are set.
        if block & (PLAIN | CHAINED) != 0 || !plans_run {
            return block & (PLAIN | CHAINED) == CHAINED;
        }
        let Some(left) = self.waits.get(block as usize) else { return false }; // u32 to usize widens.
        let entries = left.load(Ordering::Relaxed);
        if entries == 0 {
            return true;
        }
        let passed = if is_beside_rows() { ENTRIES_BESIDE_ROWS } else { 1 };
        left.store(entries.saturating_sub(passed), Ordering::Relaxed);
        false
    }

    /// Notes that the block that begins at `pc` has neither a plan that pays nor a chain.
    pub fn note_plain(&self, pc: usize) {
        if let Some(block) = self.at.get(pc) {
            block.fetch_or(PLAIN, Ordering::Relaxed);
        }
    }

    /// Notes that the block that begins at `pc` has a chain.
    pub fn note_chained(&self, pc: usize) {
        if let Some(block) = self.at.get(pc) {
            block.fetch_or(CHAINED, Ordering::Relaxed);
        }
    }

    /// Bytes it takes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.at) + size_of_val(&*self.waits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_wait_and_plain_ones_are_still_found() {
        let mut starts = BlockStarts::new(10);
        starts.push(3, 2);
        starts.push(5, 2 * ENTRIES_BESIDE_ROWS);
        assert_eq!([0, 3, 5, 9, 10].map(|pc| starts.get(pc)), [None, Some(0), Some(1), None, None]);
        let due = |pc, is_beside_rows| starts.is_due(pc, true, || is_beside_rows);
        assert_eq!([3, 3, 3, 3].map(|pc| due(pc, false)), [false, false, true, true]);
        assert_eq!([5, 5, 5].map(|pc| due(pc, true)), [false, false, true]);
        assert_eq!([0, 9, 10].map(|pc| due(pc, true)), [false; 3]);
        for pc in [3, 0, 10] {
            starts.note_plain(pc);
        }
        assert_eq!([0, 3, 10].map(|pc| starts.get(pc)), [None, Some(0), None]);
        assert_eq!([3, 5].map(|pc| due(pc, false)), [false, true]);
        // A chain runs also where no plans do.
        assert!(!starts.is_due(5, false, || false));
        starts.note_chained(5);
        assert_eq!([3, 5].map(|pc| starts.is_due(pc, false, || false)), [false, true]);
        assert_eq!(starts.get(5), Some(1));
    }
}
