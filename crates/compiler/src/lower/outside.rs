//! Transfers into and out of a program's field: tables in code, subprograms over other moduli, words.

use super::conventions::Convention;
use super::words::big;
use super::{Entry, Lowering};
use crate::error::CompileError;
use crate::paths::ends;
use crate::target::{clear, push, runs};
use residue_ir::program::{ArrayDecl, ArrayId, Operand, Program, SubprogramId, TableId, Value, Word, WordDef};
use residue_ir::{Capacity, Effect};
use residue_isa::opcode::evm;
use residue_isa::opcode::subroutine::CALLSUB;
use residue_passes::Slot;
use ruint::aliases::U256;

/// Bytes of an element of a table in memory, in whole words.
pub(super) fn row_bytes(values: usize, element_bytes: u32) -> u64 {
    (values as u64).saturating_mul(element_bytes.into()).next_multiple_of(32) // usize to u64 widens
}

/// True if memory after all that the program uses may have been written, by a hash.
fn hashes(program: &Program) -> bool {
    let mut hashes = false;
    program.for_each_effect(&mut |effect| hashes |= effect.pieces().is_some());
    hashes
}

impl Lowering<'_> {
    /// An element of a table, by way of the output's place unless the target loads it from code. [] → []
    pub(super) fn lookup(&mut self, table: TableId, index: Word, results: &[Value]) -> Result<(), CompileError> {
        let bytes = self.element_bytes(results.len())?;
        let operands = self.before_row(results)?;
        self.stack.resize(self.stack.len() + operands, Entry::Other);
        match &self.function.words[index.0 as usize] {
            WordDef::Constant(index) if index.is_zero() => {
                self.code.push_label(self.units[self.unit].tables[table.0]);
                self.stack.truncate(self.stack.len() - operands);
                self.take_row(results);
                return Ok(());
            }
            WordDef::Constant(index) => {
                self.code.push(big(index.wrapping_mul(U256::from(bytes))));
                self.stack.push(Entry::Other);
            }
            _ => {
                self.word(index)?;
                if bytes.is_power_of_two() {
                    push(self.code, bytes.trailing_zeros());
                    self.code.op(evm::SHL);
                } else {
                    push(self.code, bytes);
                    self.code.op(evm::MUL);
                }
            }
        }
        self.code.push_label(self.units[self.unit].tables[table.0]);
        self.code.op(evm::ADD);
        self.stack.truncate(self.stack.len() - operands - 1);
        self.take_row(results);
        Ok(())
    }

    /// Pushes the operands below the code offset of an element of a table; returns the number of words. [] → [operands]
    pub(super) fn before_row(&mut self, results: &[Value]) -> Result<usize, CompileError> {
        let below = match (self.target.loads_code(), &runs(&self.slots_of(results))[..]) {
            (false, _) => self.element_bytes(results.len())?,
            (true, &[(_, count, _)]) => count,
            (true, _) => return Ok(0),
        };
        push(self.code, below);
        Ok(1)
    }

    /// An element of a table from code to slots. [operands, offset in code] → []
    pub(super) fn take_row(&mut self, results: &[Value]) {
        if self.target.loads_code() {
            return self.load_row(&runs(&self.slots_of(results)));
        }
        let output = self.layout.output;
        push(self.code, output);
        self.code.op(evm::CODECOPY);
        for (first, count, offset) in runs(&self.slots_of(results)) {
            self.target.before_load(self.code, first, count);
            push(self.code, output + offset * self.target.element_bytes());
            self.target.load(self.code, first, count);
        }
    }

    /// The same where code is loaded from. [operands, offset in code] → []
    fn load_row(&mut self, runs: &[(Slot, u32, u32)]) {
        if let &[(first, ..)] = runs {
            return self.target.load_code(self.code, first);
        }
        for &(first, count, offset) in runs {
            push(self.code, count);
            self.code.op(evm::DUP1 + 1);
            if offset > 0 {
                push(self.code, offset * self.target.element_bytes());
                self.code.op(evm::ADD);
            }
            self.target.load_code(self.code, first);
        }
        self.code.op(evm::POP);
    }

    /// Bytes of an element of `values` values.
    pub(super) fn element_bytes(&self, values: usize) -> Result<u32, CompileError> {
        let element_bytes = self.target.element_bytes();
        let bytes = u32::try_from(values).ok().and_then(|values| values.checked_mul(element_bytes));
        let limit_bytes = u32::MAX.into();
        bytes.ok_or(CompileError::Memory { bytes: row_bytes(values, element_bytes), limit_bytes })
    }

    /// Copies a table to an array of fixed size, whose elements are neighbours. [] → []
    pub(super) fn fill_from(&mut self, array: ArrayId, table: TableId) {
        let (first, stride) = self.layout.array(self.unit, array);
        self.code.push(stride as usize * self.program.tables[table.0].elements.len()); // u32 to usize widens
        self.code.push_label(self.units[self.unit].tables[table.0]);
        push(self.code, first);
        self.code.op(evm::CODECOPY);
    }

    pub(super) fn slots_of(&self, values: &[Value]) -> Vec<Slot> {
        values.iter().map(|&value| self.placement.slot(value)).collect()
    }

    /// Goes to a subprogram and comes back. [] → []
    pub(super) fn enter(&mut self, subprogram: SubprogramId, modulus: &[Word]) -> Result<(), CompileError> {
        let unit = subprogram.0 + 1;
        let target = self.parts[unit].target.as_ref();
        let own = self.layout.own(unit);
        for (word, address) in modulus.iter().zip((own.set_up_at..).step_by(32)) {
            self.word(*word)?;
            push(self.code, address);
            self.code.op(evm::MSTORE);
            self.stack.pop();
        }
        match self.parts[unit].has_elements() {
            true if modulus.is_empty() && !self.parts[unit].is_late => target.resume(self.code),
            true => {
                target.set_up(self.code, own.set_up_at);
            }
            false => {}
        }
        if !self.parts[0].has_elements() {
            self.touch(unit, 32 * u32::try_from(modulus.len()).expect("`verify` allows few"));
        }
        if let Some(shifts) = own.shifts {
            clear(self.code, shifts.zeros, shifts.zeros_bytes);
            push(self.code, shifts.value() + shifts.value_bytes - 32);
            target.reserve(self.code);
        }
        let entered = &self.units[unit];
        let start = *entered.entries.last().expect("a program has its start, `verify` checks it");
        match entered.conventions.of(entered.entries.len() - 1) {
            Convention::Jumps => {
                let back = self.code.new_label();
                self.code.push_label(back);
                self.code.push_label(start);
                self.code.op(evm::JUMP);
                self.code.label(back);
            }
            Convention::Subroutine => {
                self.code.push_label(start);
                self.code.op(CALLSUB);
            }
        }
        if self.parts[self.unit].has_elements() {
            self.target.resume(self.code);
        }
        Ok(())
    }

    /// Makes memory reach as far as a subprogram loads to it and stores from it without making it grow, given that its first bytes are there:
    /// where the program itself has elements, that has been done. [] → []
    fn touch(&mut self, unit: usize, there_bytes: u32) {
        let part = &self.parts[unit];
        if part.target.is_in_memory() {
            return; // Memory grows by itself.
        }
        let element_bytes = part.target.element_bytes();
        let mut end = u32::try_from(part.memory_bytes()).expect("it is laid out");
        part.program.for_each_effect(&mut |effect| {
            end = end.max(match effect {
                Effect::ReturnElements { values, size_bytes } if *size_bytes >= element_bytes => {
                    size_bytes.saturating_mul(u32::try_from(values.len()).unwrap_or(u32::MAX))
                }
                Effect::ReturnElements { .. }
                | Effect::ReturnMontLe { .. }
                | Effect::IsOdd { .. }
                | Effect::WordOf { .. }
                | Effect::Lookup { .. }
                | Effect::TakeRow { .. } => self.layout.output_end(),
                _ => 0,
            });
        });
        let in_memory = |(number, array): (usize, &ArrayDecl)| {
            matches!(array.capacity, Capacity::Fixed(_)) && !self.layout.is_beside(unit, ArrayId(number))
        };
        if part.program.arrays.iter().enumerate().any(in_memory) {
            end = self.layout.end;
        }
        if part.has_elements() && end > there_bytes {
            push(self.code, end.max(32) - 32);
            part.target.reserve(self.code);
        }
    }

    /// True if elements are returned from the bottom of memory: of the program, if the target allows it; of a
    /// subprogram, if the program has no elements and slots are not in memory.
    pub(super) fn returns_low(&self, size_bytes: u32, count: usize) -> bool {
        if self.unit == 0 && self.target.returns_low(size_bytes, count) {
            return true;
        }
        let is_free = !self.parts[0].has_elements() && !self.target.is_in_memory();
        self.unit > 0 && is_free && size_bytes >= self.target.element_bytes()
    }

    /// [] → []
    pub(super) fn element_of(&mut self, result: Value, words: &[Word]) -> Result<(), CompileError> {
        for word in words {
            self.word(*word)?;
        }
        let count = u32::try_from(words.len()).expect("`verify` allows the words of an element");
        self.target.take_words(self.code, self.placement.slot(result), count);
        self.stack.truncate(self.stack.len() - words.len());
        Ok(())
    }

    /// [] → [the word of the slot's canonical value from this bit]
    pub(super) fn word_of(&mut self, slot: Slot, first_bit: u32) {
        if self.target.push_word(self.code, slot) {
            return; // Elements of one word have bits from the first on only.
        }
        let bits = u32::try_from(self.program.modulus.bits()).expect("the width was checked");
        let size_bytes = bits.div_ceil(256) * 32;
        self.target.output(self.code, slot, self.layout.output, size_bytes);
        push(self.code, self.layout.output + size_bytes - 32 - first_bit / 8);
        self.code.op(evm::MLOAD);
    }

    /// True if a part is a subprogram that may return to the program.
    fn comes_back(&self, unit: usize) -> bool {
        let programs: Vec<&Program> = self.parts.iter().map(|part| part.program).collect();
        unit > 0 && !ends(&programs, &programs[unit].entry().body)
    }

    /// True if memory after that of fixed size is in use: by this part, by those that return to it, or by the program
    /// that it returns to.
    fn is_used_beyond(&self) -> bool {
        let is_used = |unit: usize| match self.unit {
            own if own == unit => true,
            0 => self.comes_back(unit),
            own => unit == 0 && self.comes_back(own),
        };
        (0..self.parts.len()).any(|unit| self.layout.is_beyond(unit) && is_used(unit))
    }

    /// True if memory from [`Lowering::end_of_memory`] on may hold data left by other parts.
    fn is_left_beyond(&self) -> bool {
        // The program and what came back to it ran before; what ends the program did not.
        let ran = |unit: usize| unit != self.unit && (unit == 0 || self.comes_back(unit));
        !self.is_used_beyond() && (0..self.parts.len()).any(|unit| self.layout.is_beyond(unit) && ran(unit))
    }

    /// [] → [an address that no memory is used from]
    pub(super) fn end_of_memory(&mut self) {
        if self.is_used_beyond() {
            // Variables that have not been read or set yet are memory too.
            push(self.code, self.layout.end.saturating_sub(32));
            self.code.op(evm::MLOAD);
            self.code.op(evm::POP);
            self.code.op(evm::MSIZE);
        } else {
            push(self.code, self.layout.end);
        }
    }

    /// ⌊value / 2^first_bit⌋: read from memory before its place, so that zeros precede the remaining bytes. [] → []
    pub(super) fn high(&mut self, result: Value, slot: Slot, first_bit: u32) {
        let shifts = self.layout.own(self.unit).shifts.expect("a part that shifts has a place for it");
        self.target.high(self.code, (self.placement.slot(result), slot), first_bit / 8, shifts.value());
    }

    /// The values stand at the end of the output, after zeros; the output begins where it has that length. [] → []
    pub(super) fn return_last(
        &mut self,
        values: &[Operand],
        element_bytes: u32,
        size: Word,
        limit_bytes: u32,
    ) -> Result<(), CompileError> {
        let height = self.stack.len();
        let output = if self.unit == 0 { self.layout.output } else { self.layout.variables };
        let end = output + limit_bytes;
        self.word(size)?;
        self.code.op(evm::DUP1);
        push(self.code, limit_bytes);
        self.code.op(evm::LT);
        self.code.push_label(self.fail);
        self.code.op(evm::JUMPI); //                    [size]
        if self.unit > 0 {
            push(self.code, end.saturating_sub(32));
            self.target.reserve(self.code);
        }
        let first = end - element_bytes * u32::try_from(values.len()).expect("`verify` allows few");
        if first > output {
            // Zeros, if the output has any in front of the values.
            let whole = self.code.new_label();
            self.code.op(evm::DUP1);
            push(self.code, end - first);
            self.code.op(evm::LT);
            self.code.op(evm::ISZERO);
            self.code.push_label(whole);
            self.code.op(evm::JUMPI);
            push(self.code, first - output);
            self.code.op(evm::CALLDATASIZE);
            push(self.code, output);
            self.code.op(evm::CALLDATACOPY);
            self.code.label(whole);
        }
        for (address, &operand) in (first..).step_by(element_bytes as usize).zip(values) {
            self.target.output(self.code, self.slot(operand), address, element_bytes);
        }
        self.code.op(evm::DUP1);
        push(self.code, end);
        self.code.op(evm::SUB);
        self.code.op(evm::RETURN);
        self.stack.truncate(height);
        Ok(())
    }

    /// The words stand after `size` bytes of memory that is zero or is cleared; the output begins where it has that length and ends with them.
    pub(super) fn return_words(&mut self, words: &[Word], size: Word) -> Result<(), CompileError> {
        let height = self.stack.len();
        self.end_of_memory();
        self.stack.push(Entry::Other); //               [base]
        self.word(size)?; //                            [base, size]
        let is_zero = self.zero_from <= self.layout.end
            && !self.is_left_beyond()
            && !self.parts.iter().any(|part| hashes(part.program));
        if !is_zero {
            self.code.op(evm::DUP1);
            self.code.op(evm::CALLDATASIZE);
            self.code.op(evm::DUP4);
            self.code.op(evm::CALLDATACOPY);
        }
        self.code.op(evm::DUP2);
        self.code.op(evm::DUP2);
        self.code.op(evm::ADD); //                      [base, size, end]
        self.stack.push(Entry::Other);
        for (word, offset) in words.iter().zip((0..).step_by(32)) {
            self.word(*word)?;
            self.code.op(evm::DUP2);
            if offset > 0 {
                push(self.code, offset);
                self.code.op(evm::ADD);
            }
            self.code.op(evm::MSTORE);
            self.stack.pop();
        }
        self.code.op(evm::POP);
        self.code.op(evm::SWAP1); //                    [size, base]
        push(self.code, 32 * u32::try_from(words.len()).expect("`verify` allows few words"));
        self.code.op(evm::ADD);
        self.code.op(evm::RETURN);
        self.stack.truncate(height);
        Ok(())
    }
}
