//! Scalar traces: the operations of a block as a list of steps on limbs, for blocks whose values wait for one another.
//! Checks of each instruction are done once for the block, at its entry.
//!
//! Squarings that each square the result of the one before are one step if nothing else reads the results between,
//! which are overwritten before the block ends: an entered block does not halt on the way.

use alloc::boxed::Box;
use alloc::vec::Vec;

use residue_lanes::{FieldOp, Fp6Op, Op, SlotBlock, SumOp};
use residue_modular::{ShortStrided, SlotLanes, SlotStep, Strided};

use super::index_set::SlotSet;

/// The steps of a block on slots.
#[derive(Debug)]
pub(crate) struct ScalarTrace {
    pub steps: Box<[SlotStep]>,
    /// Sums of products and products in Fp2 or Fp6, each with the number of steps before it.
    pub sums: Box<[(usize, Fused)]>,
    /// The slots that it reads before it writes them.
    pub reads: SlotSet,
    /// The slots that it writes.
    pub writes: SlotSet,
}

/// Several operations that one kernel executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fused {
    /// A sum of products, or a product in Fp2.
    Sum(SumOp),
    /// A product in Fp6.
    Fp6(Fp6Op),
}

impl ScalarTrace {
    /// The trace of operations on slots below 256; none if lanes of an instruction overwrite each other's operands in either order.
    pub fn of(operations: &SlotBlock) -> Option<Self> {
        let mut steps: Vec<Step> = Vec::with_capacity(operations.ops().len());
        let (mut sums, mut at, mut sum_end) = (operations.sums().peekable(), 0, 0);
        let mut sixes = operations.products_in_fp6().peekable();
        for lanes in operations.instructions() {
            let place = at;
            at += lanes.len();
            if let Some((sum, range)) = sums.next_if(|(_, range)| range.start == place) {
                steps.push(Step::Fused(Fused::Sum(*sum)));
                sum_end = range.end;
            }
            if let Some((product, range)) = sixes.next_if(|(_, range)| range.start == place) {
                steps.push(Step::Fused(Fused::Fp6(*product)));
                sum_end = range.end;
            }
            // What makes zero for copies, which are a step by themselves.
            if place < sum_end || lanes[0].out == SlotBlock::ZERO {
                continue;
            }
            if !reads_after_writes(lanes.iter()) {
                match in_lanes(lanes) {
                    Some(step) => steps.push(Step::Plain(step)),
                    None => steps.extend(lanes.iter().map(step).map(Step::Plain)),
                }
            } else if !reads_after_writes(lanes.iter().rev()) {
                steps.extend(lanes.iter().rev().map(step).map(Step::Plain));
            } else {
                return None;
            }
        }
        Some(Self::joined(steps))
    }

    /// With squarings joined.
    fn joined(all: Vec<Step>) -> Self {
        let (mut reads, mut writes) = (SlotSet::default(), SlotSet::default());
        // From the last step to the first: the slots whose value is still wanted before and after the step found last.
        let mut live: SlotSet = (0..SlotSet::CAPACITY).collect();
        let mut live_after = live;
        let mut steps: Vec<Step> = Vec::with_capacity(all.len());
        for step in all.into_iter().rev() {
            step.for_each_written(|out| {
                reads.remove(out);
                writes.insert(out);
            });
            step.for_each_read(|slot| reads.insert(slot));
            if let Step::Plain(SlotStep::Square { out: between, x, .. }) = step
                && let Some(Step::Plain(SlotStep::Square { out: last, x: first, count })) = steps.last_mut()
                && *first == between
                && (*last == between || !live_after.contains(between.into()))
            {
                *first = x;
                *count += 1;
                live = live_after;
                live.remove(usize::from(*last));
            } else {
                steps.push(step);
                live_after = live;
                step.for_each_written(|out| live.remove(out));
            }
            step.for_each_read(|slot| live.insert(slot));
        }
        let (mut plain, mut sums) = (Vec::with_capacity(steps.len()), Vec::new());
        for step in steps.into_iter().rev() {
            match step {
                Step::Plain(step) => plain.push(step),
                Step::Fused(fused) => sums.push((plain.len(), fused)),
            }
        }
        Self { steps: plain.into(), sums: sums.into(), reads, writes }
    }
}

