//! The checker of programs of words: program and code side by side. `coq/CheckBytes.v` is the same checker, and `coq/SoundBytes.v` proves it.
//!
//! At each write to scratch memory code has the same words as the program, and wherever the program branches code does under the same condition.
//! Turns of a countdown leave the stack, and the words beside scratch memory, as they find them; those of a loop as [`Head`] says.

use super::machine::{Code, State, words_of};
use super::node::{Node, Operand, Table};
use super::turns::Head;
use super::{Bytes, Expression, Step};
use crate::check::Refused;
use crate::semantics::Semantics;
use residue_isa::opcode::evm as op;
use ruint::aliases::U256;
use std::collections::BTreeMap;

pub(super) type Done<T> = Result<T, String>;

/// Gas of all turns of a loop, of which as many as there are steps make no number beyond 64 bits.
const TURNS_GAS_MAX: u64 = 1 << 40;
const BEYOND: &str = "the program may return bytes beyond scratch memory";

/// Gas, and what the checker in Coq is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Walked {
    pub(crate) gas: u64,
    /// Gas of a turn of loops whose number of turns is no number.
    pub(crate) turn: Option<u64>,
    /// Most instructions in a row.
    pub(crate) steps: usize,
    /// Heads of loops, by the word that is the number of a turn.
    pub(crate) heads: BTreeMap<u32, Head>,
    /// Words of memory that loops know from the beginning.
    pub(crate) zeros: Vec<u64>,
}

/// Shows that code ends as the program does, with any gas from the result on.
pub(crate) fn walk(program: &Bytes, bytes: &[u8]) -> Result<Walked, Refused> {
    let code = Code::new(bytes);
    let zeros = if program.has_loops { code.words_beyond(program.scratch_bytes()) } else { Vec::new() };
    let (table, heads) = Default::default();
    let mut walker =
        Walker { table, code, failed: 0, heads, turn: 0, within: Vec::new(), is_final: !program.has_loops };
    let mut result = walker.whole(program, &zeros);
    if result.is_ok() && program.has_loops {
        // Once more as the checker in Coq goes, with the heads that have been found.
        (walker.is_final, walker.table, walker.turn, walker.code) = (true, Table::default(), 0, Code::new(bytes));
        result = walker.whole(program, &zeros);
    }
    match result {
        Ok((None, gas)) => {
            let turn = program.is_counted().then_some(walker.turn);
            Ok(Walked { gas, turn, steps: walker.code.longest, heads: walker.heads, zeros })
        }
        Ok((Some(_), _)) => Err(walker.refused("the program ends without a return".to_owned())),
        Err(why) => Err(walker.refused(why)),
    }
}

pub(super) struct Walker<'a> {
    pub(super) table: Table,
    pub(super) code: Code<'a>,
    /// Gas after the last step where the program fails there, not yet counted.
    failed: u64,
    /// Heads of loops.
    pub(super) heads: BTreeMap<u32, Head>,
    /// Most gas of a turn of loops whose number of turns is no number.
    turn: u64,
    /// Heads of the loops that the walk is within.
    pub(super) within: Vec<usize>,
    /// True if heads have been found.
    pub(super) is_final: bool,
}

/// The state after statements, if they do not end the program, and their gas.
type After = (Option<State>, u64);

