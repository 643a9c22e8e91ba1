//! A block made from its end to its beginning: what has to lie on the stack is resolved from the top, so that nothing lies there that no instruction
//! takes.
//!
//! Read backwards, an operation takes its result from the stack and asks for its operands there, DUP takes away a word that lies further
//! down too, and PUSH and MLOAD take away what they bring. A store asks for a word. Each of them costs the same in whichever order they are
//! found, so plans differ in what they waste: exchanges, words loaded again, and what is put into memory for lack of room. A word
//! can only be made where every later operation that reads it has asked already; otherwise another one has to come to the top first.
//! The search keeps the plans that waste least for each number of operations (a beam: Lowerre, "The HARPY speech recognition
//! system", 1976), those first in which fewest words wait for one below them.

use super::emit::{Emitted, Instruction, Operation, Prices, Resident, number, residents};
use super::terms::{Id, Node, Terms};
use residue_passes::Slot;
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// A word that is asked for: a term, or p.
type Item = u16;
/// p.
const MODULUS: Item = u16::MAX;
/// The words of the stack that DUP and SWAP reach.
const REACH: usize = 16;
/// Exchanges between two operations at most, and stores and loads of what is blocked.
const TURNS: Turns = Turns { swaps: 2, stores: 1, loads: 3 };
/// The same where nothing is found.
const MORE_TURNS: Turns = Turns { swaps: 2, stores: 2, loads: 24 };
/// What a plan may be worse by than the best one at the same place: gas and bytes.
const SLACK: (u64, u64) = (60, 0);
/// Ways from one state to the next operations that are followed.
const WAYS: u32 = 64;
/// What is tried for one block: plans times operations.
const EFFORT: usize = 16_000;
/// The fewest and the most plans that are kept.
const WIDTHS: (usize, usize) = (6, 64);

/// An instruction, where memory for lack of room has no slot yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Push(Item),
    Dup(usize),
    Swap(usize),
    Pop,
    Load(Slot),
    Store(Slot),
    /// Loads a word that is in memory for lack of room.
    Fetch(Item),
    /// Stores it.
    Keep(Item),
    Make(Item),
}

/// What is known of the end of a block.
#[derive(Debug, Clone)]
struct State {
    /// What has to lie on the stack before it.
    stack: Vec<Item>,
    /// The operations in it, as bits.
    made: Vec<u64>,
    /// Outputs that are stored before.
    waiting: Rc<Vec<usize>>,
    /// Words that are in memory for lack of room, and stored before.
    kept: Rc<Vec<Item>>,
    waste: u64,
    /// Since the state before, the last instruction first.
    steps: Vec<Step>,
    /// That state, by its place.
    parent: usize,
    /// What it is judged by.
    rank: u64,
}

impl State {
    fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.kept.is_empty() && self.stack.is_empty()
    }

    fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.stack, &self.waiting, &self.kept, &self.made).hash(&mut hasher);
        hasher.finish()
    }
}

/// What may still be done until the next operation.
#[derive(Debug, Clone, Copy)]
struct Turns {
    swaps: u32,
    stores: u32,
    loads: u32,
}

/// Leaves the best ones, each once.
fn best_of(found: &mut Vec<State>, width: usize) {
    found.sort_by_key(|state| state.rank);
    let mut seen = HashSet::new();
    found.retain(|state| seen.len() < width && seen.insert(state.key()));
}

struct Search<'a> {
    terms: &'a Terms,
    prices: &'a Prices,
    /// For each term, as bits, what it is made of, directly or not.
    made_of: Vec<Vec<u64>>,
    /// For each term, as bits, the operations that read it.
    readers: Vec<Vec<u64>>,
    /// What lies below all words of the block.
    residents: Vec<Item>,
    /// What is not worth to be followed: more waste than this.
    limit: Cell<u64>,
    /// How many ways from one state to the next operations may still be followed.
    ways: Cell<u32>,
}

/// A block's nodes and outputs, with the prices for which it is planned.
type Block = (Prices, Vec<Node>, Vec<(Slot, Id)>);

/// What was found for blocks, which often come again with other slots.
#[derive(Debug, Default)]
pub struct Plans {
    known: HashMap<Block, Option<Vec<Step>>>,
}

