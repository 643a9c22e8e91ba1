//! Fusing as it is meant: every leader is searched for its longest progression before every issue.

use super::{LEADERS, SLOTS, WINDOW};
use residue_isa::{FieldInstruction, FieldOp, Lanes};
use residue_passes::{Slot, SlotOp};

/// One attempt; nothing strides beyond `end`.
pub fn attempt(ops: &[SlotOp], attempt: u64, end: Slot) -> Vec<FieldInstruction> {
    all(Waiting { attempt, end, ..Waiting::new(ops) })
}

/// Issues all that waits.
fn all(mut waiting: Waiting<'_>) -> Vec<FieldInstruction> {
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

/// Operations not issued yet, with their dependences.
#[derive(Debug, Clone)]
struct Waiting<'a> {
    ops: &'a [SlotOp],
    /// For each operation, how many earlier ones must be issued first.
    blockers: Vec<usize>,
    /// For each operation, the later ones that wait for it.
    waiters: Vec<Vec<usize>>,
    /// Operations with no blocker, oldest first.
    ready: Vec<usize>,
    /// For each operation, how many others wait for it one after the other.
    heights: Vec<usize>,
    /// Seed of random choices; 0 for none.
    attempt: u64,
    /// No operand strides beyond this slot after its last lane.
    end: Slot,
}

impl<'a> Waiting<'a> {
    /// An operation waits for the last writer of the slots it reads and writes, and for readers of the slot it writes.
    fn new(ops: &'a [SlotOp]) -> Self {
        let mut blockers = vec![0; ops.len()];
        let mut waiters: Vec<Vec<usize>> = vec![Vec::new(); ops.len()];
        let mut writer: [Option<usize>; SLOTS] = [None; SLOTS];
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); SLOTS];
        let mut before: Vec<usize> = Vec::new();
        for (number, op) in ops.iter().enumerate() {
            let [x, y, out] = [op.x, op.y, op.out].map(|slot| slot as usize); // u32 to usize widens
            before.clear();
            before.extend([x, y, out].iter().filter_map(|&slot| writer[slot]));
            before.append(&mut readers[out]);
            before.sort_unstable();
            before.dedup();
            blockers[number] = before.len();
            for &earlier in &before {
                waiters[earlier].push(number);
            }
            writer[out] = Some(number);
            readers[x].push(number);
            readers[y].push(number);
        }
        let ready = (0..ops.len()).filter(|&number| blockers[number] == 0).collect();
        let mut heights = vec![0; ops.len()];
        for number in (0..ops.len()).rev() {
            heights[number] = waiters[number].iter().map(|&waiter| heights[waiter] + 1).max().unwrap_or(0);
        }
        Self { ops, blockers, waiters, ready, heights, attempt: 0, end: Slot::MAX }
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

    /// The longest progression of ready operations, the most urgent of equals; none if nothing is left.
    fn best_run(&self) -> Option<Vec<(SlotOp, usize)>> {
        let kinds = FieldOp::ALL.map(|kind| Ready::new(self.ops, kind, self.ready.iter().take(WINDOW)));
        let mut best: Option<(Progression, &Ready, usize)> = None;
        for &leader in self.ready.iter().take(LEADERS) {
            let ready = &kinds[self.ops[leader].operation as usize];
            let least = best.as_ref().map_or(1, |(best, ..)| best.lanes);
            let Some(run) = self.longest_run(leader, ready, least) else { continue };
            let urgency = self.urgency(&run, ready);
            if best
                .as_ref()
                .is_none_or(|(best, _, urgency_of_best)| (run.lanes, urgency) > (best.lanes, *urgency_of_best))
            {
                best = Some((run, ready, urgency));
            }
        }
        best.map(|(run, ready, _)| self.lanes(&run, ready).collect())
    }

    /// In eighths, how many operations wait for a lane of `run` one after the other; by chance up to one and a half more.
    fn urgency(&self, run: &Progression, ready: &Ready) -> usize {
        let heights: usize = self.lanes(run, ready).map(|(_, number)| self.heights[number]).sum();
        // Knuth's multiplicative hash; its upper bits are the good ones.
        let hash = (self.attempt * (run.first.1 as u64 + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15); // usize to u64 widens
        8 * heights / run.lanes + 4 * (hash >> 62) as usize // two bits
    }

    /// The longest progression with `leader` in it as its first or second lane, of the operations of its kind that are ready; none
    /// if it has fewer than `least` lanes.
    fn longest_run(&self, leader: usize, ready: &Ready, least: usize) -> Option<Progression> {
        let leader = (self.ops[leader], leader);
        let mut best = (least <= 1).then_some(Progression { first: leader, second: None, lanes: 1 });
        let mut to_reach = least;
        for &mate in ready.numbers.iter().filter(|&&mate| mate != leader.1) {
            let as_it_is = (self.ops[mate], mate);
            // With its operands exchanged, where that is the same; if the leader's are, that is this progression once more.
            let exchanged =
                turned(as_it_is.0).filter(|op| op.x != op.y && leader.0.x != leader.0.y).map(|op| (op, mate));
            for mate in std::iter::once(as_it_is).chain(exchanged) {
                let (a, b) = if leader.0.out < mate.0.out { (leader, mate) } else { (mate, leader) };
                let Some(steps) = Steps::between(&a.0, &b.0) else { continue };
                let after = Slot::try_from(to_reach.saturating_sub(2)).expect("there are at most 256 lanes");
                if ready.with_out(b.0.out + after * steps.out).is_none() {
                    continue; // Too short.
                }
                let lanes = 2 + self.after(b.0, steps, ready).take(LANES_MAX - 2).count();
                let is_within = |lanes: &usize| {
                    let count = Slot::try_from(*lanes).expect("there are at most 256 lanes");
                    [a.0.out + count * steps.out, a.0.x + count * steps.x, a.0.y + count * steps.y]
                        .iter()
                        .all(|&slot| slot <= self.end)
                };
                let Some(lanes) = (2..=lanes).rev().find(is_within) else { continue };
                let is_better = |best: &Progression| lanes > best.lanes || lanes == best.lanes && a.1 < best.first.1;
                if lanes >= to_reach && best.as_ref().is_none_or(is_better) {
                    best = Some(Progression { first: a, second: Some((b, steps)), lanes });
                    to_reach = lanes;
                }
            }
        }
        best
    }

    /// The lanes of a progression, as (lane, number).
    fn lanes<'s>(&'s self, run: &Progression, ready: &'s Ready) -> impl Iterator<Item = (SlotOp, usize)> + 's {
        let others = run.lanes.saturating_sub(2);
        let rest = run.second.into_iter().flat_map(move |(second, steps)| {
            std::iter::once(second).chain(self.after(second.0, steps, ready).take(others))
        });
        std::iter::once(run.first).chain(rest)
    }

    /// The lanes after `last` with these steps from each to the next.
    #[inline]
    fn after<'s>(
        &'s self,
        mut last: SlotOp,
        steps: Steps,
        ready: &'s Ready,
    ) -> impl Iterator<Item = (SlotOp, usize)> + 's {
        std::iter::from_fn(move || {
            let next = ready.with_out(last.out + steps.out)?;
            let (x, y) = (last.x + steps.x, last.y + steps.y);
            let op = self.ops[next];
            let fits = (op.x == x && op.y == y) || (is_symmetric(op) && op.x == y && op.y == x);
            last = SlotOp { x, y, ..op };
            fits.then_some((last, next))
        })
    }
}