/// A step, or an operation between steps.
#[derive(Debug, Clone, Copy)]
enum Step {
    Plain(SlotStep),
    Fused(Fused),
}

impl Step {
    fn for_each_written(self, mut each: impl FnMut(usize)) {
        match self {
            Step::Plain(step) => slots(step).for_each(|[out, _, _]| each(out)),
            Step::Fused(Fused::Sum(sum)) => sum.outs().for_each(|out| each(out.into())),
            Step::Fused(Fused::Fp6(product)) => product.out.iter().for_each(|&out| each(out.into())),
        }
    }

    fn for_each_read(self, mut each: impl FnMut(usize)) {
        match self {
            Step::Plain(step) => slots(step).for_each(|[_, x, y]| [x, y].into_iter().for_each(&mut each)),
            Step::Fused(Fused::Sum(sum)) => sum.slots().iter().flatten().for_each(|&slot| each(slot.into())),
            Step::Fused(Fused::Fp6(product)) => {
                product.x.iter().chain(&product.y).for_each(|&slot| each(slot.into()));
            }
        }
    }
}

/// True if a later lane reads a result of an earlier one.
fn reads_after_writes<'a>(lanes: impl Iterator<Item = &'a Op>) -> bool {
    let mut written = SlotSet::default();
    let mut reads_written = false;
    for &Op { out, x, y, .. } in lanes {
        // What copies add is no slot.
        let y = if y == SlotBlock::ZERO { x } else { y };
        reads_written |= written.contains(usize::from(x)) || written.contains(usize::from(y));
        written.insert(usize::from(out));
    }
    reads_written
}

fn step(&Op { kind, out, x, y }: &Op) -> SlotStep {
    match kind {
        FieldOp::Add if y == SlotBlock::ZERO => SlotStep::Copy { out, x, count: 1 },
        FieldOp::Add => SlotStep::Add { out, x, y },
        FieldOp::Sub => SlotStep::Sub { out, x, y },
        FieldOp::Mul if x == y => SlotStep::Square { out, x, count: 1 },
        FieldOp::Mul => SlotStep::Mul { out, x, y },
    }
}

/// Fewer lanes are steps of their own.
const LANES_MIN: usize = 8;

/// Lanes as one step: several of one operation, their results next to each other, as are their operands, or one for all.
fn in_lanes(lanes: &[Op]) -> Option<SlotStep> {
    let [first, second, ..] = lanes else { return None };
    if first.y == SlotBlock::ZERO {
        let is_near = lanes.windows(2).all(|pair| (pair[0].out + 1, pair[0].x + 1) == (pair[1].out, pair[1].x));
        let count = u16::try_from(lanes.len()).ok()?;
        return is_near.then_some(SlotStep::Copy { out: first.out, x: first.x, count });
    }
    if lanes.len() < LANES_MIN {
        return None;
    }
    let operand = |slot: fn(&Op) -> u16| {
        let index = u8::try_from(slot(first)).ok()?;
        let stride = u8::try_from(slot(second).checked_sub(slot(first))?).ok()?;
        let at = |lane: usize| usize::from(index) + lane * usize::from(stride);
        let is_even = lanes.iter().enumerate().all(|(lane, op)| usize::from(slot(op)) == at(lane));
        is_even.then_some(ShortStrided { index, stride })
    };
    let (out, x, y) = (operand(|op| op.out)?, operand(|op| op.x)?, operand(|op| op.y)?);
    let count = u8::try_from(lanes.len()).ok()?;
    let is_near = out.stride == 1 && x.stride <= 1 && y.stride <= 1;
    let step = match first.kind {
        FieldOp::Add => SlotStep::AddLanes,
        FieldOp::Sub => SlotStep::SubLanes,
        FieldOp::Mul => SlotStep::MulLanes,
    };
    (is_near && lanes.iter().all(|op| op.kind == first.kind)).then(|| step(SlotLanes { out, x, y, count }))
}

