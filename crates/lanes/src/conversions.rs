//! Conversions into rows and out of them. Values enter as canonical bytes or in the Montgomery form of
//! [`residue_modular`] (R = 2⁶⁴ⁿ), by one product with a constant, and leave the same way, exactly reduced.

use residue_modular::limbs;
use residue_modular::{Limb, ValueOutOfRange};

use crate::kernel::{self, Kernel};
use crate::line::ROW_LIMBS;
use crate::modulus_rows::{Form, ModulusRows};
use crate::rows::Rows;
use crate::tables::BATCH_LANES;
use crate::transfer::{ByteOrder, Transfer};

/// Bytes of eight values of any width.
const STAGE_BYTES: usize = BATCH_LANES * ROW_LIMBS * limbs::LIMB_BYTES;

impl Rows {
    /// Sets slots to values in Montgomery form, R = 2⁶⁴ⁿ, n limbs each: those of a [`residue_modular::FieldContext`].
    /// Panics on slots beyond the rows, on part values, and unless values are below the modulus.
    pub fn set_mont(&mut self, modulus: &ModulusRows, slots: &[u16], values: &[Limb]) {
        let width_limbs = modulus.width_limbs();
        assert_eq!(values.len(), slots.len() * width_limbs, "as many values as slots");
        let mut bytes = [0; STAGE_BYTES];
        let offsets = offsets_of(modulus);
        for (slots, values) in slots.chunks(BATCH_LANES).zip(values.chunks(BATCH_LANES * width_limbs)) {
            for (bytes, limb) in bytes.as_chunks_mut().0.iter_mut().zip(values) {
                *bytes = limb.to_le_bytes();
            }
            let entered = self.enter(modulus, Form::Mont, ByteOrder::Little, slots, &bytes, &offsets[..slots.len()]);
            assert_eq!(entered, Ok(()), "values are below the modulus");
        }
    }

    /// Reads slots as values in Montgomery form, R = 2⁶⁴ⁿ, n limbs each, below the modulus. Panics as [`Rows::set_mont`].
    pub fn mont(&mut self, modulus: &ModulusRows, slots: &[u16], out: &mut [Limb]) {
        let width_limbs = modulus.width_limbs();
        assert_eq!(out.len(), slots.len() * width_limbs, "as many values as slots");
        let mut bytes = [0; STAGE_BYTES];
        let offsets = offsets_of(modulus);
        for (slots, out) in slots.chunks(BATCH_LANES).zip(out.chunks_mut(BATCH_LANES * width_limbs)) {
            self.leave(modulus, Form::Mont, ByteOrder::Little, slots, &mut bytes, &offsets[..slots.len()]);
            for (bytes, limb) in bytes.as_chunks().0.iter().zip(out) {
                *limb = u64::from_le_bytes(*bytes);
            }
        }
    }

    /// Stores canonical values, 8n big-endian bytes each, in the slots from `first_slot` on, as
    /// [`residue_modular::FieldContext::store`] does. If one is not below the modulus, none after it is stored and of those before it
    /// whole eights. Panics on slots beyond the rows and part values.
    pub fn store(&mut self, modulus: &ModulusRows, first_slot: u16, be_bytes: &[u8]) -> Result<(), ValueOutOfRange> {
        let mut slot = first_slot;
        let offsets = offsets_of(modulus);
        for bytes in be_bytes.chunks(self.piece_bytes(modulus, first_slot, be_bytes.len())) {
            let count = bytes.len() / value_bytes(modulus);
            let slots: [u16; BATCH_LANES] = core::array::from_fn(|lane| slot + lane as u16); // Below eight.
            let entered =
                self.enter(modulus, Form::Canonical, ByteOrder::Big, &slots[..count], bytes, &offsets[..count]);
            entered.map_err(|lane| ValueOutOfRange { slot: usize::from(slot) + lane })?;
            slot += count as u16; // At most eight.
        }
        Ok(())
    }

    /// Loads the canonical values of the slots from `first_slot` on, 8n big-endian bytes each.
    /// Panics on slots beyond the rows and part values.
    pub fn load(&mut self, modulus: &ModulusRows, first_slot: u16, out: &mut [u8]) {
        let mut slot = first_slot;
        let offsets = offsets_of(modulus);
        for bytes in out.chunks_mut(self.piece_bytes(modulus, first_slot, out.len())) {
            let count = bytes.len() / value_bytes(modulus);
            let slots: [u16; BATCH_LANES] = core::array::from_fn(|lane| slot + lane as u16); // Below eight.
            self.leave(modulus, Form::Canonical, ByteOrder::Big, &slots[..count], bytes, &offsets[..count]);
            slot += count as u16; // At most eight.
        }
    }

    /// Sets up to eight slots to values that begin at `offsets` in `bytes`, 8n bytes each. If some are not below the modulus, no slot
    /// changes and the first such lane is the error. Panics on slots beyond the rows, and on values beyond the bytes.
    pub fn enter(
        &mut self,
        modulus: &ModulusRows,
        form: Form,
        order: ByteOrder,
        slots: &[u16],
        bytes: &[u8],
        offsets: &[usize],
    ) -> Result<(), usize> {
        self.check(modulus, slots);
        let transfer = Transfer { modulus, form, order, slots, offsets };
        match kernel::enter(Kernel::best(), &transfer, bytes, self) {
            0 => Ok(()),
            above => Err(above.trailing_zeros() as usize), // Below eight.
        }
    }

