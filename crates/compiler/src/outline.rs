//! Outlining: stretches of instructions that code repeats become subroutines, and ends that it repeats become one, where the bytes that this spares
//! are worth more than the gas that it takes ([`Deployment`]).
//!
//! Stretches are items between labels and jumps, so they are the same instructions with the same operands. A subroutine is entered with the return
//! address on top of the stack; words that it takes or gives change places with that address, one SWAP each, and copies from below it reach one word
//! deeper. Where the revision has CALLSUB the return address is not on the stack. A repeated end, a stretch up to a jump or a return, stays at one of
//! its places, and the others jump there. Choices are greedy: the stretch that spares most comes first.
//!
//! Judge: [`expansion`] expands every call again, and compares with the code as it was.

mod expansion;
mod repeats;

use crate::build::{Built, Listing};
use crate::dialect::Deployment;
use crate::error::CompileError;
use crate::heights::HEIGHT_MAX;
use crate::lower::{CallGas, Filled};
use crate::words::prices::EvmGas;
use foldhash::{HashMap, HashMapExt, HashSet};
use repeats::{Repeat, repeats};
use residue_isa::assembly::{Assembly, Item, LabelId};
use residue_isa::opcode::evm;
use residue_isa::opcode::subroutine::{CALLSUB, ENTERSUB, RETURNSUB};
use residue_isa::{FieldInstruction, GasSchedule, Revision};
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::{Range, RangeInclusive};

/// Words by which calls make the stack higher: return address and subroutine.
pub(crate) const CALL_WORDS: usize = 2;

/// Words that a subroutine may take, and give.
const SWAPPED_MAX: usize = 8;
/// Lengths of a repeat that are tried.
const LENGTHS_TRIED: usize = 16;

/// Effect of an item on the stack and on control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Plain {
        pops: usize,
        pushes: usize,
    },
    /// DUP1 is 1.
    Dup(usize),
    /// SWAP1 is 1.
    Swap(usize),
    /// Control does not go on.
    Ends,
    /// It stays where it is.
    Fixed,
}

/// The effect of each item; JUMPI is plain if it goes to `fail`, where the stack no longer matters.
fn steps(items: &[Item], revision: Revision, fail: LabelId) -> Vec<Step> {
    let is_immediate = |at: usize| {
        let before = at.checked_sub(1).map(|before| &items[before]);
        matches!(before, Some(Item::Op(opcode)) if has_immediate(revision, *opcode))
    };
    let fails = |at: usize| match at.checked_sub(1).map(|before| &items[before]) {
        Some(Item::PushLabel(label)) => *label == fail,
        Some(Item::PushDistances { to, from }) => *to == fail && from.len() == 1,
        _ => false,
    };
    let step = |at: usize| match &items[at] {
        Item::Op(evm::JUMPI) if fails(at) => Step::Plain { pops: 2, pushes: 0 },
        Item::Op(opcode) => of_opcode(revision, *opcode),
        Item::Push(_) | Item::PushBytes(_) | Item::PushLabel(_) | Item::PushDistances { .. } => {
            Step::Plain { pops: 0, pushes: 1 }
        }
        Item::Field(FieldInstruction::Formed(formed)) => {
            let row = formed.form().row();
            Step::Plain { pops: row.words.len(), pushes: row.pushes.into() }
        }
        Item::Field(_) => Step::Plain { pops: 0, pushes: 0 },
        Item::Data(bytes) if !bytes.is_empty() && !is_immediate(at) && revision.bytes_at(bytes) == bytes.len() => {
            let row = revision.own_row_at(bytes);
            row.map_or(Step::Fixed, |row| Step::Plain { pops: row.pops.into(), pushes: row.pushes.into() })
        }
        Item::Data(_) | Item::Label(_) | Item::Mark(_) => Step::Fixed,
    };
    (0..items.len()).map(step).collect()
}

