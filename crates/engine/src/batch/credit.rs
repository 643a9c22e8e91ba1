//! What planning may take: gas charged in a code's blocks earns credit, and whatever is made of the code spends it.
//!
//! So the time that nobody sees in gas is bounded by gas, under every schedule and from the first execution on.

use std::sync::atomic::{AtomicI64, Ordering};

use super::tuning::{CREDIT_CYCLES_MAX, CYCLES_PER_GAS_MAX, CYCLES_PER_PRODUCT};

/// The credit of one code, in cycles. Less than nothing after a walk that was longer than could be known: then nothing more is made until
/// that is paid for.
#[derive(Debug, Default)]
pub(crate) struct Credit {
    cycles: AtomicI64,
}

impl Credit {
    /// Earns what gas has paid for, by [`Rate::cycles`].
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

/// What a gas pays for under a schedule: a product pays for half of the time that it takes by itself, whatever its price, and no gas for more
/// than [`CYCLES_PER_GAS_MAX`].
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

    /// The least gas that pays for so many cycles.
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
        credit.overdraw(100);
        credit.earn(24);
        assert!(!credit.spend(1), "debts come first");
        credit.earn(i64::MAX);
        assert_eq!(credit.cycles(), CREDIT_CYCLES_MAX);
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
