//! Offsets and reductions of words of lanes, placed by intervals.
//!
//! A word is Σ laneₗ·2^(b·l) mod 2²⁵⁶ of integers that may be negative: sums, differences and products with a number act on all lanes at once. What
//! shifts and masks, the quotient of a reduction, needs lanes in [0, 2ᵇ). So each word has an interval that its lanes are in; a multiple of q is added
//! where the lower end is below 0 before a quotient, and a reduction made where the upper end is too large.

use residue_ir::{LaneStep, Lanes};

/// Multiples of q that are tried as what is added to every lane when it is taken.
const OFFSETS_TRIED: u64 = 24;
/// Gas of an offset where a word is taken, from one source or from several.
const TAKE_OFFSET_GAS: [u64; 2] = [9, 6];
/// Gas of an offset elsewhere, and as much again as its constant of 32 bytes, which does not stand on the stack, is worth.
const OFFSET_GAS: u64 = 6 + 4;
/// Gas of a reduction.
const REDUCE_GAS: u64 = 34;

/// Bounds of all lanes of a word, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interval {
    pub low: i128,
    pub high: i128,
}

/// An estimate of ⌊v / d⌋ from below, for some d: ⌊v·factor / 2^shift⌋.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quotient {
    pub factor: u64,
    pub shift: u32,
}

/// The code of a step, part by part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act<'a> {
    /// Numbers below q from calldata, and this multiple of q.
    Take { word: u32, from: &'a [u32], times: u64 },
    /// v ↦ v + times·q.
    Offset { word: u32, times: u64 },
    /// v ↦ v − h·q for the quotient's h.
    Reduce { word: u32, quotient: Quotient },
    /// (a, b) ↦ (a + r, b − r), or with `is_negative` (a − r, b + r), for r = b·by − h·q.
    Butterfly { low: u32, high: u32, by: u64, is_negative: bool, quotient: Quotient },
    /// The numbers that rows make of the word, whose lanes are not negative, and at most `high`.
    Put { word: u32, to: u32, rows: &'a [Vec<u32>], high: i128 },
}

/// An act, with the intervals of the words that it changes or reads, before and after it.
#[derive(Debug, Clone)]
pub(super) struct Planned<'a> {
    pub act: Act<'a>,
    pub before: Vec<(u32, Interval)>,
    pub after: Vec<(u32, Interval)>,
}

/// For each step its acts.
pub(super) type Plan<'a> = Vec<Vec<Planned<'a>>>;

/// The cheapest plan among those that add the same multiple of q to each word which is taken.
pub(super) fn plan(lanes: &Lanes) -> Plan<'_> {
    let plans = (0..=OFFSETS_TRIED).filter_map(|times| Planner::plan(lanes, times));
    let (_, plan) = plans.min_by_key(|&(gas, _)| gas).expect("numbers below q without an offset are in their lanes");
    plan
}

/// The least multiple of q that negated lanes of an interval need.
pub(super) const fn turned_times(lanes: &Lanes, high: i128) -> i128 {
    let modulus = lanes.modulus as i128; // u32 to i128 widens
    (high + modulus - 1) / modulus
}

struct Planner<'a> {
    lanes: &'a Lanes,
    intervals: Vec<Interval>,
    /// Of the step that is planned.
    acts: Vec<Planned<'a>>,
    gas: u64,
}

impl<'a> Planner<'a> {
    /// The weight of offsets and reductions, and the plan. None if the offset leaves lanes no room.
    fn plan(lanes: &'a Lanes, times: u64) -> Option<(u64, Plan<'a>)> {
        let intervals = vec![Interval { low: 0, high: 0 }; lanes.words as usize]; // u32 to usize widens
        let mut planner = Self { lanes, intervals, acts: Vec::new(), gas: 0 };
        if i128::from(times) * planner.modulus() >= planner.roomy() {
            return None;
        }
        let mut plan = Vec::new();
        for step in &lanes.steps {
            planner.step(step, times);
            plan.push(std::mem::take(&mut planner.acts));
        }
        Some((planner.gas, plan))
    }

    fn modulus(&self) -> i128 {
        self.lanes.modulus.into()
    }

    /// 2ᵇ.
    const fn end(&self) -> i128 {
        1 << self.lanes.bits
    }

    /// Intervals are kept shorter than this: with any offset that makes them begin at 0 they fit a lane.
    const fn roomy(&self) -> i128 {
        self.end() / 4
    }

    const fn interval(&self, word: u32) -> Interval {
        self.intervals.as_slice()[word as usize] // u32 to usize widens
    }

