//! Profit and loss of plans: the better form of values, plan by plan, and the point from which a transaction runs no
//! more plans.

use alloc::sync::Arc;
use core::sync::atomic::Ordering;

use residue_lanes::Shape;

use super::plan::RowPlan;
use super::tuning::{ASKED_CYCLES, BALANCE_CYCLES_MAX, LOSS_CYCLES_MAX, MODULUS_CYCLES};
use super::work::signed;
use super::{AtomicI64, Batching};

/// Choice between two forms of the values of a field context, plan by plan: a plan that gains less than moving its
/// operands costs is skipped, until the gains forgone reach that cost.
#[derive(Debug, Default)]
pub(crate) struct Balance {
    forgone_cycles: i64,
}

impl Balance {
    /// True if the plan should run, with `held` of its operands in rows and `missing` ones elsewhere.
    pub fn decide<S>(&mut self, plan: &RowPlan<S>, held: usize, missing: usize) -> bool {
        let move_cycles = |values: usize| signed(plan.plan.shape().move_cycles(values));
        let to_rows = move_cycles(missing);
        // Without the plan, its operands leave the rows, and what it computes may have to come back to the rest.
        let to_limbs = move_cycles(held) + if held > missing { move_cycles(plan.plan.outputs().len()) } else { 0 };
        self.forgone_cycles += plan.gain_cycles().max(0);
        let runs = plan.gain_cycles() + to_limbs >= to_rows || self.forgone_cycles >= to_rows.max(1);
        if runs {
            self.forgone_cycles = 0;
        }
        runs
    }
}

/// Net gain of plans in a transaction: cycles gained, less those of moving values and of new moduli; its frames share
/// it. A plan may lose against its instructions if its neighbours want values in rows. Code in which such plans never
/// win would run slower at the same gas, so plans stop when losses exceed previous gains by a small margin.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger {
    /// One thread runs a transaction; atomic, so that an EVM may move to another.
    balance_cycles: Arc<AtomicI64>,
}

impl Ledger {
    /// Begins a transaction.
    #[inline]
    pub fn clear(&mut self) {
        if self.balance_cycles.load(Ordering::Relaxed) != 0 {
            *self = Self::default();
        }
    }

    /// True if plans may run.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.balance_cycles.load(Ordering::Relaxed) > -LOSS_CYCLES_MAX
    }

    /// True if plans may run under this batching.
    #[inline]
    pub fn lets_plans_run(&self, batching: Batching) -> bool {
        batching.has_plans() && self.is_open()
    }

    #[inline]
    fn add(&self, cycles: i64) {
        let balance_cycles = self.balance_cycles.load(Ordering::Relaxed) + cycles;
        self.balance_cycles.store(balance_cycles.min(BALANCE_CYCLES_MAX), Ordering::Relaxed);
    }

    /// Notes that a plan has run.
    #[inline]
    pub fn note_run<S>(&self, plan: &RowPlan<S>) {
        self.add(plan.gain_cycles());
    }

    /// Notes that values have moved from one form to the other.
    #[inline]
    pub fn note_moved(&self, shape: Shape, values: usize) {
        self.add(-signed(shape.move_cycles(values)));
    }

    /// Notes that a range of memory was looked for among the places in rows.
    #[inline]
    pub fn note_asked(&self) {
        self.add(-ASKED_CYCLES);
    }

    /// Notes that rows of another modulus were made.
    pub fn note_modulus(&self) {
        self.add(-MODULUS_CYCLES);
    }
}

#[cfg(test)]
mod tests {
    use residue_lanes::{FieldOp, Plan, Policy, Shape, SlotBlock};
    use residue_modular::Modulus;

    use super::*;
    use crate::batch::budget::Budget;

    /// A plan of one product with this declared gain.
    fn plan(gain_cycles: i64) -> RowPlan<std::collections::BTreeSet<usize>> {
        let mut block = SlotBlock::new(3);
        block.push_lanes(FieldOp::Mul, [(0, 1, 2)]).unwrap();
        let modulus = Modulus::from_be_bytes(&[0x1b; 48]).unwrap();
        let plan = Plan::new(&block, Shape::of(&modulus).unwrap(), &Policy::default()).unwrap();
        RowPlan::new(plan, gain_cycles, &Budget::default())
    }

