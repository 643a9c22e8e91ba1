//! EVM384: values in EVM memory in 48-byte Montgomery form, R = 2³⁸⁴, for every revision of it.
//!
//! Slots are places in memory, one after the other; after them stand the constants, the modulus and r_inv, unless the
//! revision has another place for the modulus. The bytes below the slots are scratch. [`operands`] has the encoding of
//! operands; revisions also differ in byte order and in the source of the modulus.

mod operands;

use super::reverse::Reverse;
use super::{
    Places, RowSizes, Target, clear, copy_memory, gas_of_copy, high_by_words, mont_bytes, parse_one_by_one, push,
    require_below, require_padding,
};
use num_bigint::BigUint;
use num_traits::{One, ToPrimitive};
use residue_isa::assembly::{Assembly, KnownAddresses, LabelId};
use residue_isa::opcode::evm;
use residue_isa::revision::evm384::{self, BLS12_381_P, ByteOrder, Modulus, Operands};
use residue_isa::revision::evm384_v12::SETMOD;
use residue_isa::{FieldInstruction, FieldOp, Fork, GasSchedule, Revision};
use residue_passes::moves::Copy;
use residue_passes::{Slot, SlotOp};

/// Bytes of one value.
const VALUE_BYTES: u32 = 48;
/// Bytes of r_inv after the modulus.
const R_INV_BYTES: u32 = 8;
/// Slots where the revision has no limit of its own.
const SLOTS_MAX: u32 = 4096;

/// Lowering for interfaces with 384-bit values in memory.
pub struct Evm384 {
    revision: Revision,
    interface: evm384::Evm384,
    modulus: BigUint,
    /// Constants as they stand after the slots, in Montgomery form.
    constants: Vec<BigUint>,
    places: Places,
    /// Slots with R mod m and R⁻¹ mod m: in memory R² mod m and 1, which lead into Montgomery form and out of it.
    r: Slot,
    r_inverse: Slot,
    /// Gas of a copy by addition of zero, pushes included; none if that is no way to copy.
    gas_of_addition: Option<u64>,
    fork: Fork,
    data: LabelId,
    modulus_data: LabelId,
    reverse: Reverse,
}

/// Constants that [`Evm384`] needs beside the program's: R mod m and R⁻¹ mod m, canonical.
pub fn conversion_constants(modulus: &BigUint) -> [BigUint; 2] {
    let r: BigUint = (BigUint::one() << 384) % modulus;
    let inverse = r.modinv(modulus).expect("R is a power of two and the modulus is odd");
    [r, inverse]
}

/// The modulus of revisions that have one field only.
pub fn fixed_modulus() -> BigUint {
    BLS12_381_P.iter().rev().fold(BigUint::ZERO, |number, &limb| (number << 64) | BigUint::from(limb))
}

/// Number of slots that a revision can name, constants included.
pub fn slot_limit(interface: &evm384::Evm384) -> u32 {
    if interface.operands == Operands::Values {
        return SLOTS_MAX;
    }
    let last = u64::from(interface.operand_max) * u64::from(interface.unit_bytes);
    let slots = (last - u64::from(slots_at(interface))) / u64::from(VALUE_BYTES) + 1;
    u32::try_from(slots).unwrap_or(SLOTS_MAX).min(SLOTS_MAX)
}

/// Offset of slot 0: after 64 bytes of scratch, at a place that operands can name.
fn slots_at(interface: &evm384::Evm384) -> u32 {
    64u32.next_multiple_of(interface.unit_bytes)
}

/// Bytes from one slot to the next. A value from the stack is written in two words.
fn stride_of(interface: &evm384::Evm384) -> u32 {
    if interface.operands == Operands::Values { 64 } else { VALUE_BYTES }
}

/// Memory offset of a slot.
pub(crate) fn address_of(interface: &evm384::Evm384, slot: Slot) -> u32 {
    slots_at(interface) + stride_of(interface) * slot
}

