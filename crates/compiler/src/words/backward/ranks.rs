//! Ranks of states: the states of a level are compared by their waste so far, plus an estimate of the least waste to
//! come.
//!
//! Two states that are ranked one after the other mostly have the same words at the bottom of their stacks: these are
//! not counted again.

use super::state::{Item, State};
use super::{MODULUS, Search};

/// A stack, the lowest word first, as far as ranks depend on it. The next one that is ranked has mostly the same words below.
#[derive(Default)]
pub(super) struct Ranked {
    stack: Vec<Item>,
    /// For each of its words, as bits, the terms that it and those below depend on.
    made_of: Vec<u64>,
    /// For each of its words, those up to it that have to come to the top.
    waits: Vec<Waits>,
    /// For each term, p last, the times that it lies there.
    times: Vec<u32>,
}

/// The words of a stack, up to one of them, that have to come to the top.
#[derive(Debug, Clone, Copy, Default)]
struct Waits {
    /// Those that wait for one below them, and those of the beginning with others below them.
    words: u64,
    /// True if something lies there that is not a word of the beginning, or one that lies further down too.
    has_others: bool,
}

impl Ranked {
    /// No stack yet, for `terms` terms.
    pub(super) fn of(terms: usize) -> Self {
        Self { times: vec![0; terms + 1], ..Self::default() }
    }
}

impl Search<'_> {
    /// Waste so far plus an estimate of the least to come: one exchange for each word that waits for one below it, and
    /// for each word of the beginning that has others below it. `None` if that is at least the rank of the last one
    /// found.
    pub(super) fn rank(&self, state: &State) -> Option<u64> {
        let stack = &state.stack[self.residents.len()..];
        let height = stack.len() as u64; // usize to u64 widens
        let rank = state.waste + height * self.prices.weight(self.prices.copy()) / 64;
        let (last, exchange) = (self.last.get(), self.exchange_estimate());
        if rank >= last {
            return None;
        }
        let Ranked { stack: known, made_of, waits, times } = &mut *self.ranked.borrow_mut();
        let words = self.computed.len();
        let same = known.iter().zip(stack).take_while(|(known, item)| known == item).count();
        known.drain(same..).for_each(|item| times[self.place(item)] -= 1);
        waits.truncate(same);
        made_of.truncate(same * words);
        let mut waiting = waits.last().copied().unwrap_or_default();
        for (at, &item) in stack.iter().enumerate().skip(same) {
            let place = self.place(item);
            let is_first = times[place] == 0;
            let from = made_of.len();
            match at {
                0 => made_of.resize(words, 0),
                _ => made_of.extend_from_within(from - words..),
            }
            if !self.is_number(item) {
                let of_all = &mut made_of[from..];
                let is_of_below = of_all[place / 64] >> (place % 64) & 1 == 1;
                waiting.words += u64::from(is_of_below && is_first);
                of_all.iter_mut().zip(&self.made_of[place]).for_each(|(all, more)| *all |= more);
            }
            let is_of_entry = is_first && self.is_entry[place];
            waiting.words += u64::from(is_of_entry && waiting.has_others);
            waiting.has_others |= !is_of_entry;
            known.push(item);
            times[place] += 1;
            waits.push(waiting);
            if rank + waiting.words * exchange >= last {
                return None;
            }
        }
        Some(rank + waiting.words * exchange).filter(|rank| *rank < last)
    }

    /// The place of an item among the terms, after which p has one.
    pub(super) fn place(&self, item: Item) -> usize {
        if item == MODULUS { self.terms.nodes.len() } else { item.into() }
    }
}
