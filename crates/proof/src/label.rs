//! Labels: where code begins a turn of a loop, and what each word on the stack and in memory is there. `coq/CheckLoop.v` has the same rules.

use crate::check::symbol::{Condition, Facts, Symbol, is_below, is_same};
use crate::check::{Arrival, Slots, Start};
use crate::flow::Loop;
use crate::flow::paths::{End, Goal, Next};
use crate::flow::turns::{counter, is_before, is_known_before, told};
use crate::straight::Read;
use crate::sum::{Number, Sum};
use crate::tables::Tables;
use residue_ir::{Value, Word};
use residue_isa::names;
use ruint::aliases::U256;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A word where a turn begins, as a certificate states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The same as before the loop.
    Kept,
    /// A value that goes from turn to turn, by its place in the state.
    Carried(usize),
    /// The index of the turn.
    Counter,
    /// Any word.
    Any,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept => f.write_str("kept"),
            Self::Carried(number) => write!(f, "state{number}"),
            Self::Counter => f.write_str("index"),
            Self::Any => f.write_str("any"),
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.strip_prefix("state").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        match (text, digits.and_then(|digits| digits.parse().ok())) {
            ("kept", _) => Ok(Self::Kept),
            ("index", _) => Ok(Self::Counter),
            ("any", _) => Ok(Self::Any),
            (_, Some(number)) => Ok(Self::Carried(number)),
            (_, None) => Err(format!("one of kept, state0, index and any is expected, found {}", names::quoted(text))),
        }
    }
}

/// A label, as a certificate states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Offset of its JUMPDEST.
    pub place: usize,
    /// Words of memory.
    pub memory_words: u64,
    /// Words on the stack, that on top first.
    pub stack: Vec<Kind>,
    /// Words of memory that may not be zero, by ascending number.
    pub memory: Vec<(u32, Kind)>,
    /// Bytes of a slot, and the slots, in code that has them.
    pub slots: Option<(usize, Vec<Kind>)>,
}

/// A word where a turn begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Kept(Symbol),
    Carried(usize),
    Counter,
    Any,
}

/// A label with all that is known there of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) place: usize,
    pub(crate) memory_words: u64,
    pub(crate) stack: Vec<Place>,
    pub(crate) memory: Vec<(u32, Place)>,
    pub(crate) slots: Option<(usize, Vec<Place>)>,
    pub(crate) values: BTreeMap<Value, Read>,
    pub(crate) words: BTreeMap<Word, Symbol>,
    pub(crate) facts: Facts,
}

/// A part of a program that comes to a label: its loop, its values, and the ends of its paths.
#[derive(Debug, Clone, Copy)]
pub(crate) struct From<'a> {
    pub(crate) looped: &'a Loop,
    pub(crate) tables: &'a Tables,
    pub(crate) ends: &'a [End],
    pub(crate) base: usize,
    pub(crate) p: Number,
}

/// The path of an end that goes to a turn.
fn next(end: &End) -> Option<&Next> {
    if let Goal::Again(next) = &end.goal { Some(next) } else { None }
}

/// True of words that Coq's checker compares: those with no sums in conditions.
fn is_plain(symbol: &Symbol) -> bool {
    fn of(condition: &Condition) -> bool {
        match condition {
            Condition::SizeIs(_) | Condition::NotBelow(_) | Condition::Above(..) => true,
            Condition::Not(inner, _) => of(inner),
            Condition::Zero(_) | Condition::Nothing(_) | Condition::Both(..) => false,
        }
    }
    if let Symbol::Truth(condition) = symbol { of(condition) } else { true }
}

