//! Code of a program with branches: it is run both ways where it jumps. Of each way the ends of the program are known that may be reached there, by
//! what jumps have told. `coq/CheckFlow.v` is the same checker, and `coq/SoundFlow.v` proves it.

use super::{Arrival, Flow, Hints, Machine, Step, TurnAt, WORD_BYTES, refuse};
use crate::check::slots::{Context, Field};
use crate::check::symbol::{Condition, Facts, Symbol, is_same};
use crate::check::wide::Limb;
use crate::flow::paths::Goal;
use foldhash::{HashMap, HashSet};
use residue_isa::opcode::evm as op;
use ruint::aliases::U256;

/// The other way of a jump, to be gone later.
pub(super) struct Fork {
    stack: Vec<Symbol>,
    memory: HashMap<u32, Symbol>,
    limbs: HashMap<u32, Limb>,
    memory_words: u64,
    known: Facts,
    ways: Vec<usize>,
    gas: u64,
    steps: usize,
    next: usize,
    context: Option<Context>,
    shown: HashSet<Condition>,
}

impl<H: Hints> Machine<'_, H> {
    /// The word with all that is known of it: a parsed number that has been found below p is an element.
    pub(super) fn element(&self, word: Symbol) -> Symbol {
        match word {
            Symbol::Parsed(atom)
                if self.field.is_none() && self.known.is_known(&Condition::NotBelow(atom)) == Some(false) =>
            {
                Symbol::element(atom, self.program.modulus)
            }
            word => word,
        }
    }

    /// A jump or the end of the code.
    pub(super) fn control(&mut self, byte: u8) -> Step<Flow> {
        match byte {
            op::JUMP => {
                self.gas += 8;
                let target = self.pop()?.exact()?;
                self.next = self.place_of(target)?;
            }
            op::JUMPI => self.branch()?,
            op::RETURN if self.is_wide() => {
                self.wide_return()?;
                return Ok(Flow::Ends);
            }
            op::INVALID => {
                if self.goals().any(|goal| *goal != Goal::Fails) {
                    return refuse("the code fails where the program does not");
                }
                return Ok(Flow::Ends);
            }
            _ => {
                let (place, size) = (self.place()?, self.pop()?.exact()?);
                for goal in self.goals() {
                    match goal {
                        Goal::Returns(results) => self.returns(place, size, results)?,
                        Goal::Tells(condition) => self.tells(place, size, condition)?,
                        Goal::Fails => return refuse("the code returns where the program may fail"),
                        Goal::Again(_) => return refuse("the code returns where the program may go on"),
                        Goal::ReturnsBytes(bytes, _) => {
                            return refuse(format!("values of {bytes} bytes are to be returned"));
                        }
                    }
                }
                self.grow_to(place, size)?;
                return Ok(Flow::Ends);
            }
        }
        Ok(Flow::Goes)
    }

    /// True of the JUMPDEST that is come to where the next turn of a loop begins, if only paths to that turn come here.
    pub(super) fn begins_turn(&self) -> bool {
        let is_place = match self.turn_at {
            TurnAt::Nowhere => false,
            TurnAt::First => true,
            // The JUMPDEST has been taken.
            TurnAt::Place(place) => self.next - 1 == place,
        };
        is_place && self.goals().all(|goal| matches!(goal, Goal::Again(_)))
    }

    /// Code where the turn begins whose JUMPDEST is come to.
    pub(super) fn arrival(&mut self) -> Arrival {
        let place = self.next - 1;
        // All ways come to the same one.
        self.turn_at = TurnAt::Place(place);
        let memory = self.memory.iter().map(|(&number, word)| (number, word.clone())).collect();
        let stack = self.stack.iter().rev().cloned().collect();
        let slots = self.field.as_ref().and_then(Field::slots);
        Arrival { place, stack, memory, memory_words: self.memory_words, slots, ways: self.ways.clone() }
    }

    /// The return of the truth of a condition, which memory has.
    fn tells(&self, place: u32, size: U256, condition: &Condition) -> Step<()> {
        let p = self.program.modulus;
        match self.memory.get(&place) {
            _ if size != U256::from(WORD_BYTES) => refuse(format!("a word is to be returned, not {size} bytes")),
            Some(Symbol::Truth(found)) if is_same(condition, found, p) => Ok(()),
            found => {
                let found = found.map_or_else(|| "nothing".to_owned(), Symbol::shown);
                refuse(format!("the truth of a condition is to be returned, found {found}"))
            }
        }
    }

    /// The ends of the program where it may be.
    pub(super) fn goals(&self) -> impl Iterator<Item = &Goal> {
        let ends = self.ends.unwrap_or_default();
        self.ways.iter().map(|&way| &ends[way].goal)
    }

    fn branch(&mut self) -> Step<()> {
        self.gas += 10;
        let target = self.pop()?.exact()?;
        let p = self.program.modulus;
        let is_zero = self.pop()?.is_zero(p)?;
        self.budget.take(self.ways.len() * is_zero.size() + self.known.0.len())?;
        let ends = self.ends.unwrap_or_default();
        let may = |holds: bool| {
            let may = |&&way: &&usize| ends[way].facts.decide(&is_zero, p) != Some(!holds);
            self.ways.iter().filter(may).copied().collect::<Vec<usize>>()
        };
        let (on, off) = (may(true), may(false));
        if off.is_empty() {
            (self.ways, self.known) = (on, self.known.told(&is_zero, true));
            return Ok(());
        }
        let next = self.place_of(target)?;
        let known = self.known.told(&is_zero, false);
        if on.is_empty() {
            (self.ways, self.known, self.next) = (off, known, next);
            return Ok(());
        }
        self.budget.take(self.stack.len() + self.memory.len() + self.limbs.len())?;
        let (stack, memory, limbs) = (self.stack.clone(), self.memory.clone(), self.limbs.clone());
        let (memory_words, gas, steps) = (self.memory_words, self.gas, self.steps);
        let (context, shown) = (self.field.as_ref().and_then(|field| field.context.clone()), self.shown.clone());
        self.later.push(Fork {
            stack,
            memory,
            limbs,
            memory_words,
            known,
            ways: off,
            gas,
            steps,
            next,
            context,
            shown,
        });
        (self.ways, self.known) = (on, self.known.told(&is_zero, true));
        Ok(())
    }

    /// A store halts if one of these conditions holds, and so must the program fail. False if it always halts: no end is left then.
    pub(super) fn halts_for(&mut self, conditions: &[Condition]) -> Step<bool> {
        let p = self.program.modulus;
        let ends = self.ends.unwrap_or_default();
        for &way in &self.ways {
            let mut known = conditions.iter().map(|condition| ends[way].facts.decide(condition, p));
            if ends[way].goal != Goal::Fails && known.any(|holds| holds != Some(false)) {
                return refuse("the store may halt where the program does not fail");
            }
        }
        let holds = |way: usize| conditions.iter().any(|condition| ends[way].facts.decide(condition, p) == Some(true));
        self.ways.retain(|&way| !holds(way));
        Ok(!self.ways.is_empty())
    }

    /// Goes on with the way of a jump that is left; false if none is.
    pub(super) fn turns(&mut self) -> bool {
        let Some(fork) = self.later.pop() else { return false };
        let Fork { stack, memory, limbs, memory_words, known, ways, gas, steps, next, context, shown } = fork;
        (self.stack, self.memory, self.limbs, self.memory_words) = (stack, memory, limbs, memory_words);
        (self.known, self.ways) = (known, ways);
        (self.gas, self.steps, self.next) = (gas, steps, next);
        self.shown = shown;
        if let Some(field) = &mut self.field {
            field.context = context;
        }
        true
    }

    /// The offset that a jump goes to.
    fn place_of(&self, target: U256) -> Step<usize> {
        let found = usize::try_from(target).ok().filter(|&target| self.targets.contains(target));
        found.map_or_else(|| refuse(format!("the jump to {target:#x} is to go to a JUMPDEST")), Ok)
    }
}
