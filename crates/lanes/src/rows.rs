//! Rows: the slots of a field context in row form, and the way in and out of it.
//!
//! A row is one line of 64 bytes, or two for more than eight limbs. Values enter as canonical bytes or in the Montgomery form of
//! [`residue_modular`] (R = 2⁶⁴ⁿ), by one product with a constant, and leave the same way, exactly reduced.

use residue_modular::limbs;
use residue_modular::{Limb, ValueOutOfRange};

use crate::kernel::{self, Kernel};
use crate::modulus_rows::{Form, ModulusRows};
use crate::plan::BATCH_LANES;
use crate::shape::{LIMB_MASK, ROW_LIMB_BITS, Shape};
use crate::transfer::{ByteOrder, Transfer};

/// Limbs of a line.
pub(crate) const LINE_LIMBS: usize = 8;

/// 64 aligned bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Line(pub [i64; LINE_LIMBS]);

/// Limbs of the widest row, padding included.
pub(crate) const ROW_LIMBS: usize = 2 * LINE_LIMBS;
/// Most slots: conversions use one row behind them.
pub const SLOTS_MAX: u16 = u16::MAX - 1;
/// Bytes of eight values of any width.
const STAGE_BYTES: usize = BATCH_LANES * ROW_LIMBS * limbs::LIMB_BYTES;
pub(crate) const ZERO_LINE: Line = Line([0; LINE_LIMBS]);

/// Slots in row form. Fresh slots are zero.
#[derive(Clone, Debug)]
pub struct Rows {
    shape: Shape,
    slot_count: u16,
    /// The slots' rows, then temporary ones.
    lines: Vec<Line>,
}

impl Rows {
    /// Rows for `slot_count` slots, all zero. Panics beyond [`SLOTS_MAX`] slots.
    pub fn new(shape: Shape, slot_count: u16) -> Self {
        assert!(slot_count <= SLOTS_MAX, "{slot_count} slots are more than {SLOTS_MAX}");
        Self { shape, slot_count, lines: vec![ZERO_LINE; usize::from(slot_count) * shape.lines()] }
    }

    /// The layout.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Number of slots.
    pub fn slot_count(&self) -> u16 {
        self.slot_count
    }

