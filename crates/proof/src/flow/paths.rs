//! Paths of a program: it is run on symbols, both ways where the facts do not say which. What is computed on any of them is one list of operations,
//! each with a value of its own; a path has facts and an end. `coq/CheckFlow.v` does the same.

use super::{Expression, Flow, Step};
use crate::check::symbol::{Condition, Facts, Symbol};
use crate::straight::{ELEMENT_BYTES, Operation, Read, Straight};
use crate::sum::{Atom, Number, Sum};
use crate::tables::Tables;
use crate::words::{self, NamedWord, WORDS_MAX};
use foldhash::{HashMap, HashMapExt};
use residue_ir::{FieldOp, Value, Word, WordOp};
use residue_isa::opcode::evm as op;
use ruint::aliases::U256;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Paths of a program.
const PATHS_MAX: usize = 1 << 8;
/// Operations of all paths: programs with more are refused.
const OPERATIONS_MAX: usize = 1 << 18;
/// Requirements, parses, branches and calls of a path: they are gone through by recursion.
const DEPTH_MAX: usize = 400;
/// Words of calldata that one word is the OR of.
const ORED_MAX: usize = 64;
/// Facts that one condition may ask for.
const SPLITS_MAX: usize = 16;

/// A path: what is known on it, and its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) facts: Facts,
    pub(crate) goal: Goal,
}

/// An end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Goal {
    /// A failure.
    Fails,
    /// Elements that are returned.
    Returns(Vec<Value>),
    /// A word that is returned: 1 where a condition holds, else 0.
    Tells(Condition),
    /// The next turn of a loop.
    Again(Box<Next>),
    /// Elements that are returned, each of so many bytes.
    ReturnsBytes(u32, Vec<Value>),
}

/// Values and words of a program, where its next turn begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) values: HashMap<Value, Read>,
    pub(crate) words: HashMap<Word, Symbol>,
}

impl End {
    /// Sums of values, in place of the values.
    pub(crate) fn lifted(&self, tables: &Tables) -> Self {
        let lifted = |condition: &Condition| match condition {
            Condition::Zero(sum) => match sum.terms() {
                [(atom, factor)] if *factor == Number::ONE => tables
                    .sums
                    .get(atom)
                    .map_or_else(|| condition.clone(), |sum| Condition::Zero(Arc::new(sum.clone()))),
                _ => condition.clone(),
            },
            _ => condition.clone(),
        };
        let facts = self.facts.0.iter().map(|(condition, holds)| (lifted(condition), *holds)).collect();
        let goal = match &self.goal {
            Goal::Tells(condition) => Goal::Tells(lifted(condition)),
            goal => goal.clone(),
        };
        Self { facts: Facts(facts), goal }
    }
}

/// All paths of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paths {
    /// The words of calldata that are read and the operations of all paths. It returns nothing.
    pub(crate) program: Straight,
    pub(crate) ends: Vec<End>,
}

/// Values and words of a function, as far as they are known, and the facts.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub(super) values: HashMap<Value, Read>,
    pub(super) words: HashMap<Word, Symbol>,
    pub(super) facts: Facts,
}

/// A path that has come so far, or its end.
pub(super) enum Fate {
    At(State),
    End(End),
}

pub(super) type Found<T> = Result<T, String>;

/// Values that are known before a part of a program is gone through.
#[derive(Debug, Clone, Default)]
pub(super) struct Before {
    /// Words of calldata that the program reads.
    pub(super) reads: Vec<(Value, u32)>,
    /// Words that are values.
    pub(super) words: Vec<NamedWord>,
    /// Values that a turn is told.
    pub(super) told: Vec<Value>,
}

impl Before {
    /// The words of calldata that all parts of a program read.
    pub(super) fn of(flow: &Flow) -> Self {
        let looped = flow.looped.iter().flat_map(|looped| [&looped.turn, &looped.after]);
        let steps = flow.routines.iter().map(|routine| &routine.steps).chain(looped);
        let mut offsets: BTreeSet<u32> = steps.flat_map(|steps| offsets(steps)).collect();
        offsets.extend(flow.looped.iter().flat_map(|looped| read_by(&looped.count)));
        Self { reads: (0..).map(Value).zip(offsets).collect(), ..Self::default() }
    }
}

