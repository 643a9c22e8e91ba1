//! Programs with a loop, judged part by part: code from its first byte to its first turn, and from each label to the next one.

use crate::check::{Arrival, Ran, Refused, Start, TurnAt};
use crate::flow::paths::Paths;
use crate::flow::turns::Parts;
use crate::flow::{Flow, Loop};
use crate::label::{From, Kind, Label, Turn};
use crate::semantics::Semantics;
use crate::straight::{Straight, Taken, Unsupported};
use crate::sum::Atom;
use crate::tables::Tables;
use crate::witness::{Job, Witness};
use std::collections::BTreeSet;

/// Times that a guess of what words are at a label is mended.
const GUESSES_MAX: usize = 16;

/// A program with a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looping {
    /// The program.
    pub flow: Flow,
    pub(crate) looped: Loop,
    pub(crate) parts: Parts,
}

/// A label, and the witness of a turn that begins there. Each label goes to the next one, the last one to itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnHints {
    /// The label.
    pub label: Label,
    /// Hints of the turn.
    pub witness: Witness,
}

/// A part that is judged.
#[derive(Debug, Clone)]
pub(crate) struct Judged {
    pub(crate) program: Straight,
    /// Values that are earlier ones.
    pub(crate) aliases: Vec<(Atom, Atom)>,
    pub(crate) steps: usize,
}

/// A program that is judged: the gas without turns, that of a turn, and the parts.
#[derive(Debug, Clone)]
pub(crate) struct Verdict {
    pub(crate) gas: u64,
    pub(crate) turn_gas: u64,
    pub(crate) first: Judged,
    /// The turns, each with the gas of its label.
    pub(crate) turns: Vec<(Turn, u64, Judged)>,
}

/// Code of a program with a loop.
#[derive(Clone, Copy)]
struct Code<'a> {
    program: &'a Looping,
    semantics: Semantics,
    code: &'a [u8],
}

/// A part of a program with its code.
struct Part<'a> {
    paths: &'a Paths,
    start: Option<&'a Start>,
    turn_at: TurnAt,
    code: Code<'a>,
}

impl Part<'_> {
    fn job(&self) -> Job<'_> {
        let Code { semantics, code, .. } = self.code;
        let Paths { program, ends } = self.paths;
        Job { program, ends: Some(ends), semantics, code, start: self.start, turn_at: self.turn_at }
    }

    /// Runs the part, and goes on with where it comes to a turn.
    fn with<T>(
        &self,
        witness: &Witness,
        go: impl FnOnce(&Ran, From<'_>) -> Result<T, String>,
    ) -> Result<(Ran, T), Refused> {
        let job = self.job();
        let ran = job.check(witness)?;
        let tables = job.named(witness).map_err(|why| self.code.refused(0, why))?;
        let ends: Vec<_> = self.paths.ends.iter().map(|end| end.lifted(&tables)).collect();
        let Looping { looped, parts, flow } = self.code.program;
        let from = From { looped, tables: &tables, ends: &ends, base: parts.base(), p: flow.modulus };
        let place = ran.arrivals.first().map_or(0, |arrival| arrival.place);
        let found = go(&ran, from).map_err(|why| self.code.refused(place, why))?;
        Ok((ran, found))
    }

    fn judged(&self, witness: &Witness, steps: usize) -> Judged {
        let aliases = self.job().named(witness).map_or_else(|_| Vec::new(), Tables::aliases);
        Judged { program: self.paths.program.clone(), aliases, steps }
    }
}

impl<'a> Code<'a> {
    fn refused(&self, offset: usize, why: String) -> Refused {
        Refused::at(offset, self.code, self.semantics, why)
    }

    const fn first(self, turn_at: TurnAt) -> Part<'a> {
        Part { paths: &self.program.parts.first, start: None, turn_at, code: self }
    }

    fn paths(&self, turn: &Turn) -> Result<(Paths, Start), Refused> {
        let Looping { flow, looped, parts } = self.program;
        let paths = parts.turn(flow, looped, turn).map_err(|why| self.refused(turn.place, why))?;
        Ok((paths, turn.start(looped, parts.base(), flow.modulus)))
    }

    /// A turn that begins at a label, with a witness that is found; and what `go` makes of where it comes to.
    fn guessed<T>(
        &self,
        turn: &Turn,
        go: impl FnOnce(&Ran, From<'_>) -> Result<T, String>,
    ) -> Result<(Witness, T), Refused> {
        let (paths, start) = self.paths(turn)?;
        let part = Part { paths: &paths, start: Some(&start), turn_at: TurnAt::Place(turn.place), code: *self };
        let witness = part.job().witness()?;
        let (_, found) = part.with(&witness, go)?;
        Ok((witness, found))
    }
}

