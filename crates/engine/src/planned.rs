//! The plan of a block: when it is made, whether it is worth running, and what all plans of the process may take.

use std::sync::atomic::{AtomicI64, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use residue_lanes::{Plan, Policy, Shape, SlotBlock};

use crate::blocks::Batching;

/// A block is planned when it has been entered so often, at least. Planning takes as long as about five executions and is not paid in
/// gas, so by then the block has paid as much again.
pub(crate) const ENTRIES_BEFORE_PLAN: u32 = 5;
/// Cycles of planning a block however small it is, which small ones are entered more often for.
const PLANNING_CYCLES: u64 = 1 << 14;
/// Executions of a code behind which every block that it enters at all has its plan, if it is to have one: what comes later
/// is warm.
pub const EXECUTIONS_TO_WARM: usize = ENTRIES_BEFORE_PLAN as usize + 3;
/// Bytes of all plans and chains at once in the process: 64 MiB, and what the last of them takes. Blocks that come later run plain until
/// others go.
pub(crate) const PLAN_BYTES_MAX: usize = 64 << 20;
/// Cycles of one product and one sum by the scalar kernels, and of the dispatch of one instruction.
const SCALAR_CYCLES: [u64; 3] = [16, 16, 116];
const DISPATCH_CYCLES: u64 = 12;
/// Cycles of a step of a chain besides its operation, and of running a chain besides its steps.
const STEP_CYCLES: u64 = 3;
const CHAIN_ENTRY_CYCLES: u64 = 128;
/// Cycles of moving up to eight values from one form to the other.
const MOVE_CYCLES: u64 = 450;
/// Values that move together.
const MOVED_TOGETHER: usize = 8;

/// Cycles of running a plan besides the plan's own: finding it, comparing what it reads with what is in rows.
const ENTRY_CYCLES: i64 = 256;
/// Cycles of making the rows of a modulus that was not met lately.
const MODULUS_CYCLES: i64 = 1 << 14;

/// Losses beyond all gains after which a transaction runs no more plans: seventy microseconds, and sixteen new moduli. What a contract
/// does with many inputs before its loops begin may lose a quarter of that.
const LOSS_CYCLES_MAX: i64 = 1 << 18;
/// Gains beyond this are forgotten, so that no code can save up for a long time of losses.
const BALANCE_CYCLES_MAX: i64 = 1 << 20;

/// Plans of a code that may gain nothing before its small blocks are asked for none any more: more than any contract of ours has.
const LOSSES_MAX: u32 = 64;
/// A block with fewer operations is small.
const SMALL_OPERATIONS: u32 = 16;

/// A plan with what it reads and writes as sets.
#[derive(Debug)]
pub(crate) struct RowPlan<S> {
    /// The plan.
    pub plan: Plan,
    /// [`Plan::inputs`].
    pub reads: S,
    /// [`Plan::outputs`].
    pub writes: S,
    /// What it gains against its instructions one by one, in cycles; less than nothing where it is there to save moves.
    gain_cycles: i64,
    _bytes: CountedBytes,
}

impl<S: FromIterator<usize>> RowPlan<S> {
    fn new(plan: Plan, gain_cycles: i64) -> Self {
        let set = |slots: &[u16]| slots.iter().map(|&slot| usize::from(slot)).collect();
        let bytes = CountedBytes::new(plan.explain().table_bytes);
        Self { reads: set(plan.inputs()), writes: set(plan.outputs()), plan, gain_cycles, _bytes: bytes }
    }

    /// Whether it is faster than its instructions where nothing has to move.
    pub fn gains(&self) -> bool {
        self.gain_cycles >= 0
    }
}

/// What a block executes when its instructions run one by one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Work {
    /// Instructions of each kind, in the order of [`residue_isa::Arithmetic::ALL`].
    pub instructions: [u32; 3],
    /// Operations of each kind: lanes of the instructions.
    pub operations: [u32; 3],
    /// Whether they run as a chain where they have no plan.
    pub has_chain: bool,
}

impl Work {
    /// Number of operations.
    pub fn operation_count(&self) -> u32 {
        self.operations.iter().sum()
    }

    /// Entries that a block waits for before it is planned.
    pub fn entries_before_plan(&self, batching: Batching) -> u16 {
        if batching.is_eager() {
            return 0;
        }
        let entries = (PLANNING_CYCLES / self.scalar_cycles().max(1)).max(ENTRIES_BEFORE_PLAN.into());
        u16::try_from(entries).unwrap_or(u16::MAX)
    }