impl Paths {
    /// Those of a program, or why they are not found.
    pub(crate) fn of(flow: &Flow) -> Found<Self> {
        Self::from(flow, &Before::of(flow), |walk| walk.whole())
    }

    /// Those of a part of a program.
    pub(super) fn from(flow: &Flow, before: &Before, go: impl Fn(&mut Walk<'_>) -> Found<Vec<Fate>>) -> Found<Self> {
        // Operations come after all words, which are not known before the paths are.
        let mut walk = Walk::new(flow, before, WORDS_MAX);
        go(&mut walk)?;
        let words = walk.words;
        let count = words.len();
        let mut walk = Walk::new(flow, before, count);
        walk.words = words;
        let fates = go(&mut walk)?;
        let ends = fates.into_iter().map(|fate| match fate {
            Fate::End(end) => Ok(end),
            Fate::At(_) => Err("a program that may end without a return".to_owned()),
        });
        let ends = ends.collect::<Found<Vec<_>>>()?;
        let program = Straight {
            modulus: flow.modulus,
            calldata_bytes: 0,
            parses: before.reads.clone(),
            words: walk.words,
            told: before.told.clone(),
            operations: walk.operations,
            results: Vec::new(),
        };
        Ok(Self { program, ends })
    }
}

/// Places of calldata that a word reads.
fn read_by(expression: &Expression) -> Vec<u32> {
    match expression {
        Expression::Calldata(offset) => vec![*offset],
        Expression::Op(_, a, b) => [read_by(a), read_by(b)].concat(),
        Expression::Number(_) | Expression::Size | Expression::Defined(_) => Vec::new(),
    }
}

/// Places of calldata that steps read.
fn offsets(steps: &[Step]) -> Vec<u32> {
    let each = steps.iter().flat_map(|step| match step {
        Step::Parse(_, offset) => vec![*offset],
        Step::Bind(_, word) | Step::Require(word) | Step::Reduce(_, word) => read_by(word),
        Step::ParseAt(_, word) | Step::ReturnWord(word) => read_by(word),
        Step::Branch(word, first, second) => [read_by(word), offsets(first), offsets(second)].concat(),
        Step::Operations(_) | Step::Move { .. } | Step::IsZero(..) | Step::Call { .. } | Step::Return(_) => Vec::new(),
        Step::ParseBytes(..) | Step::ReturnBytes(..) => Vec::new(),
    });
    each.collect()
}

/// Operations on words that paths know.
pub(super) const OPERATIONS: [WordOp; 10] = [
    WordOp::Add,
    WordOp::Sub,
    WordOp::Mul,
    WordOp::Div,
    WordOp::Mod,
    WordOp::Lt,
    WordOp::Eq,
    WordOp::And,
    WordOp::Or,
    WordOp::Shr,
];

/// The opcode of one of them.
pub(crate) const fn opcode(op: WordOp) -> u8 {
    match op {
        WordOp::Add => op::ADD,
        WordOp::Sub => op::SUB,
        WordOp::Mul => op::MUL,
        WordOp::Div => op::DIV,
        WordOp::Mod => op::MOD,
        WordOp::Lt => op::LT,
        WordOp::Eq => op::EQ,
        WordOp::And => op::AND,
        WordOp::Or => op::OR,
        _ => op::SHR,
    }
}

/// The operations so far.
pub(super) struct Walk<'a> {
    pub(super) flow: &'a Flow,
    /// The value that a word of calldata is, by its offset.
    reads: HashMap<u32, Value>,
    /// Words that are values.
    words: Vec<NamedWord>,
    /// Values beside words that come before the next word.
    others: usize,
    /// The value of the first operation.
    first: usize,
    operations: Vec<Operation>,
    /// Calls of [`Self::steps`] that have not returned.
    depth: usize,
}

