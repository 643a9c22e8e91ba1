//! Limit of planning: gas charged in a code's blocks earns credit; walks, traces and plans of the code spend it.
//!
//! So time that gas does not meter is bounded by gas, under every schedule and from the first execution on.

use core::sync::atomic::Ordering;

use super::AtomicI64;
use super::tuning::{CREDIT_CYCLES_MAX, CYCLES_PER_GAS_MAX, CYCLES_PER_PRODUCT};

/// Credit of one code, in cycles. Work is never done on credit to be earned later: the length of a walk is not known
/// before, so it takes all credit, and returns the rest. A walk that runs out of credit is paid, and made again when
/// there is twice as much.
#[derive(Debug, Default)]
pub(crate) struct Credit {
    cycles: AtomicI64,
    /// Credit above which a walk is tried again.
    asked: AtomicI64,
}

impl Credit {
    /// Adds cycles paid for by gas, by [`Rate::cycles`].
    pub fn earn(&self, earned: i64) {
        let add = |cycles: i64| Some(cycles.saturating_add(earned).min(CREDIT_CYCLES_MAX));
        // The closure never gives up, so this cannot fail.
        let _ = self.cycles.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// Spends so much, if it is there.
    pub fn spend(&self, cycles: i64) -> bool {
        let take = |left: i64| (left >= cycles).then(|| left - cycles);
        self.cycles.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    /// True if the credit suffices for a walk, with the cycles earned and not paid in yet.
    #[inline(always)]
    pub fn allows_walk(&self, earned: i64) -> bool {
        self.cycles().saturating_add(earned) > self.asked.load(Ordering::Relaxed)
    }

    /// Takes all that there is for a walk, if that is enough for one.
    pub fn take_for_walk(&self) -> Option<i64> {
        if !self.allows_walk(0) {
            return None;
        }
        // Another thread may have been faster: then it is nothing.
        Some(self.cycles.swap(0, Ordering::Relaxed)).filter(|&cycles| cycles > 0)
    }

    /// Returns the credit that a walk took and did not spend.
    pub fn end_walk(&self, taken: i64, spent: i64, has_run_out: bool) {
        // The longest walk there is can be paid for when there is as much as is kept.
        let asked = if has_run_out { taken.saturating_mul(2).min(CREDIT_CYCLES_MAX - 1) } else { 0 };
        self.asked.store(asked, Ordering::Relaxed);
        self.earn((taken - spent).max(0));
    }

    /// Credit, in cycles.
    #[inline(always)]
    pub fn cycles(&self) -> i64 {
        self.cycles.load(Ordering::Relaxed)
    }
}

/// Cycles paid for by a gas under a schedule: a product pays for half of the time that it takes by itself, at any
/// price, and a gas for at most [`CYCLES_PER_GAS_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate(i64);

impl Rate {
    /// For a schedule with this price of a product of 384 bits.
    pub fn new(product_gas: u64) -> Self {
        let product_gas = i64::try_from(product_gas).unwrap_or(i64::MAX).max(1);
        Self((CYCLES_PER_PRODUCT / product_gas).clamp(1, CYCLES_PER_GAS_MAX))
    }

    /// The cycles that so much gas pays for.
    #[inline(always)]
    pub fn cycles(self, gas: u64) -> i64 {
        i64::try_from(gas).unwrap_or(i64::MAX).saturating_mul(self.0)
    }

    /// Minimum gas that pays for `cycles` cycles.
    pub fn gas(self, cycles: i64) -> u64 {
        u64::try_from(cycles).map_or(0, |cycles| cycles.div_ceil(self.0.unsigned_abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_was_earned_before() {
        let credit = Credit::default();
        assert!(!credit.spend(1));
        credit.earn(240);
        assert!(credit.spend(240) && !credit.spend(1));
        credit.earn(i64::MAX);
        assert_eq!(credit.cycles(), CREDIT_CYCLES_MAX);
    }

    #[test]
    fn a_walk_takes_what_there_is_and_asks_for_twice_as_much_when_that_was_not_enough() {
        let credit = Credit::default();
        assert!(credit.take_for_walk().is_none() && !credit.allows_walk(0) && credit.allows_walk(1));
        credit.earn(1000);
        assert_eq!((credit.take_for_walk(), credit.cycles()), (Some(1000), 0));
        assert!(credit.take_for_walk().is_none(), "another thread waits");
        credit.end_walk(1000, 400, false);
        assert_eq!((credit.cycles(), credit.allows_walk(0)), (600, true));
        credit.take_for_walk().unwrap();
        credit.end_walk(600, 616, true);
        assert_eq!((credit.cycles(), credit.allows_walk(1200), credit.allows_walk(1201)), (0, false, true));
        credit.earn(1201);
        let taken = credit.take_for_walk().unwrap();
        credit.end_walk(taken, 1, false);
        assert!(credit.allows_walk(0), "one that was paid for asks for nothing");
        credit.earn(i64::MAX);
        let taken = credit.take_for_walk().unwrap();
        credit.end_walk(taken, taken, true);
        credit.earn(i64::MAX);
        assert!(credit.allows_walk(0), "no more is asked for than can be kept");
    }

    #[test]
    fn a_product_pays_for_as_much_whatever_its_price() {
        for (product_gas, cycles_per_gas) in [(0, 24), (2, 24), (3, 24), (6, 12), (24, 3), (72, 1), (u64::MAX, 1)] {
            let rate = Rate::new(product_gas);
            assert_eq!((rate.cycles(1), rate.cycles(1000)), (cycles_per_gas, 1000 * cycles_per_gas), "{product_gas}");
            for cycles in [1, 2, 23, 24, 25, 1000] {
                let gas = rate.gas(cycles);
                assert!(rate.cycles(gas) >= cycles && rate.cycles(gas - 1) < cycles, "{product_gas} {cycles}");
            }
        }
        assert_eq!((Rate::new(3).gas(-1), Rate::new(3).cycles(u64::MAX)), (0, i64::MAX));
    }
}
