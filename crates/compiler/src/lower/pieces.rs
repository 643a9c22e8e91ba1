//! Sequences in pieces: if the addresses of all steps would make the stack too high, those of the first steps are
//! pushed, and the others when these are done.

use super::Lowering;
use super::sequence::Entry;
use residue_ir::SequenceStep;
use residue_ir::program::{Order, Word};
use residue_isa::assembly::LabelId;
use residue_isa::opcode::evm;
use std::iter;
use std::ops::Range;

/// True if a step does a part and carries no row to the next one.
pub(super) fn is_part(step: &SequenceStep<Word>) -> bool {
    matches!(step, SequenceStep::Part(_) | SequenceStep::Chosen { .. })
}

/// The steps in pieces of at most `steps_max`, unless a part and the rows that it takes are more. A sequence with a
/// step count at run time is one piece.
pub(super) fn pieces(order: &Order, steps_max: usize) -> Vec<Range<usize>> {
    if order.first.is_some() || order.steps.len() <= steps_max {
        return iter::once(0..order.steps.len()).collect();
    }
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for end in order.steps.iter().zip(1..).filter(|(step, _)| is_part(step)).map(|(_, end)| end) {
        match pieces.last_mut() {
            Some(last) if end - last.start <= steps_max => last.end = end,
            _ => pieces.push(start..end),
        }
        start = end;
    }
    pieces
}

impl Lowering<'_> {
    /// Goes to the step on top of the stack, from which others follow: those that no label on the stack says are named.
    pub(super) fn jump_to_first(&mut self, entries: &[Entry<'_>], choices: usize) {
        let mut named: Vec<LabelId> = entries[..choices].iter().map(|entry| entry.label).collect();
        for entry in entries {
            if let Some((_, labels, _)) = &entry.countdown {
                named.push(entry.label);
                named.extend(labels.all());
            }
        }
        self.arrivals.chosen.insert(self.code.items().len(), named);
        self.code.op(evm::JUMP);
    }
}
