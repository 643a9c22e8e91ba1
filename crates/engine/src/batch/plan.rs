//! Plans of a block, by number of slots and shape of the modulus; plans that do not pay, and plans of other operations,
//! are rejected.

use alloc::boxed::Box;
use core::sync::atomic::{AtomicBool, Ordering};

use residue_lanes::locks::OnceLock;
use residue_lanes::{Digest, Plan, Policy, Shape, SlotBlock};

use super::budget::{Budget, Counted};
use super::tuning::{
    BALANCE_CYCLES_MAX, PLAN_CYCLES, PLAN_CYCLES_PER_OPERATION, PLAN_ENTRY_CYCLES, PLANS_MAX, TEMPORARY_ROWS,
    TEMPORARY_ROWS_PER_SLOT,
};
use super::work::{Work, signed};

/// A plan with its reads and writes as sets.
#[derive(Debug)]
pub(crate) struct RowPlan<S> {
    /// The plan.
    pub plan: Plan,
    /// [`Plan::inputs`].
    pub reads: S,
    /// [`Plan::outputs`].
    pub writes: S,
    gain_cycles: i64,
    _counted: Counted,
}

impl<S: FromIterator<usize>> RowPlan<S> {
    pub fn new(plan: Plan, gain_cycles: i64, budget: &Budget) -> Self {
        let set = |slots: &[u16]| slots.iter().map(|&slot| usize::from(slot)).collect();
        let counted = budget.count(plan.bytes() + size_of::<Self>());
        Self { reads: set(plan.inputs()), writes: set(plan.outputs()), plan, gain_cycles, _counted: counted }
    }
}

impl<S> RowPlan<S> {
    /// Gain against its instructions one by one, in cycles; negative for a plan that only saves moves.
    #[inline(always)]
    pub fn gain_cycles(&self) -> i64 {
        self.gain_cycles
    }

    /// True if it is faster than its instructions when no value has to move.
    #[inline(always)]
    pub fn gains(&self) -> bool {
        self.gain_cycles >= 0
    }
}

/// Key of a plan: all that a plan of a block depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlanKey {
    /// Slots of the field context, or places of the code.
    pub slot_count: u16,
    /// The layout of the rows.
    pub shape: Shape,
    /// Limbs of 64 bits of a value: the gain depends on them.
    pub width_limbs: usize,
}

/// The plans of a block, or that it has none that pays.
#[derive(Debug)]
pub(crate) struct Plans<S> {
    made: [OnceLock<Planned<S>>; PLANS_MAX],
    /// True if a thread is planning: others do not wait for it.
    is_busy: AtomicBool,
}

#[derive(Debug)]
struct Planned<S> {
    key: PlanKey,
    /// None if the scalar kernels are faster. Most blocks never have one, so there is no room for it in them.
    plan: Option<Box<RowPlan<S>>>,
}

/// State of a plan.
pub(crate) enum Known<'a, S> {
    /// It is there.
    Plan(&'a RowPlan<S>),
    /// There is none that pays.
    Plain,
    /// Nothing yet.
    Nothing,
    /// None, and no room to keep one.
    Full,
}

impl<S> Default for Plans<S> {
    fn default() -> Self {
        Self { made: core::array::from_fn(|_| OnceLock::new()), is_busy: AtomicBool::new(false) }
    }
}

impl<S> Plans<S> {
    /// State of the plan for a key.
    #[inline]
    pub fn get(&self, key: PlanKey) -> Known<'_, S> {
        for cell in &self.made {
            match cell.get() {
                Some(planned) if planned.key == key => {
                    return planned.plan.as_deref().map_or(Known::Plain, Known::Plan);
                }
                Some(_) => {}
                None => return Known::Nothing,
            }
        }
        Known::Full
    }

    /// True if any planning has finished, with or without a plan.
    pub fn has_any(&self) -> bool {
        self.made[0].get().is_some()
    }

    /// The plans that pay.
    pub fn found(&self) -> impl Iterator<Item = &Plan> {
        self.made.iter().filter_map(|cell| Some(&cell.get()?.plan.as_ref()?.plan))
    }
}

/// Cycles of planning a block.
pub(crate) fn price(work: &Work) -> i64 {
    PLAN_CYCLES + PLAN_CYCLES_PER_OPERATION * i64::from(work.operation_count())
}