impl Walker<'_> {
    fn whole(&mut self, program: &Bytes, zeros: &[u64]) -> Done<After> {
        let mut start = State::start(zeros, &program.unset);
        start.scratch = self.table.fresh();
        self.steps(&program.steps, start)
    }

    fn refused(&self, why: String) -> Refused {
        Refused::at(self.code.last, self.code.bytes, Semantics::Evm, why)
    }

    /// The word of an expression of the program.
    fn word(&mut self, state: &State, expression: &Expression) -> Done<Operand> {
        Ok(match expression {
            Expression::Number(number) => Operand::Number(*number),
            Expression::Size => self.table.word(Node::Size),
            Expression::Calldata(offset) => {
                let offset = self.word(state, offset)?;
                self.table.word(Node::Calldata(offset))
            }
            Expression::Scratch(offset) => {
                let offset = self.word(state, offset)?;
                if !state.has_room(&self.table, offset, 32) {
                    return Err("the program may read scratch memory beyond its end".to_owned());
                }
                self.table.word(Node::Scratch(state.scratch, offset))
            }
            Expression::Word(word) => {
                let known = state.known.iter().find(|(known, _)| known == word);
                known.ok_or_else(|| format!("word {word} of the program is not known here"))?.1
            }
            Expression::Op(operator, operands) => {
                let [a, b, c] = &**operands;
                let operands = [self.word(state, a)?, self.word(state, b)?, self.word(state, c)?];
                self.table.operation(*operator, operands)
            }
        })
    }

    pub(super) fn steps(&mut self, steps: &[Step], mut state: State) -> Done<After> {
        // A way that fails takes its own gas, which most often is less.
        let (mut gas, mut failing) = (0, 0);
        for (number, step) in steps.iter().enumerate() {
            self.code.spend()?;
            let (after, more) = match step {
                Step::Repeat(index, count, turn) if !matches!(count, Expression::Number(_)) => {
                    self.counted(state, (*index, count, turn), &steps[number + 1..])?
                }
                step => self.step(step, state)?,
            };
            gas += more;
            failing = failing.max(gas + std::mem::take(&mut self.failed));
            match after {
                Some(after) => state = after,
                None => return Ok((None, gas.max(failing))),
            }
        }
        Ok((Some(state), gas.max(failing)))
    }

    fn step(&mut self, step: &Step, mut state: State) -> Done<After> {
        match step {
            Step::Bind(word, expression) => {
                let operand = self.word(&state, expression)?;
                bind(&mut state, *word, operand);
                Ok((Some(state), 0))
            }
            Step::Scratch(size) => {
                let size = u64::from(*size);
                if state.cells.iter().any(|&(cell, _)| cell < size) {
                    return Err("a word has a place where scratch memory begins to be".to_owned());
                }
                state.room = state.room.max(size);
                Ok((Some(state), 0))
            }
            Step::Set(offset, word) => {
                let operands = vec![self.word(&state, offset)?, self.word(&state, word)?];
                self.write(state, op::MSTORE, &operands, 32, 3)
            }
            Step::SetByte(offset, word) => {
                let operands = vec![self.word(&state, offset)?, self.word(&state, word)?];
                self.write(state, op::MSTORE8, &operands, 1, 3)
            }
            Step::Copy(to, from, size) => {
                let operands = vec![self.word(&state, to)?, self.word(&state, from)?, self.word(&state, size)?];
                let size = State::exact(operands[2])?;
                self.write(state, op::CALLDATACOPY, &operands, size, 3 + 3 * words_of(size))
            }
            Step::Hash(word, offset, size) => {
                let (offset, size) = (self.word(&state, offset)?, self.word(&state, size)?);
                if !state.has_room(&self.table, offset, State::exact(size)?) {
                    return Err("the program may hash bytes beyond scratch memory".to_owned());
                }
                let hash = self.table.word(Node::Hash(state.scratch, offset, size));
                bind(&mut state, *word, hash);
                Ok((Some(state), 0))
            }
            Step::Require(condition) => {
                let word = self.word(&state, condition)?;
                let (mut state, fails, gas) = self.fork(state, condition)?;
                self.failed = self.fails(fails)?;
                self.table.limit(&mut state.limits, word);
                Ok((Some(state), gas))
            }
            Step::Branch(condition, first, second) => self.branch(state, condition, first, second),
            Step::Repeat(index, count, turn) => {
                let count = self.word(&state, count)?;
                let turns = State::exact(count)?;
                if turns == 0 {
                    return Err("a loop without turns".to_owned());
                }
                let (after, gas, of_turn) = self.rounds(state, *index, count, turn)?;
                let turns = of_turn.checked_mul(turns).filter(|&gas| gas < TURNS_GAS_MAX);
                Ok((Some(after), gas + turns.ok_or("the turns of a loop take too much gas")?))
            }
            Step::Countdown(word, turns) => self.countdown(state, *word, turns),
            Step::ReturnWords(words) => self.return_words(state, words).map(|gas| (None, gas)),
            Step::ReturnScratch(offset, size) => self.return_scratch(state, offset, size).map(|gas| (None, gas)),
        }
    }

    /// A loop whose number of turns is no number, and all that comes after it; gas of turns is counted apart.
    fn counted(
        &mut self,
        state: State,
        (index, count, turn): (u32, &Expression, &[Step]),
        rest: &[Step],
    ) -> Done<After> {
        let count = self.word(&state, count)?;
        let (some, none, gas) = self.fork_on(state, count)?;
        let (after, way, of_turn) = self.rounds(some, index, count, turn)?;
        self.turn = self.turn.max(of_turn);
        let (after, rest_gas) = self.steps(rest, after)?;
        let (without, other) = self.steps(rest, none)?;
        match (after, without) {
            (None, None) => Ok((None, gas + (way + rest_gas).max(other))),
            _ => Err("the program does not end after a loop of any number of turns".to_owned()),
        }
    }

    /// Instructions up to one that scratch memory or branches have to do with.
    fn event(&mut self, state: &mut State) -> Done<(u64, Option<u8>)> {
        let gas = state.sync(&mut self.table, &mut self.code, None)?;
        Ok((gas, state.opcode(&self.code)))
    }

    /// A write of the program, with the words that the instruction takes.
    fn write(&mut self, mut state: State, opcode: u8, operands: &[Operand], size: u64, price: u64) -> Done<After> {
        let (before, found) = self.event(&mut state)?;
        let is_it = operands.iter().enumerate().all(|(depth, operand)| state.peek(depth).as_ref() == Ok(operand));
        if found != Some(opcode) || !is_it {
            let name = Semantics::Evm.revision().row(opcode).map_or("a write", |row| row.mnemonic);
            return Err(format!("the program's write is expected, a {name} of the same words"));
        }
        if !state.has_room(&self.table, operands[0], size) {
            return Err("the program may write beyond scratch memory".to_owned());
        }
        let gas = before + price + state.reach(&self.table, operands[0], size)?;
        let mut state = state.passed(1, operands.len());
        state.scratch = self.table.fresh();
        Ok((Some(state), gas))
    }

    /// Code where a condition of the program holds, and where it does not.
    fn fork(&mut self, state: State, condition: &Expression) -> Done<(State, State, u64)> {
        let condition = self.word(&state, condition)?;
        self.fork_on(state, condition)
    }

    pub(super) fn fork_on(&mut self, mut state: State, condition: Operand) -> Done<(State, State, u64)> {
        let (gas, found) = self.event(&mut state)?;
        if found != Some(op::JUMPI) {
            return Err("the program branches, and a JUMPI is expected".to_owned());
        }
        let (target, tested) = (state.peek(0)?, state.peek(1)?);
        let (truth, word) = self.table.truth(condition);
        let (other_truth, other) = self.table.truth(tested);
        if word != other {
            return Err("the program branches under another condition".to_owned());
        }
        let taken = state.clone().jumped(&self.code, target, 2)?;
        let passed = state.passed(1, 2);
        let (holds, fails) = if truth == other_truth { (taken, passed) } else { (passed, taken) };
        Ok((holds, fails, gas + 10))
    }

    fn fails(&mut self, mut state: State) -> Done<u64> {
        match self.event(&mut state)? {
            (gas, Some(op::INVALID)) => Ok(gas),
            _ => Err("the program fails, and INVALID is expected".to_owned()),
        }
    }

    fn branch(&mut self, state: State, condition: &Expression, first: &[Step], second: &[Step]) -> Done<After> {
        let (holds, fails, gas) = self.fork(state, condition)?;
        let (first, one) = self.steps(first, holds)?;
        let (second, other) = self.steps(second, fails)?;
        let gas = gas + one.max(other);
        match (first, second) {
            (None, after) | (after, None) => Ok((after, gas)),
            _ => Err("certificates do not know branches of programs of words that meet again".to_owned()),
        }
    }

    fn countdown(&mut self, mut state: State, word: u32, turns: &[Vec<Step>]) -> Done<After> {
        let count = self.word(&state, &Expression::Word(word))?;
        let (mut gas, found) = self.event(&mut state)?;
        if found != Some(op::JUMP) {
            return Err("a countdown is expected, and its JUMP".to_owned());
        }
        let target = state.peek(0)?;
        if self.table.greatest(&state.limits, count) > U256::from(turns.len()) {
            return Err("the countdown may have more turns than there are".to_owned());
        }
        // Where code is with so many turns left.
        let place = |number: usize| {
            let place = self.table.given(count, U256::from(number), target)?;
            self.code.is_target(place)
        };
        let places = (0..=turns.len()).map(place).collect::<Option<Vec<usize>>>();
        let places = places.ok_or("the JUMP of a countdown does not go to a turn for each count")?;
        let base = state.passed(1, 1);
        gas += 8;
        for (turn, number) in turns.iter().zip((1..=turns.len()).rev()) {
            let begins = self.entered(&base, places[number]);
            let (after, more) = self.steps(turn, begins)?;
            let mut after = after.ok_or("a turn of a countdown ends the program")?;
            gas += more + after.sync(&mut self.table, &mut self.code, Some(places[number - 1]))?;
            if after.offset != places[number - 1] || !is_alike(&base, &after) {
                return Err("a turn of a countdown does not leave stack and memory as it finds them".to_owned());
            }
        }
        Ok((Some(self.entered(&base, places[0])), gas))
    }

    /// The same at another place, with another scratch memory.
    fn entered(&mut self, base: &State, offset: usize) -> State {
        let mut state = base.clone();
        state.offset = offset;
        state.scratch = self.table.fresh();
        state
    }

    fn return_words(&mut self, mut state: State, words: &[Expression]) -> Done<u64> {
        let words = words.iter().map(|word| self.word(&state, word)).collect::<Done<Vec<Operand>>>()?;
        let (gas, found) = self.event(&mut state)?;
        let no = || "the program returns words, and a RETURN of them is expected".to_owned();
        let (address, size) = match found {
            Some(op::RETURN) => (State::exact(state.peek(0)?)?, State::exact(state.peek(1)?)?),
            _ => return Err(no()),
        };
        let are_kept = (address..).step_by(32).zip(&words).all(|place| {
            state.cells.iter().find(|(cell, _)| *cell == place.0).is_some_and(|(_, kept)| kept == place.1)
        });
        if size != 32 * words.len() as u64 || !are_kept {
            // usize to u64 widens
            return Err(no());
        }
        Ok(gas + state.reach(&self.table, Operand::Number(U256::from(address)), size)?)
    }

    fn return_scratch(&mut self, mut state: State, offset: &Expression, size: &Expression) -> Done<u64> {
        let (offset, size) = (self.word(&state, offset)?, self.word(&state, size)?);
        let (gas, found) = self.event(&mut state)?;
        if found != Some(op::RETURN) || state.peek(0)? != offset || state.peek(1)? != size {
            return Err("the program returns scratch memory, and a RETURN of it is expected".to_owned());
        }
        if let Some(end) = self.table.end(&state.limits, offset, size) {
            // Memory is paid for up to the end.
            let paid = U256::from(32 * state.words).min(U256::from(state.room));
            return if end <= paid { Ok(gas) } else { Err(BEYOND.to_owned()) };
        }
        let bytes = State::exact(size)?;
        State::exact(offset)?;
        if !state.has_room(&self.table, offset, bytes) {
            return Err(BEYOND.to_owned());
        }
        Ok(gas + state.reach(&self.table, offset, bytes)?)
    }
}

pub(super) fn bind(state: &mut State, word: u32, operand: Operand) {
    state.known.retain(|(known, _)| *known != word);
    state.known.insert(0, (word, operand));
}

/// The same but for the place, what has been computed and scratch memory; later words may be known beside.
fn is_alike(base: &State, after: &State) -> bool {
    base.stack == after.stack
        && base.cells == after.cells
        && base.known.iter().all(|known| after.known.contains(known))
        && (base.room, base.words) == (after.room, after.words)
}
