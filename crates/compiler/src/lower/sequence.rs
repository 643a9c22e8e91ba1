//! Sequences: the addresses of all steps are pushed beforehand, the first on top, so that each part ends with a jump to the
//! next one. A step costs a push and a jump, half of what a turn of a loop does.
//!
//! What is below the addresses cannot be reached in a part, as nobody knows how many are left. A part that begins with a
//! countdown is entered where the count says, and that place is found once; memory has it. If something has to be moved before
//! the countdown, the part begins with that.

use super::countdown::Labels;
use super::{DUP_DEPTH_MAX, Flow, Lowering};
use crate::error::CompileError;
use crate::target::push;
use residue_ir::program::{Countdown, Program, Sequence, Statement, Turn};
use residue_isa::assembly::LabelId;
use residue_isa::opcode::evm;
use std::mem;

/// Where a part is entered.
struct Entry<'a> {
    /// Its beginning.
    label: LabelId,
    /// Its countdown, and the address of the place in it that the count says.
    countdown: Option<(&'a Countdown, Labels, u32)>,
    /// Whether nothing stands before that place.
    is_countdown: bool,
}

/// The countdown that a part begins with.
fn lead(part: &Turn) -> Option<&Countdown> {
    match part.body.statements.first() {
        Some(Statement::Countdown(countdown)) => Some(countdown),
        _ => None,
    }
}

/// How many parts of the program's sequences begin with a countdown.
pub(super) fn entrances(program: &Program) -> u64 {
    let mut count = 0;
    for function in &program.functions {
        function.body.for_each_statement(&mut |statement| {
            if let Statement::Sequence(sequence) = statement {
                count += sequence.parts.iter().filter(|part| lead(part).is_some()).count() as u64; // usize to u64 widens
            }
        });
    }
    count
}

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
        for part in parts {
            entries.push(self.part_entry(part)?);
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
            let statements = &part.body.statements[usize::from(entry.countdown.is_some())..];
            if !entry.is_countdown {
                self.code.label(entry.label);
            }
            if let Some((countdown, labels, address)) = &entry.countdown {
                if !entry.is_countdown {
                    self.move_to(&countdown.turns[0].params, &countdown.initial);
                    push(self.code, *address);
                    self.code.op(evm::MLOAD);
                    self.code.op(evm::JUMP);
                }
                self.turns(countdown, labels)?;
            }
            if self.statements(statements)? == Flow::Continues {
                self.move_to(&part.params, &part.next);
                self.code.op(evm::JUMP);
            }
        }
        self.stack = stack;
        self.code.label(end);
        Ok(())
    }

    /// Finds out where a part is entered, and puts the place that a count says into memory.
    fn part_entry(&mut self, part: &'a Turn) -> Result<Entry<'a>, CompileError> {
        let label = self.code.new_label();
        let Some(countdown) = lead(part) else {
            return Ok(Entry { label, countdown: None, is_countdown: false });
        };
        let address = mem::replace(self.entrances, *self.entrances + 32);
        let labels = self.labels(countdown);
        self.compute_entrance(countdown, &labels)?;
        self.stack.pop();
        push(self.code, address);
        self.code.op(evm::MSTORE);
        let state = countdown.turns.iter().take(1).flat_map(|turn| &turn.params);
        let is_countdown = state.zip(&countdown.initial).all(|(&to, &from)| self.placement.slot(to) == self.slot(from));
        Ok(Entry { label, countdown: Some((countdown, labels, address)), is_countdown })
    }

    /// Pushes where a part is entered, given how many words above it that was pushed before, if it was.
    fn push_entry(&mut self, entry: &Entry<'_>, above: Option<usize>) {
        match (above.and_then(|above| u8::try_from(above).ok()).filter(|&above| above < DUP_DEPTH_MAX), entry) {
            (Some(above), _) => {
                self.code.op(evm::DUP1 + above);
            }
            (None, Entry { countdown: Some((_, _, address)), is_countdown: true, .. }) => {
                push(self.code, *address);
                self.code.op(evm::MLOAD);
            }
            (None, Entry { label, .. }) => {
                self.code.push_label(*label);
            }
        }
    }
}
