//! Fusing: operations of one kind whose slots form arithmetic progressions become lanes of one strided instruction.
//!
//! Greedy: of the operations that nothing stands in the way of, those that make the longest progression go first, so that
//! one that finds no mate waits for one as long as it can; of equally long ones those that most others wait for, one after the
//! other. Gas is by lane, so this saves code and dispatch, not gas.

mod known;
mod order;
#[cfg(test)]
mod plain;
mod progression;
mod waiting;

pub use known::Fusions;
use order::Order;
use progression::Progression;
use residue_isa::{FieldInstruction, FieldOp, Lanes};
use residue_passes::{Cost, Slot, SlotOp};
use waiting::Waiting;

/// Number of ready operations that may join a run; more improve little.
const WINDOW: usize = 96;

/// Number of ready operations that may lead one; more do not improve the pairing.
const LEADERS: usize = 24;

/// Number of times that kept code is fused, with random choices between progressions that are nearly as good: 8 times
/// save 2 per cent of the pairing's code, 64 times another half.
const ATTEMPTS: u64 = 8;

/// No bound on where lanes stride.
pub const ANYWHERE: Slot = 2 * 255;

/// Cost of operations as fused instructions.
#[derive(Debug, Clone, Copy)]
pub struct Fused<'a> {
    /// As for [`fuse`].
    pub end: Slot,
    /// Blocks that were fused before.
    pub known: &'a Fusions,
}

impl Cost for Fused<'_> {
    fn instructions(&self, ops: &[SlotOp]) -> u64 {
        self.known.count(ops, self.end)
    }
}

/// Slots that there can be.
const SLOTS: usize = 256;

/// Instructions equivalent to `ops` in order. With several lanes, the slots after the last ones are at most `end`.
pub fn fuse(ops: &[SlotOp], end: Slot) -> Vec<FieldInstruction> {
    let order = Order::new(ops);
    attempt(ops, Waiting::new(&order, end), 0, usize::MAX).expect("there is no bound")
}

/// The same, the fewest of several attempts.
pub fn fuse_well(ops: &[SlotOp], end: Slot) -> Vec<FieldInstruction> {
    let order = Order::new(ops);
    let waiting = Waiting::new(&order, end);
    let mut best = attempt(ops, waiting.clone(), 0, usize::MAX).expect("there is no bound");
    for number in 1..ATTEMPTS {
        if let Some(better) = attempt(ops, waiting.clone(), number, best.len()) {
            best = better;
        }
    }
    best
}

/// Issues all that waits, if that takes fewer than `end` instructions.
fn attempt(ops: &[SlotOp], mut waiting: Waiting<'_>, number: u64, end: usize) -> Option<Vec<FieldInstruction>> {
    let mut instructions = Vec::new();
    while instructions.len() + waiting.instructions_min() < end {
        let Some(run) = waiting.best_run(number) else { return Some(instructions) };
        instructions.push(instruction(ops[run.number].operation, &run));
        waiting.issue(&run);
    }
    None
}

