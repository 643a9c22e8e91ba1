//! Rows: the slots of a field context in row form. A row is one line of 64 bytes, or two for more than eight limbs.

use alloc::vec;
use alloc::vec::Vec;

use crate::line::{LINE_LIMBS, Line, ROW_LIMBS, ZERO_LINE};
use crate::shape::Shape;

/// Most slots: conversions use one row after them.
pub const SLOTS_MAX: u16 = u16::MAX - 1;

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
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