    /// Whether so little is done that a plan would have to be very good.
    fn is_small(&self) -> bool {
        self.operation_count() < SMALL_OPERATIONS
    }

    /// What it takes without a plan, about.
    pub fn scalar_cycles(&self) -> u64 {
        let operations: u64 = (0..3).map(|kind| SCALAR_CYCLES[kind] * u64::from(self.operations[kind])).sum();
        match self.has_chain {
            true => CHAIN_ENTRY_CYCLES + operations + STEP_CYCLES * u64::from(self.operation_count()),
            false => operations + DISPATCH_CYCLES * self.instructions.iter().copied().map(u64::from).sum::<u64>(),
        }
    }
}

/// How many plans of a code have gained nothing. Planning takes far longer than a small block does, and nobody pays for it: code of
/// thousands of small blocks is not planned to its end.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    losses: AtomicU32,
}

impl Patience {
    fn note_loss(&self) {
        self.losses.fetch_add(1, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.losses.load(Ordering::Relaxed) >= LOSSES_MAX
    }
}

/// The plan of a block, for the first number of slots and shape that it was entered with.
#[derive(Debug)]
pub(crate) struct PlanCell<S> {
    planned: OnceLock<Planned<S>>,
}

#[derive(Debug)]
struct Planned<S> {
    slot_count: u16,
    shape: Shape,
    /// None if the scalar kernels are faster.
    plan: Option<RowPlan<S>>,
}

impl<S> Default for PlanCell<S> {
    fn default() -> Self {
        Self { planned: OnceLock::new() }
    }
}

impl<S: FromIterator<usize>> PlanCell<S> {
    /// The plan for a number of slots and a shape, if there is one and it pays; made of `block` if nobody has asked before.
    pub fn get(
        &self,
        batching: Batching,
        patience: &Patience,
        slot_count: usize,
        shape: Option<Shape>,
        work: &Work,
        block: impl FnOnce(u16) -> Option<SlotBlock>,
    ) -> Option<&RowPlan<S>> {
        let planned = match self.planned.get() {
            Some(planned) => planned,
            None => {
                if plan_bytes() > PLAN_BYTES_MAX {
                    return None;
                }
                let (shape, slot_count) = (shape?, u16::try_from(slot_count).ok()?);
                self.planned.get_or_init(|| {
                    if batching != Batching::Always && work.is_small() && patience.is_over() {
                        return Planned { slot_count, shape, plan: None };
                    }
                    let plan = block(slot_count).and_then(|block| Plan::new(&block, shape, &Policy::default()).ok());
                    let pays = |plan: &Plan| plan.predicted_cycles() < work.scalar_cycles() + moving_cycles(plan);
                    let plan: Option<RowPlan<S>> =
                        plan.filter(|plan| batching == Batching::Always || pays(plan)).map(|plan| {
                            let gain_cycles = match batching {
                                Batching::Always => BALANCE_CYCLES_MAX,
                                _ => signed(work.scalar_cycles()) - signed(plan.predicted_cycles()) - ENTRY_CYCLES,
                            };
                            RowPlan::new(plan, gain_cycles)
                        });
                    if plan.as_ref().is_none_or(|plan| plan.gain_cycles < 0) {
                        patience.note_loss();
                    }
                    Planned { slot_count, shape, plan }
                })
            }
        };
        let fits = usize::from(planned.slot_count) == slot_count && Some(planned.shape) == shape;
        planned.plan.as_ref().filter(|_| fits)
    }
}

impl<S> PlanCell<S> {
    /// Whether it is known that the block has no plan that pays.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.planned.get().is_some_and(|planned| planned.plan.is_none())
    }

    /// The plan, if it has been made and pays.
    pub fn made(&self) -> Option<&Plan> {
        self.planned.get()?.plan.as_ref().map(|plan| &plan.plan)
    }
}

/// What it takes to bring the slots of a block to limbs and back, where its neighbours leave and want them in rows.
fn moving_cycles(plan: &Plan) -> u64 {
    move_cycles(plan.inputs().len()) + move_cycles(plan.outputs().len())
}

/// What it takes to move so many values from one form to the other.
fn move_cycles(values: usize) -> u64 {
    MOVE_CYCLES * values.div_ceil(MOVED_TOGETHER) as u64 // Far below 2⁶⁴.
}

/// Which of two forms the values of a field context are better in, decided plan by plan: one that gains less than its operands take to
/// move is left out, until as much has been forgone as that takes.
#[derive(Debug, Default)]
pub(crate) struct Balance {
    forgone_cycles: i64,
}