/// The slots of each lane of a step: that which it writes, and those that it reads.
fn slots(step: SlotStep) -> impl Iterator<Item = [usize; 3]> {
    let one = |out: u16, x: u16, y: u16| ([out, x, y].map(|slot| Strided { index: slot.into(), stride: 0 }), 1);
    let (lanes, count) = match step {
        SlotStep::Add { out, x, y } | SlotStep::Sub { out, x, y } | SlotStep::Mul { out, x, y } => one(out, x, y),
        SlotStep::Square { out, x, .. } => one(out, x, x),
        SlotStep::Copy { out, x, count } => {
            ([out, x, x].map(|slot| Strided { index: slot.into(), stride: 1 }), usize::from(count))
        }
        SlotStep::AddLanes(lanes) | SlotStep::SubLanes(lanes) | SlotStep::MulLanes(lanes) => {
            (lanes.strided(), usize::from(lanes.count))
        }
    };
    (0..count).map(move |lane| lanes.map(|operand| operand.slot(lane)))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Lane = (u16, u16, u16);

    fn trace(lanes: &[Lane]) -> ScalarTrace {
        let mut block = SlotBlock::new(8);
        lanes.iter().for_each(|&lane| block.push_lanes(FieldOp::Mul, [lane]).unwrap());
        ScalarTrace::of(&block).unwrap()
    }

    #[test]
    fn squarings_are_joined_where_nothing_reads_what_lies_between() {
        let square = |out, x, count| SlotStep::Square { out, x, count };
        assert_eq!(*trace(&[(1, 0, 0), (1, 1, 1), (1, 1, 1)]).steps, [square(1, 0, 3)]);
        // Slot 2 stays when the block ends.
        assert_eq!(*trace(&[(2, 0, 0), (1, 2, 2), (1, 1, 1)]).steps, [square(2, 0, 1), square(1, 2, 2)]);
        // It is read once more, by the product.
        let read = trace(&[(2, 0, 0), (1, 2, 2), (2, 1, 2)]);
        assert_eq!(*read.steps, [square(2, 0, 1), square(1, 2, 1), SlotStep::Mul { out: 2, x: 1, y: 2 }]);
        // It is overwritten, also by a squaring of the same run.
        let overwritten = trace(&[(2, 0, 0), (1, 2, 2), (2, 1, 0)]);
        assert_eq!(*overwritten.steps, [square(1, 0, 2), SlotStep::Mul { out: 2, x: 1, y: 0 }]);
        assert_eq!(*trace(&[(2, 0, 0), (1, 2, 2), (2, 1, 1), (1, 2, 2)]).steps, [square(2, 0, 3), square(1, 2, 1)]);
        assert_eq!(overwritten.reads, [0].into_iter().collect());
        assert_eq!(overwritten.writes, [1, 2].into_iter().collect());
    }

    /// Eight lanes or more whose results are next to each other, as are their operands or one for all.
    #[test]
    fn lanes_next_to_each_other_are_one_step() {
        let trace = |count: u16, [out, x, y]: [(u16, u16); 3]| {
            let mut block = SlotBlock::new(256);
            let at = |(index, stride): (u16, u16), lane: u16| index + stride * lane;
            let lanes = (0..count).map(|lane| (at(out, lane), at(x, lane), at(y, lane)));
            block.push_lanes(FieldOp::Sub, lanes).unwrap();
            ScalarTrace::of(&block).unwrap()
        };
        let found = trace(9, [(10, 1), (1, 0), (240, 1)]);
        let short = |index, stride| ShortStrided { index, stride };
        let lanes = SlotLanes { out: short(10, 1), x: short(1, 0), y: short(240, 1), count: 9 };
        assert_eq!(*found.steps, [SlotStep::SubLanes(lanes)]);
        assert_eq!(found.reads, (240..249).chain([1]).collect());
        assert_eq!(found.writes, (10..19).collect());
        // A lane that reads what it writes itself reads what was there before.
        assert_eq!(trace(8, [(1, 1), (1, 1), (0, 0)]).steps.len(), 1);
        // Too few, and some that are further apart.
        assert_eq!(trace(7, [(10, 1), (1, 0), (240, 1)]).steps.len(), 7);
        assert_eq!(trace(8, [(10, 2), (1, 0), (240, 1)]).steps.len(), 8);
        assert_eq!(trace(8, [(10, 1), (1, 0), (200, 3)]).steps.len(), 8);
    }

    /// A sum stands between steps, reads before it writes, and keeps squarings that it reads between from being joined.
    #[test]
    fn sums_stand_between_steps() {
        let mut block = SlotBlock::new(8);
        let sum = SumOp::new(1, [(true, [1, 2]), (false, [3, 1])]);
        block.push_lanes(FieldOp::Mul, [(1, 0, 0)]).unwrap();
        block.push_sum(sum).unwrap();
        block.push_lanes(FieldOp::Mul, [(1, 1, 1)]).unwrap();
        block.push_lanes(FieldOp::Add, [(4, 1, 5)]).unwrap();
        let trace = ScalarTrace::of(&block).unwrap();
        let square = |out, x| SlotStep::Square { out, x, count: 1 };
        assert_eq!(*trace.steps, [square(1, 0), square(1, 1), SlotStep::Add { out: 4, x: 1, y: 5 }]);
        let [(1, Fused::Sum(found))] = *trace.sums else { panic!("{:?}", trace.sums) };
        assert!(found.out == 1 && found.products().eq(sum.products()));
        assert_eq!(trace.reads, [0, 2, 3, 5].into_iter().collect());
        assert_eq!(trace.writes, [1, 4].into_iter().collect());
    }

    #[test]
    fn copies_are_steps_and_neighbours_one_step() {
        let steps = |lanes: &[(u16, u16)]| {
            let mut block = SlotBlock::new(256);
            block.push_copies(lanes.iter().copied()).unwrap();
            ScalarTrace::of(&block).map(|trace| (trace.steps.to_vec(), trace.reads, trace.writes))
        };
        let copy = |out, x, count| SlotStep::Copy { out, x, count };
        let set = |slots: &[usize]| slots.iter().copied().collect::<SlotSet>();
        assert_eq!(steps(&[(5, 1)]), Some((vec![copy(5, 1, 1)], set(&[1]), set(&[5]))));
        assert_eq!(steps(&[(5, 1), (6, 2), (7, 3)]), Some((vec![copy(5, 1, 3)], set(&[1, 2, 3]), set(&[5, 6, 7]))));
        // Downwards in place, upwards in the other order, and a swap, which has none.
        assert_eq!(steps(&[(1, 2), (2, 3)]).unwrap().0, [copy(1, 2, 2)]);
        assert_eq!(steps(&[(2, 1), (3, 2)]).unwrap().0, [copy(3, 2, 1), copy(2, 1, 1)]);
        assert_eq!(steps(&[(1, 2), (2, 1)]), None);
        assert_eq!(steps(&[(5, 1), (7, 2)]).unwrap().0, [copy(5, 1, 1), copy(7, 2, 1)]);
    }

    #[test]
    fn lanes_that_read_first_have_an_order_or_no_trace() {
        let steps = |lanes: &[Lane], are_in_turn: bool| {
            let mut block = SlotBlock::new(8);
            match are_in_turn {
                true => lanes.iter().for_each(|&lane| block.push_lanes(FieldOp::Add, [lane]).unwrap()),
                false => block.push_lanes(FieldOp::Add, lanes.iter().copied()).unwrap(),
            }
            ScalarTrace::of(&block).map(|trace| trace.steps.to_vec())
        };
        let [first, second] = [(1, 0, 0), (2, 1, 1)];
        let [a, b] = [first, second].map(|(out, x, y)| SlotStep::Add { out, x, y });
        assert_eq!(steps(&[first, second], true), Some(vec![a, b]));
        assert_eq!(steps(&[first, second], false), Some(vec![b, a]));
        assert_eq!(steps(&[second, first], false), Some(vec![b, a]));
        assert_eq!(steps(&[(1, 0, 0), (2, 1, 1), (0, 5, 5)], false), None);
    }
}
