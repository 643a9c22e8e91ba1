//! EIP-5843: values in EVM memory at numbered slots, big-endian Montgomery form with R = 2⁶⁴ᴸ for a modulus of L limbs.
//!
//! Slots begin at address 0; after those of the program and its constants stands the modulus. Montgomery form is
//! entered by a product with R² and left by one with 1; every operation halts on values that are not below the modulus,
//! so input needs no other check. Nothing grows memory, so it is touched first, with a byte to spare.

use super::reverse::Reverse;
use super::{
    Places, RowSizes, Target, clear, copy_memory, gas_of_copy, high_by_words, memory_is_zero, parse_one_by_one, push,
    require_padding, slot_instruction, slot_lanes,
};
use num_bigint::BigUint;
use num_traits::One;
use residue_isa::assembly::{Assembly, KnownAddresses, LabelId};
use residue_isa::opcode::evm;
use residue_isa::revision::eip5843::SETMODX;
use residue_isa::{FieldInstruction, FieldOp, Revision};
use residue_passes::moves::Copy;
use residue_passes::{Slot, SlotOp};

/// Lowering for interfaces with numbered slots in memory.
pub struct MontSlots {
    revision: Revision,
    modulus: BigUint,
    width_limbs: u32,
    /// Constants as they stand in the last slots, in Montgomery form.
    constants: Vec<BigUint>,
    places: Places,
    /// Slots with R mod m and R⁻¹ mod m: in memory R² mod m and 1, which lead into Montgomery form and out of it.
    r: Slot,
    r_inverse: Slot,
    /// Gas of a copy by addition of zero.
    gas_of_addition: u64,
    data: LabelId,
    /// True if the program reads or writes Montgomery form.
    uses_mont: bool,
    reverse: Reverse,
}

/// Constants that [`MontSlots`] needs beside the program's: R mod m and R⁻¹ mod m, canonical.
pub fn conversion_constants(modulus: &BigUint) -> [BigUint; 2] {
    let r = radix(modulus) % modulus;
    let inverse = r.modinv(modulus).expect("R is a power of two and the modulus is odd");
    [r, inverse]
}

/// R for a modulus: 2⁶⁴ᴸ.
fn radix(modulus: &BigUint) -> BigUint {
    BigUint::one() << (64 * modulus.bits().div_ceil(64))
}

impl MontSlots {
    /// `constants[i]`, given canonical, stands in slot `first_constant + i`.
    pub fn new(
        revision: Revision,
        modulus: &BigUint,
        constants: &[BigUint],
        places: Places,
        gas_of_addition: u64,
        uses_mont: bool,
        code: &mut Assembly,
    ) -> Self {
        let constant_slot = |wanted: &BigUint| {
            let index = constants.iter().position(|constant| constant == wanted).expect("the caller adds these");
            places.first_constant + u32::try_from(index).expect("the number of constants was checked")
        };
        let [r, r_inverse] = conversion_constants(modulus).map(|constant| constant_slot(&constant));
        let radix = radix(modulus);
        Self {
            revision,
            modulus: modulus.clone(),
            width_limbs: u32::try_from(modulus.bits().div_ceil(64)).expect("the width was checked"),
            constants: constants.iter().map(|constant| constant * &radix % modulus).collect(),
            places,
            r,
            r_inverse,
            gas_of_addition,
            data: code.new_label(),
            uses_mont,
            reverse: Reverse::new(code),
        }
    }

    fn value_bytes(&self) -> u32 {
        8 * self.width_limbs
    }

    fn address(&self, slot: Slot) -> u32 {
        self.value_bytes() * slot
    }

    fn modulus_at(&self) -> u32 {
        self.address(self.places.first_constant + self.constant_count())
    }

    /// A word after the modulus, if the program reads or writes Montgomery form.
    fn scratch_at(&self) -> u32 {
        self.modulus_at() + self.value_bytes()
    }

    fn constant_count(&self) -> u32 {
        u32::try_from(self.constants.len()).expect("the number of constants was checked")
    }

    fn field(&self, code: &mut Assembly, operation: FieldOp, out: Slot, x: Slot, y: Slot) {
        code.field(slot_instruction(&SlotOp { operation, out, x, y }));
    }