impl<'a> Walk<'a> {
    fn new(flow: &'a Flow, before: &Before, words_max: usize) -> Self {
        let others = before.reads.len() + before.told.len();
        Walk {
            flow,
            reads: before.reads.iter().map(|&(value, at)| (at, value)).collect(),
            words: before.words.clone(),
            others,
            first: others + words_max,
            operations: Vec::new(),
            depth: 0,
        }
    }

    /// All ways through the program, as far as its loop.
    pub(super) fn whole(&mut self) -> Found<Vec<Fate>> {
        let last = self.flow.routines.last().ok_or("a program has a function")?;
        self.steps(&last.steps, State::default())
    }

    /// All ways through these steps.
    pub(super) fn steps(&mut self, steps: &[Step], state: State) -> Found<Vec<Fate>> {
        self.depth += 1;
        let fates = match self.depth {
            ..=DEPTH_MAX => self.ways(steps, state),
            _ => Err(format!("paths of more than {DEPTH_MAX} requirements, parses, branches and calls")),
        };
        self.depth -= 1;
        fates
    }

    fn ways(&mut self, steps: &[Step], mut state: State) -> Found<Vec<Fate>> {
        for (place, step) in steps.iter().enumerate() {
            let rest = &steps[place + 1..];
            match step {
                Step::Operations(operations) => self.operations(operations, &mut state)?,
                Step::Move { to, from } => {
                    let from = reads(&state, from)?;
                    state.values.extend(to.iter().copied().zip(from));
                }
                Step::Reduce(value, word) => self.reduced(*value, word, &mut state)?,
                Step::IsZero(word, x) => {
                    let sum = match read(&state, *x)? {
                        Read::Value(value) => Sum::atom(Atom::of(value)),
                        Read::Number(number) => Sum::constant(number, self.flow.modulus),
                    };
                    state.words.insert(*word, Symbol::Truth(Condition::Zero(Arc::new(sum))));
                }
                Step::Bind(word, expression) => {
                    let symbol = self.word(&state, expression)?;
                    state.words.insert(*word, symbol);
                }
                Step::Parse(value, offset) => return self.parsed(*value, self.reads[offset], rest, state),
                Step::ParseAt(value, word) => {
                    let parsed = self.offset(&state, word)?;
                    return self.parsed(*value, parsed, rest, state);
                }
                Step::Require(word) => {
                    let condition = self.word(&state, word)?.is_zero(self.flow.modulus)?;
                    return self.each(state, &condition, |walk, is_zero, state| {
                        if is_zero { Ok(failure(state)) } else { walk.steps(rest, state) }
                    });
                }
                Step::Branch(word, first, second) => {
                    let condition = self.word(&state, word)?.is_zero(self.flow.modulus)?;
                    return self.each(state, &condition, |walk, is_zero, state| {
                        let fates = walk.steps(if is_zero { second } else { first }, state)?;
                        walk.continued(fates, |walk, state| walk.steps(rest, state))
                    });
                }
                Step::Call { function, arguments, results } => {
                    let routine = &self.flow.routines[*function];
                    let given = reads(&state, arguments)?;
                    let values = routine.parameters.iter().copied().zip(given).collect();
                    let callee = State { values, words: HashMap::new(), ..state.clone() };
                    let fates = self.steps(&routine.steps, callee)?;
                    return self.continued(fates, |walk, callee| {
                        let mut state = State { facts: callee.facts.clone(), ..state.clone() };
                        state.values.extend(results.iter().copied().zip(reads(&callee, &routine.results)?));
                        walk.steps(rest, state)
                    });
                }
                Step::ReturnWord(word) => {
                    let Symbol::Truth(condition) = self.word(&state, word)? else {
                        return Err("a return of a word that is no condition".to_owned());
                    };
                    return Ok(vec![Fate::End(End { facts: state.facts, goal: Goal::Tells(condition) })]);
                }
                Step::Return(values) => return returned(state, values, Goal::Returns),
                Step::ParseBytes(value, offset, bytes) => {
                    let parsed = self.number(*offset, *bytes)?;
                    return self.parsed(*value, parsed, rest, state);
                }
                Step::ReturnBytes(bytes, values) => {
                    return returned(state, values, |values| Goal::ReturnsBytes(*bytes, values));
                }
            }
        }
        Ok(vec![Fate::At(state)])
    }

