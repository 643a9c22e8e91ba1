//! Offsets and reductions of words of lanes, placed by intervals.
//!
//! A word is Σ laneₗ·2^(b·l) mod 2²⁵⁶ of integers that may be negative: sums, differences and products with a number act on all lanes at once. What
//! shifts and masks, the quotient of a reduction, needs lanes in [0, 2ᵇ). So each word has an interval that its lanes are in; a multiple of q is added
//! where the lower end is below 0 before a quotient, and a reduction made where the upper end is too large.

use residue_ir::{LaneStep, Lanes};

/// Multiples of q that are tried as what is added to every lane when it is taken.
const OFFSETS_TRIED: u64 = 24;
/// Multiples of q that a beam begins with: those of the cheapest greedy plans.
const STARTS: usize = 3;
/// States that a beam keeps after a step.
const BEAM: usize = 8;
/// Part of its weight that a beam's plan has to save.
const MARGIN: u64 = 16;
/// Gas of an offset where a word is taken, from one source or from several.
const TAKE_OFFSET_GAS: [u64; 2] = [9, 6];
/// Gas of an offset elsewhere, and as much again as its constant of 32 bytes, which does not stand on the stack, is worth.
const OFFSET_GAS: u64 = 6 + 4;
/// Gas of a reduction.
const REDUCE_GAS: u64 = 34;
/// Multiples of q that are added to differences where they are as good as less: few, so that these stand on the stack.
const MULTIPLES: [i128; 8] = [1, 2, 3, 5, 8, 13, 21, 34];
/// The widest shift of a reduction of lanes that are nearly full, after its first one.
const FOLD_SHIFT_MAX: u32 = 48;
/// Bits of what bounds of such a reduction are computed with.
const FOLD_BITS_MAX: u32 = 120;

/// Bounds of all lanes of a word, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interval {
    pub low: i128,
    pub high: i128,
}

/// An estimate of ⌊v / d⌋, for some d: ⌊⌊v / 2^first⌋·factor / 2^shift⌋.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quotient {
    pub first: u32,
    pub factor: u64,
    pub shift: u32,
}

