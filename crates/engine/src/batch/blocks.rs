//! The blocks of one code: found from the places at which execution meets field instructions, and grown as far as gas
//! pays for it.
//!
//! A place is the offset of the first instruction of a run. It has the block of that run alone, and superblocks that
//! begin with it, by the words on the stack. Each offset has a mark with its state, so that look-ups are cheap in code
//! with many short blocks. Blocks are never removed while a frame runs the code: replacements are added, and all are
//! freed when the code leaves the cache.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use residue_isa::{PerOp, Revision};
use residue_lanes::Shape;
use revm::bytecode::{Bytecode, JumpTable};
use revm::primitives::U256;

use super::Batching;
use super::block::Block;
use super::budget::{Budget, Counted, bytes_of};
use super::credit::Credit;
use super::explained::BlockExplained;
use super::location::{Facts, Location};
use super::plan::{Known, Order, PlanKey, RowPlan, price};
use super::tuning::{
    BLOCK_BYTES_MAX, CODE_BLOCK_BYTES_MAX, ENTRIES_AS_EXPECTED, ENTRIES_BEFORE_WALK, ENTRIES_BEFORE_WALK_MAX,
    ENTRIES_BESIDE_ROWS, FREE_REPLACED_MAX, OPERATIONS_MAX, OWN_SHARE, PATHS_MAX, PLAN_LIMBS_MIN, PLAN_OPERATIONS_MIN,
    SKIPPED_EARNING_MAX, SKIPPED_PLAIN, TRACE_CYCLES_PER_OPERATION, TRACE_OPERATIONS_MIN,
};
use super::walk::{Walk, Walked};

/// Marks of an offset: unknown, an instruction met, no place, or the number of its place plus one.
const UNKNOWN: u32 = 0;
const MET: u32 = NO_PLACE - 1;
const NO_PLACE: u32 = u32::MAX;
/// Set where the place has a plan, and where it has a scalar trace.
const PLANNED: u32 = 1 << 31;
const TRACED: u32 = 1 << 30;
/// The bits of a place's number and one.
const NUMBER: u32 = TRACED - 1;

/// The blocks of one code.
#[derive(Debug)]
pub(crate) struct Blocks<L: Location> {
    /// The code as it is executed.
    pub code: Bytecode,
    pub batching: Batching,
    pub layout: L::Layout,
    /// The opcodes of arithmetic.
    pub opcodes: PerOp<u8>,
    /// True if the revision has subroutines.
    has_subroutines: bool,
    marks: Box<[AtomicU32]>,
    places: boxcar::Vec<Place>,
    blocks: boxcar::Vec<Box<Block<L>>>,
    pub credit: Credit,
    budget: Budget,
    _counted: Counted,
}

/// Place: an offset where blocks begin. Blocks are stored as their number plus one; 0 is none.
#[derive(Debug)]
pub(crate) struct Place {
    pc: usize,
    run: AtomicU32,
    paths: [AtomicU32; PATHS_MAX],
    /// Entries until it is looked at again. Threads may count two as one: nothing depends on it.
    skipped: AtomicU32,
    /// Entries for words that no path begins with until it is walked again, and how many that were last time.
    until_walk: AtomicU32,
    walk_every: AtomicU32,
    /// Paths that have been replaced, which turns.
    turn: AtomicU8,
}

/// Candidates at a place: a path, if its guards hold, and the run alone.
pub(crate) struct Choices<'a, L: Location> {
    pub path: Option<&'a Block<L>>,
    pub run: &'a Block<L>,
}

/// State at an instruction that could begin a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Due {
    /// True if the transaction still runs plans.
    pub plans_run: bool,
    /// True if growth is free.
    pub is_free: bool,
    /// Cycles that the code's credit has not got yet.
    pub earned: i64,
}

/// The entry of a block that may grow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entered {
    /// Cycles that the gas charged for all of it pays for.
    pub pays: i64,
    /// True if superblocks may run.
    pub joins: bool,
    /// True if growth is free.
    pub is_free: bool,
}

/// Entry to a place.
pub(crate) struct Entry<'a> {
    /// The stack, the top last.
    pub stack: &'a [U256],
    /// True if paths may be passed as one: false if jump targets are probed.
    pub joins: bool,
    /// True if growth is free.
    pub is_free: bool,
}

