//! What is known of the end of a block while the rest is searched.

use residue_passes::Slot;
use std::collections::HashSet;
use std::rc::Rc;

/// A word that is asked for: a term, or p.
pub type Item = u16;

/// An instruction, where memory for lack of room has no slot yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Push(Item),
    Dup(usize),
    Swap(usize),
    Pop,
    Load(Slot),
    Store(Slot),
    /// Loads a word that is in memory for lack of room.
    Fetch(Item),
    /// Stores it.
    Keep(Item),
    Make(Item),
}

/// What is known of the end of a block.
#[derive(Debug)]
pub struct State {
    /// What has to lie on the stack before it.
    pub stack: Vec<Item>,
    /// The operations in it, but for the one that was found last.
    pub made: Rc<Made>,
    /// The operation that was found last, until the state is followed.
    pub made_last: Option<Item>,
    /// Outputs that are stored before.
    pub waiting: Rc<Vec<usize>>,
    /// Words that are in memory for lack of room, and stored before.
    pub kept: Rc<Vec<Item>>,
    pub waste: u64,
    /// Since the state before, the last instruction first.
    pub steps: Vec<Step>,
    /// What was taken from the stack and is put back when another way is tried.
    pub taken: Vec<Item>,
    /// The state before, by its place.
    pub parent: usize,
    /// What it is judged by.
    pub rank: u64,
    /// By which it is known again: a hash of all that the rest of the search depends on.
    key: u64,
    /// The part of it that sets have, of which one member more or less changes one summand.
    pub sets_key: u64,
}

/// The operations at the end of a block that are made: all from a place on, none before another one, and bits for those between.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Made {
    low: usize,
    words: Vec<u64>,
}

impl Made {
    /// None of so many words of operations.
    pub const fn none(words: usize) -> Self {
        Self { low: words, words: Vec::new() }
    }

    /// True for an operation that is one of them.
    pub fn contains(&self, item: Item) -> bool {
        let item = usize::from(item);
        let Some(at) = (item / 64).checked_sub(self.low) else { return false };
        self.words.get(at).is_none_or(|word| word >> (item % 64) & 1 == 1)
    }

    /// Adds one; `all` are the bits of all operations.
    pub fn insert(&mut self, item: Item, all: &[u64]) {
        let item = usize::from(item);
        let word = item / 64;
        if let Some(more @ 1..) = self.low.checked_sub(word) {
            self.words.splice(0..0, std::iter::repeat_n(0, more));
            self.low = word;
        }
        if let Some(bits) = self.words.get_mut(word - self.low) {
            *bits |= 1 << (item % 64);
        }
        while self.words.last().is_some_and(|last| *last == all[self.low + self.words.len() - 1]) {
            self.words.pop();
        }
    }
}

/// A number that stands for a member of a set.
pub const fn member(of: u64) -> u64 {
    // Vigna, "splitmix64", 2015.
    let mut bits = of.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// That of an operation that is made.
pub const fn member_made(item: Item) -> u64 {
    member(1 << 32 | item as u64) // u16 to u64 widens
}

/// That of an output that waits.
pub const fn member_waiting(place: usize) -> u64 {
    member(1 << 33 | place as u64) // usize to u64 widens
}

/// A hash of a row of items, from that of what comes before.
fn hash_row(before: u64, row: &[Item]) -> u64 {
    row.iter().fold(member(before ^ row.len() as u64), |hash, &item| {
        // usize to u64 widens
        let product = u128::from(hash ^ u64::from(item)).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        (product as u64) ^ (product >> 64) as u64
    })
}

impl State {
    pub fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.kept.is_empty() && self.stack.is_empty()
    }

    /// Whether the rest of the search is the same from both.
    pub fn is_as(&self, other: &Self) -> bool {
        let of = |state: &Self| (state.waste, state.steps.len(), state.taken.len());
        self.stack == other.stack
            && self.made == other.made
            && self.sets_key == other.sets_key
            && self.waiting == other.waiting
            && self.kept == other.kept
            && of(self) == of(other)
    }

    /// Takes away the word on top, which a step brings.
    pub fn take(&mut self, step: Step) {
        self.taken.extend(self.stack.pop());
        self.steps.push(step);
    }

    /// The state at the end of a block, after which the residents are dropped and the other words are left on the stack.
    pub fn end(residents: &[Item], left: &[Item], terms: usize, outputs: usize) -> Self {
        Self {
            made: Rc::new(Made::none(terms.div_ceil(64))),
            made_last: None,
            waiting: Rc::new((0..outputs).collect()),
            kept: Rc::default(),
            waste: 0,
            steps: residents.iter().map(|_| Step::Pop).collect(),
            taken: Vec::new(),
            parent: usize::MAX,
            rank: 0,
            key: 0,
            sets_key: (0..outputs).fold(0, |key, place| key ^ member_waiting(place)),
            stack: [residents, left].concat(),
        }
    }

    /// The state as one of those found, after an operation if there is one; `taken` is what only the search on this way needs.
    pub fn found(&self, rank: u64, made_last: Option<Item>) -> Self {
        let sets_key = self.sets_key ^ made_last.map_or(0, member_made);
        Self {
            stack: self.stack.clone(),
            made: Rc::clone(&self.made),
            made_last,
            waiting: Rc::clone(&self.waiting),
            kept: Rc::clone(&self.kept),
            waste: self.waste,
            steps: self.steps.clone(),
            taken: Vec::new(),
            parent: self.parent,
            rank,
            key: hash_row(hash_row(sets_key, &self.kept), &self.stack),
            sets_key,
        }
    }
}

/// Leaves the best ones, each once.
pub fn best_of(found: &mut Vec<State>, width: usize) {
    found.sort_by_key(|state| state.rank);
    let mut seen = HashSet::new();
    found.retain(|state| seen.len() < width && seen.insert(state.key));
}
