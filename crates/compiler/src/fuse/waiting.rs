//! Operations not issued yet, with the longest known progression of each leader.
//!
//! An issue changes few ready operations. A progression whose lanes all remain is still its leader's longest one; if a
//! lane is gone, the other progressions are no longer than it was. Newly ready operations only require a look at the
//! progressions that they are lanes of. So few leaders need a new search, and those only if theirs may be as long as
//! the longest of the others.

use super::order::Order;
use super::progression::{Progression, Search, SlotBits, Table};
use super::{LEADERS, WINDOW};
use residue_passes::{Slot, SlotOp};

/// The operations not issued yet.
#[derive(Debug, Clone)]
pub struct Waiting<'a> {
    order: &'a Order<'a>,
    /// For each operation, how many earlier ones must be issued first.
    blockers: Vec<usize>,
    /// Operations with no blocker, oldest first: the first ones, as many as the window has, may join a run.
    ready: Vec<usize>,
    /// Those that may join a run.
    table: Table,
    /// For each operation the knowledge about it as a leader, and the number of issues at its time.
    known: Vec<(Known, usize)>,
    /// Number of issued runs.
    issues: usize,
    /// Room for the window before the last issue.
    window: Vec<usize>,
    /// Room for the operations that the last issue has removed from the window, and for those that have come into it.
    changes: [Vec<usize>; 2],
}

/// Knowledge about the longest progression of a leader.
#[derive(Debug, Clone)]
enum Known {
    Nothing,
    /// It has no more lanes than these.
    AtMost(u32),
    /// It is this one, which writes these slots.
    Exactly(Progression, SlotBits),
}

impl Known {
    /// Result of a search for progressions with at least `least` lanes.
    fn found(best: Option<Progression>, least: u32) -> Self {
        best.map_or(Self::AtMost(least - 1), |best| Self::Exactly(best, best.out_bits()))
    }

    /// Upper bound of its number of lanes.
    fn lanes_max(&self) -> u32 {
        match self {
            Self::Nothing => u32::MAX,
            Self::AtMost(lanes) => *lanes,
            Self::Exactly(best, _) => best.lanes,
        }
    }

    /// Marks the operations that wrote these slots as no longer ready.
    fn remove(&mut self, removed: &SlotBits) {
        if let Self::Exactly(best, outs) = self
            && outs.iter().zip(removed).any(|(outs, removed)| outs & removed != 0)
        {
            *self = Self::AtMost(best.lanes);
        }
    }

    /// An operation of the leader's kind has become ready, which the table has already.
    fn add(&mut self, leader: (&SlotOp, usize), table: &Table, new: &SlotOp) {
        let (least, best) = match self {
            Self::Nothing => return,
            Self::AtMost(lanes) => (*lanes + 1, None),
            Self::Exactly(best, _) => (best.lanes, Some(*best)),
        };
        let found = Search::new(table, leader, least, best).through(new);
        if found != best {
            *self = Self::found(found, least);
        }
    }
}

impl<'a> Waiting<'a> {
    /// Nothing is issued. No progression strides beyond `end`.
    pub fn new(order: &'a Order<'a>, end: Slot) -> Self {
        let blockers = order.blockers.clone();
        let ready: Vec<usize> = (0..order.ops.len()).filter(|&number| blockers[number] == 0).collect();
        let mut table = Table::new(end);
        for &number in ready.iter().take(WINDOW) {
            table.add(&order.ops[number], number);
        }
        let known = vec![(Known::Nothing, 0); order.ops.len()];
        Self { order, blockers, ready, table, known, issues: 0, window: Vec::new(), changes: Default::default() }
    }

    /// Lower bound of the number of instructions for the remaining operations: each operation of a dependence chain
    /// needs its own.
    pub fn instructions_min(&self) -> usize {
        self.ready.iter().map(|&number| self.order.heights[number] + 1).max().unwrap_or(0)
    }

