//! Sets of small numbers: slots of a field context, places of values in memory.

/// A set of numbers below 64·`WORDS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexSet<const WORDS: usize>([u64; WORDS]);

/// A set of slots: there are at most 256.
pub(crate) type SlotSet = IndexSet<4>;

impl<const WORDS: usize> Default for IndexSet<WORDS> {
    fn default() -> Self {
        Self([0; WORDS])
    }
}

impl<const WORDS: usize> FromIterator<usize> for IndexSet<WORDS> {
    fn from_iter<I: IntoIterator<Item = usize>>(indices: I) -> Self {
        let mut set = Self::default();
        indices.into_iter().for_each(|index| set.insert(index));
        set
    }
}

impl<const WORDS: usize> IndexSet<WORDS> {
    /// Numbers that fit.
    pub const CAPACITY: usize = 64 * WORDS;

    #[inline(always)]
    pub fn contains(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }

    #[inline(always)]
    pub fn insert(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    #[inline(always)]
    pub fn remove(&mut self, index: usize) {
        self.0[index / 64] &= !(1 << (index % 64));
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// True if `other` contains this set.
    #[inline(always)]
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).all(|(here, other)| here & !other == 0)
    }

    /// Adds all of `other`.
    #[inline(always)]
    pub fn insert_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(here, other)| *here |= other);
    }

    /// Takes all of `other` out.
    pub fn remove_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(here, other)| *here &= !other);
    }

    /// Number of indices.
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum() // At most 64 each.
    }

    /// Intersection of both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        Self(core::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(i, &word)| {
            let mut rest = word;
            core::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize; // At most 64.
                rest &= rest.wrapping_sub(1);
                (bit < 64).then_some(64 * i + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_gives_back_what_was_put_in() {
        let set: IndexSet<2> = [3, 0, 64, 127, 63].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 3, 63, 64, 127]);
        let mut rest = set;
        rest.remove_all(&[0, 64, 5].into_iter().collect());
        assert_eq!(rest.iter().collect::<Vec<_>>(), [3, 63, 127]);
        assert_eq!((set.count(), rest.count()), (5, 3));
        assert!(rest.is_within(&set) && !set.is_within(&rest) && set.contains(64) && !rest.contains(64));
        assert_eq!(set.intersection(&[64, 65].into_iter().collect()), [64].into_iter().collect());
        rest.insert_all(&set);
        assert_eq!(rest, set);
        assert!(IndexSet::<2>::default().is_empty() && !set.is_empty());
    }
}