impl Plans {
    /// Instructions of the block; none if it asks for more words than the stack and `own` have room for.
    pub fn plan(&mut self, terms: &Terms, own: &BTreeSet<Slot>, prices: &Prices) -> Option<Emitted> {
        let (named, slots) = named(terms);
        let search = Search::new(&named, prices)?;
        let known = self.known.entry((prices.clone(), named.nodes.clone(), named.outputs.clone()));
        let steps = known.or_insert_with(|| search.best()).as_ref()?;
        search.instructions(steps, &slots, own)
    }
}

/// The block with slots numbered in the order in which they come, and what they were.
fn named(terms: &Terms) -> (Terms, Vec<Slot>) {
    let mut slots = Vec::new();
    let mut name = |slot: Slot| {
        let place = slots.iter().position(|&other| other == slot).unwrap_or_else(|| {
            slots.push(slot);
            slots.len() - 1
        });
        Slot::try_from(place).expect("there are no more than slots")
    };
    let mut named = terms.clone();
    for node in &mut named.nodes {
        if let Node::Slot(slot) = node {
            *slot = name(*slot);
        }
    }
    named.outputs.sort_by_key(|&(_, id)| id);
    named.outputs.iter_mut().for_each(|(slot, _)| *slot = name(*slot));
    (named, slots)
}

impl<'a> Search<'a> {
    fn new(terms: &'a Terms, prices: &'a Prices) -> Option<Self> {
        let count = terms.nodes.len();
        if count >= usize::from(MODULUS) {
            return None;
        }
        let words = count.div_ceil(64);
        let mut made_of: Vec<Vec<u64>> = Vec::with_capacity(count);
        for node in &terms.nodes {
            let mut bits = vec![0; words];
            for operand in node.operands() {
                bits.iter_mut().zip(&made_of[operand]).for_each(|(bits, more)| *bits |= more);
                bits[operand / 64] |= 1 << (operand % 64);
            }
            made_of.push(bits);
        }
        let residents = if prices.is_short() { residents(terms) } else { Vec::new() };
        let mut readers = vec![vec![0; words]; count];
        for (id, node) in terms.nodes.iter().enumerate() {
            node.operands().into_iter().for_each(|operand| readers[operand][id / 64] |= 1 << (id % 64));
        }
        let mut search = Self {
            terms,
            prices,
            made_of,
            readers,
            residents: Vec::new(),
            limit: Cell::new(u64::MAX),
            ways: Cell::new(0),
        };
        search.residents = residents
            .into_iter()
            .map(|resident| match resident {
                Resident::Modulus => MODULUS,
                Resident::Number(id) => search.item(id),
            })
            .collect();
        Some(search)
    }

    fn item(&self, id: Id) -> Item {
        match self.terms.nodes[id] {
            Node::Modulus => MODULUS,
            _ => Item::try_from(id).expect("it was counted"),
        }
    }

    /// The node of an item, unless it is p.
    fn node(&self, item: Item) -> Option<&Node> {
        (item != MODULUS).then(|| &self.terms.nodes[usize::from(item)])
    }

    fn is_number(&self, item: Item) -> bool {
        matches!(self.node(item), None | Some(Node::Constant(_)))
    }

    fn is_made_of(&self, item: Item, of: Item) -> bool {
        let of = usize::from(of);
        self.made_of[usize::from(item)][of / 64] >> (of % 64) & 1 == 1
    }

    fn weight(&self, (gas, bytes): (u64, u64)) -> u64 {
        self.prices.weight(gas, bytes)
    }

    /// What a push costs more than a copy.
    fn push_waste(&self, item: Item) -> u64 {
        let price = match self.node(item) {
            None => self.prices.modulus(),
            Some(_) => self.prices.number(number(self.terms, usize::from(item))),
        };
        self.weight(price) - self.weight((3, 1))
    }

