//! What is known of the end of a block while the rest is searched.

use residue_passes::Slot;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
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
    /// The operations in it, as bits.
    pub made: Vec<u64>,
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
            made: vec![0; terms.div_ceil(64)],
            waiting: Rc::new((0..outputs).collect()),
            kept: Rc::default(),
            waste: 0,
            steps: residents.iter().map(|_| Step::Pop).collect(),
            taken: Vec::new(),
            parent: usize::MAX,
            rank: 0,
            key: 0,
            stack: [residents, left].concat(),
        }
    }

    /// The state as one of those found; `taken` is what only the search on this way needs.
    pub fn found(&self, rank: u64) -> Self {
        let mut hasher = DefaultHasher::new();
        (&self.stack, &self.waiting, &self.kept, &self.made).hash(&mut hasher);
        Self {
            stack: self.stack.clone(),
            made: self.made.clone(),
            waiting: Rc::clone(&self.waiting),
            kept: Rc::clone(&self.kept),
            waste: self.waste,
            steps: self.steps.clone(),
            taken: Vec::new(),
            parent: self.parent,
            rank,
            key: hasher.finish(),
        }
    }
}

/// Leaves the best ones, each once.
pub fn best_of(found: &mut Vec<State>, width: usize) {
    found.sort_by_key(|state| state.rank);
    let mut seen = HashSet::new();
    found.retain(|state| seen.len() < width && seen.insert(state.key));
}