    /// The longest progression of ready operations, the most urgent of equals; none if nothing is left. `attempt` seeds
    /// random choices; 0 makes none.
    pub fn best_run(&mut self, attempt: u64) -> Option<Progression> {
        let leaders = &self.ready[..self.ready.len().min(LEADERS)];
        let exact = |known: &[(Known, usize)], leader: usize| match &known[leader].0 {
            Known::Exactly(best, _) => Some(*best),
            _ => None,
        };
        let known = leaders.iter().filter_map(|&leader| exact(&self.known, leader));
        let mut least = known.map(|best| best.lanes).max().unwrap_or(1);
        for &number in leaders {
            let (known, _) = &mut self.known[number];
            if !matches!(known, Known::Exactly(..)) && known.lanes_max() >= least {
                let best = Search::new(&self.table, (&self.order.ops[number], number), least, None).all();
                least = best.map_or(least, |best| best.lanes);
                *known = Known::found(best, least);
            }
        }
        let mut best: Option<(Progression, usize)> = None;
        for run in leaders.iter().filter_map(|&leader| exact(&self.known, leader)).filter(|run| run.lanes == least) {
            let urgency = self.urgency(&run, attempt);
            if best.is_none_or(|(_, urgency_of_best)| urgency > urgency_of_best) {
                best = Some((run, urgency));
            }
        }
        best.map(|(run, _)| run)
    }

    /// In eighths, how many operations wait for a lane of `run` one after the other; by chance up to one and a half more.
    fn urgency(&self, run: &Progression, attempt: u64) -> usize {
        let heights: usize = self.table.numbers(run).map(|number| self.order.heights[number]).sum();
        // Knuth's multiplicative hash; its upper bits are the good ones.
        let hash = (attempt * (run.number as u64 + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15); // usize to u64 widens
        8 * heights / run.lanes as usize + 4 * (hash >> 62) as usize // u32 to usize widens; two bits
    }

    /// The lanes of a run are done.
    pub fn issue(&mut self, run: &Progression) {
        self.window.clear();
        self.window.extend(self.ready.iter().take(WINDOW));
        let was_whole = self.ready.len() <= WINDOW;
        let [removed, added] = &mut self.changes;
        removed.clear();
        added.clear();
        removed.extend(self.table.numbers(run));
        for &number in &*removed {
            if let Ok(place) = self.ready.binary_search(&number) {
                self.ready.remove(place);
            }
            for &waiter in self.order.waiters(number) {
                self.blockers[waiter] -= 1;
                if self.blockers[waiter] == 0 {
                    let place = self.ready.partition_point(|&other| other < waiter);
                    self.ready.insert(place, waiter);
                    added.push(waiter);
                }
            }
        }
        if !was_whole || self.ready.len() > WINDOW {
            let window = &self.ready[..self.ready.len().min(WINDOW)];
            removed.clear();
            removed.extend(missing(&self.window, window));
            added.clear();
            added.extend(missing(window, &self.window));
        }
        self.look();
    }

    /// Updates the knowledge about leaders to the ready operations.
    fn look(&mut self) {
        let ops = self.order.ops;
        let [removed, added] = &self.changes;
        let mut slots = SlotBits::default();
        for &number in removed {
            let out = ops[number].out as usize; // u32 to usize widens
            slots[out / 64] |= 1 << (out % 64);
            self.table.remove(&ops[number]);
        }
        for &number in added {
            self.table.add(&ops[number], number);
        }
        for &leader in self.ready.iter().take(LEADERS) {
            let (known, issues) = &mut self.known[leader];
            if *issues == self.issues {
                known.remove(&slots);
                for &new in added.iter().filter(|&&new| ops[new].operation == ops[leader].operation) {
                    known.add((&ops[leader], leader), &self.table, &ops[new]);
                }
            } else {
                *known = Known::Nothing; // It was no leader before.
            }
            *issues = self.issues + 1;
        }
        self.issues += 1;
    }
}

/// Those of `numbers` that `others` have not; both ascend.
fn missing<'s>(numbers: &'s [usize], others: &'s [usize]) -> impl Iterator<Item = usize> + 's {
    let mut others = others.iter().peekable();
    numbers.iter().copied().filter(move |number| {
        while others.next_if(|other| *other < number).is_some() {}
        others.next_if(|other| *other == number).is_none()
    })
}