/// True if the bytes of an opcode's immediate follow it.
fn has_immediate(revision: Revision, opcode: u8) -> bool {
    let written: Vec<u8> = revision.opcode_bytes(opcode).collect();
    revision.bytes_at(&written) > written.len()
}

fn of_opcode(revision: Revision, opcode: u8) -> Step {
    match opcode {
        evm::DUP1..=evm::DUP16 => Step::Dup(usize::from(opcode - evm::DUP1) + 1),
        evm::SWAP1..=evm::SWAP16 => Step::Swap(usize::from(opcode - evm::SWAP1) + 1),
        evm::JUMP | evm::STOP | evm::RETURN | evm::REVERT | evm::INVALID => Step::Ends,
        evm::JUMPI | evm::JUMPDEST => Step::Fixed,
        CALLSUB | ENTERSUB | RETURNSUB if revision.has_subroutines() => Step::Fixed,
        _ if has_immediate(revision, opcode) => Step::Fixed,
        _ => revision
            .row(opcode)
            .map_or(Step::Fixed, |row| Step::Plain { pops: row.pops.into(), pushes: row.pushes.into() }),
    }
}

/// Words at the top of the stack that a stretch takes or changes, and those that it leaves in their place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    takes: usize,
    gives: usize,
}

impl Shape {
    /// That of a stretch that does not end control.
    fn of(steps: &[Step]) -> Self {
        let (mut height, mut lowest) = (0isize, 0isize);
        for step in steps {
            let [pops, pushes] = match *step {
                Step::Plain { pops, pushes } => [pops, pushes],
                Step::Dup(_) => [0, 1],
                Step::Swap(depth) => [depth + 1, depth + 1],
                Step::Ends | Step::Fixed => [0, 0],
            };
            lowest = lowest.min(height - pops as isize); // at most 17
            height += pushes as isize - pops as isize;
        }
        Self { takes: lowest.unsigned_abs(), gives: (height - lowest).unsigned_abs() }
    }

    /// The body of a subroutine whose return address lies below the words that it takes; none where a copy reaches too deep.
    fn below(self, items: &[Item], steps: &[Step]) -> Option<Vec<Item>> {
        let mut height = 0isize;
        let mut body = Vec::with_capacity(items.len());
        for (item, step) in items.iter().zip(steps) {
            match *step {
                Step::Dup(depth) => {
                    let below = depth as isize - 1 - height; // at most 16
                    let depth = depth + usize::from(below >= self.takes as isize); // at most SWAPPED_MAX
                    let opcode = u8::try_from(depth - 1).ok().map(|above| evm::DUP1 + above);
                    body.push(Item::Op(opcode.filter(|opcode| *opcode <= evm::DUP16)?));
                    height += 1;
                }
                Step::Plain { pops, pushes } => {
                    body.push(item.clone());
                    height += pushes as isize - pops as isize;
                }
                _ => body.push(item.clone()),
            }
        }
        Some(body)
    }
}

/// A stretch and the places from which it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shared {
    length: usize,
    /// Items at which it begins, ascending; of an end the first stays.
    starts: Vec<usize>,
    /// Body of the subroutine; none for an end.
    body: Option<Vec<Item>>,
}

/// Gas and bytes of a call, of a jump to an end, and of a subroutine's target.
#[derive(Debug, Clone, Copy)]
struct Prices {
    has_subroutines: bool,
    /// By CALLSUB, or by two jumps.
    call: f64,
    swap: f64,
    jump: f64,
    target: f64,
}

/// Bytes of a push of a label and JUMP.
const JUMP_BYTES: usize = 4;

impl Prices {
    fn of(schedule: &GasSchedule, revision: Revision) -> Self {
        let EvmGas { push, jump, target, swap, .. } = EvmGas::of(schedule);
        let has_subroutines = revision.has_subroutines();
        let by_jumps = (2 * (push + jump + target)) as f64; // far below 2⁵³
        let call = if has_subroutines { CallGas::of(schedule).call() } else { by_jumps };
        let [swap, jump, target] = [swap, push + jump + target, target].map(|gas| gas as f64); // far below 2⁵³
        Self { has_subroutines, call, swap, jump, target }
    }

