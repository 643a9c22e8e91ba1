//! EIP-5843: moduli of every width, values at numbered slots, ranges at and beyond the end of memory.

use num_bigint::BigUint;
use rand::Rng;
use rand::seq::IndexedRandom;
use residue_isa::revision::eip5843::{Reading, SETMODX, TOMONTX, WIDTH_LIMBS_MAX};

use super::Generator;

/// The modulus of the frame, as far as the generator knows.
#[derive(Debug, Default, Clone)]
pub(super) struct Modulus {
    m: BigUint,
    bytes: usize,
    start: u64,
}

impl Generator {
    /// A snippet with EIP-5843 instructions.
    pub(super) fn mont_slots(&mut self) {
        if self.mont.bytes == 0 && !self.rarely(40) || self.rarely(20) {
            self.set_mont_modulus();
        }
        match self.random.random_range(0..12) {
            0..=3 => self.write_slot(),
            4 => self.convert(),
            _ => self.triple(),
        }
    }

    fn set_mont_modulus(&mut self) {
        let limbs = match self.random.random_range(0..3) {
            0 => *[4, 6].choose(&mut self.random).expect("it is not empty"),
            _ => self.random.random_range(1..=WIDTH_LIMBS_MAX),
        };
        let bytes = 8 * limbs;
        let bits = 8 * bytes;
        let one = || BigUint::from(1u8);
        let m = match self.random.random_range(0..20) {
            0 => BigUint::from(self.random.random_range(0..9u8)),
            1 => self.integer(bytes),
            2 => (one() << bits) - 1u8,
            3 => (one() << (bits - 64)) | one(),
            4 => (one() << (bits - 64)) - 1u8,
            _ => self.integer(bytes) | (one() << (bits - 1 - self.random.random_range(0..60_usize))) | one(),
        };
        let mut image = m.to_bytes_be();
        image.splice(..0, std::iter::repeat_n(0, bytes.saturating_sub(image.len())));
        let offset = self.offset();
        self.write(offset, &image[..bytes]);
        let start = if self.rarely(3) { self.random.random_range(0..200) } else { 0 };
        let mut operands: [BigUint; 3] = [offset.into(), limbs.into(), start.into()];
        if self.rarely(25) {
            let at = self.random.random_range(0..3);
            operands[at] = match self.random.random_range(0..4) {
                0 => self.integer(32),
                1 => self.memory_bytes.into(),
                2 => self.random.random_range(0..40u8).into(),
                _ => (self.memory_bytes + 1).saturating_sub(bytes as u64).into(), // usize to u64 widens.
            };
        }
        for operand in operands.into_iter().rev() {
            self.push(operand);
        }
        self.op(SETMODX);
        let start = if self.revision.reading() == Some(Reading::Geth) { 0 } else { start };
        self.mont = Modulus { m, bytes, start };
    }

    /// A slot, most often one inside memory.
    fn mont_slot(&mut self) -> u8 {
        let Modulus { bytes, start, .. } = self.mont;
        let inside = self.memory_bytes.saturating_sub(start) / bytes.max(8) as u64; // usize to u64 widens.
        let slots = u8::try_from(inside).unwrap_or(u8::MAX);
        match self.random.random_range(0..60) {
            0 => slots,
            1 => slots.wrapping_sub(1),
            2 => self.random.random(),
            _ => self.random.random_range(0..slots.clamp(1, 12)),
        }
    }

    /// Writes a value to a slot, rarely one that is not below the modulus.
    fn write_slot(&mut self) {
        let Modulus { m, bytes, start } = self.mont.clone();
        if bytes == 0 || m == BigUint::ZERO {
            return;
        }
        let value = if self.rarely(60) { self.integer(bytes) } else { self.operand(&m, bytes) };
        let digits = value.to_bytes_be();
        let mut image = vec![0; bytes.saturating_sub(digits.len())];
        image.extend(digits);
        let slot = self.random.random_range(0..10_u64);
        let offset = start + slot * bytes as u64; // usize to u64 widens.
        self.write(offset, &image[image.len() - bytes..]);
    }

    fn convert(&mut self) {
        let Modulus { bytes, start, .. } = self.mont;
        for _ in 0..2 {
            let slot = self.mont_slot();
            let operand = if self.revision.reading() == Some(Reading::Geth) {
                let edge = self.rarely(20);
                let aligned = start + u64::from(slot) * bytes as u64; // usize to u64 widens.
                if edge { self.memory_bytes.saturating_sub(bytes as u64).into() } else { BigUint::from(aligned) }
            } else if self.rarely(5) {
                // The bytes above the lowest are ignored.
                (self.integer(31) << 8_u8) + slot
            } else {
                slot.into()
            };
            self.push(operand);
        }
        self.op(TOMONTX);
    }

    fn triple(&mut self) {
        let opcode = *self.revision.interface().arithmetic.0.choose(&mut self.random).expect("it is not empty");
        let slots = [self.mont_slot(), self.mont_slot(), self.mont_slot()];
        self.op(opcode);
        self.code.extend(slots);
    }
}