/// Inputs of planning, beside the block.
pub(crate) struct Order<'a> {
    pub key: PlanKey,
    pub work: &'a Work,
    /// True if the block has a scalar trace, to compare the plan with.
    pub has_trace: bool,
    /// True if a plan is wanted at any price.
    pub always: bool,
    /// Digest of the block's operations when it was priced.
    pub priced: Digest,
    pub budget: &'a Budget,
}

impl<S: FromIterator<usize>> Plans<S> {
    /// Plans a block, unless another thread is doing so; [`Plans::get`] has the result. A plan of operations other than
    /// the priced ones is rejected.
    pub fn make(&self, operations: &SlotBlock, order: &Order<'_>) {
        if self.is_busy.swap(true, Ordering::Acquire) {
            return;
        }
        let plan = new_plan(operations, order).filter(|plan| plan.source() == order.priced);
        let scalar_cycles = order.work.scalar_cycles(order.key.width_limbs, order.has_trace);
        let pays = |plan: &Plan| {
            let moving = [plan.inputs(), plan.outputs()].map(|slots| order.key.shape.move_cycles(slots.len()));
            order.always || plan.predicted_cycles() < scalar_cycles + moving.iter().sum::<u64>()
        };
        let plan = plan.filter(pays).map(|plan| {
            let gain_cycles = match order.always {
                true => BALANCE_CYCLES_MAX,
                false => signed(scalar_cycles) - signed(plan.predicted_cycles()) - PLAN_ENTRY_CYCLES,
            };
            Box::new(RowPlan::new(plan, gain_cycles, order.budget))
        });
        let mut planned = Planned { key: order.key, plan };
        for cell in &self.made {
            match cell.set(planned) {
                Ok(()) => break,
                Err(rejected) => planned = rejected,
            }
        }
        self.is_busy.store(false, Ordering::Release);
    }
}

/// The plan, unless it would take more rows than a field context may keep.
fn new_plan(operations: &SlotBlock, order: &Order<'_>) -> Option<Plan> {
    let operations = operations.with_slot_count(order.key.slot_count).ok()?;
    let plan = Plan::new(&operations, order.key.shape, &Policy::default()).ok()?;
    (plan.explain().temporary_rows <= temporary_rows_max(order.key.slot_count)).then_some(plan)
}

/// Temporary rows that a plan may have.
fn temporary_rows_max(slot_count: u16) -> usize {
    TEMPORARY_ROWS_PER_SLOT * usize::from(slot_count) + TEMPORARY_ROWS
}

#[cfg(test)]
mod tests {
    use residue_lanes::FieldOp;

    use super::*;
    use crate::batch::index_set::IndexSet;
    use residue_isa::PerOp;

    fn block(lanes: &[(u16, u16, u16)]) -> SlotBlock {
        let mut block = SlotBlock::new(4);
        lanes.iter().for_each(|&lane| block.push_lanes(FieldOp::Mul, [lane]).unwrap());
        block
    }

    fn key(slot_count: u16, bits: usize) -> PlanKey {
        PlanKey { slot_count, shape: Shape::of_bits(bits).unwrap(), width_limbs: bits.div_ceil(64) }
    }

    #[test]
    fn a_plan_of_other_operations_than_were_priced_is_refused() {
        let (block, other) = (block(&[(0, 1, 2)]), block(&[(0, 1, 2), (1, 0, 0)]));
        for (priced, is_refused) in [(&block, false), (&other, true)] {
            let plans = Plans::<IndexSet<4>>::default();
            let (work, budget) = (Work::default(), Budget::default());
            let order = Order {
                key: key(4, 381),
                work: &work,
                has_trace: false,
                always: true,
                priced: priced.digest(),
                budget: &budget,
            };
            plans.make(&block, &order);
            assert_eq!(matches!(plans.get(order.key), Known::Plain), is_refused);
            assert_eq!(matches!(plans.get(order.key), Known::Plan(_)), !is_refused);
        }
    }

