//! Memory budget, in bytes of everything derived from codes: blocks, paths, plans and traces, capacities included. They
//! count as long as they live, in the caches or in a frame that still runs them.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicUsize, Ordering};

use revm::bytecode::Bytecode;

/// A sum of bytes that several owners add to; that of a code is part of that of all.
#[derive(Debug, Clone, Default)]
pub(crate) struct Budget {
    bytes: Arc<AtomicUsize>,
    whole: Option<Arc<AtomicUsize>>,
}

impl Budget {
    /// A budget that is part of this one.
    pub fn part(&self) -> Self {
        Self { bytes: Arc::default(), whole: Some(Arc::clone(&self.bytes)) }
    }

    /// Bytes that are in use.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Bytes in use in the whole budget that this is part of.
    #[inline]
    pub fn whole_bytes(&self) -> usize {
        self.whole.as_ref().unwrap_or(&self.bytes).load(Ordering::Relaxed)
    }

    /// Counts `bytes` bytes for the lifetime of the result.
    pub fn count(&self, bytes: usize) -> Counted {
        self.parts().for_each(|sum| _ = sum.fetch_add(bytes, Ordering::Relaxed));
        Counted { bytes, budget: self.clone() }
    }

    fn parts(&self) -> impl Iterator<Item = &AtomicUsize> {
        core::iter::once(&*self.bytes).chain(self.whole.as_deref())
    }
}

/// Bytes that count until this is dropped.
#[derive(Debug)]
pub(crate) struct Counted {
    bytes: usize,
    budget: Budget,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.budget.parts().for_each(|sum| _ = sum.fetch_sub(self.bytes, Ordering::Relaxed));
    }
}

/// Bytes of an analysed code: itself, and a bit for each byte that may be a jump target.
pub(crate) fn bytes_of(analysed: &Bytecode) -> usize {
    analysed.bytes_slice().len() + analysed.len().div_ceil(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_count_as_long_as_they_live() {
        let budget = Budget::default();
        let first = budget.count(10);
        let second = budget.clone().count(5);
        assert_eq!(budget.bytes(), 15);
        drop(first);
        assert_eq!(budget.bytes(), 5);
        let part = budget.part();
        let third = part.count(2);
        assert_eq!((part.bytes(), part.whole_bytes(), budget.bytes()), (2, 7, 7));
        drop((second, third));
        assert_eq!((part.bytes(), budget.bytes()), (0, 0));
    }
}
