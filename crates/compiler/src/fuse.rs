//! Fusing: operations of one kind whose slots form arithmetic progressions become lanes of one strided instruction.
//!
//! Greedy: of the operations that nothing stands in the way of, those that make the longest progression go first, so that
//! one that finds no mate waits for one as long as it can. Gas is by lane, so this saves code and dispatch, not gas.

use crate::allocate::Slot;
use crate::target::SlotOp;
use residue_isa::{Arithmetic, FieldInstruction, Lanes};
use std::collections::{BTreeMap, HashMap};

/// How many ready operations may join a run; more find little more.
const WINDOW: usize = 96;

/// How many ready operations may lead one; more find nothing more on the pairing.
const LEADERS: usize = 24;

/// Instructions that do what `ops` do one after the other.
pub fn fuse(ops: &[SlotOp]) -> Vec<FieldInstruction> {
    let mut waiting = Waiting::new(ops);
    let mut instructions = Vec::new();
    while let Some(run) = waiting.best_run() {
        instructions.push(instruction(&run.iter().map(|&(op, _)| op).collect::<Vec<_>>()));
        for (_, number) in run {
            waiting.issue(number);
        }
    }
    instructions
}

fn instruction(lanes: &[SlotOp]) -> FieldInstruction {
    let index = |slot: Slot| u8::try_from(slot).expect("allocation keeps to 256 slots");
    let operand = |slot: fn(&SlotOp) -> Slot| Lanes {
        index: index(slot(&lanes[0])),
        stride: lanes.get(1).map_or(1, |second| index(slot(second) - slot(&lanes[0]))),
    };
    FieldInstruction::Slots {
        operation: lanes[0].operation,
        out: operand(|op| op.out),
        x: operand(|op| op.x),
        y: operand(|op| op.y),
        count: u8::try_from(lanes.len()).expect("out slots differ, so there are at most 256"),
    }
}

/// The operations not issued yet, with what stands in their way.
struct Waiting<'a> {
    ops: &'a [SlotOp],
    /// For each operation, how many earlier ones must be issued first.
    blockers: Vec<usize>,
    /// For each operation, the later ones that wait for it.
    waiters: Vec<Vec<usize>>,
    /// Operations with no blocker, oldest first.
    ready: Vec<usize>,
}

impl<'a> Waiting<'a> {
    /// An operation waits for the last writer of the slots it reads and writes, and for readers of the slot it writes.
    fn new(ops: &'a [SlotOp]) -> Self {
        let mut blockers = vec![0; ops.len()];
        let mut waiters = vec![Vec::new(); ops.len()];
        let mut writer: HashMap<Slot, usize> = HashMap::new();
        let mut readers: HashMap<Slot, Vec<usize>> = HashMap::new();
        for (number, op) in ops.iter().enumerate() {
            let mut before: Vec<usize> =
                [op.x, op.y, op.out].iter().filter_map(|slot| writer.get(slot).copied()).collect();
            before.extend(readers.get(&op.out).into_iter().flatten().copied().filter(|&reader| reader != number));
            before.sort_unstable();
            before.dedup();
            blockers[number] = before.len();
            for earlier in before {
                waiters[earlier].push(number);
            }
            readers.insert(op.out, Vec::new());
            writer.insert(op.out, number);
            for slot in [op.x, op.y] {
                readers.entry(slot).or_default().push(number);
            }
        }
        let ready = (0..ops.len()).filter(|&number| blockers[number] == 0).collect();
        Self { ops, blockers, waiters, ready }
    }

    fn issue(&mut self, number: usize) {
        self.ready.retain(|&other| other != number);
        for waiter in std::mem::take(&mut self.waiters[number]) {
            self.blockers[waiter] -= 1;
            if self.blockers[waiter] == 0 {
                let place = self.ready.partition_point(|&other| other < waiter);
                self.ready.insert(place, waiter);
            }
        }
    }

    /// The longest progression of ready operations, the oldest of equals; none if nothing is left.
    fn best_run(&self) -> Option<Vec<(SlotOp, usize)>> {
        let runs = self.ready.iter().take(LEADERS).map(|&leader| self.longest_run(leader));
        runs.reduce(|best, run| if run.len() > best.len() { run } else { best })
    }

    /// The longest progression with `leader` in it as its first or second lane, as (lane, number).
    fn longest_run(&self, leader: usize) -> Vec<(SlotOp, usize)> {
        let first = self.ops[leader];
        let mates: Vec<usize> = self.ready.iter().copied().take(WINDOW).collect();
        let by_out: BTreeMap<Slot, usize> = mates
            .iter()
            .filter(|&&mate| self.ops[mate].operation == first.operation)
            .map(|&mate| (self.ops[mate].out, mate))
            .collect();
        let mut best = vec![(first, leader)];
        for &mate in by_out.values().filter(|&&mate| mate != leader) {
            for a in turned(first) {
                for b in turned(self.ops[mate]) {
                    let run = if a.out < b.out {
                        self.extend((a, leader), (b, mate), &by_out)
                    } else {
                        self.extend((b, mate), (a, leader), &by_out)
                    };
                    let better = run.len() > best.len() || (run.len() == best.len() && run[0].1 < best[0].1);
                    if run.len() > 1 && better {
                        best = run;
                    }
                }
            }
        }
        best
    }

    /// The progression that begins with `a` and `b`, or only `a` if they do not make one.
    fn extend(&self, a: (SlotOp, usize), b: (SlotOp, usize), by_out: &BTreeMap<Slot, usize>) -> Vec<(SlotOp, usize)> {
        let step = |from: Slot, to: Slot| to.checked_sub(from).filter(|step| *step < 256);
        let (Some(out), Some(x), Some(y)) = (step(a.0.out, b.0.out), step(a.0.x, b.0.x), step(a.0.y, b.0.y)) else {
            return vec![a];
        };
        let mut run = vec![a, b];
        while run.len() < 255 {
            let (last, _) = run[run.len() - 1];
            let Some(&next) = by_out.get(&(last.out + out)) else { break };
            let fits = |op: &SlotOp| op.x == last.x + x && op.y == last.y + y;
            let Some(lane) = turned(self.ops[next]).into_iter().find(fits) else { break };
            run.push((lane, next));
        }
        run
    }
}

/// The operation as it is and, where that is the same, with its operands exchanged.
fn turned(op: SlotOp) -> Vec<SlotOp> {
    match op.operation {
        Arithmetic::Sub => vec![op],
        Arithmetic::Add | Arithmetic::Mul => vec![op, SlotOp { x: op.y, y: op.x, ..op }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Slots as numbers mod a small prime; enough to tell orders apart.
    fn apply(operation: Arithmetic, x: u64, y: u64) -> u64 {
        match operation {
            Arithmetic::Add => (x + y) % 1_000_003,
            Arithmetic::Sub => (x + 1_000_003 - y) % 1_000_003,
            Arithmetic::Mul => x * y % 1_000_003,
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
        (prop::sample::select(Arithmetic::ALL.to_vec()), 0u32..24, 0u32..24, 0u32..24)
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
            let mut slots = start;
            run(&fuse(&ops), &mut slots);
            prop_assert_eq!(slots, expected);
        }
    }

    #[test]
    fn a_sum_of_twelve_neighbours_is_one_instruction() {
        let ops: Vec<SlotOp> =
            (0..12).map(|lane| SlotOp { operation: Arithmetic::Add, out: lane, x: 20 + lane, y: 40 + lane }).collect();
        assert_eq!(fuse(&ops).len(), 1);
    }
}