    fn best(&self) -> Option<Vec<Step>> {
        let start = State {
            stack: self.residents.clone(),
            made: vec![0; self.terms.nodes.len().div_ceil(64)],
            waiting: Rc::new((0..self.terms.outputs.len()).collect()),
            kept: Rc::default(),
            waste: 0,
            steps: self.residents.iter().map(|_| Step::Pop).collect(),
            parent: usize::MAX,
            rank: 0,
        };
        let operations = self.terms.nodes.iter().filter(|node| node.is_computed()).count();
        let width = (EFFORT / operations.max(1)).clamp(WIDTHS.0, WIDTHS.1);
        let mut before: Vec<(usize, Vec<Step>)> = Vec::new();
        let mut level = vec![start];
        loop {
            for state in &mut level {
                before.push((state.parent, std::mem::take(&mut state.steps)));
                state.parent = before.len() - 1;
            }
            let limit = level.first().map_or(0, |state| state.rank) + self.weight(SLACK);
            let mut found = self.next(&level, (limit, TURNS, WAYS), width);
            if found.is_empty() {
                found = self.next(&level, (u64::MAX, MORE_TURNS, 16 * WAYS), width);
            }
            if let Some(done) = found.iter().filter(|state| state.is_done()).min_by_key(|state| state.waste) {
                let mut steps: Vec<Step> = done.steps.iter().rev().copied().collect();
                let mut at = done.parent;
                while let Some((parent, more)) = before.get(at) {
                    steps.extend(more.iter().rev());
                    at = *parent;
                }
                return Some(steps);
            }
            if found.is_empty() {
                return None;
            }
            best_of(&mut found, width);
            level = found;
        }
    }

    /// What comes before the states of a level, given what may be tried for each.
    fn next(&self, level: &[State], (limit, turns, ways): (u64, Turns, u32), width: usize) -> Vec<State> {
        let mut found = Vec::new();
        self.limit.set(limit);
        for state in level {
            self.ways.set(ways);
            self.expand(state.clone(), turns, &mut found);
            if found.len() > 2 * width {
                best_of(&mut found, width);
                if let Some(last) = found.last().filter(|_| found.len() == width) {
                    self.limit.set(last.rank.min(self.limit.get()));
                }
            }
        }
        found
    }

    /// What is wasted, and will be at least about: for each word that waits for one below it, an exchange.
    fn rank(&self, state: &State) -> u64 {
        let stack = &state.stack[self.residents.len()..];
        let mut stuck = 0;
        // What the words below are made of.
        let mut below = vec![0u64; state.made.len()];
        for (place, &item) in stack.iter().enumerate().filter(|&(_, &item)| !self.is_number(item)) {
            let id = usize::from(item);
            if below[id / 64] >> (id % 64) & 1 == 1 {
                stuck += u64::from(!stack[..place].contains(&item));
            }
            below.iter_mut().zip(&self.made_of[id]).for_each(|(below, more)| *below |= more);
        }
        let height = stack.len() as u64; // usize to u64 widens
        state.waste + stuck * self.weight((2, 1)) + height * self.weight((3, 1)) / 64
    }

    /// What an operation asks for, the lowest first.
    fn asked(&self, node: &Node, is_turned: bool) -> Vec<Item> {
        let ordered =
            |a: Id, b: Id| if is_turned { [self.item(a), self.item(b)] } else { [self.item(b), self.item(a)] };
        match *node {
            Node::Slot(_) | Node::Constant(_) | Node::Modulus => vec![],
            Node::Mod(a) => vec![MODULUS, self.item(a)],
            Node::Sub(a, b) => vec![self.item(b), self.item(a)],
            Node::Add(a, b) | Node::Times(a, b) => ordered(a, b).to_vec(),
            Node::AddMod(a, b) | Node::MulMod(a, b) => [&[MODULUS], &ordered(a, b)[..]].concat(),
        }
    }

    /// Whether the slot holds what it held before the block.
    fn is_old(&self, state: &State, slot: Slot) -> bool {
        state.waiting.iter().all(|&place| self.terms.outputs[place].0 != slot)
    }

    /// Goes back to the next operations, with what leads there.
    fn expand(&self, mut state: State, turns: Turns, found: &mut Vec<State>) {
        let Some(ways) = self.ways.get().checked_sub(1) else { return };
        self.ways.set(ways);
        loop {
            if state.waste > self.limit.get() {
                return;
            }
            let height = state.stack.len();
            if height == self.residents.len() {
                return self.store_next(state, turns, found);
            }
            let item = state.stack[height - 1];
            let below = &state.stack[..height - 1];
            let depth = below.iter().rev().position(|&other| other == item).map(|above| above + 1);
            if let Some(depth) = depth.filter(|&depth| depth <= REACH) {
                state.stack.pop();
                state.steps.push(Step::Dup(depth));
                continue;
            }
            match self.node(item) {
                None | Some(Node::Constant(_) | Node::Modulus) => {
                    state.stack.pop();
                    state.steps.push(Step::Push(item));
                    state.waste += self.push_waste(item);
                }
                Some(&Node::Slot(slot)) if self.is_old(&state, slot) => {
                    state.stack.pop();
                    state.steps.push(Step::Load(slot));
                    if self.is_awaited(&state, item) || depth.is_some() {
                        state.waste += self.weight((6, 4)) - self.weight((3, 1));
                    }
                }
                Some(Node::Slot(_)) => return self.blocked(state, turns, found),
                Some(_) if self.is_awaited(&state, item) || depth.is_some() => {
                    return self.blocked(state, turns, found);
                }
                Some(node) => return self.unmake(&state, item, node, found),
            }
        }
    }