    #[test]
    fn plans_that_only_lose_stop_and_those_that_mostly_win_go_on() {
        let (winning, losing) = (plan(5000), plan(-1000));
        let shape = winning.plan.shape();
        let ledger = Ledger::default();
        let runs = (0..).take_while(|_| {
            ledger.note_run(&losing);
            ledger.is_open()
        });
        let runs = runs.count();
        assert!((50..500).contains(&runs), "{runs}");

        let ledger = Ledger::default();
        for _ in 0..100_000 {
            ledger.note_run(&winning);
            ledger.note_run(&losing);
            ledger.note_moved(shape, 8);
            assert!(ledger.is_open());
        }
        // What was won long ago does not pay for more than a bounded loss.
        let paid = (0..).take_while(|_| {
            ledger.note_moved(shape, 64);
            ledger.is_open()
        });
        assert!(paid.count() < 1000);
    }

    #[test]
    fn values_move_for_a_gain_and_for_many_small_ones() {
        let decide = |gain_cycles, held, missing| Balance::default().decide(&plan(gain_cycles), held, missing);
        // One product of two operands: each way takes one move.
        let one_move = signed(plan(0).plan.shape().move_cycles(2));
        assert!(decide(one_move, 0, 2) && !decide(one_move - 1, 0, 2));
        assert!(decide(-1, 2, 0) && decide(0, 1, 1) && !decide(-1, 1, 1));
        assert!(!decide(-2 * one_move - 1, 2, 0));
        let (mut balance, small) = (Balance::default(), plan(100));
        let runs: Vec<_> = (0..10).map(|_| balance.decide(&small, 0, 2)).collect();
        assert_eq!(runs.iter().filter(|runs| **runs).count(), 2, "{runs:?}");
    }

    #[test]
    fn frames_of_a_transaction_pay_for_new_moduli_together() {
        let caller = Ledger::default();
        let frames = (0..).take_while(|_| {
            caller.clone().note_modulus();
            caller.is_open()
        });
        assert!((3..50).contains(&frames.count()));
    }

    #[test]
    fn plans_run_while_losses_are_within_bounds_and_gains_are_kept_up_to_theirs() {
        let ledger = Ledger::default();
        ledger.note_run(&plan(1 - LOSS_CYCLES_MAX));
        assert!(ledger.is_open());
        let ways = [Batching::Off, Batching::Traces, Batching::Always];
        assert_eq!(ways.map(|batching| ledger.lets_plans_run(batching)), [false, false, true]);
        ledger.note_run(&plan(-1));
        assert!(!ledger.is_open());
        assert_eq!(ways.map(|batching| ledger.lets_plans_run(batching)), [false; 3]);
        ledger.note_run(&plan(1));
        assert!(ledger.is_open(), "another plan has gained what was lost");
        let ledger = Ledger::default();
        ledger.note_run(&plan(3 * BALANCE_CYCLES_MAX));
        ledger.note_run(&plan(1 - BALANCE_CYCLES_MAX - LOSS_CYCLES_MAX));
        assert!(ledger.is_open());
        ledger.note_moved(plan(0).plan.shape(), 1);
        assert!(!ledger.is_open());
    }

    #[test]
    fn what_is_forgone_adds_up_until_it_pays_for_the_way() {
        let mut balance = Balance::default();
        // Two moves in all of sixteen operands: 1,000 cycles.
        let runs = [300, 400, 299, 1, 0].map(|gain_cycles| balance.decide(&plan(gain_cycles), 0, 16));
        assert_eq!(runs, [false, false, false, true, false]);
        // Losses take nothing from it, and where nothing moves a loss is forgone for ever.
        let mut balance = Balance::default();
        assert_eq!([499, -1000, 1].map(|gain_cycles| balance.decide(&plan(gain_cycles), 0, 2)), [false, false, true]);
        assert!((0..100).all(|_| !Balance::default().decide(&plan(-1), 0, 0)));
        // What leaves the rows besides is the result, if most operands are there.
        let decide = |gain_cycles, held, missing| Balance::default().decide(&plan(gain_cycles), held, missing);
        assert!(decide(-1000, 2, 0) && decide(-500, 2, 1) && !decide(-501, 2, 1) && !decide(-1, 1, 2));
    }
}
