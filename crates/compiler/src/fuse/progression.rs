//! Progressions among the operations that are ready, and the search for long ones.
//!
//! Both operands of an operation stand in one number, 16 bits each, so that one addition makes a step of both: 255 steps of at
//! most 255 do not carry.

use super::SLOTS;
use residue_passes::{Slot, SlotOp};

/// Lanes that an instruction may have.
const LANES_MAX: u32 = 255;

/// The operands x and y of an operation, x in the upper 16 bits.
type Operands = u32;

/// No operands.
const NONE: Operands = u32::MAX;

/// The bit above each operand.
const ABOVE: u32 = 0x8000_8000;

/// Slots, as bits.
pub type SlotBits = [u64; SLOTS / 64];

/// The operations that are ready and looked at, which all write different slots.
#[derive(Debug, Clone)]
pub struct Table {
    /// For each kind and slot, the operands of the operation that writes it.
    operands: [[Operands; SLOTS]; 3],
    /// The slots that those of each kind write.
    outs: [SlotBits; 3],
    /// For each slot that is written, which operation it is.
    numbers: [usize; SLOTS],
    /// No operand strides beyond this slot after its last lane.
    end: Slot,
}

impl Table {
    /// Nothing is ready. No progression strides beyond `end`.
    pub fn new(end: Slot) -> Self {
        Self { operands: [[NONE; SLOTS]; 3], outs: [[0; SLOTS / 64]; 3], numbers: [0; SLOTS], end }
    }

    /// An operation becomes ready.
    pub fn add(&mut self, op: &SlotOp, number: usize) {
        let (kind, out) = (op.operation as usize, op.out as usize); // u32 to usize widens
        self.operands[kind][out] = operands(op);
        self.outs[kind][out / 64] |= 1 << (out % 64);
        self.numbers[out] = number;
    }

    /// An operation goes.
    pub fn remove(&mut self, op: &SlotOp) {
        let (kind, out) = (op.operation as usize, op.out as usize); // u32 to usize widens
        self.operands[kind][out] = NONE;
        self.outs[kind][out / 64] &= !(1 << (out % 64));
    }

    /// Numbers of the operations that are lanes of a progression.
    pub fn numbers(&self, run: &Progression) -> impl Iterator<Item = usize> + '_ {
        run.outs().map(|out| self.numbers[out as usize]) // u32 to usize widens
    }
}

fn operands(op: &SlotOp) -> Operands {
    op.x << 16 | op.y
}

/// True if operations of a kind are commutative; the kinds are in the order of `FieldOp`.
fn is_symmetric(kind: usize) -> bool {
    kind != residue_isa::FieldOp::Sub as usize
}

/// Slots that a lane writes and reads, or how far they are after those of the lane before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lane {
    out: Slot,
    operands: Operands,
}

impl Lane {
    /// Each slot less that of `other`: the distance of two lanes, or the lane at that distance before. `None` if a
    /// difference is negative.
    #[inline]
    fn less(self, other: Self) -> Option<Self> {
        let operands = (self.operands | ABOVE) - other.operands;
        let out = self.out.checked_sub(other.out).filter(|_| operands & ABOVE == ABOVE)?;
        Some(Self { out, operands: operands & !ABOVE })
    }

    /// The greatest number that divides all three.
    fn divisor(self) -> u32 {
        let divisor = |mut a: u32, mut b: u32| {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        divisor(divisor(self.out, self.operands >> 16), self.operands & 0xffff)
    }

    /// All three divided by a number that divides them.
    fn divided(self, by: u32) -> Self {
        Self { out: self.out / by, operands: self.operands / by }
    }

    /// The lane `count` steps after it.
    #[inline]
    fn step(self, step: Self, count: u32) -> Self {
        Self { out: self.out + count * step.out, operands: self.operands + count * step.operands }
    }

    /// True if all its slots are at most `end`.
    #[inline]
    fn is_within(self, end: Slot) -> bool {
        self.out <= end && self.operands >> 16 <= end && self.operands & 0xffff <= end
    }
}

/// A progression, by its first lane and the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progression {
    /// Number of lanes.
    pub lanes: u32,
    /// Number of the operation that is its first lane.
    pub number: usize,
    kind: usize,
    first: Lane,
    step: Lane,
    /// Neighbour of the leader that determines it.
    mate: Mate,
}

/// An operation as the leader's neighbour: in the order in which the search looks at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Mate {
    out: Slot,
    is_exchanged: bool,
}

impl Progression {
    /// Slots that it writes.
    pub fn outs(&self) -> impl Iterator<Item = Slot> + use<> {
        let Self { first, step, .. } = *self;
        (0..self.lanes).map(move |lane| first.out + lane * step.out)
    }

    /// The same as bits.
    pub fn out_bits(&self) -> SlotBits {
        let mut bits = SlotBits::default();
        for out in self.outs() {
            bits[out as usize / 64] |= 1 << (out % 64); // u32 to usize widens
        }
        bits
    }

    /// For the slots written, for x and for y: the first one, and how far it is to the next.
    pub fn slots(&self) -> [(Slot, Slot); 3] {
        let Self { first, step, .. } = self;
        let low = |operands: Operands| operands & 0xffff;
        [(first.out, step.out), (first.operands >> 16, step.operands >> 16), (low(first.operands), low(step.operands))]
    }
}