impl Balance {
    /// Whether to run a plan of whose operands so many are in rows already, and so many are missing there.
    pub fn decide<S>(&mut self, plan: &RowPlan<S>, held: usize, missing: usize) -> bool {
        let to_rows = signed(move_cycles(missing));
        // Without the plan, its operands leave the rows, and what it computes may have to come back to the rest.
        let to_limbs =
            signed(move_cycles(held) + if held > missing { move_cycles(plan.plan.outputs().len()) } else { 0 });
        self.forgone_cycles += plan.gain_cycles.max(0);
        let runs = plan.gain_cycles + to_limbs >= to_rows || self.forgone_cycles >= to_rows.max(1);
        if runs {
            self.forgone_cycles = 0;
        }
        runs
    }
}

/// What plans have gained in a transaction, with what moving values and new moduli have cost; its frames share it. A plan may lose against its instructions where its
/// neighbours want values in rows; code in which such plans win nothing would be slowed down without paying for it, so they
/// stop when losses have used up what was gained before, and a little more.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger {
    /// One thread runs a transaction; atomic, so that an EVM may move to another.
    balance_cycles: Arc<AtomicI64>,
}

impl Ledger {
    /// Whether plans may run.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.balance_cycles.load(Ordering::Relaxed) > -LOSS_CYCLES_MAX
    }

    #[inline]
    fn add(&self, cycles: i64) {
        let balance_cycles = self.balance_cycles.load(Ordering::Relaxed) + cycles;
        self.balance_cycles.store(balance_cycles.min(BALANCE_CYCLES_MAX), Ordering::Relaxed);
    }

    /// Notes that a plan has run.
    #[inline]
    pub fn note_run<S>(&self, plan: &RowPlan<S>) {
        self.add(plan.gain_cycles);
    }

    /// Notes that values have moved from one form to the other.
    #[inline]
    pub fn note_moved(&self, values: usize) {
        self.add(-signed(move_cycles(values)));
    }

    /// Notes that rows of another modulus were made.
    pub fn note_modulus(&self) {
        self.add(-MODULUS_CYCLES);
    }
}

/// Cycles are far below 2⁶³.
fn signed(cycles: u64) -> i64 {
    i64::try_from(cycles).unwrap_or(i64::MAX / 4)
}

static PLAN_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Bytes of all plans and chains that exist.
pub(crate) fn plan_bytes() -> usize {
    PLAN_BYTES.load(Ordering::Relaxed)
}

/// Bytes of a plan or a chain, counted as long as this lives.
#[derive(Debug)]
pub(crate) struct CountedBytes(usize);

impl CountedBytes {
    pub fn new(bytes: usize) -> Self {
        PLAN_BYTES.fetch_add(bytes, Ordering::Relaxed);
        Self(bytes)
    }
}

impl Drop for CountedBytes {
    fn drop(&mut self) {
        PLAN_BYTES.fetch_sub(self.0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use residue_lanes::OpKind;
    use residue_modular::Modulus;

    use super::*;

    /// A plan of one product that is said to gain so much.
    fn plan(gain_cycles: i64) -> RowPlan<std::collections::BTreeSet<usize>> {
        let mut block = SlotBlock::new(3);
        block.push_lanes(OpKind::Mul, [(0, 1, 2)]).unwrap();
        let modulus = Modulus::from_be_bytes(&[0x1b; 48]).unwrap();
        let plan = Plan::new(&block, Shape::of(&modulus).unwrap(), &Policy::default()).unwrap();
        RowPlan::new(plan, gain_cycles)
    }

    #[test]
    fn plans_that_only_lose_stop_and_those_that_mostly_win_go_on() {
        let (winning, losing) = (plan(5000), plan(-1000));
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
            ledger.note_moved(8);
            assert!(ledger.is_open());
        }
        // What was won long ago does not pay for more than a bounded loss.
        let paid = (0..).take_while(|_| {
            ledger.note_moved(64);
            ledger.is_open()
        });
        assert!(paid.count() < 1000);
    }

    #[test]
    fn values_move_for_a_gain_and_for_many_small_ones() {
        let decide = |gain_cycles, held, missing| Balance::default().decide(&plan(gain_cycles), held, missing);
        // One product of two operands: each way takes one move.
        assert!(decide(signed(MOVE_CYCLES), 0, 2) && !decide(signed(MOVE_CYCLES) - 1, 0, 2));
        assert!(decide(-1, 2, 0) && decide(0, 1, 1) && !decide(-1, 1, 1));
        assert!(!decide(-2 * signed(MOVE_CYCLES) - 1, 2, 0));
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
}
