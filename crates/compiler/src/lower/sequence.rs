//! Sequences: the addresses of all steps are pushed beforehand, the first on top, so that each part ends with a jump to the
//! next one. A step costs a push and a jump, half of what a turn of a loop does.
//!
//! What is below the addresses cannot be reached in a part, as nobody knows how many are left. A part that begins with a
//! countdown is entered where the count says, and that place is found once; it waits where output goes until it has been
//! pushed.

use super::countdown::Labels;
use super::{Flow, Lowering};
use crate::error::CompileError;
use crate::target::push;
use residue_ir::program::{Countdown, Sequence, Statement, Turn};
use residue_isa::assembly::LabelId;
use residue_isa::opcode::evm;
use std::mem;

/// Where a part is entered.
enum Entry<'a> {
    At(LabelId),
    /// In its countdown, at the address that memory has.
    In(&'a Countdown, Labels, u32),
}

/// A copy of a word that is this deep in the stack, at most, needs one byte.
const DUP_DEPTH_MAX: usize = 16;

impl<'a> Lowering<'a> {
    /// [] → []
    pub(super) fn sequence(&mut self, sequence: &'a Sequence) -> Result<(), CompileError> {
        let Sequence { order, initial, parts, .. } = sequence;
        let (Some(state), Some((&first, others))) = (parts.first().map(|part| &part.params), order.split_first())
        else {
            return Ok(());
        };
        self.move_to(state, initial);
        let mut entries = Vec::new();
        for (part, address) in parts.iter().zip((self.layout.output..).step_by(32)) {
            entries.push(self.part_entry(part, address)?);
        }
        let end = self.code.new_label();
        self.code.push_label(end);
        let mut pushed: Vec<usize> = Vec::new();
        for &number in others.iter().rev().chain([&first]) {
            self.push_entry(&entries[number], pushed.iter().rev().position(|&before| before == number));
            pushed.push(number);
        }
        self.code.op(evm::JUMP);

        let stack = mem::take(&mut self.stack);
        for (part, entry) in parts.iter().zip(&entries) {
            let statements = match entry {
                Entry::At(label) => {
                    self.code.label(*label);
                    &part.body.statements[..]
                }
                Entry::In(countdown, labels, _) => {
                    self.turns(countdown, labels)?;
                    &part.body.statements[1..]
                }
            };
            if self.statements(statements)? == Flow::Continues {
                self.move_to(&part.params, &part.next);
                self.code.op(evm::JUMP);
            }
        }
        self.stack = stack;
        self.code.label(end);
        Ok(())
    }

    /// Finds out where a part is entered. If that depends on a count, memory has it at `address` then.
    fn part_entry(&mut self, part: &'a Turn, address: u32) -> Result<Entry<'a>, CompileError> {
        if let Some(Statement::Countdown(countdown)) = part.body.statements.first()
            && let Some(turn) = countdown.turns.first()
            && turn.params.iter().zip(&countdown.initial).all(|(&to, &from)| self.placement.slot(to) == self.slot(from))
        {
            let labels = self.labels(countdown);
            self.compute_entrance(countdown, &labels)?;
            self.stack.pop();
            push(self.code, address);
            self.code.op(evm::MSTORE);
            return Ok(Entry::In(countdown, labels, address));
        }
        Ok(Entry::At(self.code.new_label()))
    }

    /// Pushes where a part is entered, given how many words above it that was pushed before, if it was.
    fn push_entry(&mut self, entry: &Entry<'_>, above: Option<usize>) {
        match (above.filter(|&above| above < DUP_DEPTH_MAX).and_then(|above| u8::try_from(above).ok()), entry) {
            (Some(above), _) => {
                self.code.op(evm::DUP1 + above);
            }
            (None, Entry::At(label)) => {
                self.code.push_label(*label);
            }
            (None, Entry::In(_, _, address)) => {
                push(self.code, *address);
                self.code.op(evm::MLOAD);
            }
        }
    }
}
