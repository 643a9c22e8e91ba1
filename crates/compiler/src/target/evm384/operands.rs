//! Code of an operation on byte offsets, and its reader, for each revision of EVM384.
//!
//! Most revisions have an instruction for it. If the result overwrites the first operand (`evm384-v1`), that is copied
//! first; if values are on the stack (`evm384-v0`), they are loaded and the result is stored.

use super::{Evm384, VALUE_BYTES, r_inv};
use crate::target::{copy_memory, push};
use residue_isa::assembly::Assembly;
use residue_isa::opcode::evm::{MCOPY, MLOAD, MSTORE, PUSH0, PUSH4};
use residue_isa::revision::evm384::{Modulus, Operands};
use residue_isa::{FieldInstruction, FieldOp, ModulusAt};
use residue_passes::SlotOp;

impl Evm384 {
    /// Offset of the copy of a first operand that would otherwise be overwritten while its result's place is still to
    /// be read: 0, the cheapest to push; or, without an opcode that pushes 0 by itself, an offset whose push is read
    /// back as digits.
    fn scratch(&self) -> u32 {
        if self.fork.has(PUSH0) { 0 } else { 16 }
    }

    /// out = x ∘ y on byte offsets.
    pub(super) fn field(&self, code: &mut Assembly, operation: FieldOp, out: u32, x: u32, y: u32) {
        match self.interface.operands {
            Operands::Values => self.with_values(code, operation, out, x, y),
            Operands::Words { overwrites_x: true } => self.overwriting(code, operation, out, x, y),
            _ => self.instruction(code, operation, out, x, y),
        }
    }

    /// Modulus operand of an instruction.
    pub(super) fn modulus_operand(&self, operation: FieldOp) -> ModulusAt {
        let offset = self.modulus_at();
        match self.interface.modulus {
            Modulus::OperandAndRInv if operation == FieldOp::Mul => {
                ModulusAt::OffsetAndRInv { offset, r_inv: r_inv(&self.modulus) }
            }
            Modulus::Operand | Modulus::OperandAndRInv => ModulusAt::Offset(offset),
            Modulus::Value | Modulus::Place(_) | Modulus::Fixed | Modulus::Set => ModulusAt::Implied,
        }
    }

    fn instruction(&self, code: &mut Assembly, operation: FieldOp, out: u32, x: u32, y: u32) {
        code.field(FieldInstruction::Memory { operation, out, x, y, modulus: self.modulus_operand(operation) });
    }

    fn overwriting(&self, code: &mut Assembly, operation: FieldOp, out: u32, x: u32, y: u32) {
        let commutes = operation != FieldOp::Sub;
        if out == x {
            self.instruction(code, operation, x, x, y);
        } else if out == y && commutes {
            self.instruction(code, operation, y, y, x);
        } else if out == y {
            let scratch = self.scratch();
            copy_memory(code, VALUE_BYTES, x, scratch);
            self.instruction(code, operation, scratch, scratch, y);
            copy_memory(code, VALUE_BYTES, scratch, out);
        } else {
            copy_memory(code, VALUE_BYTES, x, out);
            self.instruction(code, operation, out, out, y);
        }
    }

    /// Reads the code of [`Evm384::overwriting`] for slots.
    pub(super) fn read_overwriting(&self, code: &[u8]) -> Option<(Vec<SlotOp>, usize)> {
        let scratch = self.scratch();
        let (copied, before_bytes) = self.read_copy(code).map_or((None, 0), |(copy, bytes)| (Some(copy), bytes));
        let (instruction, bytes) = self.revision.decode(&code[before_bytes..])?;
        let FieldInstruction::Memory { operation, out: place, y, modulus, .. } = instruction else { return None };
        if modulus != self.modulus_operand(operation) {
            return None;
        }
        let mut read_bytes = before_bytes + bytes;
        let (out, x) = match copied {
            None => (place, place),
            Some((to, x)) if to == place && to != scratch => (place, if y == place { return None } else { x }),
            Some((to, x)) if to == scratch && place == scratch => {
                let ((out, from), bytes) = self.read_copy(&code[read_bytes..])?;
                read_bytes += bytes;
                (out, if from == scratch { x } else { return None })
            }
            Some(_) => return None,
        };
        let lane = SlotOp { operation, out: self.slot(out)?, x: self.slot(x)?, y: self.slot(y)? };
        Some((vec![lane], read_bytes))
    }