impl<L: Location> Blocks<L> {
    /// No blocks yet of a code that pays for them; none if it can have none.
    pub fn new(code: Bytecode, revision: Revision, batching: Batching, budget: &Budget) -> Option<Self> {
        let layout = L::layout(code.original_byte_slice(), revision, batching)?;
        let mark = |pc| AtomicU32::new(if L::may_begin(&layout, pc) { UNKNOWN } else { NO_PLACE });
        let marks: Box<[_]> = (0..code.len()).map(mark).collect();
        let bytes = size_of::<Self>() + bytes_of(&code) + size_of_val(&*marks) + L::layout_bytes(&layout);
        let budget = budget.part();
        Some(Self {
            code,
            batching,
            layout,
            opcodes: revision.interface().arithmetic,
            has_subroutines: revision.has_subroutines(),
            marks,
            places: boxcar::Vec::new(),
            blocks: boxcar::Vec::new(),
            credit: Credit::default(),
            _counted: budget.count(bytes),
            budget,
        })
    }

    /// Cycles of making one for a code.
    pub fn price(code_bytes: usize) -> i64 {
        L::LAYOUT_CYCLES_PER_BYTE.saturating_mul(i64::try_from(code_bytes).unwrap_or(i64::MAX))
    }

    /// True if it holds as much memory as one code may.
    pub fn is_full(&self) -> bool {
        self.budget.bytes() > CODE_BLOCK_BYTES_MAX
    }

    /// True if there is work at the instruction at `pc`: a plan, if plans run, a trace, or a check whether the place
    /// can grow. Else the waiting count decreases by one.
    #[inline(always)]
    pub fn is_due(&self, pc: usize, facts: Due, is_beside_rows: impl FnOnce() -> bool) -> bool {
        let Due { plans_run, is_free, earned } = facts;
        let Some(mark) = self.marks.get(pc).map(|mark| mark.load(Ordering::Relaxed)) else { return false };
        if mark >= MET {
            return mark == MET && self.credit.allows_walk(earned);
        }
        if mark & TRACED != 0 || (mark & PLANNED != 0 && plans_run) {
            return true;
        }
        if mark == UNKNOWN {
            // What runs once is not worth a walk.
            self.marks[pc].store(MET, Ordering::Relaxed);
            return self.batching.is_eager() || is_free;
        }
        let Some(place) = self.places.get((mark & NUMBER) as usize - 1) else { return false }; // u32 to usize widens.
        let skipped = place.skipped.load(Ordering::Relaxed);
        if skipped == 0 {
            return true;
        }
        let passed = if is_beside_rows() { ENTRIES_BESIDE_ROWS } else { 1 };
        place.skipped.store(skipped.saturating_sub(passed), Ordering::Relaxed);
        false
    }

    /// True if a place is known at `pc`.
    #[inline(always)]
    pub fn begins(&self, pc: usize) -> bool {
        self.marks.get(pc).is_some_and(|mark| !matches!(mark.load(Ordering::Relaxed), UNKNOWN | MET | NO_PLACE))
    }

    /// The place at `pc`, at an arithmetic instruction, with its run: walked now at the first visit.
    pub fn place(&self, pc: usize, is_free: bool) -> Option<&Place> {
        let mark = self.marks.get(pc)?;
        match mark.load(Ordering::Relaxed) {
            NO_PLACE => return None,
            UNKNOWN | MET => {}
            known => return self.places.get((known & NUMBER) as usize - 1), // u32 to usize widens.
        }
        if !self.has_room() {
            return None;
        }
        let mut inside = Vec::new();
        let found = self.walk(pc, None, &[], is_free, |pc| inside.push(pc))?;
        for mark in inside.into_iter().filter_map(|pc| self.marks.get(pc)) {
            claim(mark, NO_PLACE);
        }
        let min = self.operations_min();
        let Some(run) = found.filter(|run| run.work.operation_count() >= min && run.is_as_priced()) else {
            claim(mark, NO_PLACE);
            return None;
        };
        let place = self.places.push(Place::new(pc, self.add(run)));
        let number = u32::try_from(place + 1).ok().filter(|number| *number < NUMBER)?;
        // Where another thread was faster, this one is never met.
        claim(mark, number).then(|| self.places.get(place)).flatten()
    }

