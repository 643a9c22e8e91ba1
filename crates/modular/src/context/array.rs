//! The array of a field context: elements beside the slots, which no operation names, and copies between both.
//!
//! Elements are in the form of slots and below the modulus as these are, so a copy moves limbs and nothing else.

use super::FieldContext;
use crate::limbs::Limb;

impl FieldContext {
    /// Number of elements of the array; none at first.
    #[inline]
    pub fn array_len(&self) -> usize {
        self.array.len() / self.width_limbs()
    }

    /// Grows the array to at least `elements` elements; new ones are zero.
    pub fn grow_array(&mut self, elements: usize) {
        let limbs = elements * self.width_limbs();
        if limbs > self.array.len() {
            self.array.resize(limbs, 0);
        }
    }

    /// Copies `count` elements from `index` on to the slots from `first_slot` on. Panics on slots beyond the context and elements beyond the
    /// array.
    #[inline]
    pub fn get(&mut self, first_slot: usize, count: usize, index: usize) {
        let width = self.width_limbs();
        assert!(first_slot + count <= self.slot_count, "the slots lie inside the context");
        copy(&mut self.limbs[first_slot * width..], &self.array[index * width..], count * width);
    }

    /// Copies `count` slots from `first_slot` on to the elements from `index` on, as [`FieldContext::get`].
    #[inline]
    pub fn put(&mut self, first_slot: usize, count: usize, index: usize) {
        let width = self.width_limbs();
        assert!(first_slot + count <= self.slot_count, "the slots lie inside the context");
        copy(&mut self.array[index * width..], &self.limbs[first_slot * width..], count * width);
    }
}

#[inline]
fn copy(to: &mut [Limb], from: &[Limb], limbs: usize) {
    to[..limbs].copy_from_slice(&from[..limbs]);
}

#[cfg(test)]
mod tests {
    use crate::{FieldContext, Modulus};

    #[test]
    fn elements_come_back_as_they_were_put() {
        let modulus = Modulus::from_be_bytes(&[0xff; 12]).unwrap();
        let mut context = FieldContext::new(modulus, 4);
        let value = |byte: u8| [vec![0; 15], vec![byte]].concat();
        for slot in 0..4u8 {
            context.store(slot.into(), &value(slot + 1)).unwrap();
        }
        assert_eq!(context.array_len(), 0);
        context.grow_array(5);
        context.put(1, 3, 2);
        context.grow_array(2);
        assert_eq!(context.array_len(), 5);
        context.get(0, 3, 1);
        let mut out = [0; 64];
        context.load(0, &mut out);
        assert_eq!(out.chunks(16).map(|value| value[15]).collect::<Vec<_>>(), [0, 2, 3, 4]);
    }

    #[test]
    #[should_panic(expected = "inside the context")]
    fn slots_beyond_the_context_are_refused() {
        let mut context = FieldContext::new(Modulus::from_be_bytes(&[7]).unwrap(), 2);
        context.grow_array(8);
        context.get(1, 2, 0);
    }
}
