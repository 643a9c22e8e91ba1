//! Rows that steps carry, as parts take them.

use super::takes;
use crate::error::CompileError;
use crate::lower::Lowering;
use crate::target::words::Words;
use residue_ir::SequenceStep;
use residue_ir::program::{Arm, Order, RowsOf, Take, Word};
use residue_isa::opcode::evm;

/// Form of the address of a row that a part takes.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::lower) struct Given {
    /// True if it is the lowest cell of a word.
    pub(super) is_cell: bool,
    /// True if the operands of its instruction are not below it.
    pub(super) is_alone: bool,
}

impl Lowering<'_> {
    /// The address in a cell that a step carries. [cells] → [address]
    pub(super) fn row_in_cell(&mut self, take: Take<'_>) {
        match take.of {
            RowsOf::Array(array) => {
                self.mask_cell(SequenceStep::<Word>::CELLS, Some(array));
                self.shift_back(self.row_shift(array, take.results.len()));
            }
            RowsOf::Table(table) => {
                self.mask_cell(SequenceStep::<Word>::CELLS, None);
                if self.table_shift() > 0 {
                    self.shift_back(self.table_shift());
                    self.code.push_label(self.units[self.unit].tables[table.0]);
                    self.code.op(evm::ADD);
                }
            }
        }
    }

    /// Form of the address that a statement takes.
    pub(super) fn given(&self, take: Take<'_>) -> Given {
        take.results.first().and_then(|result| self.given.get(result)).copied().unwrap_or_default()
    }

    /// The takes of steps, of which parts are given addresses as steps have them in cells where all do, so that what makes an address of a cell stands once in the
    /// part; it takes no gas more there. Operands stand there too where code is short.
    pub(super) fn given_takes<'a>(&mut self, order: &Order, parts: &'a [Arm], is_held: bool) -> Vec<Option<Take<'a>>> {
        let takes = takes(order, parts);
        for (step, take) in order.steps.iter().zip(&takes) {
            let Some(&first) = take.and_then(|take| take.results.first()) else { continue };
            let is_cell = matches!(step, SequenceStep::Carry { .. });
            let is_alone = is_held || self.target.wide().is_some_and(|wide| wide.is_short);
            let given = self.given.entry(first).or_insert(Given { is_cell, is_alone });
            given.is_cell &= is_cell;
        }
        takes
    }

    /// True if gas is traded for shorter code.
    pub(super) fn is_short(&self) -> bool {
        self.target.wide().is_some_and(|wide| wide.is_short) || self.target.words().is_some_and(Words::is_short)
    }

    /// The row that a step has carried. [operands unless the address stands alone, address as given] → []
    pub(in crate::lower) fn take(&mut self, take: Take<'_>) -> Result<(), CompileError> {
        let given = self.given(take);
        if given.is_cell {
            self.row_in_cell(take);
        }
        if given.is_alone {
            let operands = match take.of {
                RowsOf::Table(_) => self.before_row(take.results)?,
                RowsOf::Array(array) => self.before_take(array, take.results),
            };
            if let Some(operands) = u8::try_from(operands).ok().filter(|&operands| operands > 0) {
                self.code.op(evm::SWAP1 - 1 + operands);
            }
        }
        match take.of {
            RowsOf::Table(_) => self.take_row(take.results),
            RowsOf::Array(array) => self.take_element(array, take.results),
        }
        Ok(())
    }
}