/// Every word at a label, with the kinds that fit on all ways there.
#[derive(Default)]
struct Kinds {
    stack: Vec<Vec<Kind>>,
    memory: Vec<(u32, Vec<Kind>)>,
    slots: Option<(usize, Vec<Vec<Kind>>)>,
}

impl Kinds {
    /// Those where a part comes to a turn, and words of memory that may be others later.
    fn of(from: From<'_>, arrivals: &[Arrival], others: &BTreeSet<u32>) -> Self {
        let Some(first) = arrivals.first() else { return Self::default() };
        let p = from.p;
        let stack = (0..first.stack.len()).map(|depth| {
            from.kinds(arrivals, |arrival| match arrival.stack.get(depth) {
                Some(word) => word.clone(),
                None => arrival.word(u32::MAX, p),
            })
        });
        let numbers: BTreeSet<u32> =
            arrivals.iter().flat_map(|arrival| arrival.memory.keys()).chain(others).copied().collect();
        let memory = numbers.iter().map(|&number| (number, from.kinds(arrivals, |arrival| arrival.word(number, p))));
        let slots = first.slots.as_ref().map(|slots| {
            let zero = || arrivals[0].word(u32::MAX, p);
            let kinds = (0..slots.sums.len()).map(|number| {
                let mut kinds = from.kinds(arrivals, |arrival| arrival.slot(number, p).unwrap_or_else(zero));
                kinds.retain(|kind| *kind != Kind::Counter);
                kinds
            });
            (slots.width_bytes, kinds.collect())
        });
        Self { stack: stack.collect(), memory: memory.collect(), slots }
    }

    /// The first kind of each; of values that are equal where the loop begins each goes to another word.
    fn label(&self, place: usize, memory_words: u64) -> Label {
        let mut taken = BTreeSet::new();
        let mut first = |kinds: &[Kind]| {
            let is_free = |kind: &&Kind| matches!(kind, Kind::Carried(number) if !taken.contains(number));
            let kind = kinds.iter().find(is_free).or_else(|| kinds.first()).copied().unwrap_or(Kind::Any);
            if let Kind::Carried(number) = kind {
                taken.insert(number);
            }
            kind
        };
        let stack = self.stack.iter().map(|kinds| first(kinds)).collect();
        let memory = self.memory.iter().map(|(number, kinds)| (*number, first(kinds))).collect();
        let slots = self.slots.as_ref();
        let slots = slots.map(|(width, slots)| (*width, slots.iter().map(|kinds| first(kinds)).collect()));
        Label { place, memory_words, stack, memory, slots }
    }

    /// Kinds that these have as well, of words that both have; false if nothing is left out.
    fn keep(&mut self, later: &Self) -> bool {
        let mut is_less = false;
        let mut keep = |kinds: &mut Vec<Kind>, later: &[Kind]| {
            let before = kinds.len();
            kinds.retain(|kind| later.contains(kind));
            is_less |= kinds.len() < before;
        };
        self.stack.iter_mut().zip(&later.stack).for_each(|(kinds, later)| keep(kinds, later));
        if let (Some((_, slots)), Some((_, later))) = (&mut self.slots, &later.slots) {
            slots.iter_mut().zip(later).for_each(|(kinds, later)| keep(kinds, later));
        }
        for (number, kinds) in &mut self.memory {
            let found = later.memory.iter().find(|(other, _)| other == number);
            keep(kinds, found.map_or(&[Kind::Any], |(_, kinds)| kinds));
        }
        is_less
    }
}

impl Looping {
    /// A program with this loop.
    pub(crate) fn of(flow: Flow, looped: Loop) -> Taken<Self> {
        let parts = Parts::of(&flow, &looped).map_err(Unsupported)?;
        Ok(Self { flow, looped, parts })
    }