    #[test]
    fn plans_are_kept_by_slots_and_shape() {
        let block = block(&[(0, 1, 2)]);
        let plans = Plans::<IndexSet<4>>::default();
        let (work, budget) = (Work::default(), Budget::default());
        for key in [key(4, 381), key(5, 381), key(4, 254)] {
            let order =
                Order { key, work: &work, has_trace: false, always: true, priced: block.digest(), budget: &budget };
            plans.make(&block, &order);
        }
        assert!([key(4, 381), key(5, 381)].into_iter().all(|key| matches!(plans.get(key), Known::Plan(_))));
        assert!(matches!(plans.get(key(4, 254)), Known::Full));
        assert_eq!(plans.found().count(), PLANS_MAX);
        drop(plans);
        assert_eq!(budget.bytes(), 0);
    }

    /// 128 bits have rows of the same shape as 256: as plans they take as long, one by one they do not.
    #[test]
    fn a_plan_of_narrow_values_gains_less() {
        let block = block(&[(0, 0, 1); 60]);
        let (work, budget) = (work_of(1 << 16), Budget::default());
        let gain_cycles = [128, 256].map(|bits| {
            let plans = Plans::<IndexSet<4>>::default();
            let (key, priced) = (key(4, bits), block.digest());
            plans.make(&block, &Order { key, work: &work, has_trace: true, always: false, priced, budget: &budget });
            match plans.get(key) {
                Known::Plan(plan) => plan.gain_cycles(),
                _ => panic!("{bits} bits have a plan"),
            }
        });
        assert_eq!(key(4, 128).shape, key(4, 256).shape);
        let one_by_one = [2, 4].map(|limbs| signed(work.scalar_cycles(limbs, true)));
        assert_eq!(gain_cycles[1] - gain_cycles[0], one_by_one[1] - one_by_one[0]);
    }

    /// Sums that, with products, take `cycles` cycles as a trace on six limbs: 128, 23 for each sum and 130 for each
    /// product.
    fn work_of(cycles: u64) -> Work {
        let mut sums = (0u32..130).filter(|sums| cycles >= 128 + 23 * u64::from(*sums));
        let sums = sums.find(|sums| (cycles - 128 - 23 * u64::from(*sums)).is_multiple_of(130)).unwrap();
        let products = u32::try_from((cycles - 128 - 23 * u64::from(sums)) / 130).unwrap();
        let work = Work { instructions: PerOp::all(0), operations: PerOp([sums, 0, products]), ..Work::default() };
        assert_eq!(work.scalar_cycles(6, true), cycles);
        work
    }

    #[test]
    fn a_plan_pays_where_it_saves_more_than_it_takes_with_all_its_values_on_their_way() {
        let block = block(&[(0, 0, 1); 60]);
        let budget = Budget::default();
        let made = |work: &Work, always: bool| {
            let plans = Plans::<IndexSet<4>>::default();
            let key = key(4, 384);
            let order = Order { key, work, has_trace: true, always, priced: block.digest(), budget: &budget };
            assert!(!plans.has_any() && matches!(plans.get(key), Known::Nothing));
            plans.make(&block, &order);
            assert!(plans.has_any());
            match plans.get(key) {
                Known::Plan(plan) => {
                    assert_eq!(plans.found().count(), 1);
                    assert_eq!(plan.gains(), plan.gain_cycles() >= 0);
                    Some((plan.gain_cycles(), plan.plan.predicted_cycles()))
                }
                _ => None,
            }
        };
        let (gain, predicted) = made(&work_of(1 << 16), false).unwrap();
        assert_eq!(gain, (1 << 16) - signed(predicted) - 256);
        assert_eq!(made(&Work::default(), true), Some((BALANCE_CYCLES_MAX, predicted)));
        // Two operands and a result move: 500 cycles each way.
        let just = predicted - 1000;
        assert_eq!(made(&work_of(just), false), None);
        assert_eq!(made(&work_of(just + 1), false), Some((-1000 + 1 - 256, predicted)));
    }

    #[test]
    fn temporary_rows_are_bounded_by_slots() {
        assert_eq!([0, 1, 12, 256].map(temporary_rows_max), [192, 196, 240, 1216]);
    }

    #[test]
    fn planning_takes_as_long_as_there_are_operations() {
        for (operations, cycles) in [([0; 3], 1 << 14), ([1, 2, 3], (1 << 14) + 2400)] {
            assert_eq!(
                price(&Work { instructions: PerOp::all(9), operations: PerOp(operations), ..Work::default() }),
                cycles
            );
        }
    }
}
