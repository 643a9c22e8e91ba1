//! Elements of arrays: their addresses, and loads, stores and fills run by run of neighbouring slots.

use super::words::{self, big};
use super::{Entry, Lowering};
use crate::error::CompileError;
use crate::target::{copy_memory, push, runs};
use residue_ir::program::{ArrayId, Operand, Value, VariableId, Word, WordDef};
use residue_ir::{Capacity, Cells, Effect, WordOp};
use residue_isa::assembly::KnownAddresses;
use residue_isa::opcode::evm;
use residue_isa::revision::rules::ARRAY_ELEMENTS_MAX;
use residue_passes::rows::{Direction, Shift, Transfer};
use residue_passes::{Row, Slot};
use ruint::aliases::U256;

impl Lowering<'_> {
    /// If `row` binds an address that later rows load from and finally store to: pushes the operands of the store below
    /// the address, so that the address need not be copied and dropped.
    pub(super) fn prepare_store(&mut self, row: &Row<'_>, after: &[Row<'_>]) {
        let Row::Effect(Effect::Bind { result, .. } | Effect::Index { result, .. }) = row else { return };
        if !self.addresses.contains_key(result) {
            return;
        }
        let readers = after.iter().filter_map(|row| match row {
            Row::Transfer(transfer) if transfer.index == *result => Some(transfer),
            _ => None,
        });
        let readers: Vec<&Transfer> = readers.collect();
        let is_store = |transfer: &&Transfer| transfer.direction == Direction::Store;
        let Some((store, before)) = readers.split_last().filter(|(last, _)| is_store(last)) else { return };
        if before.iter().any(is_store) || self.uses.get(result) != Some(&readers.len()) {
            return;
        }
        let slots = self.slots(store);
        let [(array, _), ..] = store.elements[..] else { return };
        if let [(first, count, _)] = runs(&slots)[..]
            && store.elements.iter().all(|(other, _)| self.is_beside(*other) == self.is_beside(array))
        {
            let operands = self.before_move(Direction::Store, array, (first, count));
            self.stack.extend(std::iter::repeat_n(Entry::Other, operands));
            self.prepared.insert(*result, operands);
        }
    }

    fn slots(&self, transfer: &Transfer) -> Vec<Slot> {
        transfer.operands().map(|operand| self.slot(operand)).collect()
    }

    fn is_beside(&self, array: ArrayId) -> bool {
        self.layout.is_beside(self.unit, array)
    }

    /// Distance between the values of an element: in bytes of memory, or in elements beside the slots.
    fn value_units(&self, array: ArrayId) -> u32 {
        if self.is_beside(array) { 1 } else { self.target.element_bytes() }
    }

    /// Pushes the operands of a load or store below the address; returns the number of words. [] → [operands]
    fn before_move(&mut self, direction: Direction, array: ArrayId, (first, count): (Slot, u32)) -> usize {
        match direction {
            _ if self.is_beside(array) => 0,
            Direction::Load => self.target.before_load(self.code, first, count),
            Direction::Store => self.target.before_store(self.code, first, count),
        }
    }

    /// Loads or stores neighbouring slots. [operands, address] → []
    fn move_run(&mut self, direction: Direction, array: ArrayId, (first, count): (Slot, u32)) {
        match (direction, self.is_beside(array)) {
            (Direction::Load, false) => self.target.load(self.code, first, count),
            (Direction::Store, false) => self.target.store(self.code, first, count),
            (Direction::Load, true) => self.target.get(self.code, first, count),
            (Direction::Store, true) => self.target.put(self.code, first, count),
        }
    }

    /// Stores to the address on top of the stack with the operands below it, if they were put there.
    fn prepared_store(&mut self, (index, array): (Word, ArrayId), slots: &[Slot]) -> bool {
        let Some(operands) = self.prepared.remove(&index) else { return false };
        let Some(&Entry::Kept(top, _)) = self.stack.last() else { return false };
        if top != index {
            return false;
        }
        let [(first, count, _)] = runs(slots)[..] else { return false };
        self.move_run(Direction::Store, array, (first, count));
        self.stack.truncate(self.stack.len() - 1 - operands);
        self.uses.insert(index, 0);
        true
    }

    /// Loads or stores elements, run by run of neighbouring slots.
    pub(super) fn transfer(&mut self, transfer: &Transfer) -> Result<(), CompileError> {
        let &Transfer { direction, index, ref elements } = transfer;
        let [(array, _), ..] = elements[..] else { return Ok(()) };
        let is_apart = |(other, _): &(ArrayId, Vec<Operand>)| self.is_beside(*other) != self.is_beside(array);
        if let Some(at) = elements.iter().position(is_apart) {
            let (before, after) = elements.split_at(at);
            words::count_word(self.function, &mut self.uses, index);
            self.transfer(&Transfer { direction, index, elements: before.to_vec() })?;
            return self.transfer(&Transfer { direction, index, elements: after.to_vec() });
        }
        for ((before, values), (next, _)) in elements.iter().zip(&elements[1..]) {
            let [(from, stride), (to, next_stride)] = [before, next].map(|array| self.layout.array(self.unit, *array));
            let units = values.len() as u64 * u64::from(self.value_units(array)); // usize to u64 widens
            assert_eq!((u64::from(from) + units, stride), (to.into(), next_stride), "neighbours in a row are so there");
        }
        let slots = self.slots(transfer);
        if direction == Direction::Store && self.prepared_store((index, array), &slots) {
            return Ok(());
        }
        let runs = runs(&slots);
        // Each run reads the index once more than was counted.
        for _ in 1..runs.len() {
            words::count_word(self.function, &mut self.uses, index);
        }
        for (first, count, offset) in runs {
            let height = self.stack.len();
            let operands = self.before_move(direction, array, (first, count));
            self.stack.resize(height + operands, Entry::Other);
            self.element_address(array, index, offset)?;
            self.move_run(direction, array, (first, count));
            // The operands and the address, which may have been a kept word until now.
            self.stack.truncate(self.stack.len() - operands - 1);
        }
        Ok(())
    }

    /// Stores element 0 and copies it: where elements are neighbours, all there are at once, so that each copy doubles them.
    pub(super) fn fill(&mut self, array: ArrayId, count: u32, values: &[Operand]) {
        let slots: Vec<Slot> = values.iter().map(|&operand| self.slot(operand)).collect();
        if self.is_beside(array) {
            return self.fill_beside(array, count, &runs(&slots));
        }
        let (first, stride) = self.layout.array(self.unit, array);
        for (slot, run, offset) in runs(&slots) {
            self.target.before_store(self.code, slot, run);
            push(self.code, first + offset * self.target.element_bytes());
            self.target.store(self.code, slot, run);
        }
        let element = u32::try_from(values.len()).expect("elements are short") * self.target.element_bytes();
        if stride == element {
            let (mut filled, end) = (element, element.saturating_mul(count));
            while filled < end {
                let bytes = filled.min(end - filled);
                copy_memory(self.code, bytes, first, first + filled);
                filled += bytes;
            }
        } else if count > 1 {
            let top = self.code.new_label();
            push(self.code, first + stride);
            self.code.label(top);
            push(self.code, element);
            push(self.code, first);
            self.code.op(evm::DUP3);
            self.code.copy(element, KnownAddresses { from: Some(first), to: None });
            push(self.code, stride);
            self.code.op(evm::ADD);
            self.code.op(evm::DUP1);
            push(self.code, first.saturating_add(stride.saturating_mul(count)));
            self.code.op(evm::GT);
            self.code.push_label(top);
            self.code.op(evm::JUMPI);
            self.code.op(evm::POP);
        }
    }

    /// Puts these runs of slots into elements 0 to `count` − 1: where there are many, some for each turn of a loop.
    fn fill_beside(&mut self, array: ArrayId, count: u32, runs: &[(Slot, u32, u32)]) {
        let (first, stride) = self.layout.array(self.unit, array);
        let looped = if count > 2 * FILLED_IN_TURN { count / FILLED_IN_TURN * FILLED_IN_TURN } else { 0 };
        if looped > 0 {
            let top = self.code.new_label();
            push(self.code, first);
            self.code.label(top);
            for _ in 0..FILLED_IN_TURN {
                for &(slot, run, offset) in runs {
                    self.code.op(evm::DUP1);
                    if offset > 0 {
                        push(self.code, offset);
                        self.code.op(evm::ADD);
                    }
                    self.target.put(self.code, slot, run);
                }
                push(self.code, stride);
                self.code.op(evm::ADD);
            }
            self.code.op(evm::DUP1);
            push(self.code, first + stride * looped);
            self.code.op(evm::GT);
            self.code.push_label(top);
            self.code.op(evm::JUMPI);
            self.code.op(evm::POP);
        }
        for index in looped..count {
            for &(slot, run, offset) in runs {
                push(self.code, first + stride * index + offset);
                self.target.put(self.code, slot, run);
            }
        }
    }

    /// Pushes the address of value `offset` of element `index`.
    pub(super) fn element_address(&mut self, array: ArrayId, index: Word, offset: u32) -> Result<(), CompileError> {
        let (first, stride) = self.layout.array(self.unit, array);
        let first = first + offset * self.value_units(array);
        match &self.function.words[index.0 as usize] {
            WordDef::Defined if self.addresses.contains_key(&index) => {
                self.word(index)?;
                if offset > 0 {
                    push(self.code, offset * self.value_units(array));
                    self.code.op(evm::ADD);
                }
            }
            WordDef::Constant(index) => {
                // As the EVM multiplies and adds: no array has elements so far.
                let address = index.wrapping_mul(U256::from(stride)).wrapping_add(U256::from(first));
                self.code.push(big(address));
                self.stack.push(Entry::Other);
            }
            _ => {
                // One constant takes in what is added to the index, or what that is taken from.
                let (index, first, is_taken) = match &self.function.words[index.0 as usize] {
                    &WordDef::Op(op @ (WordOp::Add | WordOp::Sub), a, b) => {
                        let constant = |word: Word| match &self.function.words[word.0 as usize] {
                            WordDef::Constant(value) => u32::try_from(*value).ok(),
                            _ => None,
                        };
                        let after = |count: u32| first.checked_add(count.checked_mul(stride)?);
                        match (op, constant(a).and_then(after), constant(b).and_then(after)) {
                            (WordOp::Sub, Some(first), _) => (b, first, true),
                            (WordOp::Add, _, Some(first)) => (a, first, false),
                            _ => (index, first, false),
                        }
                    }
                    _ => (index, first, false),
                };
                if stride == 1 {
                    self.word(index)?;
                } else {
                    push(self.code, stride);
                    self.stack.push(Entry::Other);
                    self.word(index)?;
                    self.code.op(evm::MUL);
                    self.stack.pop();
                }
                if first > 0 || is_taken {
                    push(self.code, first);
                    self.code.op(if is_taken { evm::SUB } else { evm::ADD });
                }
            }
        }
        Ok(())
    }

    /// Pushes the operands below the address of an element to load: nothing unless one instruction loads it. [] →
    /// [operands]
    pub(super) fn before_take(&mut self, array: ArrayId, results: &[Value]) -> usize {
        match runs(&self.slots_of(results))[..] {
            [(first, count, _)] => self.before_move(Direction::Load, array, (first, count)),
            _ => 0,
        }
    }

    /// Loads the element at this address. [operands, address] → []
    pub(super) fn take_element(&mut self, array: ArrayId, results: &[Value]) {
        match runs(&self.slots_of(results))[..] {
            [(first, count, _)] => self.move_run(Direction::Load, array, (first, count)),
            ref runs => {
                for &(first, count, offset) in runs {
                    let operands = self.before_move(Direction::Load, array, (first, count));
                    let above = u8::try_from(operands).expect("operands of a load are few");
                    self.code.op(evm::DUP1 + above);
                    if offset > 0 {
                        push(self.code, offset * self.value_units(array));
                        self.code.op(evm::ADD);
                    }
                    self.move_run(Direction::Load, array, (first, count));
                }
                self.code.op(evm::POP);
            }
        }
    }

    /// Sets variables to addresses one after the other. Long constants that all of several take stay below meanwhile.
    pub(super) fn set_row(
        &mut self,
        array: ArrayId,
        cells: Cells,
        sets: &[(VariableId, Word)],
    ) -> Result<(), CompileError> {
        let height = self.stack.len();
        if let [(_, first), _, ..] = sets {
            let first_address = self.layout.array(self.unit, array).0 >> self.cell_shift(array, cells);
            let mut shared = if first_address > 0 { vec![cells.each(first_address.into())] } else { Vec::new() };
            if let WordDef::Op(_, mask, _) = self.function.words[first.0 as usize]
                && let WordDef::Constant(mask) = self.function.words[mask.0 as usize]
            {
                shared.push(mask);
            }
            shared.into_iter().for_each(|constant| self.constant(constant));
        }
        for &(variable, indices) in sets {
            self.set_addresses(variable, array, indices, cells)?;
        }
        for _ in height..self.stack.len() {
            self.code.op(evm::POP);
        }
        self.stack.truncate(height);
        Ok(())
    }

    /// Sets a variable to the addresses of the elements whose indices stand in the cells of `indices`: one multiplication and
    /// one addition for all of them.
    fn set_addresses(
        &mut self,
        variable: VariableId,
        array: ArrayId,
        indices: Word,
        cells: Cells,
    ) -> Result<(), CompileError> {
        let shift = self.cell_shift(array, cells);
        let (first, stride) = self.layout.array(self.unit, array);
        let end = cells.index_max().saturating_mul(stride.into()).saturating_add(first.into());
        let limit_bytes = u64::MAX >> (64 - cells.bits);
        let limit_bytes = if self.is_beside(array) { limit_bytes.min(ARRAY_ELEMENTS_MAX as u64) } else { limit_bytes };
        if end >> shift > limit_bytes {
            return Err(CompileError::Memory { bytes: end, limit_bytes: limit_bytes << shift });
        }
        let (first, stride) = (first >> shift, stride >> shift);
        self.word(indices)?;
        push(self.code, stride);
        self.code.op(evm::MUL);
        if first > 0 {
            self.constant(cells.each(first.into()));
            self.code.op(evm::ADD);
            self.stack.pop();
        }
        push(self.code, self.variable(variable));
        self.code.op(evm::MSTORE);
        self.stack.pop();
        Ok(())
    }

    /// By how many bits addresses of elements are shifted in cells: those of words, where addresses of bytes have no room.
    fn cell_shift(&self, array: ArrayId, cells: Cells) -> u32 {
        let (first, stride) = self.layout.array(self.unit, array);
        let end = cells.index_max().saturating_mul(stride.into()).saturating_add(first.into());
        let are_words = !self.is_beside(array) && first % 32 == 0 && stride % 32 == 0;
        if are_words && end > u64::MAX >> (64 - cells.bits) { 5 } else { 0 }
    }

    /// Content of a variable's cell, the address of an element. [] → [address]
    pub(super) fn address_in_cell(
        &mut self,
        variable: VariableId,
        first_bit: u32,
        cells: Cells,
        array: ArrayId,
        is_only: bool,
    ) {
        self.cell(variable, first_bit, cells, is_only.then_some(array));
        self.shift_back(self.cell_shift(array, cells));
    }

    /// The same for rows of so many values that steps carry, in cells of 16 bits.
    pub(super) fn row_shift(&self, array: ArrayId, values: usize) -> u32 {
        let (first, own_bytes) = self.row_of_array(array, values);
        let stride = self.layout.array(self.unit, array).1;
        let room_bytes = match self.program.arrays[array.0].capacity {
            Capacity::Fixed(count) => u64::from(count).saturating_mul(stride.into()),
            Capacity::Unbounded => 0,
        };
        let last = u64::from(first).saturating_add(room_bytes.saturating_sub(own_bytes.into()));
        let are_words = !self.is_beside(array) && first % 32 == 0 && own_bytes % 32 == 0;
        if are_words && last > u16::MAX.into() { 5 } else { 0 }
    }

    /// [shifted address] → [address]
    pub(super) fn shift_back(&mut self, bits: u32) {
        if bits > 0 {
            push(self.code, bits);
            self.code.op(evm::SHL);
        }
    }

    /// Shifts variables with indices, which are neighbours, by one copy: what comes into cells from above is no index, and
    /// nobody reads it.
    pub(super) fn shift(&mut self, shift: &Shift) {
        let from = self.variable(shift.first);
        copy_memory(self.code, 32 * shift.count - shift.bytes, from, from + shift.bytes);
    }

    /// Pushes a cell of a variable, read as the end of a word of memory; as the address of an element of `array`, if
    /// given. [] → [cell]
    pub(super) fn cell(&mut self, variable: VariableId, first_bit: u32, cells: Cells, array: Option<ArrayId>) {
        self.cell_at(self.variable(variable), first_bit, cells, array);
    }

    /// Pushes a cell of the word at this address of memory. [] → [cell]
    fn cell_at(&mut self, address: u32, first_bit: u32, cells: Cells, array: Option<ArrayId>) {
        self.cell_and_others(address, first_bit);
        self.mask_cell(cells, array);
    }

    /// The same with those above it in its word. [] → [cells]
    pub(super) fn cell_and_others(&mut self, address: u32, first_bit: u32) {
        let from = address.checked_sub(first_bit / 8);
        push(self.code, from.unwrap_or(address));
        self.code.op(evm::MLOAD);
        if from.is_none() {
            push(self.code, first_bit);
            self.code.op(evm::SHR);
        }
    }

    /// Leaves the lowest of cells. Beside the slots only the lowest 16 bits of an address count, so higher bits are not masked there. [cells] → [cell]
    pub(super) fn mask_cell(&mut self, cells: Cells, array: Option<ArrayId>) {
        if cells.bits < 16 || !array.is_some_and(|array| self.is_beside(array)) {
            self.code.push(u64::MAX >> (64 - cells.bits));
            self.code.op(evm::AND);
        }
    }

    /// [address of an element] → [its index]
    pub(super) fn index_of_address(&mut self, array: ArrayId) {
        let (first, stride) = self.layout.array(self.unit, array);
        push(self.code, first);
        self.code.op(evm::SWAP1);
        self.code.op(evm::SUB);
        push(self.code, stride);
        self.code.op(evm::SWAP1);
        self.code.op(evm::DIV);
    }

    /// Fails unless `count` records have room beside the slots: an index that is too large would name another element.
    fn require_room(&mut self, count: Word, most: u32) -> Result<(), CompileError> {
        if let WordDef::Constant(count) = &self.function.words[count.0 as usize] {
            return match u32::try_from(*count) {
                Ok(count) if count <= most => Ok(()),
                count => {
                    let bytes =
                        count.map_or(u64::MAX, |count| u64::from(count) * u64::from(self.target.element_bytes()));
                    Err(CompileError::Memory {
                        bytes,
                        limit_bytes: u64::from(most) * u64::from(self.target.element_bytes()),
                    })
                }
            };
        }
        if self.layout.own(self.unit).records.1 > 0 {
            words::count_word(self.function, &mut self.uses, count); // It is read for memory too.
        }
        self.word(count)?;
        push(self.code, most);
        self.code.op(evm::LT);
        self.code.push_label(self.fail);
        self.code.op(evm::JUMPI);
        self.stack.pop();
        Ok(())
    }

    /// Makes room for `count` records of the unbounded arrays; arrays of fixed size have theirs from the start.
    pub(super) fn reserve(&mut self, count: Word) -> Result<(), CompileError> {
        let (first, record_bytes) = self.layout.own(self.unit).records;
        if let Some(most) = self.layout.own(self.unit).records_beside {
            self.require_room(count, most)?;
        }
        if record_bytes == 0 {
            return Ok(());
        }
        // The word that ends where the records begin: the target's own memory stands in front of them.
        let before = first.saturating_sub(32);
        if let WordDef::Constant(count) = &self.function.words[count.0 as usize] {
            // An address that no memory has stays one.
            let last = count.saturating_mul(U256::from(record_bytes)).saturating_add(U256::from(before));
            self.code.push(big(last));
            self.target.reserve(self.code);
            return Ok(());
        }
        self.word(count)?;
        push(self.code, record_bytes);
        self.code.op(evm::MUL);
        push(self.code, before);
        self.code.op(evm::ADD);
        self.target.reserve(self.code);
        self.stack.pop();
        Ok(())
    }
}

/// Number of elements that a turn of a loop fills.
const FILLED_IN_TURN: u32 = 16;