impl Evm384 {
    /// `constants[i]`, given canonical, stands in slot `first_constant + i`.
    pub fn new(
        revision: Revision,
        interface: &evm384::Evm384,
        modulus: &BigUint,
        constants: &[BigUint],
        places: Places,
        (schedule, fork): (&GasSchedule, Fork),
        code: &mut Assembly,
    ) -> Self {
        let constant_slot = |wanted: &BigUint| {
            let index = constants.iter().position(|constant| constant == wanted).expect("the caller adds these");
            places.first_constant + u32::try_from(index).expect("the number of constants was checked")
        };
        let [r, r_inverse] = conversion_constants(modulus);
        let opcode = revision.arithmetic_opcode(FieldOp::Add);
        let pushes = revision.row(opcode).map_or(0, |row| u64::from(row.pops));
        let copies = !matches!(interface.operands, Operands::Values | Operands::Words { overwrites_x: true });
        let gas_of_addition = schedule.instruction(FieldOp::Add, 6, 1).whole() + 3 * pushes;
        Self {
            revision,
            interface: *interface,
            modulus: modulus.clone(),
            constants: constants.iter().map(|constant| (constant << 384) % modulus).collect(),
            places,
            r: constant_slot(&r),
            r_inverse: constant_slot(&r_inverse),
            gas_of_addition: copies.then_some(gas_of_addition),
            fork,
            data: code.new_label(),
            modulus_data: code.new_label(),
            reverse: Reverse::new(code),
        }
    }

    fn stride(&self) -> u32 {
        stride_of(&self.interface)
    }

    fn address(&self, slot: Slot) -> u32 {
        address_of(&self.interface, slot)
    }

    /// The slot at an address, if one begins there.
    fn slot(&self, address: u32) -> Option<Slot> {
        let offset = address.checked_sub(slots_at(&self.interface))?;
        (offset % self.stride() == 0).then_some(offset / self.stride())
    }

    fn constants_end(&self) -> u32 {
        self.address(self.places.first_constant) + self.stride() * self.constant_count()
    }

    /// Memory offset of the modulus, with r_inv after it.
    fn modulus_at(&self) -> u32 {
        match self.interface.modulus {
            Modulus::Place(address) => address,
            _ => self.constants_end(),
        }
    }

    fn constant_count(&self) -> u32 {
        u32::try_from(self.constants.len()).expect("the number of constants was checked")
    }

    fn is_big_endian(&self) -> bool {
        self.interface.byte_order == ByteOrder::Big
    }

    /// `value` in as many bytes as there are from slot to slot.
    fn bytes(&self, value: &BigUint) -> Vec<u8> {
        let mut bytes = value.to_bytes_le();
        bytes.resize(VALUE_BYTES as usize, 0);
        if self.is_big_endian() {
            bytes.reverse();
        }
        bytes.resize(self.stride() as usize, 0);
        bytes
    }

    fn r_inv_bytes(&self) -> [u8; 8] {
        let r_inv = r_inv(&self.modulus);
        if self.is_big_endian() { r_inv.to_be_bytes() } else { r_inv.to_le_bytes() }
    }
}

/// −m⁻¹ mod 2⁶⁴.
fn r_inv(modulus: &BigUint) -> u64 {
    let two_64 = BigUint::one() << 64;
    let inverse = modulus.modinv(&two_64).expect("the modulus is odd");
    (two_64 - inverse).to_u64().expect("the difference is below 2⁶⁴: an inverse is not 0")
}

impl Target for Evm384 {
    fn memory_bytes(&self) -> u32 {
        let after_modulus = match self.interface.modulus {
            Modulus::Fixed => 0,
            _ => self.modulus_at() + VALUE_BYTES + R_INV_BYTES,
        };
        self.constants_end().max(after_modulus).next_multiple_of(32)
    }

    fn element_bytes(&self) -> u32 {
        self.stride()
    }

    /// Memory then reaches after everything that instructions name, so that they need not grow it.
    fn start(&self, code: &mut Assembly, _: u32) -> u32 {
        let constants_bytes = self.stride() * self.constant_count();
        let modulus_bytes = if self.interface.modulus == Modulus::Fixed { 0 } else { VALUE_BYTES + R_INV_BYTES };
        let is_one_run = self.modulus_at() == self.constants_end();
        push(code, if is_one_run { constants_bytes + modulus_bytes } else { constants_bytes });
        code.push_label(self.data);
        push(code, self.address(self.places.first_constant));
        code.op(evm::CODECOPY);
        if !is_one_run {
            push(code, modulus_bytes);
            code.push_label(self.modulus_data);
            push(code, self.modulus_at());
            code.op(evm::CODECOPY);
        }
        if self.interface.modulus == Modulus::Set {
            push(code, VALUE_BYTES);
            push(code, self.modulus_at());
            code.op(SETMOD);
        }
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
        self.bytes(&((value << 384) % &self.modulus))
    }

