//! What planning may take: gas charged in a code's blocks earns credit, and whatever is made of the code spends it.
//!
//! So the time that nobody sees in gas is bounded by gas, under every schedule and from the first execution on.

use std::sync::atomic::{AtomicI64, Ordering};

use super::tuning::{CREDIT_CYCLES_MAX, CYCLES_PER_GAS};

/// The credit of one code, in cycles. Less than nothing after a walk that was longer than could be known: then nothing more is made until
/// that is paid for.
#[derive(Debug, Default)]
pub(crate) struct Credit {
    cycles: AtomicI64,
}

impl Credit {
    /// Earns what so much gas pays for.
    pub fn earn(&self, gas: u64) {
        let earned = cycles_of(gas);
        let add = |cycles: i64| Some(cycles.saturating_add(earned).min(CREDIT_CYCLES_MAX));
        // The closure never gives up, so this cannot fail.
        let _ = self.cycles.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// Spends so much, if it is there.
    pub fn spend(&self, cycles: i64) -> bool {
        let take = |left: i64| (left >= cycles).then(|| left - cycles);
        self.cycles.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    /// Spends so much whether it is there or not.
    pub fn overdraw(&self, cycles: i64) {
        self.cycles.fetch_sub(cycles, Ordering::Relaxed);
    }

    /// What there is.
    #[inline(always)]
    pub fn cycles(&self) -> i64 {
        self.cycles.load(Ordering::Relaxed)
    }
}

/// What so much gas pays for.
#[inline(always)]
pub(crate) fn cycles_of(gas: u64) -> i64 {
    i64::try_from(gas).unwrap_or(i64::MAX).saturating_mul(CYCLES_PER_GAS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_was_earned_before() {
        let credit = Credit::default();
        assert!(!credit.spend(1));
        credit.earn(10);
        assert!(credit.spend(10 * CYCLES_PER_GAS) && !credit.spend(1));
        credit.overdraw(100);
        credit.earn(1);
        assert!(!credit.spend(1), "debts come first");
        credit.earn(u64::MAX);
        assert_eq!(credit.cycles(), CREDIT_CYCLES_MAX);
    }
}