/// The code of a step, part by part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act<'a> {
    /// Numbers below q from calldata, and this multiple of q.
    Take { word: u32, from: &'a [u32], times: u64 },
    /// Numbers of so many bits from scratch memory, and this multiple of q.
    Read { word: u32, from: u32, bits: u32, times: u64 },
    /// v ↦ v + times·q.
    Offset { word: u32, times: u64 },
    /// v ↦ v − h·q for the quotient's h.
    Reduce { word: u32, quotient: Quotient },
    /// (a, b) ↦ (a + r, b − r), or with `is_negative` (a − r, b + r), for r = b·by − h·q.
    Butterfly { low: u32, high: u32, by: u64, is_negative: bool, quotient: Quotient },
    /// (a, b) ↦ (a + b, r) for r = d·by − h·q and d = a − b + times·q, or with `is_negative` d = b − a + times·q.
    Back { low: u32, high: u32, by: u64, is_negative: bool, times: u64, quotient: Quotient },
    /// a ↦ p − h·q for p = a·b modulo x^L − root, whose lanes are b·root − h·q in the part that is multiplied by it.
    Multiply { word: u32, by: u32, root: u64, of_root: Quotient, quotient: Quotient },
    /// v ↦ v − h·q, below times·q, in the word's place; v itself if there is no quotient.
    Leave { word: u32, times: u32, quotient: Option<Quotient> },
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

/// The cheapest plan of those that are greedy, with a multiple of q that is added to each word which is taken; or of a beam search beside them over words that
/// are reduced before a step needs it, if its weight is less by a [`MARGIN`]th, as weights do not know which constants stand on the stack.
pub(super) fn plan(lanes: &Lanes) -> Plan<'_> {
    let greedy = |times| Planner::plan(lanes, times, &[]).map(|(gas, plan)| (gas, times, plan));
    let mut starts: Vec<(u64, u64, Plan<'_>)> = (0..=OFFSETS_TRIED).filter_map(greedy).collect();
    starts.sort_by_key(|&(gas, ..)| gas);
    let of_beam = |&(_, times, _): &(u64, u64, Plan<'_>)| Planner::plan(lanes, times, &beam(lanes, times));
    let searched = starts.iter().take(STARTS).filter_map(of_beam).min_by_key(|&(gas, _)| gas);
    let (greedy, _, plan) = starts.into_iter().next().expect("numbers below q without an offset are in their lanes");
    let mut plan = searched.filter(|(gas, _)| gas + gas / MARGIN < greedy).map_or(plan, |(_, searched)| searched);
    leave_alike(lanes, &mut plan);
    plan
}

/// For each step the words, of two, that are reduced before it, in the cheapest of the plans that a beam has at the end.
fn beam(lanes: &Lanes, times: u64) -> Vec<Early> {
    let Some(first) = Planner::new(lanes, times) else { return Vec::new() };
    let mut states: Vec<(Planner<'_>, Vec<Early>)> = vec![(first, Vec::new())];
    for number in 0..lanes.steps.len() {
        let mut next: Vec<(Planner<'_>, Vec<Early>)> = Vec::new();
        for (planner, early) in &states {
            for choice in Early::of(&lanes.steps[number]) {
                let mut planner = planner.clone();
                planner.numbered_step(number, times, choice);
                planner.acts.clear();
                next.push((planner, [early, &[choice][..]].concat()));
            }
        }
        next.sort_by_cached_key(|(planner, _)| planner.weight());
        next.dedup_by(|one, other| one.0.gas == other.0.gas && one.0.intervals == other.0.intervals);
        next.truncate(BEAM);
        states = next;
    }
    states.into_iter().min_by_key(|(planner, _)| planner.gas).map(|(_, early)| early).unwrap_or_default()
}

/// Of numbers that are left by another shift than that of products, the quotient of the largest ones serves all: its mask stands on the stack once.
fn leave_alike(lanes: &Lanes, plan: &mut Plan<'_>) {
    let quotients = plan.iter_mut().flatten().filter_map(|planned| match &mut planned.act {
        Act::Leave { quotient: Some(quotient), .. } if quotient.shift != lanes.bits / 2 => {
            Some((planned.before[0].1.high, quotient))
        }
        _ => None,
    });
    let quotients: Vec<(i128, &mut Quotient)> = quotients.collect();
    let most = quotients.iter().map(|(high, _)| *high).max();
    let Some(all) = most.and_then(|most| exact(lanes, most)) else { return };
    quotients.into_iter().for_each(|(_, quotient)| *quotient = all);
}

/// The least multiple of q that negated lanes of an interval need.
pub(super) const fn turned_times(lanes: &Lanes, high: i128) -> i128 {
    rounded_up(high, lanes.modulus as i128) // u32 to i128 widens
}

/// ⌈a / b⌉ for a that is not negative.
const fn rounded_up(a: i128, b: i128) -> i128 {
    (a + b - 1) / b
}

/// The words of a step of two that are reduced before it, whether it needs that or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Early {
    first: bool,
    second: bool,
}

impl Early {
    /// Those that are tried.
    fn of(step: &LaneStep) -> impl Iterator<Item = Self> {
        let is_pair = matches!(step, LaneStep::Butterfly { .. } | LaneStep::Back { .. } | LaneStep::Multiply { .. });
        let all = [(false, false), (true, false), (false, true), (true, true)];
        all.into_iter().take(if is_pair { 4 } else { 1 }).map(|(first, second)| Self { first, second })
    }
}

#[derive(Clone)]
struct Planner<'a> {
    lanes: &'a Lanes,
    intervals: Vec<Interval>,
    /// Of the step that is planned.
    acts: Vec<Planned<'a>>,
    gas: u64,
    /// Words are read from scratch memory: these get the offset, and those from calldata none.
    has_reads: bool,
    /// Some step is a butterfly backwards.
    goes_back: bool,
}

/// ±by, a number that lanes are multiplied by, of the least size modulo q, and the factor by which quotients of products with it are estimated.
struct Factor {
    by: i128,
    is_negative: bool,
    shift: u32,
    factor: i128,
    /// The largest number that a lane is multiplied by.
    largest: i128,
}

impl<'a> Planner<'a> {
    /// At the start, with a multiple of q that is added to words that are taken. None if that leaves lanes no room.
    fn new(lanes: &'a Lanes, times: u64) -> Option<Self> {
        let intervals = vec![Interval { low: 0, high: 0 }; lanes.words as usize]; // u32 to usize widens
        let has_reads = lanes.steps.iter().any(|step| matches!(step, LaneStep::Read { .. }));
        let goes_back = lanes.steps.iter().any(|step| matches!(step, LaneStep::Back { .. }));
        let planner = Self { lanes, intervals, acts: Vec::new(), gas: 0, has_reads, goes_back };
        (i128::from(times) * planner.modulus() < planner.roomy()).then_some(planner)
    }

    /// The weight of offsets and reductions, and the plan, with words of steps that are reduced early: of no step without any. None if the offset leaves
    /// lanes no room.
    fn plan(lanes: &'a Lanes, times: u64, early: &[Early]) -> Option<(u64, Plan<'a>)> {
        let mut planner = Self::new(lanes, times)?;
        let mut plan = Vec::new();
        for number in 0..lanes.steps.len() {
            planner.numbered_step(number, times, early.get(number).copied().unwrap_or_default());
            plan.push(std::mem::take(&mut planner.acts));
        }
        Some((planner.gas, plan))
    }

    /// Gas so far, and more for lanes that are wide: what they will cost.
    fn weight(&self) -> (u64, i128) {
        let width = self.intervals.iter().map(|word| word.high - word.low).sum();
        (self.gas, width)
    }

    fn numbered_step(&mut self, number: usize, times: u64, early: Early) {
        let lanes = self.lanes;
        let step = &lanes.steps[number];
        for (word, is_early) in step.words().zip([early.first, early.second]) {
            if is_early && self.interval(word).high >= 2 * self.modulus() {
                self.settle(word, |high| high < 2 * i128::from(lanes.modulus));
            }
        }
        // What a butterfly multiplies may begin at 0. Where others go backwards that costs them more.
        let is_multiplied = |word: u32| {
            let next = lanes.steps[number + 1..].iter().find(|next| next.words().any(|other| other == word));
            matches!(next, Some(LaneStep::Butterfly { high, .. }) if *high == word)
        };
        let is_free = !self.goes_back && matches!(step, LaneStep::Read { word, .. } if is_multiplied(*word));
        self.step(step, if is_free { 0 } else { times });
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
            Act::Take { times: 0, .. }
            | Act::Read { times: 0, .. }
            | Act::Back { times: 0, .. }
            | Act::Leave { quotient: None, .. }
            | Act::Butterfly { .. }
            | Act::Multiply { .. }
            | Act::Put { .. } => 0,
            Act::Take { from, .. } => TAKE_OFFSET_GAS[usize::from(from.len() > 1)],
            Act::Read { .. } => TAKE_OFFSET_GAS[1],
            Act::Offset { .. } | Act::Back { .. } => OFFSET_GAS,
            Act::Reduce { .. } | Act::Leave { .. } => REDUCE_GAS,
        };
        self.acts.push(Planned { act, before, after: after.to_vec() });
    }

    fn step(&mut self, step: &'a LaneStep, times: u64) {
        let (modulus, lanes) = (self.modulus(), self.lanes);
        match step {
            LaneStep::Take { word, from } => {
                let times = if self.has_reads { 0 } else { times };
                let low = i128::from(times) * modulus;
                self.act(Act::Take { word: *word, from, times }, &[(*word, Interval { low, high: low + modulus - 1 })]);
            }
            LaneStep::Read { word, from, bits } => {
                let low = i128::from(times) * modulus;
                let act = Act::Read { word: *word, from: *from, bits: *bits, times };
                self.act(act, &[(*word, Interval { low, high: low + (1 << bits) - 1 })]);
            }
            LaneStep::Butterfly { low, high, by } => self.butterfly(*low, *high, (*by).into()),
            LaneStep::Back { low, high, by } => self.back((*low, *high), (*by).into()),
            LaneStep::Multiply { word, by, root } => self.multiply((*word, *by), (*root).into()),
            LaneStep::Leave { word, times } => {
                let end = i128::from(*times) * modulus;
                self.settle(*word, |high| high < end || exact(lanes, high).is_some());
                let interval = self.interval(*word);
                let quotient = exact(lanes, interval.high).filter(|_| interval.high >= end);
                let act = Act::Leave { word: *word, times: *times, quotient };
                let high = if quotient.is_some() { modulus - 1 } else { interval.high };
                self.act(act, &[(*word, Interval { low: 0, high })]);
            }
            LaneStep::Put { word, to, rows } => {
                let (most, end) = (self.lanes.count() as i128 * (modulus - 1), self.end()); // usize to i128 widens
                self.settle(*word, |high| turned_times(lanes, high) * modulus * most < end);
                let interval = self.interval(*word);
                self.act(Act::Put { word: *word, to: *to, rows, high: interval.high }, &[(*word, interval)]);
            }
        }
    }

    /// A number to multiply by, with what its reduction takes.
    fn factor(&self, by: i128) -> Factor {
        let modulus = self.modulus();
        let is_negative = by > modulus / 2;
        let by = if is_negative { modulus - by } else { by };
        let shift = self.lanes.bits / 2;
        let factor = (by << shift) / modulus;
        Factor { by, is_negative, shift, factor, largest: by.max(factor).max(1) }
    }

    fn butterfly(&mut self, low: u32, high: u32, by: i128) {
        let end = self.end();
        let Factor { by, is_negative, shift, factor, largest } = self.factor(by);
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
        let quotient = Quotient { first: 0, factor: narrow(factor), shift };
        let act = Act::Butterfly { low, high, by: narrow(by), is_negative, quotient };
        let after = if is_negative { [(low, difference), (high, sum)] } else { [(low, sum), (high, difference)] };
        self.act(act, &after);
    }

    fn back(&mut self, (low, high): (u32, u32), by: i128) {
        let (modulus, end) = (self.modulus(), self.end());
        let Factor { by, is_negative, shift, factor, largest } = self.factor(by);
        let multiple = loop {
            let [a, b] = [low, high].map(|word| self.interval(word));
            let (least, most) =
                if is_negative { (b.low - a.high, b.high - a.low) } else { (a.low - b.high, a.high - b.low) };
            let fits = |times: i128| (most + times * modulus) * largest < end;
            let times = rounded_up((-least).max(0), modulus);
            let is_short = (a.high + b.high) - (a.low + b.low) < self.roomy();
            if fits(times) && is_short {
                let rounded = MULTIPLES.into_iter().find(|&other| other >= times);
                let times = rounded.filter(|&other| times > 0 && fits(other)).unwrap_or(times);
                break (times, most + times * modulus);
            }
            // The wider one gets short, or the other one if that is short.
            let is_settled = |word: Interval| word.low >= 0 && word.high < 2 * modulus;
            let a_first = a.high - a.low > b.high - b.low;
            let wider = if is_settled(b) || a_first && !is_settled(a) { low } else { high };
            self.settle(wider, |high| high < 2 * modulus);
        };
        let [a, b] = [low, high].map(|word| self.interval(word));
        let (times, most) = multiple;
        let quotient = Quotient { first: 0, factor: narrow(factor), shift };
        let act = Act::Back { low, high, by: narrow(by), is_negative, times: narrow(times), quotient };
        let sum = Interval { low: a.low + b.low, high: a.high + b.high };
        self.act(act, &[(low, sum), (high, self.reduced(most, by, shift))]);
    }

    fn multiply(&mut self, (word, by): (u32, u32), root: i128) {
        let (modulus, end) = (self.modulus(), self.end());
        let shift = self.lanes.bits / 2;
        let factor = (root << shift) / modulus;
        self.settle(by, |high| 2 * high <= 3 * modulus && high * root.max(factor) < end);
        let b = self.interval(by);
        let largest = b.high.max(self.reduced(b.high, root, shift).high);
        let all = self.lanes.count() as i128 * largest; // usize to i128 widens
        self.settle(word, |high| all * high < end - 1);
        let (quotient, after) = self.fold(all * self.interval(word).high);
        let of_root = Quotient { first: 0, factor: narrow(factor), shift };
        self.act(Act::Multiply { word, by, root: narrow(root), of_root, quotient }, &[(word, after), (by, b)]);
    }

    /// The best reduction of lanes up to `high`, which may be nearly full: the quotient is estimated from their high bits.
    fn fold(&self, high: i128) -> (Quotient, Interval) {
        let (modulus, bits) = (self.modulus(), self.lanes.bits);
        let of = |(first, shift): (u32, u32)| {
            let factor = u64::try_from((1 << (first + shift)) / modulus).ok()?;
            let fits = factor > 0 && (high >> first) * i128::from(factor) < self.end();
            let quotient = Quotient { first, factor, shift };
            fits.then(|| (quotient, reduced_interval(modulus, Interval { low: 0, high }, (1, quotient))))
        };
        let shifts = (1..bits).flat_map(|first| (1..bits.min(FOLD_SHIFT_MAX)).map(move |shift| (first, shift)));
        let is_exact = |&(first, shift): &(u32, u32)| 2 * first + shift <= FOLD_BITS_MAX;
        shifts
            .filter(is_exact)
            .filter_map(of)
            .min_by_key(|(_, after)| after.high)
            .expect("a shift by all bits but one leaves room")
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
            let times = rounded_up((-low).max(0), self.modulus());
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
            fits.then(|| (Quotient { first: 0, factor: narrow(factor), shift }, self.reduced(high, 1, shift)))
        };
        let usual = of(self.lanes.bits / 2).filter(|(_, after)| enough(after.high));
        let best = || (1..self.lanes.bits).filter_map(of).min_by_key(|(_, after)| after.high);
        usual.or_else(best).expect("a lane that is not negative fits its bits, and so does a modulus")
    }
}