impl From<'_> {
    /// All paths that come to a label.
    fn arriving<'a>(&'a self, arrivals: &'a [Arrival]) -> impl Iterator<Item = (&'a Arrival, &'a End, &'a Next)> {
        let ways =
            arrivals.iter().flat_map(move |arrival| arrival.ways.iter().map(move |&way| (arrival, &self.ends[way])));
        ways.filter_map(|(arrival, end)| Some((arrival, end, next(end)?)))
    }

    /// True of a word that is a value of the program.
    fn is_element(&self, found: &Symbol, read: Read) -> bool {
        match (found, read) {
            (Symbol::Parsed(atom), Read::Value(value)) => atom.value() == Some(value),
            (Symbol::Sum { sum, most, .. }, read) => {
                let is_it = match read {
                    Read::Value(value) => **sum == *self.tables.sum(value),
                    Read::Number(number) => **sum == Sum::constant(number, self.p),
                };
                is_it && is_below(*most, self.p)
            }
            _ => false,
        }
    }

    fn fits(&self, found: &Symbol, place: &Place, next: &Next) -> bool {
        match place {
            Place::Kept(kept) => found == kept && is_plain(kept),
            Place::Carried(number) => {
                let read = self.looped.state.get(*number).and_then(|value| next.values.get(value));
                read.is_some_and(|&read| self.is_element(found, read))
            }
            Place::Counter => {
                let is_number = matches!(found, Symbol::Parsed(_) | Symbol::Size) || found.exact().is_ok();
                next.words.get(&self.looped.index) == Some(found) && is_number
            }
            Place::Any => true,
        }
    }

    /// The kinds that a word has on all paths that come here, the one that says most first.
    pub(crate) fn kinds(&self, arrivals: &[Arrival], word: impl Fn(&Arrival) -> Symbol) -> Vec<Kind> {
        let carried = (0..self.looped.state.len()).map(Kind::Carried);
        let all = carried.chain([Kind::Counter, Kind::Kept, Kind::Any]);
        let Some(kept) = arrivals.first().map(&word) else { return Vec::new() };
        let fits = |kind: &Kind| {
            let Some(place) = place(*kind, || kept.clone(), self.base) else { return false };
            self.arriving(arrivals).all(|(arrival, _, next)| self.fits(&word(arrival), &place, next))
        };
        all.filter(fits).collect()
    }

    /// Shows that code and program are at a label wherever a turn begins.
    pub(crate) fn arrives(&self, arrivals: &[Arrival], turn: &Turn) -> Result<(), String> {
        for (arrival, end, next) in self.arriving(arrivals) {
            let (height, expected) = (arrival.stack.len(), turn.stack.len());
            if (height, arrival.memory_words) != (expected, turn.memory_words) {
                return Err(format!(
                    "a turn begins with {expected} words on the stack and {} of memory, found {height} and {}",
                    turn.memory_words, arrival.memory_words
                ));
            }
            if let Some(number) =
                arrival.memory.keys().find(|&number| turn.memory.iter().all(|(known, _)| known != number))
            {
                return Err(format!("a turn begins with zeros in word {number} of memory, which has been written"));
            }
            let stack = arrival.stack.iter().zip(&turn.stack).enumerate();
            let wrong =
                stack.map(|(depth, (found, place))| (format!("word {depth} of the stack"), found.clone(), place));
            let memory = turn
                .memory
                .iter()
                .map(|(number, place)| (format!("word {number} of memory"), arrival.word(*number, self.p), place));
            if let Some((at, found, _)) = wrong.chain(memory).find(|(_, found, place)| !self.fits(found, place, next)) {
                return Err(format!("where a turn begins {at} is something else, found {}", found.shown()));
            }
            let width = |slots: &Option<Slots>| slots.as_ref().map(|slots| (slots.width_bytes, slots.sums.len()));
            let expected = turn.slots.as_ref().map(|(width, slots)| (*width, slots.len()));
            if width(&arrival.slots) != expected {
                return Err("a turn begins with other slots".to_owned());
            }
            let slots = turn.slots.iter().flat_map(|(_, slots)| slots).enumerate();
            for (number, place) in slots {
                if !arrival.slot(number, self.p).is_some_and(|found| self.fits(&found, place, next)) {
                    return Err(format!("where a turn begins slot {number} is something else"));
                }
            }
            let knows = turn.values.iter().all(|(value, read)| next.values.get(value) == Some(read))
                && turn.words.iter().all(|(word, known)| next.words.get(word) == Some(known))
                && turn.facts.0.iter().all(|(fact, holds)| end.facts.decide(fact, self.p) == Some(*holds))
                && self.looped.state.iter().all(|value| next.values.contains_key(value))
                && next.words.contains_key(&self.looped.index);
            if !knows {
                return Err("where a turn begins less is known of the program than before the loop".to_owned());
            }
        }
        Ok(())
    }

    /// Values, words and facts of a path that comes to a label which are known on all others too, and were before the loop.
    fn known(
        &self,
        arrivals: &[Arrival],
        end: &End,
        first: &Next,
        before: Option<&Turn>,
    ) -> (BTreeMap<Value, Read>, BTreeMap<Word, Symbol>, Facts) {
        let (base, p) = (self.base, self.p);
        let others = || self.arriving(arrivals);
        let value = |value: &Value, read: &Read| {
            let is_known = match read {
                Read::Value(value) => (value.0 as usize) < base, // u32 to usize widens
                Read::Number(_) => true,
            };
            is_known
                && !self.looped.state.contains(value)
                && before.is_none_or(|before| before.values.contains_key(value))
                && others().all(|(_, _, next)| next.values.get(value) == Some(read))
        };
        let word = |word: &Word, known: &Symbol| {
            is_before(known, base)
                && is_plain(known)
                && *word != self.looped.index
                && before.is_none_or(|before| before.words.contains_key(word))
                && others().all(|(_, _, next)| next.words.get(word) == Some(known))
        };
        let fact = |fact: &Condition, holds: bool| {
            is_known_before(fact, base) && others().all(|(_, end, _)| end.facts.decide(fact, p) == Some(holds))
        };
        let mut facts: Vec<(Condition, bool)> = Vec::new();
        for (known, holds) in end.facts.0.iter().filter(|(known, holds)| fact(known, *holds)) {
            if !facts.iter().any(|(other, _)| is_same(other, known, p)) {
                facts.push((known.clone(), *holds));
            }
        }
        let values = first.values.iter().filter(|(name, read)| value(name, read)).map(|(&name, &read)| (name, read));
        let words = first.words.iter().filter(|(name, known)| word(name, known));
        let words = words.map(|(&name, known)| (name, known.clone()));
        (values.collect(), words.collect(), Facts(facts))
    }
}

