//! Calls: arguments go to the callee's slots, results come from them, and the stack holds where control goes after.
//!
//! Calls of a row, between which nothing has to be moved, are threaded: the callees' addresses are pushed beforehand, so that
//! each callee returns into the next one. A call that ends a function has the function's own return address after it.

use super::{DUP_DEPTH_MAX, Lowering};
use residue_ir::program::{FunctionId, Operand};
use residue_isa::assembly::LabelId;
use residue_isa::opcode::evm;
use residue_passes::Slot;
use residue_passes::rows::Call;

impl Lowering<'_> {
    /// Calls one after the other and goes on after the last one.
    pub(super) fn calls(&mut self, row: &[Call<'_>]) {
        let (Some(first), Some(last)) = (row.first(), row.last()) else { return };
        self.moves(&self.inward(first));
        let back = self.code.new_label();
        self.code.push_label(back);
        self.push_entries(row);
        self.code.op(evm::JUMP);
        self.code.label(back);
        self.moves(&self.outward(last));
    }

    /// Calls that a function ends with: the last callee goes back to the function's caller. Functions are written in the order of
    /// their numbers, the last one first: control falls through into the one before.
    pub(super) fn last_calls(&mut self, row: &[Call<'_>]) {
        let [first, others @ ..] = row else { return };
        self.moves(&self.inward(first));
        if first.callee.0 as usize + 1 == self.number {
            self.push_entries(others);
        } else {
            self.push_entries(row);
            self.code.op(evm::JUMP);
        }
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
        self.entries[call.callee.0 as usize]
    }

    /// The moves of the arguments to the parameters, as (target, source).
    fn inward(&self, call: &Call<'_>) -> Vec<(Slot, Slot)> {
        let placement = &self.allocation.functions[call.callee.0 as usize];
        let params = self.program.function(call.callee).params.iter().map(|&param| placement.slot(param));
        params.zip(call.arguments.iter().map(|&argument| self.slot(argument))).collect()
    }

    /// The moves of what the callee gives to the results that something reads, as (target, source).
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
