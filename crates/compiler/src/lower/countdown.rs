//! Countdowns: turns written out one behind the other, and a jump to the first that is done.
//!
//! A table of distances, in one word, holds for each turn how far before the end of the last one it begins; the count finds
//! its place. Distances fit two bytes where addresses may not. What a loop does not change is computed before it.

use super::{Entry, Flow, Lowering};
use crate::error::CompileError;
use crate::target::push;
use residue_ir::program::{Countdown, Region, Statement, Word, WordDef};
use residue_isa::assembly::{Item, LabelId};
use residue_isa::opcode::evm;
use std::ptr;

/// Where the turns of a countdown begin, and where the last ends.
#[derive(Debug, Clone)]
pub(super) struct Labels {
    turns: Vec<LabelId>,
    end: LabelId,
}

/// A countdown whose entrance lies on the stack.
#[derive(Debug)]
pub(super) struct Entrance<'a> {
    countdown: &'a Countdown,
    labels: Labels,
    is_reached: bool,
}

/// Entrances that wait on the stack at once, and how high the stack is below them at most: words must stay within reach.
const ENTRANCES_MAX: usize = 3;
const HEIGHT_MAX: usize = 8;

impl<'a> Lowering<'a> {
    /// Puts the entrances of the countdowns in a loop's body on the stack, where all they depend on stands before the loop.
    pub(super) fn enter_ahead(&mut self, body: &'a Region) -> Result<(), CompileError> {
        let mut countdowns = Vec::new();
        body.for_each_statement(&mut |statement| {
            if let Statement::Countdown(countdown) = statement {
                countdowns.push(&**countdown);
            }
        });
        for countdown in countdowns {
            let waiting = self.stack.iter().filter(|entry| matches!(entry, Entry::Entrance(_))).count();
            let has_room = waiting < ENTRANCES_MAX && self.stack.len() - waiting <= HEIGHT_MAX;
            if has_room && self.entrance(countdown).is_none() && self.is_known(countdown.count) {
                let labels = self.labels(countdown);
                self.compute_entrance(countdown, &labels)?;
                self.stack.pop();
                self.stack.push(Entry::Entrance(self.entered.len()));
                self.entered.push(Entrance { countdown, labels, is_reached: false });
            }
        }
        Ok(())
    }

    /// Stack at every turn and behind the last one: as before the countdown.
    pub(super) fn countdown(&mut self, countdown: &'a Countdown) -> Result<(), CompileError> {
        if let Some(first) = countdown.turns.first() {
            self.move_to(&first.params, &countdown.initial);
        }
        let labels = match self.entrance(countdown) {
            Some((place, number)) => {
                self.entered[number].is_reached = true;
                let down = u8::try_from(self.stack.len() - 1 - place).ok().filter(|&down| down < 16);
                let down = down.ok_or_else(|| CompileError::Stack { function: self.function.name.clone() })?;
                self.code.op(evm::DUP1 + down);
                self.entered[number].labels.clone()
            }
            None => {
                let labels = self.labels(countdown);
                self.compute_entrance(countdown, &labels)?;
                self.stack.pop();
                labels
            }
        };
        self.code.op(evm::JUMP);
        self.turns(countdown, &labels)
    }

    /// The turns one behind the other.
    pub(super) fn turns(&mut self, countdown: &'a Countdown, labels: &Labels) -> Result<(), CompileError> {
        for (turn, &label) in countdown.turns.iter().zip(&labels.turns) {
            self.code.label(label);
            if self.region(&turn.body)? == Flow::Continues {
                self.move_to(&turn.params, &turn.next);
            }
        }
        self.code.label(labels.end);
        Ok(())
    }

    /// Behind a loop's body: countdowns behind an ending were not lowered, and their labels are as good here as anywhere.
    pub(super) fn mark_unreached(&mut self, from: usize) {
        for entrance in self.entered[from..].iter().filter(|entrance| !entrance.is_reached) {
            for &label in entrance.labels.turns.iter().chain([&entrance.labels.end]) {
                self.code.mark(label);
            }
        }
    }

    /// The place on the stack of what [`Lowering::enter_ahead`] put there, and its number.
    fn entrance(&self, countdown: &Countdown) -> Option<(usize, usize)> {
        self.stack.iter().enumerate().find_map(|(place, entry)| match entry {
            Entry::Entrance(number) if ptr::eq(self.entered[*number].countdown, countdown) => Some((place, *number)),
            _ => None,
        })
    }

    /// Whether `word` can be computed here.
    fn is_known(&self, word: Word) -> bool {
        match &self.function.words[word.0 as usize] {
            WordDef::Constant(_) | WordDef::CalldataSize => true,
            WordDef::CalldataWord(offset) => self.is_known(*offset),
            WordDef::Op(_, a, b) => self.is_known(*a) && self.is_known(*b),
            WordDef::Defined => self.stack.iter().any(|entry| matches!(entry, Entry::Kept(kept, _) if *kept == word)),
        }
    }

    pub(super) fn labels(&mut self, countdown: &Countdown) -> Labels {
        let turns = countdown.turns.iter().map(|_| self.code.new_label()).collect();
        Labels { turns, end: self.code.new_label() }
    }

    /// Pushes where turn `count` − 1 begins; for no turn the shift takes all of the table away, which leaves the end.
    pub(super) fn compute_entrance(&mut self, countdown: &Countdown, labels: &Labels) -> Result<(), CompileError> {
        self.code.item(Item::PushDistances { to: labels.end, from: labels.turns.clone() });
        push(self.code, 1);
        self.stack.extend([Entry::Other; 2]);
        self.word(countdown.count)?;
        self.code.op(evm::SUB);
        push(self.code, 4);
        self.code.op(evm::SHL);
        self.code.op(evm::SHR);
        push(self.code, 0xffff);
        self.code.op(evm::AND);
        self.code.push_label(labels.end);
        self.code.op(evm::SUB);
        self.stack.truncate(self.stack.len() - 2);
        Ok(())
    }
}
