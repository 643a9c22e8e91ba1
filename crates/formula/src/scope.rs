//! Names for stretches of formulas, so that results can be attributed to their place in the text.
//!
//! A formula [`enter`]s a name at its beginning; recorders of operations read the [`open`] names. Names do not change
//! results. They lie on a stack of the thread, because operators such as `a * b` have no other place for them.

use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::marker::PhantomData;

/// A named stretch that is being computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scope {
    /// Its name.
    pub name: &'static str,
    /// Tells this stretch from all others of the thread, those of the same name too.
    pub serial: u64,
}

thread_local! {
    static OPEN: RefCell<Vec<Scope>> = const { RefCell::new(Vec::new()) };
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

/// Begins a stretch; it ends when the returned guard is dropped.
#[must_use = "the stretch ends when this is dropped"]
pub fn enter(name: &'static str) -> Entered {
    let serial = NEXT.get();
    NEXT.set(serial + 1);
    OPEN.with_borrow_mut(|open| open.push(Scope { name, serial }));
    Entered { of_this_thread: PhantomData }
}

/// The names that are open after the outermost `depth`, outermost first.
pub fn open(depth: usize) -> Vec<Scope> {
    OPEN.with_borrow(|open| open.get(depth..).unwrap_or_default().to_vec())
}

/// Number of open names.
pub fn depth() -> usize {
    OPEN.with_borrow(Vec::len)
}

/// A stretch that has begun. Stretches end in the reverse order of their beginnings, as locals of nested blocks do.
#[derive(Debug)]
pub struct Entered {
    of_this_thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        OPEN.with_borrow_mut(|open| open.pop());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_open_until_they_are_dropped_and_each_time_is_another() {
        let names = || open(0).iter().map(|scope| scope.name).collect::<Vec<_>>();
        let enter_a = || {
            let _scope = enter("a");
            {
                let _scope = enter("b");
                assert_eq!((names(), depth(), open(1).len()), (vec!["a", "b"], 2, 1));
            }
            open(0)[0]
        };
        let first = enter_a();
        assert_eq!(first.name, "a");
        assert_ne!(enter_a(), first);
        let panicked = std::panic::catch_unwind(|| {
            let _scope = enter("c");
            panic!("in the stretch");
        });
        assert!(panicked.is_err() && names().is_empty() && open(7).is_empty());
    }
}
