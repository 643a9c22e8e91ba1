//! Assembly: a list of items that becomes code, built by hand, by the compiler or from text.
//!
//! [`Assembly`] collects [`Item`]s; [`assemble`] encodes them, choosing the smallest push for every number and label;
//! [`parse()`] and [`assemble_text`] read text and [`print()`] writes it; [`disassemble()`] turns any bytes into text that assembles to the same bytes.

use alloc::vec::Vec;

mod disassemble;
mod encode;
mod older;
mod parse;
mod print;
mod token;

use core::ops::Range;
use num_bigint::BigUint;

use crate::field_instruction::FieldInstruction;
use crate::fork::Fork;
use crate::opcode::evm;
use crate::revision::Revision;

pub use disassemble::{Line, disassemble, lines};
pub use encode::{AssembleError, Code, assemble};
pub use older::KnownAddresses;
pub use parse::{Fault, ParseError, assemble_text, parse};
pub use print::print;

/// A place in code, known once everything before it has its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelId(pub u32);

/// One piece of code.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Item {
    /// One opcode, as it is, or after the prefix that those of the revision have. For opcodes with an immediate use [`Item::PushBytes`] or [`Item::Field`].
    Op(u8),
    /// Pushes a number below 2²⁵⁶ with the smallest PUSH: PUSH0 for 0, where there is one.
    Push(BigUint),
    /// PUSHn of exactly these n ≤ 32 bytes, big-endian; leading zeros stay.
    PushBytes(Vec<u8>),
    /// Pushes the offset of a label with the smallest PUSH: PUSH0 for offset 0.
    PushLabel(LabelId),
    /// Pushes how far labels are before a later one: two bytes for each of at most sixteen, the first one's most
    /// significant.
    PushDistances {
        /// The later label.
        to: LabelId,
        /// The others.
        from: Vec<LabelId>,
    },
    /// Defines a label here as a jump target: emits a JUMPDEST.
    Label(LabelId),
    /// Defines a label here without emitting a byte, to address data.
    Mark(LabelId),
    /// An arithmetic field instruction with its operands.
    Field(FieldInstruction),
    /// Bytes as they are.
    Data(Vec<u8>),
}

/// A growing list of items with fresh labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assembly {
    items: Vec<Item>,
    labels: u32,
    fork: Fork,
}

impl Assembly {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Nothing yet, for a fork: [`Assembly::op`], [`Assembly::push`] and [`Assembly::copy`] write with the opcodes it has.
    pub fn for_fork(fork: Fork) -> Self {
        Self { fork, ..Self::default() }
    }

    /// The fork that it is for.
    pub fn fork(&self) -> Fork {
        self.fork
    }

    /// A label that no other call has returned. It is defined by [`Assembly::label`] or [`Assembly::mark`].
    pub fn new_label(&mut self) -> LabelId {
        let label = LabelId(self.labels);
        self.labels += 1;
        label
    }

    /// Appends an item and returns its index, by which [`Code::item_range`] finds its bytes.
    pub fn item(&mut self, item: Item) -> usize {
        self.items.push(item);
        self.items.len() - 1
    }

    /// Puts `item` in place of the item with this index, which must be there.
    pub fn replace(&mut self, index: usize, item: Item) {
        self.items[index] = item;
    }

    /// Removes all items but the first `items`. Labels that were made for them stay taken.
    pub fn truncate(&mut self, items: usize) {
        self.items.truncate(items);
    }

    /// Appends an opcode without immediate; a shift that the fork lacks becomes a multiplication or a division.
    pub fn op(&mut self, opcode: u8) -> &mut Self {
        if self.fork.has(opcode) || !older::shift(self, opcode) {
            self.items.push(Item::Op(opcode));
        }
        self
    }

    /// Appends an opcode with the bytes after it, which may be none.
    pub fn op_with(&mut self, opcode: u8, immediate: impl Into<Vec<u8>>) -> &mut Self {
        let immediate = immediate.into();
        self.op(opcode);
        if immediate.is_empty() { self } else { self.data(immediate) }
    }