/// The place of a kind, where this word is kept.
fn place(kind: Kind, kept: impl FnOnce() -> Symbol, base: usize) -> Option<Place> {
    Some(match kind {
        Kind::Kept => Place::Kept(Some(kept()).filter(|kept| is_before(kept, base))?),
        Kind::Carried(number) => Place::Carried(number),
        Kind::Counter => Place::Counter,
        Kind::Any => Place::Any,
    })
}

impl Turn {
    /// A label with what is known on all paths that first come to it, of what was known before the loop.
    pub(crate) fn of(
        label: &Label,
        from: From<'_>,
        arrivals: &[Arrival],
        before: Option<&Self>,
    ) -> Result<Self, String> {
        let (base, p) = (from.base, from.p);
        let Some((arrival, end, first)) = from.arriving(arrivals).next() else {
            return Err(format!("no turn begins at {:#x}", label.place));
        };
        let carried = from.looped.state.len();
        let kept = |kind: Kind, word: &dyn Fn() -> Symbol| match kind {
            Kind::Carried(number) if number >= carried => {
                Err(format!("the state of the loop has {carried} values, there is no state{number}"))
            }
            kind => place(kind, word, base).ok_or_else(|| "a word is kept that a turn makes".to_owned()),
        };
        let zero = || Symbol::number(U256::ZERO, p);
        let stack = label
            .stack
            .iter()
            .enumerate()
            .map(|(depth, &kind)| kept(kind, &|| arrival.stack.get(depth).cloned().unwrap_or_else(zero)));
        let memory = label.memory.iter().map(|&(number, kind)| Ok((number, kept(kind, &|| arrival.word(number, p))?)));
        let slots = label.slots.as_ref().map(|(width, slots)| {
            let slots = slots.iter().enumerate().map(|(number, &kind)| match kind {
                Kind::Counter => Err("a slot holds no index".to_owned()),
                kind => kept(kind, &|| arrival.slot(number, p).unwrap_or_else(zero)),
            });
            Ok::<_, String>((*width, slots.collect::<Result<_, _>>()?))
        });
        let (values, words, facts) = from.known(arrivals, end, first, before);
        Ok(Self {
            place: label.place,
            memory_words: label.memory_words,
            stack: stack.collect::<Result<_, _>>()?,
            memory: memory.collect::<Result<_, String>>()?,
            slots: slots.transpose()?,
            values,
            words,
            facts,
        })
    }

    /// Code where the turn begins.
    pub(crate) fn start(&self, looped: &Loop, base: usize, p: Number) -> Start {
        let word = |number: usize, place: &Place| match place {
            Place::Kept(kept) => kept.clone(),
            Place::Carried(number) => Symbol::element(told(base, *number), p),
            Place::Counter => Symbol::Parsed(counter(looped, base)),
            Place::Any => Symbol::Parsed(told(base, looped.state.len() + 1 + number)),
        };
        let mut stack: Vec<Symbol> = self.stack.iter().enumerate().map(|(depth, place)| word(depth, place)).collect();
        stack.reverse();
        let memory = self.memory.iter().enumerate();
        let memory = memory.map(|(number, (at, place))| (*at, word(self.stack.len() + number, place))).collect();
        let others = self.stack.len() + self.memory.len();
        let slots = self.slots.as_ref().map(|(width_bytes, slots)| {
            let sum = |(number, place)| match word(others + number, place) {
                Symbol::Sum { sum, .. } => sum,
                Symbol::Parsed(atom) => Arc::new(Sum::atom(atom)),
                _ => Arc::new(Sum::default()),
            };
            Slots { width_bytes: *width_bytes, sums: slots.iter().enumerate().map(sum).collect() }
        });
        let (next, memory_words, known) = (self.place, self.memory_words, self.facts.clone());
        Start { next, stack, memory, memory_words, known, slots }
    }
}