fn instruction(operation: FieldOp, run: &Progression) -> FieldInstruction {
    let narrow = |slot: Slot| u8::try_from(slot).expect("allocation keeps to 256 slots");
    let [out, x, y] = run.slots().map(|(first, step)| Lanes { index: narrow(first), stride: narrow(step) });
    let count = u8::try_from(run.lanes).expect("there are at most 255");
    FieldInstruction::Slots { operation, out, x, y, count }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Slots as numbers mod a small prime; enough to tell orders apart.
    fn apply(operation: FieldOp, x: u64, y: u64) -> u64 {
        match operation {
            FieldOp::Add => (x + y) % 1_000_003,
            FieldOp::Sub => (x + 1_000_003 - y) % 1_000_003,
            FieldOp::Mul => x * y % 1_000_003,
        }
    }

    fn run(instructions: &[FieldInstruction], slots: &mut [u64]) {
        for instruction in instructions {
            let FieldInstruction::Slots { operation, out, x, y, count } = *instruction else { unreachable!() };
            let at = |lanes: Lanes, lane: u8| usize::from(lanes.slot(lane).unwrap());
            let results: Vec<u64> =
                (0..count).map(|lane| apply(operation, slots[at(x, lane)], slots[at(y, lane)])).collect();
            for (lane, result) in (0..count).zip(results) {
                slots[at(out, lane)] = result;
            }
        }
    }

    fn op() -> impl Strategy<Value = SlotOp> {
        (prop::sample::select(FieldOp::ALL.to_vec()), 0u32..24, 0u32..24, 0u32..24)
            .prop_map(|(operation, out, x, y)| SlotOp { operation, out, x, y })
    }

    proptest! {
        #[test]
        fn fused_instructions_do_what_the_operations_do(ops in proptest::collection::vec(op(), 0..60)) {
            let start: Vec<u64> = (0..24).map(|slot| (slot * slot * 7919 + 17) % 1_000_003).collect();
            let mut expected = start.clone();
            for op in &ops {
                expected[op.out as usize] = apply(op.operation, expected[op.x as usize], expected[op.y as usize]);
            }
            for instructions in [fuse(&ops, ANYWHERE), fuse_well(&ops, ANYWHERE), fuse(&ops, 24), fuse_well(&ops, 30)] {
                let mut slots = start.clone();
                run(&instructions, &mut slots);
                prop_assert_eq!(&slots, &expected);
            }
            prop_assert!(fuse_well(&ops, ANYWHERE).len() <= fuse(&ops, ANYWHERE).len());
        }
    }

    /// Operations that are lanes of each other, several at a time.
    fn lanes() -> impl Strategy<Value = Vec<SlotOp>> {
        let step = || prop::sample::select(vec![0u32, 1, 1, 1, 2, 3]);
        let operands = (0u32..40, 0u32..40, 0u32..40);
        (op(), operands, (1u32..4, step(), step()), 1u32..9, any::<bool>()).prop_map(
            |(op, (out, x, y), steps, count, is_turned)| {
                let lane = |lane| {
                    let (x, y) = (x + lane * steps.1, y + lane * steps.2);
                    let is_turned = is_turned && lane % 2 == 1 && op.operation != FieldOp::Sub;
                    let (x, y) = if is_turned { (y, x) } else { (x, y) };
                    SlotOp { out: 60 + out + lane * steps.0, x, y, ..op }
                };
                (0..count).map(lane).collect()
            },
        )
    }

    fn check_against_plain(ops: &[SlotOp]) {
        for end in [ANYWHERE, 100] {
            check_within(ops, end);
        }
    }

    /// Blocks that differ in one operation, in length or in where lanes may stride, one after the other, and all of them again.
    fn check_known(ops: &[SlotOp]) {
        let known = Fusions::default();
        let mut blocks = vec![ops.to_vec(), ops[..ops.len() / 2].to_vec(), ops.iter().rev().copied().collect()];
        if let Some((last, others)) = ops.split_last() {
            blocks.push([others, &[SlotOp { out: last.out + 1, ..*last }]].concat());
        }
        for _ in 0..2 {
            for (ops, end) in blocks.iter().flat_map(|ops| [ANYWHERE, 60, 100].map(|end| (ops, end))) {
                assert_eq!(known.well(ops, end), fuse_well(ops, end));
                assert_eq!(Fused { end, known: &known }.instructions(ops), fuse(ops, end).len() as u64);
            }
        }
    }

    fn check_within(ops: &[SlotOp], last: Slot) {
        let order = Order::new(ops);
        let plain: Vec<Vec<FieldInstruction>> = (0..ATTEMPTS).map(|number| plain::attempt(ops, number, last)).collect();
        for (number, plain) in (0..).zip(&plain) {
            let all = |end| attempt(ops, Waiting::new(&order, last), number, end);
            assert_eq!(all(usize::MAX).as_ref(), Some(plain));
            assert_eq!(all(plain.len() + 1).as_ref(), Some(plain));
            assert_eq!(all(plain.len()), None);
        }
        let well = fuse_well(ops, last);
        for instruction in &well {
            let FieldInstruction::Slots { out, x, y, count, .. } = *instruction else { unreachable!() };
            let after = |lanes: Lanes| Slot::from(lanes.index) + Slot::from(lanes.stride) * Slot::from(count);
            assert!(count == 1 || [out, x, y].into_iter().all(|lanes| after(lanes) <= last), "{instruction:?}");
        }
        assert_eq!(Some(well), plain.into_iter().min_by_key(Vec::len));
    }

    proptest! {
        #[test]
        fn what_is_not_searched_anew_is_as_if_it_were(ops in proptest::collection::vec(op(), 0..300)) {
            check_against_plain(&ops);
        }

        #[test]
        fn nor_are_lanes_lost(groups in proptest::collection::vec(lanes(), 0..60)) {
            check_against_plain(&groups.concat());
        }

        #[test]
        fn nor_if_they_come_in_any_order(ops in proptest::collection::vec(lanes(), 0..40).prop_map(|groups| groups.concat()).prop_shuffle()) {
            check_against_plain(&ops);
        }

        #[test]
        fn what_was_fused_before_is_fused_as_anew(groups in proptest::collection::vec(lanes(), 0..12)) {
            check_known(&groups.concat());
        }
    }

    #[test]
    fn a_sum_of_twelve_neighbours_is_one_instruction() {
        let ops: Vec<SlotOp> =
            (0..12).map(|lane| SlotOp { operation: FieldOp::Add, out: lane, x: 20 + lane, y: 40 + lane }).collect();
        assert_eq!(fuse(&ops, ANYWHERE).len(), 1);
        assert_eq!((fuse(&ops, 52).len(), fuse(&ops, 51).len()), (1, 2));
    }
}