    /// Judges code by hints.
    pub(crate) fn judge(
        &self,
        semantics: Semantics,
        code: &[u8],
        witness: &Witness,
        hints: &[TurnHints],
    ) -> Result<Verdict, Refused> {
        let code = Code { program: self, semantics, code };
        let Some(first) = hints.first() else { return Err(code.refused(0, "a label is missing".to_owned())) };
        let part = code.first(TurnAt::Place(first.label.place));
        let (ran, mut turn) = part.with(witness, |ran, from| {
            let turn = Turn::of(&first.label, from, &ran.arrivals, None)?;
            from.arrives(&ran.arrivals, &turn).map(|()| turn)
        })?;
        let (first_part, mut turns, mut gas) = (part.judged(witness, ran.steps), Vec::new(), vec![ran]);
        for (number, TurnHints { witness, .. }) in hints.iter().enumerate() {
            let next = hints.get(number + 1).map(|hints| &hints.label);
            let (paths, start) = code.paths(&turn)?;
            let place = next.map_or(turn.place, |label| label.place);
            let part = Part { paths: &paths, start: Some(&start), turn_at: TurnAt::Place(place), code };
            let (ran, to) = part.with(witness, |ran, from| {
                let to = next.map(|label| Turn::of(label, from, &ran.arrivals, Some(&turn))).transpose()?;
                from.arrives(&ran.arrivals, to.as_ref().unwrap_or(&turn)).map(|()| to)
            })?;
            let judged = part.judged(witness, ran.steps);
            gas.push(ran);
            let next = to.unwrap_or_else(|| turn.clone());
            turns.push((std::mem::replace(&mut turn, next), 0, judged));
        }
        // Of a turn that goes on to the last label; the gas of a label is what is left over.
        let turn_gas = gas.last().and_then(|ran| ran.again).unwrap_or(0);
        let mut left = gas.last().map_or(0, |ran| ran.gas.saturating_sub(turn_gas));
        for (ran, turn) in gas[1..].iter().zip(&mut turns).rev() {
            left = ran.gas.max(ran.again.unwrap_or(0) + left).saturating_sub(turn_gas);
            turn.1 = left;
        }
        let gas = gas[0].gas.max(gas[0].again.unwrap_or(0) + left);
        Ok(Verdict { gas, turn_gas, first: first_part, turns })
    }

    /// Finds hints, which [`Self::judge`] accepts.
    pub(crate) fn witness(&self, semantics: Semantics, code: &[u8]) -> Result<(Witness, Vec<TurnHints>), Refused> {
        let code = Code { program: self, semantics, code };
        let first = code.first(TurnAt::First);
        let witness = first.job().witness()?;
        let none = BTreeSet::new();
        let (_, turn) = first.with(&witness, |ran, from| {
            let Some(arrival) = ran.arrivals.first() else { return Err("the code comes to no turn".to_owned()) };
            let kinds = Kinds::of(from, &ran.arrivals, &none);
            let label = kinds.label(arrival.place, arrival.memory_words);
            Turn::of(&label, from, &ran.arrivals, None).map(|turn| (label, turn))
        })?;
        let (label, turn) = turn;
        // A first turn; where later ones begin, memory may have other words.
        let mut others = BTreeSet::new();
        let mut kinds: Option<Kinds> = None;
        for _ in 0..GUESSES_MAX {
            let (one, later) = code.guessed(&turn, |ran, from| {
                let Some(arrival) = ran.arrivals.first() else { return Ok(None) };
                let mut found = Kinds::of(from, &ran.arrivals, &others);
                if let Some(kinds) = &kinds {
                    found.keep(kinds);
                }
                let label = found.label(arrival.place, arrival.memory_words);
                let later = Turn::of(&label, from, &ran.arrivals, Some(&turn))?;
                Ok(Some((found, label, later)))
            })?;
            let first = TurnHints { label: label.clone(), witness: one };
            let Some((mut found, label, later)) = later else { return Ok((witness, vec![first])) };
            let (two, mended) = code.guessed(&later, |ran, from| {
                if from.arrives(&ran.arrivals, &later).is_ok() {
                    return Ok(false);
                }
                let seen = Kinds::of(from, &ran.arrivals, &none);
                let is_less = found.keep(&seen);
                let new = seen.memory.iter().map(|&(number, _)| number);
                let before = others.len();
                others.extend(new.filter(|number| found.memory.iter().all(|(other, _)| other != number)));
                if !is_less && others.len() == before {
                    return from.arrives(&ran.arrivals, &later).map(|()| true);
                }
                Ok(true)
            })?;
            if !mended {
                return Ok((witness, vec![first, TurnHints { label, witness: two }]));
            }
            kinds = Some(found);
        }
        Err(code.refused(label.place, format!("no words are found that a turn begins with, in {GUESSES_MAX} guesses")))
    }
}
