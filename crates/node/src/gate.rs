//! Limit of concurrent requests that execute code: each may take as much memory as its gas buys, so their number bounds
//! the total.

use std::sync::{Condvar, Mutex, PoisonError};

/// Requests that may be inside at a time.
#[derive(Debug)]
pub struct Gate {
    free: Mutex<usize>,
    left: Condvar,
}

/// A place inside, given back when it is dropped.
#[derive(Debug)]
pub struct Inside<'g>(&'g Gate);

impl Gate {
    /// A gate for `count` at a time, at least one.
    pub fn new(count: usize) -> Self {
        Self { free: Mutex::new(count.max(1)), left: Condvar::new() }
    }

    /// Waits for a place.
    pub fn enter(&self) -> Inside<'_> {
        // A count stays right whatever happens to those inside.
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self.left.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Inside(self)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.left.notify_one();
    }
}