/// The operations of a kind that are ready.
struct Ready {
    /// Their numbers, by the slots that they write.
    numbers: Vec<usize>,
    /// For each slot, the index in `numbers` of its writer plus one; 0 if there is none.
    by_out: [u8; SLOTS],
}

impl Ready {
    fn new<'a>(ops: &[SlotOp], kind: FieldOp, ready: impl Iterator<Item = &'a usize>) -> Self {
        let mut numbers: Vec<usize> = ready.copied().filter(|&number| ops[number].operation == kind).collect();
        numbers.sort_unstable_by_key(|&number| ops[number].out);
        let mut by_out = [0; SLOTS];
        for (place, &number) in numbers.iter().enumerate() {
            // u32 to usize widens; there are no more than `WINDOW`.
            by_out[ops[number].out as usize] = place as u8 + 1;
        }
        Self { numbers, by_out }
    }

    /// The operation that writes a slot.
    #[inline]
    fn with_out(&self, slot: Slot) -> Option<usize> {
        let place = *self.by_out.get(slot as usize)?; // u32 to usize widens.
        usize::from(place).checked_sub(1).map(|place| self.numbers[place])
    }
}

/// A progression by its first lanes; the rest follows.
struct Progression {
    first: (SlotOp, usize),
    second: Option<((SlotOp, usize), Steps)>,
    lanes: usize,
}

/// Lanes that an instruction may have.
const LANES_MAX: usize = 255;

/// Distances from the slots of a lane to those of the next lane.
#[derive(Debug, Clone, Copy)]
struct Steps {
    out: Slot,
    x: Slot,
    y: Slot,
}

impl Steps {
    /// None if they do not fit a byte each.
    fn between(from: &SlotOp, to: &SlotOp) -> Option<Self> {
        let step = |from: Slot, to: Slot| to.checked_sub(from).filter(|step| *step < 256);
        Some(Self { out: step(from.out, to.out)?, x: step(from.x, to.x)?, y: step(from.y, to.y)? })
    }
}

/// True if its operands may be exchanged.
fn is_symmetric(op: SlotOp) -> bool {
    op.operation != FieldOp::Sub
}

/// The operation with its operands exchanged, where that is the same.
fn turned(op: SlotOp) -> Option<SlotOp> {
    is_symmetric(op).then_some(SlotOp { x: op.y, y: op.x, ..op })
}