    /// Bytes of a call.
    fn call_bytes(&self) -> usize {
        // A push and CALLSUB; two pushes, a jump and a target.
        if self.has_subroutines { 4 } else { 2 * JUMP_BYTES }
    }
}

/// Code that is being outlined.
struct Outline<'a> {
    items: &'a [Item],
    steps: Vec<Step>,
    runs: &'a [f64],
    bytes_before: Vec<usize>,
    is_taken: Vec<bool>,
    prices: Prices,
    /// Gas that a byte is worth.
    worth: f64,
}

impl Outline<'_> {
    fn bytes(&self, start: usize, length: usize) -> usize {
        self.bytes_before[start + length] - self.bytes_before[start]
    }

    /// The best that can be made of a repeat now, and the gas that it is worth.
    fn shared(&self, starts: &[usize], lengths: RangeInclusive<usize>) -> Option<(f64, Shared)> {
        let &first = starts.first()?;
        if self.items[first] == Item::Op(evm::JUMPI) {
            return None;
        }
        for length in lengths.rev().take(LENGTHS_TRIED) {
            let steps = &self.steps[first..first + length];
            let bytes = self.bytes(first, length);
            if steps.last() == Some(&Step::Ends) {
                return self.end(starts, length, bytes);
            }
            let items = &self.items[first..first + length];
            let shape = if self.prices.has_subroutines { Shape { takes: 0, gives: 0 } } else { Shape::of(steps) };
            if shape.takes.max(shape.gives) > SWAPPED_MAX {
                continue;
            }
            let body = if self.prices.has_subroutines { Some(items.to_vec()) } else { shape.below(items, steps) };
            if let Some(body) = body {
                return self.subroutine((starts, length, bytes), shape, body);
            }
        }
        None
    }

    /// The places that nothing else has taken and where each spares more than its gas, without overlap.
    fn places(&self, starts: &[usize], length: usize, spared_bytes: f64, gas: f64) -> Vec<usize> {
        let mut end = 0;
        let mut places = Vec::new();
        for &start in starts {
            let is_free = start >= end && !self.is_taken[start..start + length].contains(&true);
            if is_free && self.worth * spared_bytes > self.runs[start] * gas {
                places.push(start);
                end = start + length;
            }
        }
        places
    }

    fn gas(&self, places: &[usize], gas: f64) -> f64 {
        places.iter().map(|&start| self.runs[start] * gas).sum()
    }

    fn subroutine(
        &self,
        (starts, length, bytes): (&[usize], usize, usize),
        shape: Shape,
        mut body: Vec<Item>,
    ) -> Option<(f64, Shared)> {
        let swaps = shape.takes + shape.gives;
        let gas = self.prices.call + self.prices.swap * swaps as f64; // at most 16
        let spared_bytes = bytes.checked_sub(self.prices.call_bytes())? as f64; // far below 2⁵³
        let places = self.places(starts, length, spared_bytes, gas);
        // The target, and the jump back.
        let body_bytes = (bytes + swaps + 2) as f64; // far below 2⁵³
        let spared = self.worth * (places.len() as f64 * spared_bytes - body_bytes) - self.gas(&places, gas);
        let swap = |depth: usize| Item::Op(evm::SWAP1 + u8::try_from(depth - 1).expect("at most SWAPPED_MAX"));
        body.splice(0..0, (1..=shape.takes).rev().map(swap));
        body.extend((1..=shape.gives).map(swap));
        (places.len() > 1 && spared > 0.0).then_some((spared, Shared { length, starts: places, body: Some(body) }))
    }

    fn end(&self, starts: &[usize], length: usize, bytes: usize) -> Option<(f64, Shared)> {
        let spared_bytes = bytes.checked_sub(JUMP_BYTES)? as f64; // far below 2⁵³
        let mut places = self.places(starts, length, spared_bytes, self.prices.jump);
        // It stays where it runs most often.
        let most = |&one: &usize, &other: &usize| self.runs[places[one]].total_cmp(&self.runs[places[other]]);
        let host = (0..places.len()).max_by(most)?;
        let stays = places.remove(host);
        let of_host = self.worth + self.runs[stays] * self.prices.target;
        let spared = self.worth * places.len() as f64 * spared_bytes - self.gas(&places, self.prices.jump) - of_host;
        let is_worth = !places.is_empty() && spared > 0.0;
        places.insert(0, stays);
        is_worth.then_some((spared, Shared { length, starts: places, body: None }))
    }

    /// The item after the first end of control outside of bodies of one length.
    fn first_end(&self, listing: &Listing) -> usize {
        let bodies = || listing.filled.iter().flat_map(|filled| &filled.bodies);
        let is_outside = |item: &usize| !bodies().any(|body| (body.start..=body.end).contains(item));
        let mut ends = (0..self.items.len()).filter(|&item| self.steps[item] == Step::Ends);
        ends.find(is_outside).map_or(0, |end| end + 1)
    }

    /// All that is shared, the stretches that spare most first.
    fn choose(&mut self, repeats: &[Repeat], at: &[usize]) -> Vec<Shared> {
        let places: Vec<Vec<usize>> =
            repeats.iter().map(|repeat| repeat.starts.iter().map(|&start| at[start]).collect()).collect();
        let lengths = |repeat: &Repeat| repeat.shared_by_more + 1..=repeat.length;
        // In thousandths of gas, which orders them as numbers do.
        let key = |spared: f64| (spared * 1000.0) as u64;
        let mut heap: BinaryHeap<(u64, usize)> = BinaryHeap::new();
        for (number, repeat) in repeats.iter().enumerate() {
            if let Some((spared, _)) = self.shared(&places[number], lengths(repeat)) {
                heap.push((key(spared), number));
            }
        }
        let mut chosen = Vec::new();
        while let Some((_, number)) = heap.pop() {
            let Some((spared, shared)) = self.shared(&places[number], lengths(&repeats[number])) else { continue };
            if heap.peek().is_some_and(|&(next, _)| next > key(spared)) {
                heap.push((key(spared), number));
                continue;
            }
            for &start in &shared.starts {
                self.is_taken[start..start + shared.length].fill(true);
            }
            chosen.push(shared);
        }
        chosen
    }
}

