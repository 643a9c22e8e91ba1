//! Code that sets a modulus, in memory or in code, and stores the constants of a program.

use super::Slots;
use crate::target::{Target, push};
use num_bigint::BigUint;
use residue_isa::assembly::Assembly;
use residue_isa::revision::rules::{SetForm, SizeUnit};

impl Slots {
    /// Sets the modulus at `address` in memory. [] → []
    pub(super) fn set_modulus(&self, code: &mut Assembly, address: u32) {
        self.slots_and_size(code);
        push(code, address);
        self.set_or_resume(code, self.rules.set_modulus);
    }

    /// The same where it stands in code. [] → []
    pub(super) fn set_modulus_in_code(&self, code: &mut Assembly, opcode: u8) {
        self.slots_and_size(code);
        code.push_label(self.data);
        self.set_or_resume(code, opcode);
    }

    /// [] → [slots, size of the modulus]
    fn slots_and_size(&self, code: &mut Assembly) {
        let size = match (self.rules.moduli.unit, &self.modulus) {
            (SizeUnit::Bits, Some(modulus)) => modulus.bits(),
            _ => u64::from(self.modulus_bytes),
        };
        push(code, self.slot_count());
        code.push(size);
    }

    /// [slots, size of the modulus, its address] → []
    pub(super) fn set_or_resume(&self, code: &mut Assembly, opcode: u8) {
        match self.rules.form {
            SetForm::IdOnStack => {
                push(code, self.context);
                code.op(opcode);
            }
            // Code as it is: an opcode with a byte after it.
            SetForm::IdImmediate => {
                code.data([opcode, u8::try_from(self.context).expect("subprograms are few")]);
            }
            SetForm::One => {
                code.op(opcode);
            }
        }
    }

    /// Stores the constants that stand in code, or at `address` in memory where they were copied, and makes the others. [] → []
    pub(super) fn store_constants(&self, code: &mut Assembly, address: u32) {
        if self.given_count() > 0 {
            if self.loads_code() {
                push(code, self.given_count());
                code.push_label(self.given);
                self.load_code(code, self.places.first_constant);
            } else {
                self.store_run(code, (self.places.first_constant, self.given_count(), address));
            }
        }
        self.operations(code, &self.constants.operations);
    }
}

/// `value` in `size_bytes` big-endian bytes.
pub(super) fn be_bytes(value: &BigUint, size_bytes: usize) -> Vec<u8> {
    let digits = value.to_bytes_be();
    let mut bytes = vec![0; size_bytes - digits.len()];
    bytes.extend(digits);
    bytes
}