    /// Loads the words of modulus, y and x, the first word of each above the second, and stores the result.
    fn with_values(&self, code: &mut Assembly, operation: FieldOp, out: u32, x: u32, y: u32) {
        for address in [self.modulus_at(), y, x] {
            for word in [32, 0] {
                push(code, address + word);
                code.op(MLOAD);
            }
        }
        code.op(self.revision.arithmetic_opcode(operation));
        for word in [0, 32] {
            push(code, out + word);
            code.op(MSTORE);
        }
    }

    /// Reads the code of [`Evm384::with_values`] for slots.
    pub(super) fn read_values(&self, code: &[u8]) -> Option<(Vec<SlotOp>, usize)> {
        let mut at = 0;
        let (modulus, y, x) = (
            read_pair(code, &mut at, [32, 0], MLOAD)?,
            read_pair(code, &mut at, [32, 0], MLOAD)?,
            read_pair(code, &mut at, [32, 0], MLOAD)?,
        );
        let operation = self.revision.arithmetic_of(*code.get(at)?)?;
        at += 1;
        let out = read_pair(code, &mut at, [0, 32], MSTORE)?;
        let lane = SlotOp { operation, out: self.slot(out)?, x: self.slot(x)?, y: self.slot(y)? };
        (modulus == self.modulus_at()).then_some((vec![lane], at))
    }

    /// Reads the code of [`copy_memory`] for one value: destination, source, and its length.
    fn read_copy(&self, code: &[u8]) -> Option<((u32, u32), usize)> {
        if !self.fork.has(MCOPY) {
            return read_copied_words(code);
        }
        let (bytes, first) = read_push(code)?;
        let (from, second) = read_push(&code[first..])?;
        let (to, third) = read_push(&code[first + second..])?;
        let end = first + second + third;
        (bytes == VALUE_BYTES && *code.get(end)? == MCOPY).then_some(((to, from), end + 1))
    }
}

/// Reads a value copied in two words.
fn read_copied_words(code: &[u8]) -> Option<((u32, u32), usize)> {
    let mut at = 0;
    let mut copies = [(0, 0); 2];
    for (copy, offset) in copies.iter_mut().zip([0, VALUE_BYTES - 32]) {
        let mut address = |opcode: u8| {
            let (number, bytes) = read_push(code.get(at..)?)?;
            let found = *code.get(at + bytes)?;
            at += bytes + 1;
            if found == opcode { number.checked_sub(offset) } else { None }
        };
        let from = address(MLOAD)?;
        *copy = (address(MSTORE)?, from);
    }
    (copies[0] == copies[1]).then_some((copies[0], at))
}

/// Reads two pushes of an address and each of `words`, each with the opcode after it, and goes on after them.
fn read_pair(code: &[u8], at: &mut usize, words: [u32; 2], opcode: u8) -> Option<u32> {
    let mut address = |word: u32| {
        let (number, bytes) = read_push(code.get(*at..)?)?;
        let found = *code.get(*at + bytes)?;
        *at += bytes + 1;
        if found == opcode { number.checked_sub(word) } else { None }
    };
    let [first, second] = [address(words[0])?, address(words[1])?];
    (first == second).then_some(first)
}

/// Reads a smallest push of up to four bytes: the number and the push's length.
fn read_push(code: &[u8]) -> Option<(u32, usize)> {
    let (&opcode, rest) = code.split_first()?;
    if !(PUSH0..=PUSH4).contains(&opcode) {
        return None;
    }
    let digits = rest.get(..usize::from(opcode - PUSH0))?;
    let number = digits.iter().fold(0, |number, &digit| number << 8 | u32::from(digit));
    (digits.first() != Some(&0)).then_some((number, 1 + digits.len()))
}
