//! State of the backward search: the known end of a block.

use residue_passes::Slot;
use std::ops::Range;
use std::rc::Rc;

/// A word that is asked for: a term, or p.
pub type Item = u16;

/// An instruction, where memory for lack of room has no slot yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Push(Item),
    Dup(u32),
    Swap(u32),
    Pop,
    Load(Slot),
    Store(Slot),
    /// Loads a word that is in memory for lack of room.
    Fetch(Item),
    /// Stores it.
    Keep(Item),
    Make(Item),
}

/// Known end of a block.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// Stack required before it.
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
    /// Words taken from the stack, to restore when another path is tried.
    pub taken: Vec<Item>,
    /// The state before, by its place.
    pub parent: usize,
    /// Rank for comparison with other states.
    pub rank: u64,
    /// Part of the state's hash for sets: one more or less member changes one summand.
    pub sets_key: u64,
}

/// A state that was found; its stack and steps are ranges of those of all.
#[derive(Debug, Clone)]
struct Candidate {
    stack: Range<usize>,
    steps: Range<usize>,
    made: Rc<Made>,
    made_last: Option<Item>,
    waiting: Rc<Vec<usize>>,
    kept: Rc<Vec<Item>>,
    waste: u64,
    parent: usize,
    rank: u64,
    /// By which it is known again: a hash of all that the rest of the search depends on.
    key: u64,
    sets_key: u64,
}

/// States found before those of a level. Most are dropped again, so their contents lie in memory that is reused.
#[derive(Debug, Default)]
pub struct Found {
    all: Vec<Candidate>,
    /// The number of those, at the beginning, that are the best ones of all before, the best first, each once.
    best: usize,
    stacks: Vec<Item>,
    steps: Vec<Step>,
    /// Empty between calls: ranks with places in `all`, keys of those that stay, and these.
    ranked: Vec<(u64, usize)>,
    keys: Vec<u64>,
    next: Vec<Candidate>,
}

/// The operations at the end of a block that are made: all from a place on, none before another one, and bits for those between.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Made {
    low: usize,
    words: Vec<u64>,
}

impl Made {
    /// No operations, of `words` words.
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

/// Hash of a row of items, from that of the preceding ones; four items at a time.
fn hash_row(before: u64, row: &[Item]) -> u64 {
    let multiplied = |hash: u64, four: u64| {
        let product = u128::from(hash ^ four).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        (product as u64) ^ (product >> 64) as u64 // both halves
    };
    let packed = |items: &[Item]| items.iter().fold(0, |packed, &item| packed << 16 | u64::from(item));
    let (fours, rest) = row.as_chunks::<4>();
    // usize to u64 widens
    let hash = fours.iter().fold(member(before ^ row.len() as u64), |hash, four| multiplied(hash, packed(four)));
    multiplied(hash, packed(rest))
}

impl State {
    /// True if the rest of the search is the same from both.
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
            sets_key: (0..outputs).fold(0, |key, place| key ^ member_waiting(place)),
            stack: [residents, left].concat(),
        }
    }
}

impl Found {
    pub const fn len(&self) -> usize {
        self.all.len()
    }

    /// Adds a state, after an operation if there is one.
    pub fn push(&mut self, state: &State, rank: u64, made_last: Option<Item>) {
        let sets_key = state.sets_key ^ made_last.map_or(0, member_made);
        let (stack, steps) = (self.stacks.len(), self.steps.len());
        self.stacks.extend_from_slice(&state.stack);
        self.steps.extend_from_slice(&state.steps);
        self.all.push(Candidate {
            stack: stack..self.stacks.len(),
            steps: steps..self.steps.len(),
            made: Rc::clone(&state.made),
            made_last,
            waiting: Rc::clone(&state.waiting),
            kept: Rc::clone(&state.kept),
            waste: state.waste,
            parent: state.parent,
            rank,
            key: hash_row(hash_row(sets_key, &state.kept), &state.stack),
            sets_key,
        });
    }

    /// Leaves the best ones, the best first, each once; the rank of the last one if there are as many as may be.
    pub fn leave_best(&mut self, width: usize) -> Option<u64> {
        if self.all.len() > self.best {
            // Of equal ranks the first one found comes first.
            self.ranked.extend(self.all.iter().enumerate().map(|(place, candidate)| (candidate.rank, place)));
            self.ranked.sort_unstable();
            for (_, place) in self.ranked.drain(..) {
                let candidate = &self.all[place];
                if self.keys.len() < width && !self.keys.contains(&candidate.key) {
                    self.keys.push(candidate.key);
                    self.next.push(candidate.clone());
                }
            }
            self.keys.clear();
            std::mem::swap(&mut self.all, &mut self.next);
            self.next.clear();
            self.best = self.all.len();
        }
        self.all.last().filter(|_| self.all.len() == width).map(|last| last.rank)
    }

    /// The steps of the plan that wastes least of those that are complete, the last instruction first, and the state before them.
    pub fn done(&self) -> Option<(&[Step], usize)> {
        let is_done = |state: &&Candidate| state.waiting.is_empty() && state.kept.is_empty() && state.stack.is_empty();
        let done = self.all.iter().filter(is_done).min_by_key(|state| state.waste)?;
        Some((&self.steps[done.steps.clone()], done.parent))
    }

    /// Makes the next level of the states found, and removes them here.
    pub fn follow(&mut self, level: &mut Vec<State>) {
        level.resize_with(self.all.len(), State::default);
        for (state, found) in level.iter_mut().zip(self.all.drain(..)) {
            state.stack.clear();
            state.stack.extend_from_slice(&self.stacks[found.stack]);
            state.steps.clear();
            state.steps.extend_from_slice(&self.steps[found.steps]);
            let Candidate { made, made_last, waiting, kept, waste, parent, rank, sets_key, .. } = found;
            (state.made, state.made_last, state.waiting, state.kept) = (made, made_last, waiting, kept);
            (state.waste, state.parent, state.rank, state.sets_key) = (waste, parent, rank, sets_key);
        }
        self.best = 0;
        self.stacks.clear();
        self.steps.clear();
    }
}
