//! Calls: arguments go to the callee's slots, results come from them, and the return address lies on the stack.
//!
//! Calls of a row without moves between them are threaded: the callees' addresses are pushed beforehand, so that each
//! callee returns into the next one. A call that ends a function has the function's own return address after it.
//! Functions that are subroutines ([`super::conventions`]) are called one by one; a call of another subroutine at the
//! end of one is a jump.

use super::{Convention, Conventions, DUP_DEPTH_MAX, Entry, Lowering};
use residue_ir::program::{FunctionId, Operand};
use residue_isa::assembly::LabelId;
use residue_isa::opcode::evm;
use residue_isa::opcode::subroutine::{CALLSUB, ENTERSUB, RETURNSUB};
use residue_passes::Slot;
use residue_passes::rows::Call;

impl<'a> Lowering<'a> {
    /// Calls one after the other and goes on after the last one.
    pub(super) fn calls(&mut self, row: &[Call<'_>]) {
        let (Some(first), Some(last)) = (row.first(), row.last()) else { return };
        self.moves(&self.inward(first));
        self.called(row);
        self.moves(&self.outward(last));
    }

    /// Calls with nothing moved before or after. [] → []
    fn called(&mut self, row: &[Call<'_>]) {
        let conventions = self.conventions();
        let of = |call: &Call<'_>| conventions.of(call.callee.0 as usize); // u32 to usize widens
        for thread in row.chunk_by(|before, after| of(before) == of(after)) {
            match of(&thread[0]) {
                Convention::Jumps => {
                    let back = self.code.new_label();
                    self.code.push_label(back);
                    self.push_entries(thread);
                    self.code.op(evm::JUMP);
                    self.code.label(back);
                }
                Convention::Subroutine => {
                    for call in thread {
                        self.code.push_label(self.entry(call));
                        self.code.op(CALLSUB);
                    }
                }
            }
        }
    }

    /// Begins a function that is called: [return address] or, where that is on the return stack, [].
    pub(super) fn entrance(&mut self) {
        let (begin, entry) = (self.units[self.unit].begins[self.number], self.units[self.unit].entries[self.number]);
        match self.conventions().of(self.number) {
            Convention::Jumps => {
                self.code.label(entry);
                self.stack.push(Entry::Other);
            }
            Convention::Subroutine => {
                if begin != entry {
                    self.code.label(begin);
                }
                self.code.mark(entry);
                self.code.op(ENTERSUB);
            }
        }
    }

    /// Ends a function that was called. [return address] → [], or [] → []
    pub(super) fn back(&mut self) {
        self.code.op(match self.conventions().of(self.number) {
            Convention::Jumps => evm::JUMP,
            Convention::Subroutine => RETURNSUB,
        });
    }

    fn conventions(&self) -> &'a Conventions {
        let units = self.units;
        &units[self.unit].conventions
    }

    fn convention(&self, call: &Call<'_>) -> Convention {
        self.conventions().of(call.callee.0 as usize) // u32 to usize widens
    }

    /// Calls that a function ends with: the last callee goes back to the function's caller. Functions are written in the order of
    /// their numbers, the last one first: control falls through into the one before.
    pub(super) fn last_calls(&mut self, row: &[Call<'_>]) {
        let [first, ..] = row else { return };
        self.moves(&self.inward(first));
        let own = self.conventions().of(self.number);
        let tail = row.iter().rev().take_while(|call| self.convention(call) == own).count();
        let tail = if own == Convention::Subroutine { tail.min(1) } else { tail };
        let (before, tail) = row.split_at(row.len() - tail);
        self.called(before);
        match (tail, own) {
            ([], _) => self.back(),
            ([first, others @ ..], Convention::Jumps) => {
                if self.comes_next(first) {
                    self.push_entries(others);
                } else {
                    self.push_entries(tail);
                    self.code.op(evm::JUMP);
                }
            }
            ([last, ..], Convention::Subroutine) => {
                if !self.comes_next(last) {
                    self.code.push_label(self.units[self.unit].begins[last.callee.0 as usize]); // u32 to usize widens
                    self.code.op(evm::JUMP);
                }
            }
        }
    }

    /// True if the called function directly follows this one in code.
    fn comes_next(&self, call: &Call<'_>) -> bool {
        call.callee.0 as usize + 1 == self.number // u32 to usize widens
    }

    /// Pushes where the callees begin, the first one's on top; an address that is there already is copied, which takes one byte.
    fn push_entries(&mut self, row: &[Call<'_>]) {
        let mut pushed: Vec<FunctionId> = Vec::new();
        for call in row.iter().rev() {
            let above = pushed.iter().rev().position(|&before| before == call.callee);
            match above.and_then(|above| u8::try_from(above).ok()).filter(|&above| above < DUP_DEPTH_MAX) {
                Some(above) => {
                    self.code.op(evm::DUP1 + above);
                }
                None => {
                    self.code.push_label(self.entry(call));
                }
            }
            pushed.push(call.callee);
        }
    }

    fn entry(&self, call: &Call<'_>) -> LabelId {
        self.units[self.unit].entries[call.callee.0 as usize]
    }

    /// The moves of the arguments to the parameters, as (target, source).
    fn inward(&self, call: &Call<'_>) -> Vec<(Slot, Slot)> {
        let placement = &self.allocation.functions[call.callee.0 as usize];
        let params = self.program.function(call.callee).params.iter().map(|&param| placement.slot(param));
        params.zip(call.arguments.iter().map(|&argument| self.slot(argument))).collect()
    }

    /// Moves of the callee's results to the results that have readers, as (target, source).
    fn outward(&self, call: &Call<'_>) -> Vec<(Slot, Slot)> {
        let placement = &self.allocation.functions[call.callee.0 as usize];
        let given = self.program.function(call.callee).results.iter().map(|&given| match given {
            Operand::Value(value) => placement.slot(value),
            Operand::Constant(id) => self.constant_slots[id.0 as usize],
        });
        let results = call.results.iter().zip(given).filter(|(result, _)| self.read.contains(result.0 as usize));
        results.map(|(&result, given)| (self.placement.slot(result), given)).collect()
    }
}