/// Code with calls in place of stretches.
#[derive(Debug)]
pub(crate) struct Outlined {
    pub listing: Listing,
    /// New index of each item that is still in its place.
    pub moved: Vec<Option<usize>>,
    /// Items of subroutines of the last round.
    pub subroutines: Range<usize>,
    /// Words by which calls make the stack higher.
    pub call_words: usize,
}

impl Outlined {
    /// Field instructions of subroutines.
    pub fn shared_fields(&self) -> usize {
        let in_place: HashSet<usize> = self.moved.iter().flatten().copied().collect();
        let items = self.listing.assembly.items().iter().enumerate();
        items.filter(|(place, item)| matches!(item, Item::Field(_)) && !in_place.contains(place)).count()
    }
}

impl Listing {
    /// Expected gas of the opcodes that have a price here in one call of the contract.
    pub fn gas(&self, prices: &EvmGas) -> f64 {
        let price = |item: &Item| match item {
            Item::Op(opcode) => prices.price(*opcode),
            Item::Push(_) | Item::PushBytes(_) | Item::PushLabel(_) | Item::PushDistances { .. } => prices.push,
            Item::Label(_) => prices.target,
            Item::Mark(_) | Item::Field(_) | Item::Data(_) => 0,
        };
        self.runs.iter().zip(self.assembly.items()).map(|(runs, item)| runs * price(item) as f64).sum() // far below 2⁵³
    }
}

/// Number of items in place of which a call or jump stands, by the new index of its first item.
type Lengths = BTreeMap<usize, usize>;

/// Rounds of outlining: subroutines of one are code to the next.
const ROUNDS: usize = 4;