    /// The failure if what is parsed is not below p, and all ways on.
    fn parsed(&mut self, value: Value, parsed: Value, rest: &[Step], state: State) -> Found<Vec<Fate>> {
        let condition = Condition::NotBelow(Atom::of(parsed));
        self.each(state, &condition, |walk, fails, mut state| {
            state.values.insert(value, Read::Value(parsed));
            if fails { Ok(failure(state)) } else { walk.steps(rest, state) }
        })
    }

    /// The number of so many bytes that calldata has at an offset: a word that is a value.
    fn number(&mut self, offset: u32, bytes: u32) -> Found<Value> {
        let more = bytes.checked_sub(ELEMENT_BYTES).ok_or("a parse of less than 32 bytes")?;
        let [offset, more] = [offset, more].map(|number| Symbol::number(U256::from(number), self.flow.modulus));
        match self.named(op::CALLDATALOAD, &offset, &more) {
            Some(Symbol::Parsed(atom)) => atom.value().ok_or_else(|| "a number is no value".to_owned()),
            _ => Err(format!("more than {WORDS_MAX} words that are values")),
        }
    }

    /// The value that calldata has at an offset.
    fn offset(&mut self, state: &State, word: &Expression) -> Found<Value> {
        let word = self.word(state, word)?;
        match word.exact() {
            Ok(offset) => {
                let read = u32::try_from(offset).ok().and_then(|offset| self.reads.get(&offset).copied());
                read.ok_or_else(|| format!("the program reads calldata at {offset:#x}"))
            }
            Err(why) => {
                let found = self.named(op::CALLDATALOAD, &word, &Symbol::number(U256::ZERO, self.flow.modulus));
                let atom = if let Some(Symbol::Parsed(atom)) = found { atom.value() } else { None };
                atom.ok_or(why)
            }
        }
    }

    fn operations(&mut self, operations: &[Operation], state: &mut State) -> Found<()> {
        let first = self.first + self.operations.len();
        if first + operations.len() > OPERATIONS_MAX {
            return Err(format!("paths of more than {OPERATIONS_MAX} operations"));
        }
        let first = u32::try_from(first).map_err(|error| error.to_string())?;
        for (made, &Operation { value, kind, x, y }) in (first..).map(Value).zip(operations) {
            self.operations.push(Operation { value: made, kind, x: read(state, x)?, y: read(state, y)? });
            state.values.insert(value, Read::Value(made));
        }
        Ok(())
    }

    /// All ways on, of the paths that have not ended.
    pub(super) fn continued(
        &mut self,
        fates: Vec<Fate>,
        mut go: impl FnMut(&mut Self, State) -> Found<Vec<Fate>>,
    ) -> Found<Vec<Fate>> {
        let mut all = Vec::new();
        for fate in fates {
            match fate {
                Fate::At(state) => all.extend(go(self, state)?),
                end @ Fate::End(_) => all.push(end),
            }
            if all.len() > PATHS_MAX {
                return Err(format!("more than {PATHS_MAX} paths"));
            }
        }
        Ok(all)
    }

    /// All ways on, where the condition holds and where it does not.
    pub(super) fn each(
        &mut self,
        state: State,
        condition: &Condition,
        mut go: impl FnMut(&mut Self, bool, State) -> Found<Vec<Fate>>,
    ) -> Found<Vec<Fate>> {
        let mut all = Vec::new();
        for (holds, state) in split(state, condition, self.flow.modulus, SPLITS_MAX)? {
            all.extend(go(self, holds, state)?);
            if all.len() > PATHS_MAX {
                return Err(format!("more than {PATHS_MAX} paths"));
            }
        }
        Ok(all)
    }