/// The search for the longest progression with one operation, the leader, as its first or second lane. Of equally long ones it takes
/// that which begins with the oldest operation; of these the one whose other lane of the two writes the lowest slot.
pub struct Search<'t> {
    table: &'t Table,
    kind: usize,
    leader: Lane,
    number: usize,
    /// The best one.
    pub best: Option<Progression>,
    /// Fewer lanes are not looked for.
    least: u32,
}

impl<'t> Search<'t> {
    /// Search for progressions with at least `least` lanes. `best` is the best one of earlier searches.
    pub fn new(table: &'t Table, (leader, number): (&SlotOp, usize), least: u32, best: Option<Progression>) -> Self {
        let kind = leader.operation as usize;
        let leader = Lane { out: leader.out, operands: operands(leader) };
        Self { table, kind, leader, number, best, least: best.map_or(least, |best| best.lanes) }
    }

    /// Looks at all.
    pub fn all(mut self) -> Option<Progression> {
        if self.least <= 1 {
            let mate = Mate { out: 0, is_exchanged: false };
            let step = Lane { out: 1, operands: 1 << 16 | 1 };
            let (kind, number, first) = (self.kind, self.number, self.leader);
            self.best = Some(Progression { lanes: 1, number, kind, first, step, mate });
        }
        for (word, &bits) in (0..).zip(&self.table.outs[self.kind]) {
            let mut bits = bits;
            while bits != 0 {
                let out = 64 * word + bits.trailing_zeros();
                bits &= bits - 1;
                if out != self.leader.out {
                    self.look_at_both(out);
                }
            }
        }
        self.best
    }

    /// Looks at those that an operation of the leader's kind, which has become ready, is a lane of.
    pub fn through(mut self, new: &SlotOp) -> Option<Progression> {
        self.look_at_both(new.out);
        let as_it_is = operands(new);
        let exchanged = Some(as_it_is.rotate_left(16)).filter(|&other| is_symmetric(self.kind) && other != as_it_is);
        for operands in std::iter::once(as_it_is).chain(exchanged) {
            let new = Lane { out: new.out, operands };
            let Some(distance) = new.less(self.leader).filter(|distance| distance.out > 0) else { continue };
            let divisor = distance.divisor();
            for steps in (1..=divisor).filter(|steps| divisor.is_multiple_of(*steps)) {
                let step = distance.divided(steps);
                if steps > 1 {
                    self.look_at(self.leader.step(step, 1));
                }
                if let Some(before) = self.leader.less(step) {
                    self.look_at(before);
                }
            }
        }
        self.best
    }

    /// Looks at the operation that a lane is, if it is ready.
    fn look_at(&mut self, lane: Lane) {
        if self.has(lane) {
            let is_exchanged = self.table.operands[self.kind][lane.out as usize] != lane.operands; // u32 to usize widens
            if !is_exchanged || self.is_turnable() {
                self.look(lane, is_exchanged);
            }
        }
    }

    /// Looks at the operation that writes `out` as it is, and with its operands exchanged.
    #[inline]
    fn look_at_both(&mut self, out: Slot) {
        let operands = self.table.operands[self.kind][out as usize]; // u32 to usize widens
        self.look(Lane { out, operands }, false);
        if self.is_turnable() && operands.rotate_left(16) != operands {
            self.look(Lane { out, operands: operands.rotate_left(16) }, true);
        }
    }

    /// True if exchanging a mate's operands makes a difference: if the leader's are equal, it gives the same
    /// progression again.
    #[inline]
    fn is_turnable(&self) -> bool {
        is_symmetric(self.kind) && self.leader.operands.rotate_left(16) != self.leader.operands
    }

    /// Looks at the progression that the leader and a mate begin, in the order of the slots they write.
    #[inline]
    fn look(&mut self, mate: Lane, is_exchanged: bool) {
        let (a, b) = if self.leader.out < mate.out { (self.leader, mate) } else { (mate, self.leader) };
        let Some(step) = b.less(a) else { return };
        let lane_of_least = b.step(step, self.least.saturating_sub(2));
        if !self.has(lane_of_least) {
            return; // Too short.
        }
        let (mut lanes, mut next) = (2, b.step(step, 1));
        if !next.is_within(self.table.end) {
            return;
        }
        while lanes < LANES_MAX && self.has(next) && next.step(step, 1).is_within(self.table.end) {
            lanes += 1;
            next = next.step(step, 1);
        }
        if lanes < self.least {
            return;
        }
        let number = self.table.numbers[a.out as usize]; // u32 to usize widens
        let mate = Mate { out: mate.out, is_exchanged };
        let rank = |lanes, number, mate| (std::cmp::Reverse(lanes), number, mate);
        if self.best.is_none_or(|best| rank(lanes, number, mate) < rank(best.lanes, best.number, best.mate)) {
            self.best = Some(Progression { lanes, number, kind: self.kind, first: a, step, mate });
            self.least = lanes;
        }
    }

    /// True if an operation equal to this lane is ready.
    #[inline]
    fn has(&self, lane: Lane) -> bool {
        let Some(&operands) = self.table.operands[self.kind].get(lane.out as usize) else { return false };
        operands == lane.operands || is_symmetric(self.kind) && operands.rotate_left(16) == lane.operands
    }
}