/// Outlined code, if any of it is shorter so.
pub(crate) fn outline(
    built: &Built,
    deployment: Deployment,
    schedule: &GasSchedule,
    revision: Revision,
) -> Result<Option<Outlined>, CompileError> {
    let mut outlined: Option<Outlined> = None;
    for round in 1..=ROUNDS {
        let call_words = CALL_WORDS * round;
        if built.stack_words + call_words > HEIGHT_MAX {
            break;
        }
        let listing = outlined.as_ref().map_or(&built.listing, |before| &before.listing);
        let Some((mut next, _)) = once(listing, deployment, schedule, revision)? else { break };
        next.call_words = call_words;
        if let Some(before) = &outlined {
            next.moved = before.moved.iter().map(|place| next.moved[(*place)?]).collect();
        }
        outlined = Some(next);
    }
    Ok(outlined)
}

/// One round, with the number of items in place of which each call or jump stands.
fn once(
    listing: &Listing,
    deployment: Deployment,
    schedule: &GasSchedule,
    revision: Revision,
) -> Result<Option<(Outlined, Lengths)>, CompileError> {
    let items = listing.assembly.items();
    let mut steps = steps(items, revision, listing.fail);
    for filled in &listing.filled {
        filled.lengths.iter().for_each(|&item| steps[item] = Step::Fixed);
        let bodies = filled.bodies.iter().filter(|_| filled.is_fixed);
        bodies.for_each(|body| steps[body.clone()].fill(Step::Fixed));
    }
    let end = items.iter().position(|item| *item == Item::Label(listing.fail)).map_or(0, |label| label + 2);
    let (text, at) = text(items, &steps);
    let mut outline = Outline {
        items,
        steps,
        runs: &listing.runs,
        bytes_before: listing.code.item_offsets.iter().copied().chain([listing.code.bytes.len()]).collect(),
        is_taken: vec![false; items.len()],
        prices: Prices::of(schedule, revision),
        worth: deployment.gas_a_byte_and_call(),
    };
    let chosen = outline.choose(&repeats(&text), &at);
    if chosen.is_empty() {
        return Ok(None);
    }
    // Last of all instructions where addresses fit, else after the first end of control.
    for place in [end, outline.first_end(listing)] {
        let written = Written::new(listing, &chosen, outline.prices.has_subroutines, place);
        let Written { mut assembly, moved, subroutines, lengths, runs } = written;
        let filled: Vec<Filled> = listing.filled.iter().map(|filled| filled.moved(&moved)).collect();
        for filled in filled.iter().filter(|filled| !filled.is_fixed) {
            filled.fill(&mut assembly, revision)?;
        }
        let Ok(code) = assembly.assemble(revision) else { continue };
        if code.bytes.len() < listing.code.bytes.len() && listing.is_near(&code) {
            let near = listing.near.clone();
            let shorter = Listing { assembly, code, runs, filled, near, fail: listing.fail };
            let outlined = Outlined { listing: shorter, moved, subroutines, call_words: CALL_WORDS };
            expansion::check(listing, &outlined, &lengths, revision)?;
            return Ok(Some((outlined, lengths)));
        }
    }
    Ok(None)
}

/// Letters, equal for equal items that may be moved, and the item of each. Nothing else occurs twice, so no repeat goes beyond an end of control.
fn text(items: &[Item], steps: &[Step]) -> (Vec<u32>, Vec<usize>) {
    let mut letters: HashMap<&Item, u32> = HashMap::new();
    let (mut text, mut at) = (Vec::new(), Vec::new());
    let mut next = 0u32;
    let mut fresh = || {
        next += 1;
        next
    };
    for (number, item) in items.iter().enumerate() {
        text.push(match steps[number] {
            Step::Fixed => fresh(),
            _ => *letters.entry(item).or_insert_with(&mut fresh),
        });
        at.push(number);
        if steps[number] == Step::Ends {
            text.push(fresh());
            at.push(number);
        }
    }
    (text, at)
}

