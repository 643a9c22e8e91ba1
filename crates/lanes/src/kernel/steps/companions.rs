//! Companions: linear steps that run while products multiply. They load and store, which multiplying leaves idle.

use super::linear;
use crate::kernel::vectors::Lines;
use crate::tables::LinearStep;

/// Work done between the windows of a product.
pub(crate) trait Between {
    /// Runs a part of it.
    fn run_some(&mut self);
}

/// Nothing.
impl Between for () {
    #[inline(always)]
    fn run_some(&mut self) {}
}

/// Companions still to run, on rows of N lines.
pub(crate) struct Companions<'a, V: Lines, const N: usize> {
    vectors: V,
    rows: V::Rows,
    rest: &'a [LinearStep],
    portion: usize,
}

impl<'a, V: Lines, const N: usize> Companions<'a, V, N> {
    /// Companions that have all run after `portions` portions.
    ///
    /// # Safety
    /// Until then, the rows that they name exist at `rows`, N lines each, and nothing else accesses them while a portion runs.
    #[inline(always)]
    pub unsafe fn new(vectors: V, steps: &'a [LinearStep], portions: usize, rows: V::Rows) -> Self {
        Self { vectors, rows, rest: steps, portion: steps.len().div_ceil(portions) }
    }
}

impl<V: Lines, const N: usize> Between for Companions<'_, V, N> {
    #[inline(always)]
    fn run_some(&mut self) {
        if self.rest.is_empty() {
            return;
        }
        let (some, rest) = self.rest.split_at(self.portion.min(self.rest.len()));
        self.rest = rest;
        for step in some {
            // SAFETY: `new` was promised the rows.
            unsafe { linear::<V, N>(self.vectors, step, self.rows) };
        }
    }
}