    /// Candidates at a place. If no path begins with the words on the stack, one is searched for from time to time.
    #[inline]
    pub fn choices<'a>(&'a self, place: &Place, entry: &Entry<'_>) -> Option<Choices<'a, L>> {
        let run = self.block(&place.run)?;
        if !L::JOINS || !entry.joins {
            return Some(Choices { path: None, run });
        }
        for path in &place.paths {
            let Some(path) = self.block(path) else { break };
            if path.path.begins_with(entry.stack) {
                if path.entries.fetch_add(1, Ordering::Relaxed) == ENTRIES_AS_EXPECTED {
                    // Words that came once or twice, from whomever, are no reason to wait for ever.
                    place.walk_every.store(ENTRIES_BEFORE_WALK, Ordering::Relaxed);
                }
                // A path of one run says that nothing follows.
                return Some(Choices { path: Some(path).filter(|path| path.path.runs > 1), run });
            }
        }
        Some(Choices { path: self.new_path(place, entry).filter(|path| path.path.runs > 1), run })
    }

    /// The plan of a block, if it is there and pays.
    #[inline]
    pub fn plan<'a>(&self, block: &'a Block<L>, facts: &Facts, shape: Option<Shape>) -> Option<&'a RowPlan<L::Set>> {
        match block.plans.get(self.key(facts, shape)?) {
            Known::Plan(plan) => Some(plan),
            _ => None,
        }
    }

    /// Makes the plan or trace that a block has paid for by entries that found nothing better to run. `shape` is that
    /// of its modulus, evaluated only if a plan could be made. True if there may be a plan now.
    pub fn grow(
        &self,
        place: &Place,
        block: &Block<L>,
        entered: Entered,
        facts: &Facts,
        shape: impl FnOnce() -> Option<Shape>,
    ) -> bool {
        let Entered { pays: entry, is_free, .. } = entered;
        let earned = block.earn(entry);
        block.width_limbs.store(u8::try_from(facts.width_limbs).unwrap_or(u8::MAX), Ordering::Relaxed);
        let worth = |earned: i64| earned.saturating_mul(OWN_SHARE);
        let pays = |price: i64| is_free || worth(earned) >= price;
        let spends = |price: i64| is_free || self.credit.spend(price);
        // What the cheapest thing costs that is not paid for.
        let mut missing = None;
        if block.trace.get().is_none() && self.has_room() {
            let price = trace_price(block);
            if pays(price) && spends(price) {
                block.make_trace(&self.layout, self.wants_trace(block), &self.budget);
                self.note(place, if block.trace().is_some() { TRACED } else { 0 });
            } else {
                missing = Some(price);
            }
        }
        if self.batching.has_plans() && facts.plans_run {
            let price = price(&block.work);
            // A superblock may follow, which makes a plan of its first run worthless.
            let is_walked = is_free || !L::JOINS || !entered.joins || place.paths[0].load(Ordering::Relaxed) != 0;
            if !is_walked || !pays(price) {
                missing = missing.or(Some(price));
            } else if self.has_room()
                && let Some(key) = self.key(facts, shape())
            {
                match block.plans.get(key) {
                    Known::Nothing if spends(price) => self.make_plan(place, block, key),
                    Known::Full if spends(price) => self.replace(place, block),
                    Known::Nothing | Known::Full => missing = missing.or(Some(price)),
                    Known::Plan(_) | Known::Plain => {}
                }
            }
        }
        let skipped = match missing {
            None => SKIPPED_PLAIN,
            Some(price) => {
                let lacking = price - worth(earned).min(self.credit.cycles());
                let entries = lacking.max(0) / worth(entry.max(1));
                let entries = u32::try_from(entries).unwrap_or(u32::MAX).clamp(1, SKIPPED_EARNING_MAX);
                // What is skipped is charged too.
                block.earn(entry.saturating_mul(entries.into()));
                entries
            }
        };
        match self.is_ready(place) {
            true => block.skip(skipped),
            false => place.skip(skipped),
        }
        block.plans.has_any()
    }

    /// True if it is time to check whether an entered block can grow; else the waiting count decreases by one.
    #[inline]
    pub fn may_grow(&self, place: &Place, block: &Block<L>) -> bool {
        // Where nothing is ready, entries have been counted before.
        if self.is_ready(place) { block.is_due() } else { place.skipped.load(Ordering::Relaxed) == 0 }
    }

    /// True if a place has a plan or a trace.
    fn is_ready(&self, place: &Place) -> bool {
        let mark = self.marks.get(place.pc).map_or(UNKNOWN, |mark| mark.load(Ordering::Relaxed));
        mark & (PLANNED | TRACED) != 0
    }

    /// State of each block that is still in use.
    pub fn explain(&self) -> Vec<BlockExplained> {
        let mut places: Vec<&Place> = self.places.iter().map(|(_, place)| place).collect();
        places.sort_by_key(|place| place.pc);
        let blocks = places.into_iter().flat_map(|place| {
            let paths = place.paths.iter().filter_map(|path| self.block(path)).filter(|path| path.path.runs > 1);
            self.block(&place.run).into_iter().chain(paths)
        });
        blocks.map(|block| self.explained(block)).collect()
    }

    /// Number of blocks, plans and traces, replaced ones included: nothing new was learnt while it is constant.
    pub fn made(&self) -> usize {
        let of = |block: &Block<L>| block.plans.found().count() + usize::from(block.trace.get().is_some());
        self.blocks.iter().map(|(_, block)| 1 + of(block)).sum()
    }

    fn explained(&self, block: &Block<L>) -> BlockExplained {
        let plan = block.plans.found().next();
        let has_trace = block.trace().is_some();
        let steps = block.trace().map(|trace| L::trace_size(trace, &block.operations).0);
        let limbs = usize::from(block.width_limbs.load(Ordering::Relaxed));
        BlockExplained::new(block.start..block.path.end, block.path.runs, &block.work, limbs, has_trace, plan, steps)
    }

    /// The path from a stack on, if it is time to look for one and that is paid for.
    #[inline(never)]
    fn new_path<'a>(&'a self, place: &Place, entry: &Entry<'_>) -> Option<&'a Block<L>> {
        let waits = if entry.is_free { 0 } else { place.until_walk.load(Ordering::Relaxed) };
        let is_paid = match entry.is_free {
            // What costs nothing has to end by itself: a place may be met with other words each time.
            true => place.turn.load(Ordering::Relaxed) < FREE_REPLACED_MAX,
            false => self.credit.allows_walk(0),
        };
        let is_due = waits == 0 && is_paid && self.has_room();
        if !is_due {
            place.until_walk.store(waits.saturating_sub(1), Ordering::Relaxed);
            return None;
        }
        let targets = self.code.legacy_jump_table();
        let path = self.walk(place.pc, targets, entry.stack, entry.is_free, |_| ())?;
        if !entry.is_free {
            let every = place.walk_every.load(Ordering::Relaxed);
            place.walk_every.store((every * 2).min(ENTRIES_BEFORE_WALK_MAX), Ordering::Relaxed);
            place.until_walk.store(every, Ordering::Relaxed);
        }
        let path = path.filter(|path| path.is_as_priced())?;
        // What follows on the way need not be walked from every place of it, if all of it runs as one from now on.
        if path.path.runs > 1 && self.wants_trace(&path) && (entry.is_free || self.credit.spend(trace_price(&path))) {
            path.make_trace(&self.layout, true, &self.budget);
        }
        if path.trace().is_some() {
            self.note(place, TRACED);
        }
        let number = self.add(path);
        let free = place.paths.iter().position(|path| path.load(Ordering::Relaxed) == 0);
        let at = free.unwrap_or_else(|| self.least_entered(place));
        place.paths[at].store(number, Ordering::Release);
        place.skip(0);
        self.block(&place.paths[at])
    }

    /// The path of a place that was entered least since the last one was replaced, from another one on each time.
    fn least_entered(&self, place: &Place) -> usize {
        let turn = usize::from(place.turn.fetch_add(1, Ordering::Relaxed));
        let entries =
            |at: usize| self.block(&place.paths[at]).map_or(0, |path| path.entries.swap(0, Ordering::Relaxed));
        let counts: [u32; PATHS_MAX] = core::array::from_fn(entries);
        (0..PATHS_MAX).map(|at| (at + turn) % PATHS_MAX).min_by_key(|&at| counts[at]).unwrap_or(0)
    }

    fn make_plan(&self, place: &Place, block: &Block<L>, key: PlanKey) {
        let order = Order {
            key,
            work: &block.work,
            has_trace: block.trace().is_some(),
            always: self.batching == Batching::Always,
            priced: block.priced,
            budget: &self.budget,
        };
        block.plans.make(&block.operations, &order);
        self.note(place, if block.plans.found().next().is_some() { PLANNED } else { 0 });
    }

    /// Replaces a block whose plans are all for other field contexts by a copy without plans.
    fn replace(&self, place: &Place, block: &Block<L>) {
        let number = self.add(Box::new(block.afresh(&self.budget)));
        for at in core::iter::once(&place.run).chain(&place.paths) {
            if self.block(at).is_some_and(|found| core::ptr::eq(found, block)) {
                at.store(number, Ordering::Release);
            }
        }
    }

    fn key(&self, facts: &Facts, shape: Option<Shape>) -> Option<PlanKey> {
        if facts.width_limbs < PLAN_LIMBS_MIN && self.batching != Batching::Always {
            return None;
        }
        let slot_count = u16::try_from(L::place_count(&self.layout, facts)).ok()?;
        Some(PlanKey { slot_count, shape: shape?, width_limbs: facts.width_limbs })
    }

    fn wants_trace(&self, block: &Block<L>) -> bool {
        let min = if self.batching.is_eager() { 1 } else { TRACE_OPERATIONS_MIN };
        self.batching.has_traces() && L::has_traces(&self.layout) && block.work.operation_count() >= min
    }

    /// Minimum number of operations of a block that gains on this machine.
    fn operations_min(&self) -> u32 {
        match self.batching {
            batching if batching.is_eager() => 1,
            batching if batching.has_plans() => PLAN_OPERATIONS_MIN,
            _ => TRACE_OPERATIONS_MIN,
        }
    }

    /// Walks from the instruction at `pc` on, with the available credit. `None` if the credit does not suffice: then it
    /// is spent, and the next walk waits for twice as much.
    fn walk(
        &self,
        pc: usize,
        targets: Option<&JumpTable>,
        stack: &[U256],
        is_free: bool,
        inside: impl FnMut(usize),
    ) -> Option<Option<Box<Block<L>>>> {
        debug_assert!(pc < self.code.len());
        let cycles_max = if is_free { i64::MAX } else { self.credit.take_for_walk()? };
        let code = self.code.original_byte_slice();
        let walk = Walk {
            code,
            layout: &self.layout,
            targets,
            has_subroutines: self.has_subroutines,
            stack,
            operations_max: OPERATIONS_MAX,
            cycles_max,
        };
        let Walked { block, cycles, has_run_out } = walk.block(pc, &self.budget, inside);
        if !is_free {
            self.credit.end_walk(cycles_max, cycles, has_run_out);
        }
        (!has_run_out).then_some(block)
    }

    #[inline(always)]
    fn block(&self, number: &AtomicU32) -> Option<&Block<L>> {
        let number = number.load(Ordering::Acquire);
        self.blocks.get((number as usize).checked_sub(1)?).map(|block| &**block) // u32 to usize widens.
    }

    /// Adds a block; its number and one.
    fn add(&self, block: Box<Block<L>>) -> u32 {
        let number = self.blocks.push(block) + 1;
        u32::try_from(number).expect("the budget ends far below 2³² blocks")
    }

    fn note(&self, place: &Place, bit: u32) {
        if let Some(mark) = self.marks.get(place.pc) {
            mark.fetch_or(bit, Ordering::Relaxed);
        }
    }

    fn has_room(&self) -> bool {
        !self.is_full() && self.budget.whole_bytes() <= BLOCK_BYTES_MAX
    }
}

impl Place {
    fn new(pc: usize, run: u32) -> Self {
        Self {
            pc,
            run: AtomicU32::new(run),
            paths: Default::default(),
            skipped: AtomicU32::new(0),
            until_walk: AtomicU32::new(ENTRIES_BEFORE_WALK),
            walk_every: AtomicU32::new(ENTRIES_BEFORE_WALK),
            turn: AtomicU8::new(0),
        }
    }

    /// Skips checks for `entries` entries.
    fn skip(&self, entries: u32) {
        self.skipped.store(entries, Ordering::Relaxed);
    }
}

/// Sets the mark of an offset, unless it has a place. True if it was set.
fn claim(mark: &AtomicU32, known: u32) -> bool {
    let say = |mark: u32| matches!(mark, UNKNOWN | MET).then_some(known);
    mark.fetch_update(Ordering::Release, Ordering::Relaxed, say).is_ok()
}

/// Cycles for making the scalar trace of a block.
fn trace_price<L: Location>(block: &Block<L>) -> i64 {
    TRACE_CYCLES_PER_OPERATION * i64::from(block.work.operation_count())
}

#[cfg(test)]
mod tests;
