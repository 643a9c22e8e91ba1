//! Loops of programs of words: how code is at the head of a loop, in any turn.
//!
//! Words of the stack, of memory and of the program that change from turn to turn are found by turns that are tried: words are taken for the same until
//! they differ at the end of a turn. What is found is then judged like any other hint.

use super::machine::{Code, State, memory_gas};
use super::node::{Node, Operand, Table};
use super::walk::{Done, Walker, bind};
use super::{Operator, Step};
use residue_ir::WordOp;
use residue_isa::opcode::evm as op;
use ruint::aliases::U256;
use std::collections::BTreeMap;

/// Turns that are tried before a loop is refused.
const TRIES: usize = 24;
/// Addresses of words that loops may know from the beginning.
const WORDS_MAX: u64 = 1 << 20;

/// A word at the head of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The same as where the loop is entered.
    Same,
    /// One of the words that change, from 1.
    New(u32),
    /// The number of the turn.
    Index,
    /// That less the number of turns, by which code may count up to zero.
    Left,
}

/// The head of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    /// Its JUMPDEST.
    pub(crate) spot: usize,
    /// Words of memory that are paid for.
    pub(crate) paid: u64,
    /// True if code counts up to zero.
    pub(crate) to_zero: bool,
    /// Words of the stack, the top first.
    pub(crate) stack: Vec<Kind>,
    /// Words of memory.
    pub(crate) cells: Vec<Kind>,
    /// Words of the program.
    pub(crate) known: Vec<(u32, Kind)>,
    /// One more than there are words that change.
    pub(crate) news: u32,
}

impl Head {
    /// All kinds, in the order of [`words`].
    fn kinds(&mut self) -> impl Iterator<Item = &mut Kind> {
        let known = self.known.iter_mut().map(|(_, kind)| kind);
        self.stack.iter_mut().chain(&mut self.cells).chain(known)
    }
}

/// Words of a state in the order of a head's kinds; none if it has others.
fn words(head: &Head, state: &State) -> Option<Vec<Operand>> {
    let known = |word: &u32| state.known.iter().find(|(known, _)| known == word).map(|known| known.1);
    let known: Vec<Operand> = head.known.iter().map(|(word, _)| known(word)).collect::<Option<_>>()?;
    let all: Vec<Operand> =
        state.stack.iter().rev().copied().chain(state.cells.iter().map(|cell| cell.1)).chain(known).collect();
    (all.len() == head.stack.len() + head.cells.len() + head.known.len()).then_some(all)
}

/// A turn: the state at its end where another one follows, where none does, and its gas.
struct Turned {
    back: State,
    after: State,
    numbers: Numbers,
    gas: u64,
}

/// The number of a turn, and that less the number of turns.
#[derive(Debug, Clone, Copy)]
struct Numbers {
    index: Operand,
    left: Operand,
}