    /// Appends a copy in memory of `size_bytes` bytes, with operands on the stack as for MCOPY: [bytes, from, to] → [].
    /// `known` has the constant addresses. Unless both are constant, the two ranges must be disjoint.
    pub fn copy(&mut self, size_bytes: u32, known: KnownAddresses) -> &mut Self {
        if self.fork.has(evm::MCOPY) {
            return self.with(Item::Op(evm::MCOPY));
        }
        older::copy(self, size_bytes, known);
        self
    }

    /// Takes the last item back if it is this opcode; whether it was.
    pub fn take_back(&mut self, opcode: u8) -> bool {
        let is_last = self.items.last() == Some(&Item::Op(opcode));
        if is_last {
            self.items.pop();
        }
        is_last
    }

    /// Appends the smallest push of a number.
    pub fn push(&mut self, number: impl Into<BigUint>) -> &mut Self {
        self.with(Item::Push(number.into()))
    }

    /// Pushes a number below the word on top of the stack: before it, where that was pushed or copied just now. [top] → [number, top]
    pub fn push_below(&mut self, number: impl Into<BigUint>) -> &mut Self {
        match self.items.pop() {
            Some(top @ Item::Push(_)) => self.push(number).with(top),
            Some(Item::Op(copy @ evm::DUP1..evm::DUP16)) => self.push(number).with(Item::Op(copy + 1)),
            last => {
                self.items.extend(last);
                self.push(number).op(evm::SWAP1)
            }
        }
    }

    /// Appends the smallest push of a label's offset.
    pub fn push_label(&mut self, label: LabelId) -> &mut Self {
        self.with(Item::PushLabel(label))
    }

    /// Defines a label here as a jump target.
    pub fn label(&mut self, label: LabelId) -> &mut Self {
        self.with(Item::Label(label))
    }

    /// Defines a label here without emitting a byte.
    pub fn mark(&mut self, label: LabelId) -> &mut Self {
        self.with(Item::Mark(label))
    }

    /// Appends a field instruction.
    pub fn field(&mut self, instruction: FieldInstruction) -> &mut Self {
        self.with(Item::Field(instruction))
    }

    /// Appends bytes.
    pub fn data(&mut self, bytes: impl Into<Vec<u8>>) -> &mut Self {
        self.with(Item::Data(bytes.into()))
    }

    /// The items so far.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Bytes of these items, which must be there, without those of pushes of labels.
    pub fn fixed_bytes(&self, items: Range<usize>, revision: Revision) -> Result<usize, AssembleError> {
        encode::fixed_bytes(&self.items[items], (revision, self.fork))
    }

    /// Encodes the items so far.
    pub fn assemble(&self, revision: Revision) -> Result<Code, AssembleError> {
        encode::assemble_for(&self.items, (revision, self.fork))
    }

    fn with(&mut self, item: Item) -> &mut Self {
        self.items.push(item);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_goes_below_what_was_pushed_just_now() {
        let check = |before: &[Item], after: &[Item]| {
            let mut code = Assembly::new();
            before.iter().for_each(|item| _ = code.item(item.clone()));
            code.push_below(7u32);
            assert_eq!(code.items(), after);
        };
        let push = |number: u32| Item::Push(number.into());
        check(&[Item::Op(evm::ADD), push(3)], &[Item::Op(evm::ADD), push(7), push(3)]);
        check(&[Item::Op(evm::DUP1)], &[push(7), Item::Op(evm::DUP2)]);
        check(&[Item::Op(evm::DUP15)], &[push(7), Item::Op(evm::DUP16)]);
        // There is no word 17.
        for other in [Item::Op(evm::DUP16), Item::Op(evm::ADD), Item::Label(LabelId(0)), Item::Mark(LabelId(0))] {
            check(std::slice::from_ref(&other), &[other.clone(), push(7), Item::Op(evm::SWAP1)]);
        }
        check(&[], &[push(7), Item::Op(evm::SWAP1)]);
    }
}
