//! Opcodes that set a modulus, load and store, with their operands as each revision with slots takes them: for every writer of bytecode.

use alloc::vec::Vec;

use num_bigint::BigUint;

use crate::assembly::Assembly;
use crate::revision::rules::{SetForm, SizeUnit, SlotRules};

/// An opcode with its operands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written<T> {
    /// The opcode.
    pub opcode: u8,
    /// Words that it takes from the stack, top first.
    pub words: Vec<T>,
    /// Bytes after it.
    pub immediate: Vec<u8>,
}

/// Sets a modulus: `offset` and `size` in the unit of the revision say where it stands. The id is a word or an immediate byte, or there is none.
pub fn set_modulus<T>(rules: &SlotRules, id: (T, u8), [offset, size, slots]: [T; 3]) -> Written<T> {
    let mut words = Vec::from([offset, size, slots]);
    let mut immediate = Vec::new();
    match rules.form {
        SetForm::IdOnStack => words.insert(0, id.0),
        SetForm::IdImmediate => immediate.push(id.1),
        SetForm::One => {}
    }
    Written { opcode: rules.set_modulus, words, immediate }
}

/// Loads `count` slots from `slot` on to memory at `address`, from the field context `id` where loads name one.
pub fn load<T>(rules: &SlotRules, id: T, [address, slot, count]: [T; 3]) -> Written<T> {
    transfer(rules, rules.load, id, [address, slot, count])
}

/// Stores `count` values in memory at `address` to the slots from `slot` on, of the field context `id` where stores name one.
pub fn store<T>(rules: &SlotRules, id: T, [slot, address, count]: [T; 3]) -> Written<T> {
    transfer(rules, rules.store, id, [slot, address, count])
}

fn transfer<T>(rules: &SlotRules, opcode: u8, id: T, words: [T; 3]) -> Written<T> {
    let mut words = Vec::from(words);
    if rules.transfer_names_context {
        words.insert(0, id);
    }
    Written { opcode, words, immediate: Vec::new() }
}

impl SlotRules {
    /// The size that declares a modulus of so many bits, which fills its bytes.
    pub fn declared_size(&self, modulus_bits: u64) -> u64 {
        match self.moduli.unit {
            SizeUnit::Bytes => modulus_bits.div_ceil(8),
            SizeUnit::Bits => modulus_bits,
        }
    }
}

impl Assembly {
    /// Pushes the words of an opcode, the last one first, and appends it with its immediate.
    pub fn written<T: Into<BigUint>>(&mut self, written: Written<T>) -> &mut Self {
        let Written { opcode, words, immediate } = written;
        for word in words.into_iter().rev() {
            self.push(word);
        }
        self.op_with(opcode, immediate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revision::Revision;
    use Revision::{Eip6601, Eip6690_2024, Evmone2025, Geth6601};

    fn code(revision: Revision, write: fn(&SlotRules) -> Written<u32>) -> alloc::string::String {
        let mut code = Assembly::new();
        code.written(write(revision.slot_rules().unwrap()));
        hex::encode(code.assemble(revision).unwrap().bytes)
    }

    #[test]
    fn operands_stand_as_each_revision_takes_them() {
        let set = |rules: &SlotRules| set_modulus(rules, (9, 9), [1, 2, 3]);
        assert_eq!(code(Eip6690_2024, set), "6003600260016009c0");
        assert_eq!(code(Eip6601, set), "6003600260012109");
        assert_eq!(code(Evmone2025, set), "600360026001c0");
        assert_eq!(code(Eip6690_2024, |rules| load(rules, 9, [1, 2, 3])), "600360026001c1");
        assert_eq!(code(Geth6601, |rules| load(rules, 9, [1, 2, 3])), "600360026001600925");
        assert_eq!(code(Geth6601, |rules| store(rules, 9, [1, 2, 3])), "600360026001600926");
    }
}