impl Walker<'_> {
    /// All turns of a loop: the state after the last one, gas up to the head, and gas of a turn.
    pub(super) fn rounds(
        &mut self,
        state: State,
        index: u32,
        count: Operand,
        turn: &[Step],
    ) -> Done<(State, u64, u64)> {
        let (head, entered, gas) = match self.heads.get(&index).cloned() {
            Some(head) if self.is_final => {
                let (entered, gas) = self.enter(state, head.spot)?;
                (head, entered, gas)
            }
            _ => {
                let (entered, gas) = self.entry(state)?;
                let head = self.found(&entered, index, count, turn)?;
                self.heads.insert(index, head.clone());
                (head, entered, gas)
            }
        };
        let more = memory_gas(head.paid).checked_sub(memory_gas(entered.words)).ok_or(UNLIKE)?;
        let first = self.first(count);
        let Turned { back, after, numbers, gas: of_turn } = self.turn(&entered, &head, index, count, turn)?;
        let fits = fits(&head, &entered, &entered, first) && fits(&head, &entered, &back, numbers);
        if !fits || entered.words > head.paid || back.words != head.paid {
            return Err(UNLIKE.to_owned());
        }
        Ok((after, gas + more, of_turn))
    }

    /// Code at the JUMPDEST of a loop.
    fn enter(&mut self, mut state: State, spot: usize) -> Done<(State, u64)> {
        let gas = state.sync(&mut self.table, &mut self.code, Some(spot))?;
        match state.offset == spot {
            true => Ok((state, gas)),
            false => Err(NO_HEAD.to_owned()),
        }
    }

    /// The first JUMPDEST that code comes to and that it jumps back to later.
    fn entry(&mut self, state: State) -> Done<(State, u64)> {
        let spots = self.code.backward().into_iter().filter(|spot| !self.within.contains(spot)).collect::<Vec<_>>();
        let entered = spots.into_iter().filter_map(|spot| self.enter(state.clone(), spot).ok());
        entered.min_by_key(|&(_, gas)| gas).ok_or_else(|| NO_HEAD.to_owned())
    }

    /// Those of the first turn.
    fn first(&mut self, count: Operand) -> Numbers {
        let left = self.table.operation(Operator::Word(WordOp::Sub), [Operand::ZERO, count, Operand::ZERO]);
        Numbers { index: Operand::ZERO, left }
    }

    /// A turn from the head on.
    fn turn(&mut self, entered: &State, head: &Head, word: u32, count: Operand, turn: &[Step]) -> Done<Turned> {
        let base = self.table.reserve(head.news);
        let modulo = Operator::Word(WordOp::Mod);
        let index = self.table.word(Node::Op(modulo, [Operand::Atom(base), count, Operand::ZERO]));
        let left = self.table.operation(Operator::Word(WordOp::Sub), [index, count, Operand::ZERO]);
        let of = |kind: Kind, operand: Operand| match kind {
            Kind::Same => operand,
            Kind::New(number) => Operand::Atom(base + number),
            Kind::Index => index,
            Kind::Left => left,
        };
        let known = |known: &u32| entered.known.iter().find(|(word, _)| word == known).map(|word| word.1);
        let stack = head.stack.iter().zip(entered.stack.iter().rev()).map(|(&kind, &operand)| of(kind, operand));
        let cells = head.cells.iter().zip(&entered.cells).map(|(&kind, &(cell, operand))| (cell, of(kind, operand)));
        let words = head.known.iter().map(|(word, kind)| known(word).map(|operand| (*word, of(*kind, operand))));
        let mut state = State {
            offset: head.spot,
            stack: stack.rev().collect(),
            cells: cells.collect(),
            known: words.collect::<Option<_>>().ok_or(UNLIKE)?,
            scratch: self.table.fresh(),
            words: head.paid,
            ..entered.clone()
        };
        bind(&mut state, word, index);
        self.within.push(head.spot);
        let (after, mut gas) = self.steps(turn, state)?;
        self.within.pop();
        let after = after.ok_or("a turn of a loop ends the program")?;
        let next = |table: &mut Table, operand| {
            table.operation(Operator::Word(WordOp::Add), [Operand::Number(U256::ONE), operand, Operand::ZERO])
        };
        let index = next(&mut self.table, index);
        let left = next(&mut self.table, left);
        let condition = match head.to_zero {
            true => left,
            false => self.table.operation(Operator::Word(WordOp::Lt), [index, count, Operand::ZERO]),
        };
        let (back, after, more) = self.fork_on(after, condition)?;
        gas += more;
        match back.offset == head.spot {
            true => Ok(Turned { back, after, numbers: Numbers { index, left }, gas }),
            false => Err(NO_HEAD.to_owned()),
        }
    }

    /// Words that change, and memory that a turn pays for.
    fn found(&mut self, entered: &State, index: u32, count: Operand, turn: &[Step]) -> Done<Head> {
        let mut head = Head {
            spot: entered.offset,
            paid: entered.words,
            to_zero: false,
            stack: vec![Kind::Same; entered.stack.len()],
            cells: vec![Kind::Same; entered.cells.len()],
            known: entered.known.iter().map(|&(word, _)| (word, Kind::Same)).filter(|known| known.0 != index).collect(),
            news: 1,
        };
        let (first, top) = (self.first(count), entered.peek(0));
        if top == Ok(first.left) {
            (head.stack[0], head.to_zero) = (Kind::Left, true);
        } else if top == Ok(first.index) {
            head.stack[0] = Kind::Index;
        }
        for _ in 0..TRIES {
            let turned = self.turn(entered, &head, index, count, turn)?;
            let (before, after) = words(&head, entered).zip(words(&head, &turned.back)).ok_or(UNLIKE)?;
            if fits(&head, entered, &turned.back, turned.numbers) && turned.back.words == head.paid {
                return Ok(head);
            }
            head.paid = turned.back.words;
            let mut classes = BTreeMap::new();
            for ((kind, before), after) in head.kinds().zip(before).zip(after) {
                match *kind {
                    Kind::Same if before == after => {}
                    Kind::Index if after == turned.numbers.index => {}
                    Kind::Left if after == turned.numbers.left => {}
                    _ => {
                        let number = u32::try_from(classes.len()).unwrap_or(u32::MAX);
                        *kind = Kind::New(*classes.entry((*kind, before, after)).or_insert(number + 1));
                    }
                }
            }
            head.news = u32::try_from(classes.len()).unwrap_or(u32::MAX) + 1;
        }
        Err(UNLIKE.to_owned())
    }
}

