//! What has not been issued yet, and for each leader the longest progression that is known of it.
//!
//! An issue changes little of what is ready. A progression whose lanes all stay is still its leader's longest one; where a lane is gone, no
//! other one is longer than it was. Of operations that become ready only those progressions are looked at that they are lanes of. So
//! few leaders are searched for anew, and those only if theirs may be as long as the longest of others.

use super::order::Order;
use super::progression::{Progression, Search, SlotBits, Table};
use super::{LEADERS, WINDOW};
use residue_passes::SlotOp;

/// The operations not issued yet.
#[derive(Debug, Clone)]
pub struct Waiting<'a> {
    order: &'a Order<'a>,
    /// For each operation, how many earlier ones must be issued first.
    blockers: Vec<usize>,
    /// Operations with no blocker, oldest first.
    ready: Vec<usize>,
    /// Those of them that may join a run.
    window: Vec<usize>,
    table: Table,
    leaders: Vec<Leader>,
}

/// A ready operation that may lead a run.
#[derive(Debug, Clone)]
struct Leader {
    number: usize,
    known: Known,
}

/// What is known of the longest progression of a leader.
#[derive(Debug, Clone)]
enum Known {
    Nothing,
    /// It has no more lanes than these.
    AtMost(u32),
    /// It is this one, which writes these slots.
    Exactly(Progression, SlotBits),
}

impl Known {
    /// What a search for progressions with at least so many lanes has found.
    fn found(best: Option<Progression>, least: u32) -> Self {
        best.map_or(Self::AtMost(least - 1), |best| Self::Exactly(best, best.out_bits()))
    }

    /// How many lanes it has at most.
    fn lanes_max(&self) -> u32 {
        match self {
            Self::Nothing => u32::MAX,
            Self::AtMost(lanes) => *lanes,
            Self::Exactly(best, _) => best.lanes,
        }
    }
}

impl<'a> Waiting<'a> {
    /// Nothing is issued.
    pub fn new(order: &'a Order<'a>) -> Self {
        let blockers = order.blockers.clone();
        let ready = (0..order.ops.len()).filter(|&number| blockers[number] == 0).collect();
        let mut waiting = Self { order, blockers, ready, window: Vec::new(), table: Table::new(), leaders: Vec::new() };
        waiting.look();
        waiting
    }

    /// How many instructions are needed at least for what is left: of operations that wait for each other one after the other each
    /// needs its own.
    pub fn instructions_min(&self) -> usize {
        self.ready.iter().map(|&number| self.order.heights[number] + 1).max().unwrap_or(0)
    }

    /// The longest progression of ready operations, the most urgent of equals; none if nothing is left. `attempt` is what
    /// chance comes from; there is none for 0.
    pub fn best_run(&mut self, attempt: u64) -> Option<Progression> {
        let exact = |leader: &Leader| match &leader.known {
            Known::Exactly(best, _) => Some(*best),
            _ => None,
        };
        let mut least = self.leaders.iter().filter_map(exact).map(|best| best.lanes).max().unwrap_or(1);
        for Leader { number, known } in &mut self.leaders {
            if !matches!(known, Known::Exactly(..)) && known.lanes_max() >= least {
                let op = &self.order.ops[*number];
                let best = Search::new(&self.table, (op, *number), least, None).all();
                least = best.map_or(least, |best| best.lanes);
                *known = Known::found(best, least);
            }
        }
        let mut best: Option<(Progression, usize)> = None;
        for run in self.leaders.iter().filter_map(exact).filter(|run| run.lanes == least) {
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
        for number in self.table.numbers(run) {
            if let Ok(place) = self.ready.binary_search(&number) {
                self.ready.remove(place);
            }
            for &waiter in self.order.waiters(number) {
                self.blockers[waiter] -= 1;
                if self.blockers[waiter] == 0 {
                    let place = self.ready.partition_point(|&other| other < waiter);
                    self.ready.insert(place, waiter);
                }
            }
        }
        self.look();
    }

    /// Looks at what is ready now.
    fn look(&mut self) {
        let ops = self.order.ops;
        let window = &self.ready[..self.ready.len().min(WINDOW)];
        let mut removed = SlotBits::default();
        for number in missing(&self.window, window) {
            let out = ops[number].out as usize; // u32 to usize widens
            removed[out / 64] |= 1 << (out % 64);
            self.table.remove(&ops[number]);
        }
        let added: Vec<usize> = missing(window, &self.window).collect();
        for &number in &added {
            self.table.add(&ops[number], number);
        }
        self.window.clear();
        self.window.extend(window);

        let mut before = std::mem::take(&mut self.leaders).into_iter().peekable();
        for &number in self.window.iter().take(LEADERS) {
            while before.next_if(|leader| leader.number < number).is_some() {}
            let mut leader =
                before.next_if(|leader| leader.number == number).unwrap_or(Leader { number, known: Known::Nothing });
            leader.update(ops, &self.table, &removed, &added);
            self.leaders.push(leader);
        }
    }
}

impl Leader {
    /// Brings what is known to what is ready now: what wrote the slots `removed` is gone, and `added` have come.
    fn update(&mut self, ops: &[SlotOp], table: &Table, removed: &SlotBits, added: &[usize]) {
        let op = &ops[self.number];
        if let Known::Exactly(best, outs) = &self.known
            && outs.iter().zip(removed).any(|(outs, removed)| outs & removed != 0)
        {
            self.known = Known::AtMost(best.lanes);
        }
        for new in added.iter().map(|&number| &ops[number]).filter(|new| new.operation == op.operation) {
            let (least, best) = match &self.known {
                Known::Nothing => return,
                Known::AtMost(lanes) => (lanes + 1, None),
                Known::Exactly(best, _) => (best.lanes, Some(*best)),
            };
            let found = Search::new(table, (op, self.number), least, best).through(new);
            if found != best {
                self.known = Known::found(found, least);
            }
        }
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