    /// Appends an act that changes words to these intervals.
    fn act(&mut self, act: Act<'a>, after: &[(u32, Interval)]) {
        let before = after.iter().map(|&(word, _)| (word, self.interval(word))).collect();
        for &(word, interval) in after {
            self.intervals[word as usize] = interval; // u32 to usize widens
        }
        self.gas += match act {
            Act::Take { times: 0, .. } | Act::Butterfly { .. } | Act::Put { .. } => 0,
            Act::Take { from, .. } => TAKE_OFFSET_GAS[usize::from(from.len() > 1)],
            Act::Offset { .. } => OFFSET_GAS,
            Act::Reduce { .. } => REDUCE_GAS,
        };
        self.acts.push(Planned { act, before, after: after.to_vec() });
    }

    fn step(&mut self, step: &'a LaneStep, times: u64) {
        let modulus = self.modulus();
        match step {
            LaneStep::Take { word, from } => {
                let low = i128::from(times) * modulus;
                self.act(Act::Take { word: *word, from, times }, &[(*word, Interval { low, high: low + modulus - 1 })]);
            }
            LaneStep::Butterfly { low, high, by } => self.butterfly(*low, *high, (*by).into()),
            LaneStep::Put { word, to, rows } => {
                let (most, end) = (self.lanes.count() as i128 * (modulus - 1), self.end()); // usize to i128 widens
                let lanes = self.lanes;
                self.settle(*word, |high| turned_times(lanes, high) * modulus * most < end);
                let interval = self.interval(*word);
                self.act(Act::Put { word: *word, to: *to, rows, high: interval.high }, &[(*word, interval)]);
            }
        }
    }

    fn butterfly(&mut self, low: u32, high: u32, by: i128) {
        let modulus = self.modulus();
        let is_negative = by > modulus / 2;
        let by = if is_negative { modulus - by } else { by };
        let shift = self.lanes.bits / 2;
        let factor = (by << shift) / modulus;
        let (largest, end) = (by.max(factor).max(1), self.end());
        self.settle(high, |most| most * largest < end);
        let product = self.reduced(self.interval(high).high, by, shift);
        let a = self.interval(low);
        if a.high - a.low + product.high >= self.roomy() {
            let limit = self.roomy() / 2;
            self.settle(low, |most| most < limit);
        }
        let a = self.interval(low);
        let sum = Interval { low: a.low, high: a.high + product.high };
        let difference = Interval { low: a.low - product.high, high: a.high };
        let quotient = Quotient { factor: narrow(factor), shift };
        let act = Act::Butterfly { low, high, by: narrow(by), is_negative, quotient };
        let after = if is_negative { [(low, difference), (high, sum)] } else { [(low, sum), (high, difference)] };
        self.act(act, &after);
    }

    /// v·by − h·q for 0 ≤ v ≤ `high` and h = ⌊v·⌊by·2^shift / q⌋ / 2^shift⌋. With by·2^shift = factor·q + rest, by·v / q exceeds the number that is
    /// rounded down by v·rest / (q·2^shift), so that the result is below q + v·rest / 2^shift.
    fn reduced(&self, high: i128, by: i128, shift: u32) -> Interval {
        let rest = (by << shift) % self.modulus();
        Interval { low: 0, high: ((self.modulus() << shift) + high * rest - 1) >> shift }
    }

    /// Makes lanes of a word not negative, and their upper end one that is `enough`, by an offset and as few reductions as do.
    fn settle(&mut self, word: u32, enough: impl Fn(i128) -> bool) {
        loop {
            let Interval { low, high } = self.interval(word);
            let times = (-low).max(0).div_euclid(self.modulus()) + i128::from((-low).max(0) % self.modulus() > 0);
            let (low, high) = (low + times * self.modulus(), high + times * self.modulus());
            if times > 0 {
                self.act(Act::Offset { word, times: narrow(times) }, &[(word, Interval { low, high })]);
            }
            if enough(high) {
                return;
            }
            let (quotient, after) = self.reduction(high, &enough);
            assert!(after.high < high, "lanes up to {high} modulo {} get no smaller", self.modulus());
            self.act(Act::Reduce { word, quotient }, &[(word, after)]);
        }
    }

    /// The reduction of lanes up to `high` that has the mask of products if that is enough, else the best one.
    fn reduction(&self, high: i128, enough: impl Fn(i128) -> bool) -> (Quotient, Interval) {
        let of = |shift: u32| {
            let factor = (1 << shift) / self.modulus();
            let fits = factor > 0 && high * factor < self.end();
            fits.then(|| (Quotient { factor: narrow(factor), shift }, self.reduced(high, 1, shift)))
        };
        let usual = of(self.lanes.bits / 2).filter(|(_, after)| enough(after.high));
        let best = || (1..self.lanes.bits).filter_map(of).min_by_key(|(_, after)| after.high);
        usual.or_else(best).expect("a lane that is not negative fits its bits, and so does a modulus")
    }
}

fn narrow(number: i128) -> u64 {
    u64::try_from(number).expect("it is not negative and fits a lane")
}

#[cfg(test)]
mod tests;