const NO_HEAD: &str = "a loop is expected, and no JUMPDEST that code jumps back to is found";
const UNLIKE: &str = "a turn of a loop does not leave stack and memory as the next one needs them";

/// True if a turn may begin in a state, with these numbers: words that change are the same wherever they are.
fn fits(head: &Head, entered: &State, state: &State, numbers: Numbers) -> bool {
    let cells = |state: &State| state.cells.iter().map(|cell| cell.0).collect::<Vec<_>>();
    let Some((before, after)) = words(head, entered).zip(words(head, state)) else { return false };
    let mut news = BTreeMap::new();
    let mut copy = head.clone();
    let mut all = copy.kinds().zip(before).zip(after);
    let is_one = all.all(|((kind, before), after)| match *kind {
        Kind::Same => before == after,
        Kind::Index => after == numbers.index,
        Kind::Left => after == numbers.left,
        Kind::New(number) => *news.entry(number).or_insert(after) == after,
    });
    is_one && entered.room == state.room && cells(entered) == cells(state)
}

impl Code<'_> {
    /// Numbers that stand before an instruction, each with that.
    fn pushed(&self) -> Vec<(U256, u8, usize)> {
        let (mut found, mut offset, mut last) = (Vec::new(), 0, None);
        while let Some(&byte) = self.bytes.get(offset) {
            let is_push = (op::PUSH0..=op::PUSH32).contains(&byte);
            let immediate = usize::from(byte.saturating_sub(op::PUSH0) * u8::from(is_push));
            found.extend(last.map(|number| (number, byte, offset)));
            let bytes = self.bytes.get(offset + 1..offset + 1 + immediate).unwrap_or_default();
            last = U256::try_from_be_slice(bytes).filter(|_| is_push);
            offset += 1 + immediate;
        }
        found
    }

    /// Words of memory that code loads or stores at known addresses, beyond so many bytes.
    pub(super) fn words_beyond(&self, bytes: u64) -> Vec<u64> {
        let pushed = self.pushed().into_iter().filter(|(_, byte, _)| matches!(*byte, op::MLOAD | op::MSTORE));
        let places = pushed.filter_map(|(number, ..)| u64::try_from(number).ok().filter(|&place| place < WORDS_MAX));
        // A word across two is in both.
        let mut found: Vec<u64> = places.flat_map(|place| [place, place + 31].map(|byte| byte / 32 * 32)).collect();
        found.retain(|&place| place >= bytes);
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Targets of jumps back whose address stands before the JUMPI.
    fn backward(&self) -> Vec<usize> {
        let pushed = self.pushed().into_iter().filter(|(_, byte, _)| *byte == op::JUMPI);
        let targets = pushed.filter_map(|(target, _, from)| self.is_target(target).filter(|&target| target < from));
        let mut found: Vec<usize> = targets.collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}
