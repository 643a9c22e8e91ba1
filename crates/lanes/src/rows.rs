//! Rows: the slots of a field context in row form, and the way in and out of it.
//!
//! A row is one line of 64 bytes, or two for more than eight limbs. Values enter as canonical bytes or in the Montgomery form of
//! [`residue_modular`] (R = 2⁶⁴ⁿ), by one product with a constant, and leave the same way, exactly reduced.

use residue_modular::limbs;
use residue_modular::{Limb, ValueOutOfRange};

use crate::kernel::{self, Kernel};
use crate::modulus_rows::{Form, ModulusRows, ProductConstants};
use crate::plan::{BATCH_LANES, BatchStep};
use crate::shape::{LIMB_MASK, ROW_LIMB_BITS, Shape};

/// Limbs of a line.
pub(crate) const LINE_LIMBS: usize = 8;

/// 64 aligned bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Line(pub [i64; LINE_LIMBS]);

/// Limbs of the widest row, padding included.
pub(crate) const ROW_LIMBS: usize = 2 * LINE_LIMBS;
/// Rows behind the slots that conversions use: a factor, eight results.
const SCRATCH_ROWS: u16 = 1 + BATCH_LANES as u16;
/// Most slots.
pub const SLOTS_MAX: u16 = u16::MAX - 2 * SCRATCH_ROWS;
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

    /// Sets slots to values in Montgomery form, R = 2⁶⁴ⁿ, n limbs each: those of a [`residue_modular::FieldContext`] or of EVM384 memory.
    /// Panics on slots beyond the rows, on part values, and unless values are below the modulus.
    pub fn set_mont(&mut self, modulus: &ModulusRows, slots: &[u16], values: &[Limb]) {
        self.enter(modulus, Form::Mont, slots, values);
    }

    /// Reads slots as values in Montgomery form, R = 2⁶⁴ⁿ, n limbs each, below the modulus. Panics as [`Rows::set_mont`].
    pub fn mont(&mut self, modulus: &ModulusRows, slots: &[u16], out: &mut [Limb]) {
        self.leave(modulus, Form::Mont, slots, out);
    }

    /// Stores canonical values, 8n big-endian bytes each, in the slots from `first_slot` on, as
    /// [`residue_modular::FieldContext::store`] does: if one is not below the modulus, no slot changes.
    pub fn store(&mut self, modulus: &ModulusRows, first_slot: u16, be_bytes: &[u8]) -> Result<(), ValueOutOfRange> {
        let element_bytes = modulus.width_limbs() * limbs::LIMB_BYTES;
        assert!(be_bytes.len().is_multiple_of(element_bytes), "{} bytes are whole values", be_bytes.len());
        let slots = self.slots_from(first_slot, be_bytes.len() / element_bytes);
        let mut values = vec![0; be_bytes.len() / limbs::LIMB_BYTES];
        let places = values.chunks_exact_mut(modulus.width_limbs());
        for ((value, bytes), slot) in places.zip(be_bytes.chunks_exact(element_bytes)).zip(&slots) {
            limbs::read_be(bytes, value).expect("a value has 8n bytes");
            if !limbs::less_than(value, modulus.modulus().limbs()) {
                return Err(ValueOutOfRange { slot: usize::from(*slot) });
            }
        }
        self.enter(modulus, Form::Canonical, &slots, &values);
        Ok(())
    }

    /// Loads the canonical values of the slots from `first_slot` on, 8n big-endian bytes each.
    /// Panics on slots beyond the rows and part values.
    pub fn load(&mut self, modulus: &ModulusRows, first_slot: u16, out: &mut [u8]) {
        let element_bytes = modulus.width_limbs() * limbs::LIMB_BYTES;
        assert!(out.len().is_multiple_of(element_bytes), "{} bytes are whole values", out.len());
        let slots = self.slots_from(first_slot, out.len() / element_bytes);
        let mut values = vec![0; out.len() / limbs::LIMB_BYTES];
        self.leave(modulus, Form::Canonical, &slots, &mut values);
        for (value, bytes) in values.chunks_exact(modulus.width_limbs()).zip(out.chunks_exact_mut(element_bytes)) {
            limbs::write_be(value, bytes);
        }
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
            self.lines.resize(needed, ZERO_LINE);
        }
    }

    pub(crate) fn lines_mut(&mut self) -> &mut [Line] {
        &mut self.lines
    }

    fn slots_from(&self, first_slot: u16, count: usize) -> Vec<u16> {
        let end = usize::from(first_slot) + count;
        assert!(end <= usize::from(self.slot_count), "slots lie inside the rows");
        // Ends inside the slots, which a `u16` counts.
        (first_slot..end as u16).collect()
    }

    /// Values of n limbs, below the modulus, to the rows of slots.
    fn enter(&mut self, modulus: &ModulusRows, form: Form, slots: &[u16], values: &[Limb]) {
        let width_limbs = modulus.width_limbs();
        self.check(modulus, slots, values.len());
        for (slot, value) in slots.iter().zip(values.chunks_exact(width_limbs)) {
            assert!(limbs::less_than(value, modulus.modulus().limbs()), "values are below the modulus");
            self.set_row(*slot, &unpack(value));
        }
        self.reserve(self.slot_count + 1 + SCRATCH_ROWS);
        let factor = self.slot_count;
        self.set_row(factor, modulus.entry_factor(form));
        for slots in slots.chunks(BATCH_LANES) {
            self.scale(&modulus.constants.product, slots, slots, factor);
        }
    }

    /// The rows of slots to values of n limbs, below the modulus.
    fn leave(&mut self, modulus: &ModulusRows, form: Form, slots: &[u16], out: &mut [Limb]) {
        let width_limbs = modulus.width_limbs();
        self.check(modulus, slots, out.len());
        self.reserve(self.slot_count + 1 + SCRATCH_ROWS);
        let factor = self.slot_count;
        self.set_row(factor, modulus.exit_factor(form));
        let scratch: [u16; BATCH_LANES] = std::array::from_fn(|lane| factor + 1 + lane as u16); // Below eight.
        let pieces = out.chunks_mut(BATCH_LANES * width_limbs);
        for (slots, out) in slots.chunks(BATCH_LANES).zip(pieces) {
            self.scale(&modulus.exit_constants, &scratch[..slots.len()], slots, factor);
            for (row, out) in scratch.iter().zip(out.chunks_exact_mut(width_limbs)) {
                modulus.canonicalise(&self.row(*row), out);
            }
        }
    }

    /// outᵢ = xᵢ·factor for up to eight rows.
    fn scale(&mut self, constants: &ProductConstants, out: &[u16], x: &[u16], factor: u16) {
        let spare = self.slot_count + SCRATCH_ROWS;
        let lane_or = |rows: &[u16], other: u16| std::array::from_fn(|lane| rows.get(lane).copied().unwrap_or(other));
        let batch = BatchStep {
            out: lane_or(out, spare),
            x: lane_or(x, x[0]),
            y: [factor; BATCH_LANES],
            lanes: x.len() as u16, // At most eight.
            companions: 0,
            companions_start: 0,
        };
        kernel::run_batch(Kernel::best(), constants, self, &batch);
    }

    fn check(&self, modulus: &ModulusRows, slots: &[u16], limbs: usize) {
        assert_eq!(self.shape, modulus.shape(), "rows and modulus have one shape");
        assert_eq!(limbs, slots.len() * modulus.width_limbs(), "as many values as slots");
        assert!(slots.iter().all(|slot| *slot < self.slot_count), "slots lie inside the rows");
    }
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
