//! Calls: arguments go to the callee's slots, results come from them, and the stack holds where control goes behind.
//!
//! Calls in a row, between which nothing has to be moved, are threaded: the callees' addresses are pushed beforehand, so that
//! each callee returns into the next one. A call that ends a function has the function's own return address behind it.

use super::{DUP_DEPTH_MAX, Flow, Lowering};
use crate::error::CompileError;
use residue_ir::program::{FunctionId, Operand, Statement, Value};
use residue_isa::assembly::LabelId;
use residue_isa::opcode::evm;
use residue_passes::Slot;

/// A statement that is a call.
pub(super) struct Call<'a> {
    callee: FunctionId,
    arguments: &'a [Operand],
    results: &'a [Value],
}

impl<'a> Call<'a> {
    fn of(statement: &'a Statement) -> Option<Self> {
        match statement {
            Statement::Call { function, arguments, results } => Some(Self { callee: *function, arguments, results }),
            _ => None,
        }
    }
}

impl<'a> Lowering<'a> {
    /// The calls in a row that `statements` begin with.
    pub(super) fn row_of_calls<'s>(&self, statements: &'s [Statement]) -> Vec<Call<'s>> {
        let mut row: Vec<Call<'s>> = Vec::new();
        for call in statements.iter().map_while(Call::of) {
            if row.last().is_some_and(|before| !self.is_in_place(before, &call)) {
                break;
            }
            row.push(call);
        }
        row
    }

    /// The place of the first of the calls in a row that `statements`, those of a function, end with, if the last one gives
    /// what the function gives.
    pub(super) fn row_at_end(&self, statements: &[Statement]) -> Option<usize> {
        let mut start = statements.len().checked_sub(1)?;
        if self.is_start() || !self.gives_what_it_gets(&Call::of(&statements[start])?) {
            return None;
        }
        while start > 0
            && let Some(before) = Call::of(&statements[start - 1])
            && Call::of(&statements[start]).is_some_and(|call| self.is_in_place(&before, &call))
        {
            start -= 1;
        }
        Some(start)
    }

    /// Calls one after the other and goes on behind the last one.
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

    /// A function that ends with calls in a row from `start` on: the last callee goes back to the function's caller. Functions
    /// are written in the order of their numbers, the last one first: control falls through into the one before.
    pub(super) fn last_calls(&mut self, statements: &'a [Statement], start: usize) -> Result<(), CompileError> {
        let (before, row) = statements.split_at(start);
        let row = self.row_of_calls(row);
        if self.statements(before)? == Flow::Continues {
            let first = row.first().expect("the row has a call");
            self.moves(&self.inward(first));
            if first.callee.0 as usize + 1 == self.number {
                self.push_entries(&row[1..]);
            } else {
                self.push_entries(&row);
                self.code.op(evm::JUMP);
            }
        }
        Ok(())
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

    /// Whether nothing has to be moved between two calls.
    fn is_in_place(&self, before: &Call<'_>, behind: &Call<'_>) -> bool {
        self.outward(before).iter().chain(&self.inward(behind)).all(|(to, from)| to == from)
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

    /// Whether all that the function gives are results of this call, in the same slots.
    fn gives_what_it_gets(&self, call: &Call<'_>) -> bool {
        let placed = &self.allocation.functions[call.callee.0 as usize];
        let in_place = |operand: &Operand| {
            let place = call.results.iter().position(|&result| Operand::Value(result) == *operand);
            let given = place.and_then(|place| self.program.function(call.callee).results[place].value());
            given.is_some_and(|given| placed.slot(given) == self.slot(*operand))
        };
        self.function.results.iter().all(in_place)
    }
}