    fn unmake(&self, state: &State, item: Item, node: &Node, found: &mut Vec<State>) {
        let is_symmetric = !matches!(node, Node::Sub(..) | Node::Mod(_)) && node.operands().len() > 1;
        for is_turned in [false, true].into_iter().take(1 + usize::from(is_symmetric)) {
            let mut next = state.clone();
            next.stack.pop();
            next.steps.push(Step::Make(item));
            next.stack.extend(self.asked(node, is_turned));
            next.made[usize::from(item) / 64] |= 1 << (item % 64);
            next.rank = self.rank(&next);
            found.push(next);
        }
    }

    /// Before that nothing lies on the stack: an output is stored there, or the block begins.
    fn store_next(&self, mut state: State, turns: Turns, found: &mut Vec<State>) {
        if state.waiting.is_empty() && state.kept.is_empty() {
            while let Some(item) = state.stack.pop() {
                state.steps.push(Step::Push(item));
            }
            found.push(state);
            return;
        }
        for store in self.stores(&state) {
            let child = self.stored(&state, store);
            if !self.is_awaited(&child, store.1) || !self.is_computed(store.1) {
                self.expand(child, turns, found);
            }
        }
    }

    /// The stores that can come last before, with what is stored.
    fn stores(&self, state: &State) -> Vec<(Step, Item)> {
        let outputs = state.waiting.iter().map(|&place| {
            let (slot, id) = self.terms.outputs[place];
            (Step::Store(slot), self.item(id))
        });
        outputs.chain(state.kept.iter().map(|&item| (Step::Keep(item), item))).collect()
    }

    /// The state before a store.
    fn stored(&self, state: &State, (step, item): (Step, Item)) -> State {
        let mut child = state.clone();
        match step {
            Step::Store(slot) => Rc::make_mut(&mut child.waiting).retain(|&place| self.terms.outputs[place].0 != slot),
            _ => Rc::make_mut(&mut child.kept).retain(|&other| other != item),
        }
        child.steps.push(step);
        child.stack.push(item);
        child
    }

    fn is_computed(&self, item: Item) -> bool {
        self.node(item).is_some_and(Node::is_computed)
    }

    /// Whether an earlier instruction reads it or stores it.
    fn is_awaited(&self, state: &State, item: Item) -> bool {
        let id = usize::from(item);
        self.readers[id].iter().zip(&state.made).any(|(readers, made)| readers & !made != 0)
            || state.waiting.iter().any(|&place| self.terms.outputs[place].1 == id)
            || state.kept.contains(&item)
    }

    /// The word on top cannot be made here.
    fn blocked(&self, state: State, turns: Turns, found: &mut Vec<State>) {
        let height = state.stack.len();
        let top = state.stack[height - 1];
        for store in self.stores(&state) {
            let (step, item) = store;
            if item == top {
                self.expand(self.stored(&state, store), turns, found);
                continue;
            }
            let is_in_the_way = match (self.node(top), step) {
                (Some(&Node::Slot(slot)), Step::Store(other)) if slot == other => true,
                _ => self.is_computed(item) && self.is_made_of(item, top),
            };
            if turns.stores > 0 && is_in_the_way {
                let child = self.stored(&state, store);
                if !self.is_computed(item) || !self.is_awaited(&child, item) {
                    self.expand(child, Turns { stores: turns.stores - 1, ..turns }, found);
                }
            }
        }
        if turns.swaps > 0 {
            for below in 1..=REACH.min(height - 1 - self.residents.len()) {
                let place = height - 1 - below;
                if self.is_free(&state, place) {
                    let mut child = state.clone();
                    child.stack.swap(height - 1, place);
                    child.steps.push(Step::Swap(below));
                    child.waste += self.weight((3, 1));
                    self.expand(child, Turns { swaps: turns.swaps - 1, ..turns }, found);
                }
            }
        }
        if turns.loads > 0 && self.is_computed(top) {
            let mut child = state;
            child.stack.pop();
            let output =
                child.waiting.iter().map(|&place| self.terms.outputs[place]).find(|&(_, id)| id == usize::from(top));
            match output {
                Some((slot, _)) => child.steps.push(Step::Load(slot)),
                None => child.steps.push(Step::Fetch(top)),
            }
            child.waste += self.weight((6, 4)) - self.weight((3, 1));
            if output.is_none() && !child.kept.contains(&top) {
                Rc::make_mut(&mut child.kept).push(top);
                child.waste += self.weight((9, 5));
            }
            self.expand(child, Turns { loads: turns.loads - 1, ..turns }, found);
        }
    }

