//! Runs between two labels of a loop: the state that code is begun in, and that where it comes to the next turn.

use super::symbol::{Facts, Symbol, greatest};
use crate::sum::{Number, Sum};
use foldhash::HashMap;
use ruint::aliases::U256;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Gas and instructions of a run: of several ways the most.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ran {
    /// Gas of ways that end.
    pub(crate) gas: u64,
    /// Gas of ways to the next turn of a loop, if there are any.
    pub(crate) again: Option<u64>,
    /// Instructions.
    pub(crate) steps: usize,
    /// Code wherever the next turn begins.
    pub(crate) arrivals: Vec<Arrival>,
}

/// Code where it is begun.
#[derive(Debug, Clone, Default)]
pub(crate) struct Start {
    pub(crate) next: usize,
    pub(crate) stack: Vec<Symbol>,
    pub(crate) memory: HashMap<u32, Symbol>,
    pub(crate) memory_words: u64,
    pub(crate) known: Facts,
    pub(crate) slots: Option<Slots>,
}

/// The slots of a context.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    pub(crate) width_bytes: usize,
    pub(crate) sums: Vec<Arc<Sum>>,
}

/// The JUMPDEST where the next turn of a loop begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum TurnAt {
    /// None: there is no loop.
    #[default]
    Nowhere,
    /// The first one that only paths to a turn come to.
    First,
    /// This one.
    Place(usize),
}

/// Code where a turn begins, and the paths that come there, by number.
#[derive(Debug, Clone)]
pub(crate) struct Arrival {
    pub(crate) place: usize,
    /// The word on top first.
    pub(crate) stack: Vec<Symbol>,
    pub(crate) memory: BTreeMap<u32, Symbol>,
    pub(crate) memory_words: u64,
    pub(crate) slots: Option<Slots>,
    pub(crate) ways: Vec<usize>,
}

impl Arrival {
    /// A word of memory: zero where it has not been written.
    pub(crate) fn word(&self, number: u32, p: Number) -> Symbol {
        self.memory.get(&number).cloned().unwrap_or_else(|| Symbol::number(U256::ZERO, p))
    }

    /// The element of a slot, as a word below p.
    pub(crate) fn slot(&self, number: usize, p: Number) -> Option<Symbol> {
        let sum = Arc::clone(self.slots.as_ref()?.sums.get(number)?);
        Some(Symbol::Sum { sum, least: U256::ZERO, most: greatest(p) })
    }
}