    /// A word modulo p: a sum with 0.
    fn reduced(&mut self, value: Value, word: &Expression, state: &mut State) -> Found<()> {
        let Symbol::Parsed(atom) = self.word(state, word)? else {
            return Err("a word is taken modulo p that is no value".to_owned());
        };
        let taken = atom.value().ok_or("a number is taken modulo p")?;
        let place = self.first + self.operations.len();
        let made = Value(u32::try_from(place).map_err(|error| error.to_string())?);
        let zero = Read::Number(Number::ZERO);
        self.operations.push(Operation { value: made, kind: FieldOp::Add, x: Read::Value(taken), y: zero });
        state.values.insert(value, Read::Value(made));
        Ok(())
    }

    /// The value of an operation on two words.
    pub(super) fn named(&mut self, opcode: u8, x: &Symbol, y: &Symbol) -> Option<Symbol> {
        let (first, second) = (x.part()?, y.part()?);
        let value = words::find(&self.words, opcode, &first, &second).or_else(|| {
            let value = Value(u32::try_from(self.others + self.words.len()).ok()?);
            (self.words.len() < WORDS_MAX).then(|| self.words.push(NamedWord { value, opcode, first, second }))?;
            Some(value)
        })?;
        Some(Symbol::Parsed(Atom::of(value)))
    }

    pub(super) fn word(&mut self, state: &State, expression: &Expression) -> Found<Symbol> {
        let p = self.flow.modulus;
        match expression {
            Expression::Number(number) => Ok(Symbol::number(*number, p)),
            Expression::Size => Ok(Symbol::Size),
            Expression::Calldata(offset) => Ok(Symbol::Parsed(Atom::of(self.reads[offset]))),
            Expression::Defined(word) => {
                state.words.get(word).cloned().ok_or_else(|| format!("w{} is read before it is defined", word.0))
            }
            Expression::Op(op, a, b) => {
                let (a, b) = (self.word(state, a)?, self.word(state, b)?);
                // Code has the number of bits on top.
                let (a, b) = if *op == WordOp::Shr { (b, a) } else { (a, b) };
                let opcode = opcode(*op);
                let combined = Symbol::combined(opcode, &a, &b, p);
                match combined.or_else(|why| self.named(opcode, &a, &b).ok_or(why))? {
                    Symbol::Or(parses, _) if parses.len() > ORED_MAX => {
                        Err(format!("an OR of more than {ORED_MAX} words"))
                    }
                    symbol => Ok(symbol),
                }
            }
        }
    }
}

fn failure(state: State) -> Vec<Fate> {
    vec![Fate::End(End { facts: state.facts, goal: Goal::Fails })]
}

/// The end of a path that returns values.
fn returned(state: State, values: &[Read], goal: impl FnOnce(Vec<Value>) -> Goal) -> Found<Vec<Fate>> {
    let values = reads(&state, values)?.into_iter().map(|read| match read {
        Read::Value(value) => Ok(value),
        Read::Number(_) => Err("a return of a constant".to_owned()),
    });
    let goal = goal(values.collect::<Found<_>>()?);
    Ok(vec![Fate::End(End { facts: state.facts, goal })])
}

fn read(state: &State, read: Read) -> Found<Read> {
    match read {
        Read::Value(value) => {
            state.values.get(&value).copied().ok_or_else(|| format!("v{} is read before it is defined", value.0))
        }
        number @ Read::Number(_) => Ok(number),
    }
}

pub(super) fn reads(state: &State, all: &[Read]) -> Found<Vec<Read>> {
    all.iter().map(|&one| read(state, one)).collect()
}

/// Both ways, unless the facts say which.
fn split(state: State, condition: &Condition, p: Number, splits: usize) -> Found<Vec<(bool, State)>> {
    if let Some(holds) = state.facts.decide(condition, p) {
        return Ok(vec![(holds, state)]);
    }
    let splits = splits.checked_sub(1).ok_or("a condition of too many parts")?;
    let unknown = state.facts.unknown(condition, p);
    let mut all = Vec::new();
    for holds in [true, false] {
        let learned = State { facts: state.facts.with(unknown.clone(), holds), ..state.clone() };
        all.extend(split(learned, condition, p, splits)?);
        if all.len() > PATHS_MAX {
            return Err(format!("more than {PATHS_MAX} paths"));
        }
    }
    Ok(all)
}