/// The new items, before bodies of one length are filled again.
struct Written {
    assembly: Assembly,
    moved: Vec<Option<usize>>,
    subroutines: Range<usize>,
    lengths: Lengths,
    runs: Vec<f64>,
}

impl Written {
    /// The items with subroutines before the item `place`.
    fn new(listing: &Listing, chosen: &[Shared], has_subroutines: bool, place: usize) -> Self {
        let items = listing.assembly.items();
        let mut assembly = listing.assembly.clone();
        assembly.truncate(0);
        let labels: Vec<LabelId> = chosen.iter().map(|_| assembly.new_label()).collect();
        let mut begins: BTreeMap<usize, (usize, bool)> = BTreeMap::new();
        for (number, shared) in chosen.iter().enumerate() {
            for (place, &start) in shared.starts.iter().enumerate() {
                begins.insert(start, (number, shared.body.is_none() && place == 0));
            }
        }
        let mut written = Self {
            assembly,
            moved: vec![None; items.len()],
            subroutines: 0..0,
            lengths: BTreeMap::new(),
            runs: Vec::new(),
        };
        let in_filled =
            |item: usize| listing.filled.iter().flat_map(|filled| &filled.bodies).any(|body| body.contains(&item));
        let mut item = 0;
        while item <= items.len() {
            if item == place {
                let calls = |shared: &Shared| shared.starts.iter().map(|&start| listing.runs[start]).sum();
                written.subroutines(chosen, &labels, has_subroutines, &calls);
            }
            if let Some(&(number, stays)) = begins.get(&item) {
                if stays {
                    written.assembly.label(labels[number]);
                } else {
                    let origin = in_filled(item).then_some(LabelId(0));
                    written.call((labels[number], &chosen[number]), origin, has_subroutines);
                    written.expect(listing.runs[item]);
                    item += chosen[number].length;
                    continue;
                }
            }
            if let Some(kept) = items.get(item) {
                written.moved[item] = Some(written.assembly.item(kept.clone()));
                written.expect(listing.runs[item]);
            }
            item += 1;
        }
        written
    }

    /// A call of a subroutine, or a jump to an end. Where lengths have to be known, pushes are of two bytes: distances from `origin`.
    fn call(&mut self, (label, shared): (LabelId, &Shared), origin: Option<LabelId>, has_subroutines: bool) {
        let push = |label| match origin {
            Some(origin) => Item::PushDistances { to: label, from: vec![origin] },
            None => Item::PushLabel(label),
        };
        self.lengths.insert(self.assembly.items().len(), shared.length);
        if shared.body.is_none() {
            self.assembly.item(push(label));
            self.assembly.op(evm::JUMP);
        } else if has_subroutines {
            self.assembly.item(push(label));
            self.assembly.op(CALLSUB);
        } else {
            let back = self.assembly.new_label();
            self.assembly.item(push(back));
            self.assembly.item(push(label));
            self.assembly.op(evm::JUMP);
            self.assembly.label(back);
        }
    }

    /// Notes the runs of the items that have been written since the last time.
    fn expect(&mut self, runs: f64) {
        self.runs.resize(self.assembly.items().len(), runs);
    }

    fn subroutines(
        &mut self,
        chosen: &[Shared],
        labels: &[LabelId],
        has_subroutines: bool,
        calls: &dyn Fn(&Shared) -> f64,
    ) {
        let start = self.assembly.items().len();
        for (shared, &label) in chosen.iter().zip(labels) {
            let Some(body) = &shared.body else { continue };
            if has_subroutines {
                self.assembly.mark(label);
                self.assembly.op(ENTERSUB);
            } else {
                self.assembly.label(label);
            }
            body.iter().for_each(|item| _ = self.assembly.item(item.clone()));
            self.assembly.op(if has_subroutines { RETURNSUB } else { evm::JUMP });
            self.expect(calls(shared));
        }
        self.subroutines = start..self.assembly.items().len();
    }
}

#[cfg(test)]
mod tests;