    fn be_bytes(&self, value: &BigUint) -> Vec<u8> {
        let digits = value.to_bytes_be();
        let mut bytes = vec![0; self.value_bytes() as usize - digits.len()]; // u32 to usize widens.
        bytes.extend(digits);
        bytes
    }
}

impl Target for MontSlots {
    fn memory_bytes(&self) -> u32 {
        // One byte after the modulus at least: go-ethereum asks for it.
        let scratch_bytes = if self.uses_mont { 32 } else { 1 };
        (self.scratch_at() + scratch_bytes).next_multiple_of(32)
    }

    fn element_bytes(&self) -> u32 {
        self.value_bytes()
    }

    fn start(&self, code: &mut Assembly, _: u32) -> u32 {
        push(code, self.memory_bytes() - 32);
        code.op(evm::MLOAD);
        code.op(evm::POP);
        push(code, self.value_bytes() * (self.constant_count() + 1));
        code.push_label(self.data);
        push(code, self.address(self.places.first_constant));
        code.op(evm::CODECOPY);
        push(code, 0);
        push(code, self.width_limbs);
        push(code, self.modulus_at());
        code.op(SETMODX);
        self.memory_bytes()
    }

    fn set_up_bytes(&self) -> u32 {
        0
    }

    fn set_up(&self, code: &mut Assembly, _: u32) -> u32 {
        self.start(code, 0)
    }

    fn resume(&self, _: &mut Assembly) {
        unreachable!("a program with subprograms is refused")
    }

    fn encode(&self, value: &BigUint) -> Vec<u8> {
        self.be_bytes(&(value * radix(&self.modulus) % &self.modulus))
    }

    fn operations(&self, code: &mut Assembly, ops: &[SlotOp]) {
        for op in ops {
            code.field(slot_instruction(op));
        }
    }

    fn copies(&self, code: &mut Assembly, copies: &[Copy]) {
        for copy in copies {
            let bytes = self.value_bytes() * copy.count;
            let gas_of_copy = gas_of_copy(code, bytes);
            if u64::from(copy.count) * self.gas_of_addition <= gas_of_copy {
                for lane in 0..copy.count {
                    self.field(code, FieldOp::Add, copy.to + lane, copy.from + lane, self.places.zero);
                }
            } else {
                copy_memory(code, bytes, self.address(copy.from), self.address(copy.to));
            }
        }
    }

    fn reserve(&self, code: &mut Assembly) {
        // Arrays are copied by MCOPY, which grows memory.
        code.op(evm::POP);
    }

    fn before_load(&self, code: &mut Assembly, _: Slot, count: u32) -> usize {
        push(code, self.value_bytes() * count);
        1
    }

    fn load(&self, code: &mut Assembly, first: Slot, count: u32) {
        let to = self.address(first);
        push(code, to);
        code.copy(self.value_bytes() * count, KnownAddresses { to: Some(to), from: None });
    }

    fn before_store(&self, code: &mut Assembly, first: Slot, count: u32) -> usize {
        push(code, self.value_bytes() * count);
        push(code, self.address(first));
        2
    }

    fn store(&self, code: &mut Assembly, first: Slot, count: u32) {
        code.copy(self.value_bytes() * count, KnownAddresses { from: Some(self.address(first)), to: None });
    }

    fn invert(&self, _: &mut Assembly, _: Slot, _: Slot) {
        unreachable!("inversions are refused where no instruction inverts");
    }

    fn is_zero(&self, code: &mut Assembly, slot: Slot) {
        memory_is_zero(code, self.address(slot), self.value_bytes());
    }

    fn equal(&self, code: &mut Assembly, a: Slot, b: Slot) {
        self.field(code, FieldOp::Sub, self.places.spare, a, b);
        self.is_zero(code, self.places.spare);
    }