    /// Writes the values of up to eight slots to `offsets` in `bytes`, 8n bytes each, below the modulus; one after the other, should
    /// they overlap. Panics on slots beyond the rows, and on values beyond the bytes.
    pub fn leave(
        &mut self,
        modulus: &ModulusRows,
        form: Form,
        order: ByteOrder,
        slots: &[u16],
        bytes: &mut [u8],
        offsets: &[usize],
    ) {
        self.check(modulus, slots);
        let transfer = Transfer { modulus, form, order, slots, offsets };
        kernel::leave(Kernel::best(), &transfer, bytes, self);
    }

    fn check(&self, modulus: &ModulusRows, slots: &[u16]) {
        assert_eq!(self.shape(), modulus.shape(), "rows and modulus have one shape");
        assert!(slots.iter().all(|slot| *slot < self.slot_count()), "slots lie inside the rows");
    }

    /// Bytes of eight values, after checking that slots and values are whole.
    fn piece_bytes(&self, modulus: &ModulusRows, first_slot: u16, byte_count: usize) -> usize {
        let value_bytes = value_bytes(modulus);
        assert!(byte_count.is_multiple_of(value_bytes), "{byte_count} bytes are whole values");
        let end = usize::from(first_slot) + byte_count / value_bytes;
        assert!(end <= usize::from(self.slot_count()), "slots lie inside the rows");
        BATCH_LANES * value_bytes
    }
}

/// Bytes of a value outside.
fn value_bytes(modulus: &ModulusRows) -> usize {
    modulus.width_limbs() * limbs::LIMB_BYTES
}

/// Byte offsets of eight consecutive values.
fn offsets_of(modulus: &ModulusRows) -> [usize; BATCH_LANES] {
    core::array::from_fn(|lane| lane * value_bytes(modulus))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::SLOTS_MAX;
    use num_bigint::BigUint;
    use residue_modular::Modulus;

    fn modulus(bits: u32) -> ModulusRows {
        let m = (BigUint::from(1u8) << bits) - 1u8;
        ModulusRows::new(&Modulus::from_be_bytes(&m.to_bytes_be()).unwrap()).unwrap()
    }

    #[test]
    fn slots_and_values_beyond_the_rows_panic() {
        let modulus = modulus(384);
        let rows = Rows::new(modulus.shape(), 3);
        let panics = |run: &dyn Fn(&mut Rows)| {
            let mut rows = rows.clone();
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&mut rows))).is_err()
        };
        for (first_slot, bytes, is_beyond) in
            [(0, 144, false), (1, 96, false), (1, 97, true), (1, 144, true), (3, 48, true)]
        {
            assert_eq!(panics(&|rows| rows.load(&modulus, first_slot, &mut vec![0; bytes])), is_beyond);
            assert_eq!(panics(&|rows| rows.store(&modulus, first_slot, &vec![0; bytes]).unwrap()), is_beyond);
        }
        for (slot, is_beyond) in [(2, false), (3, true)] {
            assert_eq!(panics(&|rows| rows.set_mont(&modulus, &[slot], &[0; 6])), is_beyond);
            assert_eq!(panics(&|rows| rows.mont(&modulus, &[slot], &mut [0; 6])), is_beyond);
        }
        assert!(panics(&|rows| rows.set_mont(&modulus, &[0], &[0; 7])));
        assert!(panics(&|rows| rows.load(&self::modulus(254), 0, &mut [0; 32])), "a modulus of another shape");
        assert!(std::panic::catch_unwind(|| Rows::new(modulus.shape(), u16::MAX)).is_err());
        Rows::new(modulus.shape(), SLOTS_MAX);
    }

    #[test]
    fn values_are_stored_in_order_up_to_the_first_that_is_too_great() {
        let modulus = modulus(384);
        let mut bytes = vec![0; 20 * 48];
        (0..20).for_each(|slot| bytes[48 * slot + 47] = 10 + slot as u8);
        let mut rows = Rows::new(modulus.shape(), 30);
        rows.store(&modulus, 7, &bytes).unwrap();
        for (first_slot, count) in [(7, 20), (7, 3), (15, 9), (26, 1)] {
            let mut found = vec![1; 48 * count];
            rows.load(&modulus, first_slot, &mut found);
            let from = 48 * (usize::from(first_slot) - 7);
            assert_eq!(found, bytes[from..from + 48 * count]);
        }
        let mut mont = vec![0; 6 * 12];
        let slots: Vec<u16> = (9..21).collect();
        rows.mont(&modulus, &slots, &mut mont);
        let mut again = Rows::new(modulus.shape(), 30);
        again.set_mont(&modulus, &slots, &mont);
        let mut found = vec![0; 48 * 12];
        again.load(&modulus, 9, &mut found);
        assert_eq!(found, bytes[96..96 + 48 * 12]);
        for bad in [0, 5, 8, 19] {
            let mut bytes = bytes.clone();
            bytes[48 * bad..][..48].fill(0xff);
            assert_eq!(rows.store(&modulus, 7, &bytes), Err(ValueOutOfRange { slot: 7 + bad }));
        }
    }
}
