//! Parts of a program with a loop: what is done before it, and a turn that begins at a label, each with all that may come after it. A turn is told the
//! values that go from turn to turn, its index, and a value for each word of code there. `coq/CheckLoop.v` does the same.

use super::paths::{Before, End, Fate, Found, Goal, Next, Paths, State, Walk, reads};
use super::{Flow, Loop};
use crate::check::symbol::{Condition, Facts, Symbol};
use crate::label::Turn;
use crate::straight::Read;
use crate::sum::Atom;
use residue_ir::Value;
use residue_isa::opcode::evm as op;
use ruint::aliases::U256;
use std::cell::RefCell;

/// A program with a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parts {
    /// Paths to the first turn, and those that end before.
    pub(crate) first: Paths,
    /// Number of turns.
    pub(crate) count: Symbol,
}

impl Parts {
    /// Those of a program with this loop.
    pub(crate) fn of(flow: &Flow, looped: &Loop) -> Found<Self> {
        let count = RefCell::new(None);
        let first = Paths::from(flow, &Before::of(flow), |walk| {
            let fates = walk.whole()?;
            walk.continued(fates, |walk, state| {
                let turns = walk.word(&state, &looped.count)?;
                if *count.borrow_mut().get_or_insert_with(|| turns.clone()) != turns {
                    return Err("a loop whose turns are counted otherwise on each path".to_owned());
                }
                let none = turns.is_zero(flow.modulus)?;
                let first = reads(&state, &looped.first)?;
                walk.onward(looped, state, &none, first, &Symbol::number(U256::ZERO, flow.modulus))
            })
        })?;
        let count = count.into_inner().ok_or("a loop that no path comes to")?;
        let told = first.program.parses.len() + first.program.words.len();
        let is_number = matches!(count, Symbol::Parsed(_) | Symbol::Size) || count.exact().is_ok();
        if !is_number || !is_before(&count, told) {
            return Err(format!("a loop of as many turns as {}", count.shown()));
        }
        Ok(Self { first, count })
    }

    /// The first value that a turn is told.
    pub(crate) fn base(&self) -> usize {
        self.first.program.parses.len() + self.first.program.words.len()
    }

    /// Paths of a turn that begins at a label.
    pub(crate) fn turn(&self, flow: &Flow, looped: &Loop, turn: &Turn) -> Found<Paths> {
        let base = self.base();
        let slots = turn.slots.as_ref().map_or(0, |(_, slots)| slots.len());
        let words = looped.state.len() + 1 + turn.stack.len() + turn.memory.len() + slots;
        let end = u32::try_from(base + words).map_err(|error| error.to_string())?;
        let told = (base..).zip(0..words).map(|(value, _)| Value(value as u32)).collect(); // below `end`
        debug_assert!(u64::from(end) >= base as u64, "usize to u64 widens");
        let program = &self.first.program;
        let before = Before { reads: program.parses.clone(), words: program.words.clone(), told };
        let state = turn.begun(looped, base);
        Paths::from(flow, &before, |walk| {
            let fates = walk.steps(&looped.turn, state.clone())?;
            walk.continued(fates, |walk, state| {
                let (one, index) = (Symbol::number(U256::ONE, flow.modulus), Symbol::Parsed(counter(looped, base)));
                let next = walk.operation(op::ADD, &one, &index)?;
                let none = walk.operation(op::LT, &next, &self.count)?.is_zero(flow.modulus)?;
                let given = reads(&state, &looped.gives)?;
                walk.onward(looped, state, &none, given, &next)
            })
        })
    }
}

/// The value that the index of a turn is.
pub(crate) fn counter(looped: &Loop, base: usize) -> Atom {
    told(base, looped.state.len())
}

/// The value that a turn is told after so many.
pub(crate) fn told(base: usize, number: usize) -> Atom {
    Atom::of(Value(u32::try_from(base + number).unwrap_or(u32::MAX - 1)))
}

/// True of what values below a number say.
pub(crate) fn is_before(symbol: &Symbol, base: usize) -> bool {
    let below = |atom: &Atom| (atom.0 as usize) <= base; // u32 to usize widens; a value is one less than its atom
    match symbol {
        Symbol::Sum { sum, .. } | Symbol::Part(sum, _) => sum.terms().iter().all(|(atom, _)| below(atom)),
        Symbol::Parsed(atom) => below(atom),
        Symbol::Size => true,
        Symbol::Truth(condition) => is_known_before(condition, base),
        Symbol::Or(atoms, _) => atoms.iter().all(below),
    }
}

/// The same of a condition.
pub(crate) fn is_known_before(condition: &Condition, base: usize) -> bool {
    let below = |atom: &Atom| (atom.0 as usize) <= base; // as above
    match condition {
        Condition::SizeIs(_) => true,
        Condition::NotBelow(atom) | Condition::Above(atom, _) => below(atom),
        Condition::Zero(sum) => sum.terms().iter().all(|(atom, _)| below(atom)),
        Condition::Nothing(atoms) => atoms.iter().all(below),
        Condition::Not(inner, _) => is_known_before(inner, base),
        Condition::Both(one, other, _) => is_known_before(one, base) && is_known_before(other, base),
    }
}

impl Walk<'_> {
    /// An operation on two words.
    fn operation(&mut self, opcode: u8, x: &Symbol, y: &Symbol) -> Found<Symbol> {
        let combined = Symbol::combined(opcode, x, y, self.flow.modulus);
        combined.or_else(|why| self.named(opcode, x, y).ok_or(why))
    }

    /// The end after the last turn, where the condition holds, or the next turn, of this state and index.
    fn onward(
        &mut self,
        looped: &Loop,
        state: State,
        none_left: &Condition,
        given: Vec<Read>,
        index: &Symbol,
    ) -> Found<Vec<Fate>> {
        self.each(state, none_left, |walk, ends, mut state| {
            state.values.extend(looped.state.iter().copied().zip(given.iter().copied()));
            if ends {
                let last: Vec<Read> = looped.state.iter().map(|&value| Read::Value(value)).collect();
                let last = reads(&state, &last)?;
                state.values.extend(looped.results.iter().copied().zip(last));
                return walk.steps(&looped.after, state);
            }
            state.words.insert(looped.index, index.clone());
            let State { values, words, facts } = state;
            Ok(vec![Fate::End(End { facts, goal: Goal::Again(Box::new(Next { values, words })) })])
        })
    }
}

impl Turn {
    /// Values and words of the program where the turn begins.
    fn begun(&self, looped: &Loop, base: usize) -> State {
        let mut values: foldhash::HashMap<_, _> = self.values.iter().map(|(&value, &read)| (value, read)).collect();
        let carried = looped.state.iter().enumerate().map(|(number, &value)| {
            let told = told(base, number).value().unwrap_or(Value(0));
            (value, Read::Value(told))
        });
        values.extend(carried);
        let mut words: foldhash::HashMap<_, _> =
            self.words.iter().map(|(&word, known)| (word, known.clone())).collect();
        words.insert(looped.index, Symbol::Parsed(counter(looped, base)));
        State { values, words, facts: Facts(self.facts.0.clone()) }
    }
}