    fn operations(&self, code: &mut Assembly, ops: &[SlotOp]) {
        for op in ops {
            self.field(code, op.operation, self.address(op.out), self.address(op.x), self.address(op.y));
        }
    }

    fn copies(&self, code: &mut Assembly, copies: &[Copy]) {
        for copy in copies {
            let bytes = self.stride() * copy.count;
            let gas_of_copy = gas_of_copy(code, bytes);
            if self.gas_of_addition.is_some_and(|gas| u64::from(copy.count) * gas <= gas_of_copy) {
                for lane in 0..copy.count {
                    let (to, from) = (self.address(copy.to + lane), self.address(copy.from + lane));
                    self.field(code, FieldOp::Add, to, from, self.address(self.places.zero));
                }
            } else {
                copy_memory(code, bytes, self.address(copy.from), self.address(copy.to));
            }
        }
    }

    fn reserve(&self, code: &mut Assembly) {
        // Every instruction that touches memory grows it.
        code.op(evm::POP);
    }

    fn before_load(&self, code: &mut Assembly, _: Slot, count: u32) -> usize {
        push(code, self.stride() * count);
        1
    }

    fn load(&self, code: &mut Assembly, first: Slot, count: u32) {
        let to = self.address(first);
        push(code, to);
        code.copy(self.stride() * count, KnownAddresses { to: Some(to), from: None });
    }

    fn before_store(&self, code: &mut Assembly, first: Slot, count: u32) -> usize {
        push(code, self.stride() * count);
        push(code, self.address(first));
        2
    }

    fn store(&self, code: &mut Assembly, first: Slot, count: u32) {
        code.copy(self.stride() * count, KnownAddresses { from: Some(self.address(first)), to: None });
    }

    fn invert(&self, _: &mut Assembly, _: Slot, _: Slot) {
        unreachable!("inversions are refused where no instruction inverts");
    }

    fn is_zero(&self, code: &mut Assembly, slot: Slot) {
        let address = self.address(slot);
        push(code, address);
        code.op(evm::MLOAD);
        push(code, address + 16);
        code.op(evm::MLOAD);
        code.op(evm::OR);
        code.op(evm::ISZERO);
    }

    fn equal(&self, code: &mut Assembly, a: Slot, b: Slot) {
        for part in [0, 16] {
            push(code, self.address(a) + part);
            code.op(evm::MLOAD);
            push(code, self.address(b) + part);
            code.op(evm::MLOAD);
            code.op(evm::XOR);
        }
        code.op(evm::OR);
        code.op(evm::ISZERO);
    }

    fn parse(&self, code: &mut Assembly, slot: Slot, size_bytes: u32, fail: LabelId) {
        let pad_bytes = size_bytes.saturating_sub(64);
        if pad_bytes > 0 {
            require_padding(code, pad_bytes, fail);
            push(code, pad_bytes);
            code.op(evm::ADD);
        }
        let rest_bytes = size_bytes - pad_bytes;
        let shifted_load = |code: &mut Assembly, bytes: u32| {
            code.op(evm::CALLDATALOAD);
            if bytes < 32 {
                push(code, 8 * (32 - bytes));
                code.op(evm::SHR);
            }
        };
        if rest_bytes > 32 {
            code.op(evm::DUP1);
            shifted_load(code, rest_bytes - 32);
            code.op(evm::SWAP1);
            push(code, rest_bytes - 32);
            code.op(evm::ADD);
            shifted_load(code, 32);
        } else {
            code.push_below(0u8);
            shifted_load(code, rest_bytes);
        }
        require_below(code, &self.modulus, 2, fail);
        self.take_words(code, slot, 2);
    }

    fn parse_row(&self, code: &mut Assembly, slots: &[Slot], sizes: RowSizes, fail: LabelId) {
        parse_one_by_one(self, code, slots, sizes, fail);
    }

