//! Panics of judged code, which are findings, and the history that a thread is judging, for a report of a panic that
//! ends the process.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use residue_isa::Revision;

/// History that a thread is judging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtWork {
    /// The seed of the history.
    pub seed: u64,
    /// The revision that was asked for.
    pub revision: Option<Revision>,
}

thread_local! {
    static AT_WORK: Cell<Option<AtWork>> = const { Cell::new(None) };
    static IS_JUDGED: Cell<bool> = const { Cell::new(false) };
}

/// History that this thread is judging, if it comes from a seed.
pub fn at_work() -> Option<AtWork> {
    AT_WORK.get()
}

/// Says what this thread is judging from now on.
pub(crate) fn set_at_work(at_work: Option<AtWork>) {
    AT_WORK.set(at_work);
}

/// True if this thread runs judged code, so that its panic is a finding.
pub fn is_judged() -> bool {
    IS_JUDGED.get()
}

/// The result, or what the panic said.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    let before = IS_JUDGED.replace(true);
    // Whatever ran is given up after a panic.
    let result = catch_unwind(AssertUnwindSafe(run));
    IS_JUDGED.set(before);
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned())).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_what_it_says() {
        assert_eq!(caught(|| 5), Ok(5));
        let quiet = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| assert!(is_judged())));
        let [constant, made] = [caught(|| panic!("slot")).err(), caught(|| panic!("slot {}", 190)).err()];
        std::panic::set_hook(quiet);
        assert_eq!((constant.as_deref(), made.as_deref()), (Some("slot"), Some("slot 190")));
        assert!(!is_judged());
    }
}