/// Bounds of v·by − q·h for the quotient's h and 0 ≤ v. With v = v₁·2^first + v₀ and rest = by·2^(first + shift) − factor·q, its 2^(first + shift)-fold
/// is v·rest + factor·q·v₀ + q·2^first·(v₁·factor mod 2^shift).
pub(super) fn reduced_interval(modulus: i128, v: Interval, (by, quotient): (i128, Quotient)) -> Interval {
    let Quotient { first, factor, shift } = quotient;
    let (factor, both) = (i128::from(factor), first + shift);
    let rest = (by << both) - factor * modulus;
    let spare = factor * modulus * ((1 << first) - 1) + (modulus << first) * ((1 << shift) - 1);
    let (least, most) = ((v.high * rest).min(0), (v.high * rest).max(0) + spare);
    Interval { low: least >> both, high: most >> both }
}

/// The quotient of lanes up to `high` by q itself, if there is one: ⌈2^shift / q⌉ exceeds 2^shift / q by so little that no multiple of q is reached.
pub(super) fn exact(lanes: &Lanes, high: i128) -> Option<Quotient> {
    let of = |shift: u32| {
        let factor = rounded_up(1 << shift, lanes.modulus.into());
        let quotient = Quotient { first: 0, factor: narrow(factor), shift };
        is_exact(lanes, high, quotient).then_some(quotient)
    };
    // The shift of products is preferred, as its mask stands on the stack.
    std::iter::once(lanes.bits / 2).chain(1..lanes.bits).find_map(of)
}

/// True if the quotient is ⌊v / q⌋ for all 0 ≤ v ≤ `high`, and no lane runs over. With factor·q = 2^shift + e and v = h·q + r, the quotient is ⌊h + (r·2^shift + v·e) / (q·2^shift)⌋,
/// which is h if v·e < 2^shift, since r ≤ q − 1.
pub(super) fn is_exact(lanes: &Lanes, high: i128, Quotient { first, factor, shift }: Quotient) -> bool {
    let factor = i128::from(factor);
    let excess = factor * i128::from(lanes.modulus) - (1 << shift);
    first == 0 && excess >= 0 && excess * high < 1 << shift && high * factor < 1 << lanes.bits
}

fn narrow(number: i128) -> u64 {
    u64::try_from(number).expect("it is not negative and fits a lane")
}

#[cfg(test)]
mod tests;
