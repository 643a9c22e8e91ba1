//! Message schedules: numbers that are computed two at once, in the halves of a word.
//!
//! Each pair has a variable, the earlier number in its upper half, so that any two that follow each other are 32 bytes of memory.

use crate::words::Words;
use residue_ir::{Machine, Variable};
use ruint::aliases::U256;

/// Bytes of half a word.
const HALF_BYTES: u32 = 16;
/// Its bits.
const HALF: usize = 128;

/// The numbers of a schedule, of so many bits each: 32 or 64.
pub(super) struct Schedule {
    /// The first one holds nothing: something stands before the first pair.
    pairs: Vec<Variable>,
    bits: usize,
}

impl Schedule {
    /// One of so many numbers.
    pub(super) fn new<M: Machine>(machine: &M, numbers: usize, bits: usize) -> Self {
        let pairs = (0..=numbers / 2).map(|_| machine.variable("schedule", machine.small(0))).collect();
        Self { pairs, bits }
    }

    /// All bits of a number, in both halves.
    pub(super) fn mask(&self) -> U256 {
        let number = (U256::ONE << self.bits) - U256::ONE;
        number | number << HALF
    }

    /// Sets the numbers from `first` on, which is even, to those of a word, one after the other, given [`Schedule::mask`].
    pub(super) fn set_word<M: Machine>(&self, machine: &M, first: usize, word: M::Word, mask: M::Word) {
        let w = Words(machine);
        let apart = w.number((HALF - self.bits) as u64); // usize to u64 widens
        let pair_bits = 2 * self.bits;
        let both = machine.word((U256::ONE << pair_bits) - U256::ONE);
        for at in 0..256 / pair_bits {
            let shift = 256 - pair_bits * (at + 1);
            let moved = if shift == 0 { word } else { w.high(word, shift as u64) }; // usize to u64 widens
            let pair = if at == 0 { moved } else { w.and(both, moved) };
            let pair = machine.bind(pair);
            self.set_pair(machine, first + 2 * at, w.or(w.shl(pair, apart), pair), mask);
        }
    }

    /// Sets numbers `first`, which is even, and the next one; what is above them goes, by [`Schedule::mask`].
    pub(super) fn set_pair<M: Machine>(&self, machine: &M, first: usize, pair: M::Word, mask: M::Word) {
        machine.set(self.pairs[1 + first / 2], Words(machine).and(mask, pair));
    }

    /// Numbers `first` and the next one.
    pub(super) fn pair<M: Machine>(&self, machine: &M, first: usize) -> M::Word {
        let variable = self.pairs[1 + first / 2];
        if first.is_multiple_of(2) { machine.get(variable) } else { machine.get_across(variable, HALF_BYTES) }
    }

    /// One number, and some other from bit 128.
    pub(super) fn number<M: Machine>(&self, machine: &M, number: usize) -> M::Word {
        if number % 2 == 1 {
            self.pair(machine, number - 1)
        } else {
            machine.get_across(self.pairs[number / 2], HALF_BYTES)
        }
    }
}