    fn parse(&self, code: &mut Assembly, slot: Slot, size_bytes: u32, fail: LabelId) {
        let pad_bytes = size_bytes.saturating_sub(self.value_bytes());
        require_padding(code, pad_bytes, fail);
        let missing_bytes = self.value_bytes().saturating_sub(size_bytes);
        if missing_bytes > 0 {
            // After calldata there are zeros only.
            push(code, missing_bytes);
            code.op(evm::CALLDATASIZE);
            push(code, self.address(slot));
            code.op(evm::CALLDATACOPY);
        }
        code.push_below(size_bytes.min(self.value_bytes()));
        if pad_bytes > 0 {
            push(code, pad_bytes);
            code.op(evm::ADD);
        }
        push(code, self.address(slot) + missing_bytes);
        code.op(evm::CALLDATACOPY);
        self.field(code, FieldOp::Mul, slot, slot, self.r);
    }

    fn parse_row(&self, code: &mut Assembly, slots: &[Slot], sizes: RowSizes, fail: LabelId) {
        parse_one_by_one(self, code, slots, sizes, fail);
    }

    fn take_words(&self, code: &mut Assembly, slot: Slot, count: u32) {
        let (address, bytes) = (self.address(slot), self.value_bytes());
        // Bytes of the value that the most significant word has.
        let first_bytes = (bytes + 32).saturating_sub(32 * count).min(32);
        for above in 1..count {
            // Under the words of lower places, which are written first, nothing of the value is left to write but in front.
            push(code, address + bytes - 32 * above);
            code.op(evm::MSTORE);
        }
        if first_bytes < 32 {
            // What stands after the word stays: [number] → [number at the front, a word with the rest].
            push(code, 8 * (32 - first_bytes));
            code.op(evm::SHL);
            push(code, address);
            code.op(evm::MLOAD);
            for shift in [evm::SHL, evm::SHR] {
                push(code, 8 * first_bytes);
                code.op(shift);
            }
            code.op(evm::OR);
            push(code, address);
        } else {
            clear(code, address, bytes - 32 * count);
            push(code, address + bytes - 32 * count);
        }
        code.op(evm::MSTORE);
        self.field(code, FieldOp::Mul, slot, slot, self.r);
    }

    fn output(&self, code: &mut Assembly, slot: Slot, address: u32, size_bytes: u32) {
        self.field(code, FieldOp::Mul, self.places.spare, slot, self.r_inverse);
        let pad_bytes = size_bytes.saturating_sub(self.value_bytes());
        if pad_bytes > 0 {
            clear(code, address, pad_bytes);
        }
        let bytes = size_bytes.min(self.value_bytes());
        copy_memory(code, bytes, self.address(self.places.spare) + self.value_bytes() - bytes, address + pad_bytes);
    }

    fn high(&self, code: &mut Assembly, slots: (Slot, Slot), bytes: u32, address: u32) {
        high_by_words(self, code, slots, (bytes, address), self.modulus.bits());
    }

    fn parse_mont_le(&self, code: &mut Assembly, slot: Slot, _: LabelId) {
        let bytes = self.value_bytes();
        if bytes < 32 {
            self.reverse.copy_calldata(code, bytes, self.scratch_at() + 32);
            copy_memory(code, bytes, self.scratch_at() + 32 - bytes, self.address(slot));
        } else {
            self.reverse.copy_calldata(code, bytes, self.address(slot) + bytes);
        }
        // Looks whether the number is below the modulus.
        self.field(code, FieldOp::Add, slot, slot, self.places.zero);
    }

    fn output_mont_le(&self, code: &mut Assembly, slot: Slot, address: u32) {
        self.reverse.copy_memory(code, self.value_bytes(), self.address(slot), address);
    }

    fn lanes(&self, instruction: &FieldInstruction) -> Option<Vec<SlotOp>> {
        slot_lanes(instruction)
    }

    fn read(&self, code: &[u8]) -> Option<(Vec<SlotOp>, usize)> {
        let (instruction, bytes) = self.revision.decode(code)?;
        Some((self.lanes(&instruction)?, bytes))
    }

    fn subroutines(&self, code: &mut Assembly) {
        self.reverse.subroutine(code);
    }

    fn data(&self, code: &mut Assembly) {
        code.mark(self.data);
        for constant in &self.constants {
            code.data(self.be_bytes(constant));
        }
        code.data(self.be_bytes(&self.modulus));
    }
}
