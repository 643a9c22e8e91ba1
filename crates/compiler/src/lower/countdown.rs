//! Countdowns: turns written out one after the other, and a jump to the first that is done.
//!
//! A table of distances, in one word, holds for each turn how far before the end of the last one it begins; the count finds
//! its place. Distances fit two bytes where addresses may not. Where turns are too long even for that, the table is of jumps to them, which stand
//! before the code that looks it up.

use super::{Entry, Flow, Lowering};
use crate::error::CompileError;
use crate::target::push;
use residue_ir::program::{Control, Word};
use residue_isa::assembly::{Item, LabelId};
use residue_isa::opcode::evm;
use residue_passes::rows::Nest;

/// Labels at the start of each turn of a countdown, and at the end of the last.
#[derive(Debug, Clone)]
pub(super) struct Labels {
    turns: Vec<LabelId>,
    end: LabelId,
}

impl Labels {
    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = LabelId> {
        self.turns.iter().copied().chain([self.end])
    }
}

impl<'a> Lowering<'a> {
    /// Stack at every turn and after the last one: as before the countdown.
    pub(super) fn countdown(&mut self, nest: &'a Nest<'a>, count: Word) -> Result<(), CompileError> {
        let countdown = nest.control;
        if let Some(first) = countdown.arms.first() {
            self.move_to(&first.params, &countdown.initial);
        }
        let labels = self.labels(countdown);
        self.compute_entrance(count, &labels)?;
        self.stack.pop();
        self.code.op(evm::JUMP);
        self.turns(nest, &labels)
    }

    /// The turns one after the other.
    pub(super) fn turns(&mut self, nest: &'a Nest<'a>, labels: &Labels) -> Result<(), CompileError> {
        for ((turn, rows), &label) in nest.arms().into_iter().zip(&labels.turns) {
            self.code.label(label);
            if self.region(rows)? == Flow::Continues {
                self.move_to(&turn.params, &turn.gives);
            }
        }
        self.code.label(labels.end);
        Ok(())
    }

    pub(super) fn labels(&mut self, countdown: &Control) -> Labels {
        let turns = countdown.arms.iter().map(|_| self.code.new_label()).collect();
        Labels { turns, end: self.code.new_label() }
    }

    /// Pushes where turn `count` − 1 begins; for no turn the shift takes all of the table away, which leaves the end.
    pub(super) fn compute_entrance(&mut self, count: Word, labels: &Labels) -> Result<(), CompileError> {
        let (turns, end) =
            if self.cuts.has_far_turns { self.jumps_to(labels) } else { (labels.turns.clone(), labels.end) };
        self.code.item(Item::PushDistances { to: end, from: turns });
        push(self.code, 1);
        self.stack.extend([Entry::Other; 2]);
        self.word(count)?;
        self.code.op(evm::SUB);
        push(self.code, 4);
        self.code.op(evm::SHL);
        self.code.op(evm::SHR);
        push(self.code, 0xffff);
        self.code.op(evm::AND);
        self.code.push_label(end);
        self.code.op(evm::SUB);
        self.stack.truncate(self.stack.len() - 2);
        Ok(())
    }

    /// Writes a jump to each turn and to the end, which are near each other. [] → []
    fn jumps_to(&mut self, labels: &Labels) -> (Vec<LabelId>, LabelId) {
        let after = self.code.new_label();
        self.code.push_label(after);
        self.code.op(evm::JUMP);
        let mut near: Vec<LabelId> = labels
            .all()
            .map(|far| {
                let near = self.code.new_label();
                self.code.label(near);
                self.code.push_label(far);
                self.code.op(evm::JUMP);
                near
            })
            .collect();
        self.code.label(after);
        let end = near.pop().expect("the end is one of them");
        (near, end)
    }
}