    /// Bytes that they have allocated: those of the slots, and of the temporary rows of the plans that ran on them.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.lines.capacity() * size_of::<Line>()
    }

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
    /// [`residue_modular::FieldContext::store`] does. If one is not below the modulus, none behind it is stored and of those before it
    /// whole eights. Panics on slots beyond the rows and part values.
    pub fn store(&mut self, modulus: &ModulusRows, first_slot: u16, be_bytes: &[u8]) -> Result<(), ValueOutOfRange> {
        let mut slot = first_slot;
        let offsets = offsets_of(modulus);
        for bytes in be_bytes.chunks(self.piece_bytes(modulus, first_slot, be_bytes.len())) {
            let count = bytes.len() / value_bytes(modulus);
            let slots: [u16; BATCH_LANES] = std::array::from_fn(|lane| slot + lane as u16); // Below eight.
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
            let slots: [u16; BATCH_LANES] = std::array::from_fn(|lane| slot + lane as u16); // Below eight.
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

    /// The limbs of a row, padding with zeros.
    pub(crate) fn row(&self, row: u16) -> [i64; ROW_LIMBS] {
        let lines = self.shape.lines();
        let mut limbs = [0; ROW_LIMBS];
        let (parts, _) = limbs.as_chunks_mut::<LINE_LIMBS>();
        for (part, line) in parts.iter_mut().zip(&self.lines[usize::from(row) * lines..][..lines]) {
            *part = line.0;
        }
        limbs
    }

    /// Sets a row; limbs beyond its lines are dropped.
    pub(crate) fn set_row(&mut self, row: u16, limbs: &[i64; ROW_LIMBS]) {
        let lines = self.shape.lines();
        let (parts, _) = limbs.as_chunks::<LINE_LIMBS>();
        for (line, part) in self.lines[usize::from(row) * lines..][..lines].iter_mut().zip(parts) {
            line.0 = *part;
        }
    }

    /// Makes room for rows 0 … `row_count` − 1.
    pub(crate) fn reserve(&mut self, row_count: u16) {
        let needed = usize::from(row_count) * self.shape.lines();
        if self.lines.len() < needed {
            self.lines.reserve_exact(needed - self.lines.len());
            self.lines.resize(needed, ZERO_LINE);
        }
    }

    pub(crate) fn lines_mut(&mut self) -> &mut [Line] {
        &mut self.lines
    }

    fn check(&self, modulus: &ModulusRows, slots: &[u16]) {
        assert_eq!(self.shape, modulus.shape(), "rows and modulus have one shape");
        assert!(slots.iter().all(|slot| *slot < self.slot_count), "slots lie inside the rows");
    }

    /// Bytes of eight values, after checking that slots and values are whole.
    fn piece_bytes(&self, modulus: &ModulusRows, first_slot: u16, byte_count: usize) -> usize {
        let value_bytes = value_bytes(modulus);
        assert!(byte_count.is_multiple_of(value_bytes), "{byte_count} bytes are whole values");
        let end = usize::from(first_slot) + byte_count / value_bytes;
        assert!(end <= usize::from(self.slot_count), "slots lie inside the rows");
        BATCH_LANES * value_bytes
    }
}

/// Bytes of a value outside.
fn value_bytes(modulus: &ModulusRows) -> usize {
    modulus.width_limbs() * limbs::LIMB_BYTES
}

/// Where eight values begin that follow each other.
fn offsets_of(modulus: &ModulusRows) -> [usize; BATCH_LANES] {
    std::array::from_fn(|lane| lane * value_bytes(modulus))
}

/// 64-bit limbs ↦ 52-bit limbs. Requires a value below 2^(52·16).
pub(crate) fn unpack(value: &[Limb]) -> [i64; ROW_LIMBS] {
    let mut limbs = [0; ROW_LIMBS];
    let count = (64 * value.len()).div_ceil(ROW_LIMB_BITS);
    for (i, out) in limbs.iter_mut().enumerate().take(count) {
        let (limb, bit) = (i * ROW_LIMB_BITS / 64, i * ROW_LIMB_BITS % 64);
        let at = |limb: usize| u128::from(value.get(limb).copied().unwrap_or(0));
        let window = (at(limb) | at(limb + 1) << 64) >> bit;
        *out = (window as u64 & LIMB_MASK) as i64; // The low 52 bits of the window.
    }
    limbs
}

/// 52-bit limbs ↦ 64-bit limbs. Requires limbs in [0, 2⁵²) and a value that fits `out`.
pub(crate) fn pack(limbs: &[i64], out: &mut [Limb]) {
    let (mut window, mut bits) = (0u128, 0);
    let mut limbs = limbs.iter();
    for out in out {
        while bits < 64
            && let Some(limb) = limbs.next()
        {
            window |= (*limb as u128) << bits; // Limbs are not negative.
            bits += ROW_LIMB_BITS;
        }
        *out = window as u64; // The low half.
        window >>= 64;
        bits = bits.saturating_sub(64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use residue_modular::Modulus;

    fn modulus(bits: u32) -> ModulusRows {
        let m = (BigUint::from(1u8) << bits) - 1u8;
        ModulusRows::new(&Modulus::from_be_bytes(&m.to_bytes_be()).unwrap()).unwrap()
    }

    #[test]
    fn rows_take_a_line_or_two_each_and_as_many_as_plans_ask_for() {
        for (bits, lines) in [(254, 1), (384, 1), (768, 2)] {
            let mut rows = Rows::new(Shape::of_bits(bits).unwrap(), 5);
            assert_eq!(
                (rows.slot_count(), rows.shape(), rows.bytes()),
                (5, Shape::of_bits(bits).unwrap(), 320 * lines)
            );
            for (row_count, expected) in [(3, 5), (5, 5), (9, 9), (7, 9), (10, 10)] {
                rows.reserve(row_count);
                assert_eq!((rows.bytes(), rows.lines_mut().len()), (64 * lines * expected, lines * expected));
            }
            assert_eq!(rows.slot_count(), 5);
        }
    }

    #[test]
    fn a_row_is_what_it_was_set_to() {
        for (bits, limbs) in [(384, 8), (768, 16)] {
            let mut rows = Rows::new(Shape::of_bits(bits).unwrap(), 3);
            let of = |row: i64| std::array::from_fn(|limb| if limb < limbs { 100 * row + limb as i64 + 1 } else { 0 });
            (0..3).for_each(|row| rows.set_row(row as u16, &of(row)));
            assert!((0..3).all(|row| rows.row(row as u16) == of(row)));
        }
    }

    #[test]
    fn limbs_of_52_bits_hold_the_bits_of_limbs_of_64() {
        for width in [1, 4, 6, 8, 12, 13] {
            let value: Vec<Limb> = (1..=width as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            for value in [value, vec![u64::MAX; width], vec![0; width]] {
                let limbs = unpack(&value);
                let sum = |limbs: &[u64], bits: usize| {
                    limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << bits) + limb)
                };
                let words = limbs.map(|limb| u64::try_from(limb).unwrap());
                assert!(words.iter().all(|word| *word <= LIMB_MASK));
                assert_eq!(sum(&words, ROW_LIMB_BITS), sum(&value, 64));
                let mut back = vec![1; width];
                pack(&limbs, &mut back);
                assert_eq!(back, value);
            }
        }
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