    /// Whether the word at this place could be resolved if it were on top.
    fn is_free(&self, state: &State, place: usize) -> bool {
        let (item, top) = (state.stack[place], state.stack[state.stack.len() - 1]);
        if item == top {
            return false;
        }
        let is_elsewhere = || state.stack.iter().enumerate().any(|(other, &found)| other != place && found == item);
        match self.node(item) {
            None | Some(Node::Constant(_) | Node::Modulus) => true,
            Some(&Node::Slot(slot)) => self.is_old(state, slot),
            Some(_) => !self.is_awaited(state, item) || is_elsewhere(),
        }
    }

    /// The instructions of the steps, with slots of `own` for what has no room; none if there are too few.
    fn instructions(&self, steps: &[Step], slots: &[Slot], own: &BTreeSet<Slot>) -> Option<Emitted> {
        let kept = self.kept_slots(steps, slots, own)?;
        let slot_of = |item: Item| kept.iter().find(|(kept, ..)| *kept == item).map(|&(_, slot)| slot);
        let named = |slot: Slot| slots[slot as usize]; // u32 to usize widens
        let mut emitted = Emitted::default();
        for &step in steps {
            let (instruction, price) = match step {
                Step::Push(MODULUS) => (Instruction::PushModulus, self.prices.modulus()),
                Step::Push(item) => {
                    let id = usize::from(item);
                    (Instruction::Push(id), self.prices.number(number(self.terms, id)))
                }
                Step::Dup(depth) => (Instruction::Dup(u8::try_from(depth).ok()?), (3, 1)),
                Step::Swap(below) => (Instruction::Swap(u8::try_from(below).ok()?), (3, 1)),
                Step::Pop => (Instruction::Pop, (2, 1)),
                Step::Load(slot) => (Instruction::Load(named(slot)), (6, 4)),
                Step::Store(slot) => (Instruction::Store(named(slot)), (6, 4)),
                Step::Fetch(item) => (Instruction::Load(slot_of(item)?), (6, 4)),
                Step::Keep(item) => (Instruction::Store(slot_of(item)?), (6, 4)),
                Step::Make(item) => {
                    let (operation, gas) = Operation::of(&self.terms.nodes[usize::from(item)]);
                    (Instruction::Operation(operation), (gas, 1))
                }
            };
            emitted.instructions.push(instruction);
            emitted.gas += price.0;
            emitted.bytes += price.1;
        }
        Some(emitted)
    }

    /// Slots of `own` for the words that have no room on the stack; `slots` are those that the block names.
    fn kept_slots(&self, steps: &[Step], slots: &[Slot], own: &BTreeSet<Slot>) -> Option<Vec<(Item, Slot)>> {
        let last = |wanted: Step| steps.iter().rposition(|&step| step == wanted);
        // Slots, and from when to when they are not free: until what was there before is read last, and from their store on.
        let mut taken: Vec<(Slot, usize, usize)> = Vec::new();
        for (name, &slot) in (0..).zip(slots) {
            let stored = steps.iter().position(|&step| step == Step::Store(name)).unwrap_or(steps.len());
            let read = steps[..stored].iter().rposition(|&step| step == Step::Load(name));
            taken.extend(read.map(|read| (slot, 0, read)));
            taken.push((slot, stored, steps.len()));
        }
        let mut kept = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let &Step::Keep(item) = step else { continue };
            let end = last(Step::Fetch(item)).unwrap_or(at);
            let is_free = |slot: &Slot| taken.iter().all(|&(other, from, to)| other != *slot || to < at || from > end);
            let slot = own.iter().copied().find(is_free)?;
            taken.push((slot, at, end));
            kept.push((item, slot));
        }
        Some(kept)
    }
}