    fn take_words(&self, code: &mut Assembly, slot: Slot, count: u32) {
        match (self.is_big_endian(), count) {
            (true, 1) => {
                clear(code, 0, 16);
                push(code, 16);
                code.op(evm::MSTORE);
            }
            // The lower 32 bytes go over what the shifted upper 16 leave of zeros after them.
            (true, _) => {
                code.op(evm::SWAP1);
                push(code, 128);
                code.op(evm::SHL);
                push(code, 0);
                code.op(evm::MSTORE);
                push(code, 16);
                code.op(evm::MSTORE);
            }
            (false, 1) => {
                clear(code, 32, 16);
                self.reverse.call(code);
                push(code, 0);
                code.op(evm::MSTORE);
            }
            (false, _) => {
                self.reverse.call(code);
                push(code, 0);
                code.op(evm::MSTORE);
                self.reverse.call(code);
                push(code, 32);
                code.op(evm::MSTORE);
            }
        }
        self.field(code, FieldOp::Mul, self.address(slot), 0, self.address(self.r));
    }

    fn output(&self, code: &mut Assembly, slot: Slot, address: u32, size_bytes: u32) {
        self.field(code, FieldOp::Mul, 0, self.address(slot), self.address(self.r_inverse));
        if !self.is_big_endian() {
            push(code, 16);
            code.op(evm::MLOAD);
            self.reverse.call(code);
            push(code, 0);
            code.op(evm::MLOAD);
            self.reverse.call(code);
            // The reversed first 32 bytes of the scratch, its last ones now, are on top of the stack.
            code.op(evm::SWAP1);
            push(code, 0);
            code.op(evm::MSTORE);
            push(code, 16);
            code.op(evm::MSTORE);
        }
        let pad_bytes = size_bytes.saturating_sub(VALUE_BYTES);
        if pad_bytes > 0 {
            clear(code, address, pad_bytes);
        }
        let bytes = size_bytes.min(VALUE_BYTES);
        copy_memory(code, bytes, VALUE_BYTES - bytes, address + pad_bytes);
    }

    fn high(&self, code: &mut Assembly, slots: (Slot, Slot), bytes: u32, address: u32) {
        high_by_words(self, code, slots, (bytes, address), self.modulus.bits());
    }

    fn parse_mont_le(&self, code: &mut Assembly, slot: Slot, _: LabelId) {
        // As it is to a slot, or to the scratch below to be multiplied by a factor.
        let to = if self.places.mont.is_none() { self.address(slot) } else { 0 };
        let bytes = mont_bytes(&self.modulus);
        if bytes < VALUE_BYTES {
            clear(code, to, VALUE_BYTES);
        }
        if self.is_big_endian() {
            self.reverse.copy_calldata(code, bytes, to + VALUE_BYTES);
        } else {
            code.push_below(bytes);
            push(code, to);
            code.op(evm::CALLDATACOPY);
        }
        if let Some(factors) = self.places.mont {
            self.field(code, FieldOp::Mul, self.address(slot), to, self.address(factors.parse));
        }
    }

    fn output_mont_le(&self, code: &mut Assembly, slot: Slot, address: u32) {
        let mut from = self.address(slot);
        if let Some(factors) = self.places.mont {
            self.field(code, FieldOp::Mul, 0, from, self.address(factors.output));
            from = 0;
        }
        let bytes = mont_bytes(&self.modulus);
        if self.is_big_endian() {
            self.reverse.copy_memory(code, bytes, from + VALUE_BYTES - bytes, address);
        } else {
            copy_memory(code, bytes, from, address);
        }
    }

    fn lanes(&self, instruction: &FieldInstruction) -> Option<Vec<SlotOp>> {
        let FieldInstruction::Memory { operation, out, x, y, modulus } = *instruction else { return None };
        let lane = SlotOp { operation, out: self.slot(out)?, x: self.slot(x)?, y: self.slot(y)? };
        (modulus == self.modulus_operand(operation)).then(|| vec![lane])
    }

    fn read(&self, code: &[u8]) -> Option<(Vec<SlotOp>, usize)> {
        match self.interface.operands {
            Operands::Values => self.read_values(code),
            Operands::Words { overwrites_x: true } => self.read_overwriting(code),
            _ => {
                let (instruction, bytes) = self.revision.decode(code)?;
                Some((self.lanes(&instruction)?, bytes))
            }
        }
    }

    fn subroutines(&self, code: &mut Assembly) {
        self.reverse.subroutine(code);
    }

    fn data(&self, code: &mut Assembly) {
        code.mark(self.data);
        for constant in &self.constants {
            code.data(self.bytes(constant));
        }
        code.mark(self.modulus_data);
        if self.interface.modulus != Modulus::Fixed {
            let modulus = &self.bytes(&self.modulus)[..VALUE_BYTES as usize];
            code.data([modulus, &self.r_inv_bytes()].concat());
        }
    }
}
