//! Chains: the operations of a block as a list of steps on limbs, for blocks whose values wait for one another. What each
//! instruction asks by itself, a block asks once, at its entry.
//!
//! Squarings that each square the result of the one before are one step if nothing else reads what lies between, which is
//! overwritten before the block ends: a block that is entered does not halt on the way.

use residue_isa::Arithmetic;
use residue_modular::Step;

use crate::planned::CountedBytes;
use crate::slot_file::SlotSet;

/// The steps of a block.
#[derive(Debug)]
pub(crate) struct Chain {
    pub steps: Box<[Step]>,
    /// The slots that it reads before it writes them.
    pub reads: SlotSet,
    /// The slots that it writes.
    pub writes: SlotSet,
    _bytes: CountedBytes,
}

/// The operations of a block on the way to its chain.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    steps: Vec<Step>,
    /// Whether lanes of an instruction overwrite each other's operands in either order.
    is_impossible: bool,
}

/// The slots of one lane: out, x and y, all below 256.
type Lane = (u16, u16, u16);

impl Draft {
    /// Adds an instruction, whose lanes take effect in turn, or all read before any writes.
    pub fn push(&mut self, operation: Arithmetic, lanes: &[Lane], are_in_turn: bool) {
        if are_in_turn || !reads_after_writes(lanes.iter()) {
            self.steps.extend(lanes.iter().map(|&lane| step(operation, lane)));
        } else if !reads_after_writes(lanes.iter().rev()) {
            self.steps.extend(lanes.iter().rev().map(|&lane| step(operation, lane)));
        } else {
            self.is_impossible = true;
        }
    }

    /// The chain, if there is one.
    pub fn into_chain(self) -> Option<Chain> {
        if self.is_impossible {
            return None;
        }
        let (mut reads, mut writes) = (SlotSet::default(), SlotSet::default());
        // From the last step to the first: the slots whose value is still wanted before and behind the step found last.
        let mut live: SlotSet = (0..SlotSet::CAPACITY).collect();
        let mut live_behind = live;
        let mut steps: Vec<Step> = Vec::with_capacity(self.steps.len());
        for step in self.steps.into_iter().rev() {
            let (out, operands) = slots(step);
            reads.remove(out);
            operands.into_iter().for_each(|slot| reads.insert(slot));
            writes.insert(out);
            if let Step::Square { out: between, x, .. } = step
                && let Some(Step::Square { out: last, x: first, count }) = steps.last_mut()
                && *first == between
                && (*last == between || !live_behind.contains(out))
            {
                *first = x;
                *count += 1;
                live = live_behind;
                live.remove(usize::from(*last));
            } else {
                steps.push(step);
                live_behind = live;
                live.remove(out);
            }
            operands.into_iter().for_each(|slot| live.insert(slot));
        }
        steps.reverse();
        let bytes = CountedBytes::new(size_of_val(&*steps));
        Some(Chain { steps: steps.into(), reads, writes, _bytes: bytes })
    }
}

/// Whether a later lane reads what an earlier one has written.
fn reads_after_writes<'a>(lanes: impl Iterator<Item = &'a Lane>) -> bool {
    let mut written = SlotSet::default();
    let mut reads_written = false;
    for &(out, x, y) in lanes {
        reads_written |= written.contains(usize::from(x)) || written.contains(usize::from(y));
        written.insert(usize::from(out));
    }
    reads_written
}

fn step(operation: Arithmetic, (out, x, y): Lane) -> Step {
    match operation {
        Arithmetic::Add => Step::Add { out, x, y },
        Arithmetic::Sub => Step::Sub { out, x, y },
        Arithmetic::Mul if x == y => Step::Square { out, x, count: 1 },
        Arithmetic::Mul => Step::Mul { out, x, y },
    }
}

/// The slot that a step writes, and those that it reads.
fn slots(step: Step) -> (usize, [usize; 2]) {
    let (out, operands) = match step {
        Step::Add { out, x, y } | Step::Sub { out, x, y } | Step::Mul { out, x, y } => (out, [x, y]),
        Step::Square { out, x, .. } => (out, [x, x]),
    };
    (usize::from(out), operands.map(usize::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(lanes: &[Lane]) -> Chain {
        let mut draft = Draft::default();
        lanes.iter().for_each(|&lane| draft.push(Arithmetic::Mul, &[lane], false));
        draft.into_chain().unwrap()
    }

    #[test]
    fn squarings_are_joined_where_nothing_reads_what_lies_between() {
        let square = |out, x, count| Step::Square { out, x, count };
        assert_eq!(*chain(&[(1, 0, 0), (1, 1, 1), (1, 1, 1)]).steps, [square(1, 0, 3)]);
        // Slot 2 stays when the block ends.
        assert_eq!(*chain(&[(2, 0, 0), (1, 2, 2), (1, 1, 1)]).steps, [square(2, 0, 1), square(1, 2, 2)]);
        // It is read once more, by the product.
        let read = chain(&[(2, 0, 0), (1, 2, 2), (2, 1, 2)]);
        assert_eq!(*read.steps, [square(2, 0, 1), square(1, 2, 1), Step::Mul { out: 2, x: 1, y: 2 }]);
        // It is overwritten, also by a squaring of the same run.
        let overwritten = chain(&[(2, 0, 0), (1, 2, 2), (2, 1, 0)]);
        assert_eq!(*overwritten.steps, [square(1, 0, 2), Step::Mul { out: 2, x: 1, y: 0 }]);
        assert_eq!(*chain(&[(2, 0, 0), (1, 2, 2), (2, 1, 1), (1, 2, 2)]).steps, [square(2, 0, 3), square(1, 2, 1)]);
        assert_eq!(overwritten.reads, [0].into_iter().collect());
        assert_eq!(overwritten.writes, [1, 2].into_iter().collect());
    }

    #[test]
    fn lanes_that_read_first_have_an_order_or_no_chain() {
        let steps = |lanes: &[Lane], are_in_turn| {
            let mut draft = Draft::default();
            draft.push(Arithmetic::Add, lanes, are_in_turn);
            draft.into_chain().map(|chain| chain.steps.to_vec())
        };
        let [first, second] = [(1, 0, 0), (2, 1, 1)];
        let [a, b] = [first, second].map(|lane| step(Arithmetic::Add, lane));
        assert_eq!(steps(&[first, second], true), Some(vec![a, b]));
        assert_eq!(steps(&[first, second], false), Some(vec![b, a]));
        assert_eq!(steps(&[second, first], false), Some(vec![b, a]));
        assert_eq!(steps(&[(1, 0, 0), (2, 1, 1), (0, 5, 5)], false), None);
    }
}
