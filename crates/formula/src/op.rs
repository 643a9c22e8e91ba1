//! Field operations: the operations of formulas, instructions and plans.

use core::fmt;
use core::ops::{Index, IndexMut};

/// The operations that every interface has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FieldOp {
    /// (x, y) ↦ x + y mod m.
    Add,
    /// (x, y) ↦ x − y mod m.
    Sub,
    /// (x, y) ↦ x·y mod m as values; for values in Montgomery form, with any R, the Montgomery product.
    Mul,
}

impl FieldOp {
    /// All of them, in the order of their opcodes in every revision.
    pub const ALL: [Self; 3] = [Self::Add, Self::Sub, Self::Mul];

    /// Its name in text: `add`, `sub` or `mul`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
        }
    }

    /// The operation of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.name() == name)
    }
}

impl fmt::Display for FieldOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A `T` for each operation, in the order of [`FieldOp::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PerOp<T>(pub [T; FieldOp::ALL.len()]);

impl<T> PerOp<T> {
    /// Each value mapped by `of`.
    pub fn map<U>(self, of: impl FnMut(T) -> U) -> PerOp<U> {
        PerOp(self.0.map(of))
    }

    /// Each operation with its value.
    pub fn iter(&self) -> impl Iterator<Item = (FieldOp, &T)> {
        FieldOp::ALL.into_iter().zip(&self.0)
    }
}

impl<T: Copy> PerOp<T> {
    /// The same value for each.
    pub const fn all(value: T) -> Self {
        Self([value; FieldOp::ALL.len()])
    }
}

impl<T> Index<FieldOp> for PerOp<T> {
    type Output = T;

    fn index(&self, op: FieldOp) -> &T {
        &self.0[op as usize]
    }
}

impl<T> IndexMut<FieldOp> for PerOp<T> {
    fn index_mut(&mut self, op: FieldOp) -> &mut T {
        &mut self.0[op as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_place_and_a_name_of_its_own() {
        let mut places = PerOp::all(0);
        for (number, op) in FieldOp::ALL.into_iter().enumerate() {
            places[op] += number + 1;
            assert_eq!(FieldOp::named(op.name()), Some(op));
        }
        assert_eq!(places, PerOp([1, 2, 3]));
        assert_eq!(places.iter().map(|(op, place)| (op, *place)).last(), Some((FieldOp::Mul, 3)));
        assert_eq!(FieldOp::named("mulx"), None);
    }
}
