//! A block made from its end to its beginning: what has to lie on the stack is resolved from the top, so that nothing lies there that no instruction
//! takes.
//!
//! Read backwards, an operation takes its result from the stack and asks for its operands there, DUP takes away a word that lies further
//! down too, and PUSH and MLOAD take away what they bring. A store asks for a word. Each of them costs the same in whichever order they are
//! found, so plans differ in what they waste: exchanges, words loaded again, and what is put into memory for lack of room. A word
//! can only be made where every later operation that reads it has asked already; otherwise another one has to come to the top first.
//! The search keeps the plans that waste least for each number of operations (a beam: Lowerre, "The HARPY speech recognition
//! system", 1976), those first in which fewest words wait for one below them.

mod ends;
mod state;

use super::block::Named;
use super::emit::{Emitted, Instruction, Operation, Prices, Resident, number, residents};
use super::held::Choice;
use super::terms::{Field, Id, KnownSigns, Node, Terms};
use ends::Ends;
use num_bigint::BigUint;
use residue_passes::Slot;
use state::{Item, State, Step, best_of};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

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
/// How much is tried for one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effort {
    /// As much as code is worth.
    Whole,
    /// So much that one block can be compared with another one.
    Compare,
}

impl Effort {
    /// Plans times operations.
    const fn tries(self) -> usize {
        match self {
            Effort::Whole => 16_000,
            Effort::Compare => 1600,
        }
    }
}

/// The fewest and the most plans that are kept.
const WIDTHS: (usize, usize) = (6, 64);

/// What may still be done until the next operation.
#[derive(Debug, Clone, Copy)]
struct Turns {
    swaps: u32,
    stores: u32,
    loads: u32,
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
    /// What lies on the stack where the block begins and ends.
    ends: Ends,
    /// What is not worth to be followed: more waste than this.
    limit: Cell<u64>,
    /// How many ways from one state to the next operations may still be followed.
    ways: Cell<u32>,
    /// The rank of the last one found, once as many are found as are kept: what is not below it is left out.
    last: Cell<u64>,
    /// What was left out since those found were compared.
    left_out: Cell<usize>,
    /// Room for the words below one and what they are made of, as bits.
    below: RefCell<Vec<[u64; 2]>>,
}

/// A block's nodes and outputs and what lies on the stack where it begins and ends, with the prices for which it is planned.
type Block = (Prices, Vec<Node>, Vec<(Slot, Id)>, [Vec<Id>; 2], Effort);

/// A sequence as far as the way in which its state is held depends on it: the field, the slots from which on there are constants and these, and the
/// kinds of its parts.
pub type Sequence = (Field, Slot, Vec<BigUint>, Vec<Named>);

/// What was found for blocks, which often come again with other slots.
#[derive(Debug, Default)]
pub struct Plans {
    known: HashMap<Block, Option<Vec<Step>>>,
    signs: HashMap<(Field, Slot, Vec<BigUint>), KnownSigns>,
    /// How states are held, see [`Sequence`], by whether numbers lie below them and what a gas is worth in bytes.
    pub states: HashMap<(Sequence, bool, u64), Option<Choice>>,
}

impl Plans {
    /// What is known of signs over a field, with constants from this slot on.
    pub fn signs_over(&mut self, field: &Field, (first, constants): (Slot, &[BigUint])) -> &mut KnownSigns {
        self.signs.entry((field.clone(), first, constants.to_vec())).or_default()
    }

    /// Instructions of the block; none if it asks for more words than the stack and `own` have room for.
    pub fn plan(&mut self, terms: &Terms, own: &BTreeSet<Slot>, prices: &Prices, effort: Effort) -> Option<Emitted> {
        let (named, slots) = named(terms);
        let search = Search::new(&named, prices)?;
        let ends = [named.entry.clone(), named.exit.clone()];
        let block = (prices.clone(), named.nodes.clone(), named.outputs.clone(), ends, effort);
        let steps = self.known.entry(block).or_insert_with(|| search.best(effort)).as_ref()?;
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
        let has_residents = prices.is_short() && terms.entry.is_empty() && terms.exit.is_empty();
        let residents = if has_residents { residents(terms) } else { Vec::new() };
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
            ends: Ends::default(),
            limit: Cell::new(u64::MAX),
            ways: Cell::new(0),
            last: Cell::new(u64::MAX),
            left_out: Cell::new(0),
            below: RefCell::default(),
        };
        search.residents = residents
            .into_iter()
            .map(|resident| match resident {
                Resident::Modulus => MODULUS,
                Resident::Number(id) => search.item(id),
            })
            .collect();
        let items = |ids: &[Id]| ids.iter().map(|&id| search.item(id)).collect();
        search.ends = Ends::new(items(&terms.entry), items(&terms.exit));
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

    fn best(&self, effort: Effort) -> Option<Vec<Step>> {
        let start = State::end(&self.residents, &self.ends.exit, self.terms.nodes.len(), self.terms.outputs.len());
        let operations = self.terms.nodes.iter().filter(|node| node.is_computed()).count();
        let width = (effort.tries() / operations.max(1)).clamp(WIDTHS.0, WIDTHS.1);
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
        self.last.set(u64::MAX);
        self.left_out.set(0);
        for state in level {
            self.ways.set(ways);
            let mut start = state.found(state.rank);
            self.expand(&mut start, turns, &mut found);
            debug_assert!(start.is_as(state), "a way back changed the state");
            if found.len() + self.left_out.get() > 2 * width {
                best_of(&mut found, width);
                self.left_out.set(0);
                if let Some(last) = found.last().filter(|_| found.len() == width) {
                    self.limit.set(last.rank.min(self.limit.get()));
                    self.last.set(last.rank);
                }
            }
        }
        found
    }

    /// What is wasted, and will be at least about: for each word that waits for one below it, an exchange. None if that is no less than the rank of the
    /// last one found.
    fn rank(&self, state: &State) -> Option<u64> {
        let stack = &state.stack[self.residents.len()..];
        let height = stack.len() as u64; // usize to u64 widens
        let mut rank = state.waste + height * self.weight((3, 1)) / 64;
        let (last, exchange) = (self.last.get(), self.weight((2, 1)));
        rank += self.ends.words_below(stack) * exchange;
        // The words below, and what they are made of.
        let mut below = self.below.borrow_mut();
        below.clear();
        below.resize(state.made.len(), [0; 2]);
        for &item in stack.iter().filter(|&&item| !self.is_number(item)) {
            if rank >= last {
                return None;
            }
            let id = usize::from(item);
            let (word, bit) = (id / 64, 1 << (id % 64));
            let [is_below, is_of_below] = below[word].map(|bits| bits & bit != 0);
            if is_of_below && !is_below {
                rank += exchange;
            }
            below[word][0] |= bit;
            below.iter_mut().zip(&self.made_of[id]).for_each(|([_, below], more)| *below |= more);
        }
        (rank < last).then_some(rank)
    }

    /// Asks for what an operation takes, the lowest first.
    fn ask(&self, stack: &mut Vec<Item>, node: &Node, is_turned: bool) {
        let ordered =
            |a: Id, b: Id| if is_turned { [self.item(a), self.item(b)] } else { [self.item(b), self.item(a)] };
        match *node {
            Node::Slot(_) | Node::Held(_) | Node::Constant(_) | Node::Modulus => {}
            Node::Mod(a) => stack.extend([MODULUS, self.item(a)]),
            Node::Sub(a, b) => stack.extend([self.item(b), self.item(a)]),
            Node::Add(a, b) | Node::Times(a, b) => stack.extend(ordered(a, b)),
            Node::AddMod(a, b) | Node::MulMod(a, b) => {
                stack.push(MODULUS);
                stack.extend(ordered(a, b));
            }
        }
    }

    /// Whether the slot holds what it held before the block.
    fn is_old(&self, state: &State, slot: Slot) -> bool {
        state.waiting.iter().all(|&place| self.terms.outputs[place].0 != slot)
    }

    /// Goes back to the next operations, with what leads there. The state is left as it was.
    fn expand(&self, state: &mut State, turns: Turns, found: &mut Vec<State>) {
        let Some(ways) = self.ways.get().checked_sub(1) else { return };
        self.ways.set(ways);
        let (steps, taken, waste) = (state.steps.len(), state.taken.len(), state.waste);
        self.resolve(state, turns, found);
        state.steps.truncate(steps);
        state.stack.extend(state.taken.drain(taken..).rev());
        state.waste = waste;
    }

    /// Takes away what needs no operation, and goes on where something does. What it takes and wastes, [`Search::expand`] puts right again.
    fn resolve(&self, state: &mut State, turns: Turns, found: &mut Vec<State>) {
        loop {
            if state.waste > self.limit.get() {
                return;
            }
            let height = state.stack.len();
            if self.ends.is_reached(&state.stack[self.residents.len()..]) {
                return self.store_next(state, turns, found);
            }
            let item = state.stack[height - 1];
            let below = &state.stack[..height - 1];
            let depth = below.iter().rev().position(|&other| other == item).map(|above| above + 1);
            if let Some(depth) = depth.filter(|&depth| depth <= REACH) {
                state.take(Step::Dup(depth));
                continue;
            }
            match self.node(item) {
                None | Some(Node::Constant(_) | Node::Modulus) => {
                    state.take(Step::Push(item));
                    state.waste += self.push_waste(item);
                }
                Some(&Node::Slot(slot)) if self.is_old(state, slot) => {
                    state.take(Step::Load(slot));
                    if self.is_awaited(state, item) || depth.is_some() {
                        state.waste += self.weight((6, 4)) - self.weight((3, 1));
                    }
                }
                Some(Node::Slot(_) | Node::Held(_)) => return self.blocked(state, turns, found),
                Some(_) if self.is_awaited(state, item) || depth.is_some() => {
                    return self.blocked(state, turns, found);
                }
                Some(node) => return self.unmake(state, item, node, found),
            }
        }
    }

    fn unmake(&self, state: &mut State, item: Item, node: &Node, found: &mut Vec<State>) {
        let is_symmetric = !matches!(node, Node::Sub(..) | Node::Mod(_)) && node.operands().len() > 1;
        state.take(Step::Make(item));
        let (height, word) = (state.stack.len(), usize::from(item) / 64);
        let made = state.made[word];
        state.made[word] |= 1 << (item % 64);
        for is_turned in [false, true].into_iter().take(1 + usize::from(is_symmetric)) {
            self.ask(&mut state.stack, node, is_turned);
            match self.rank(state) {
                Some(rank) => found.push(state.found(rank)),
                None => self.left_out.set(self.left_out.get() + 1),
            }
            state.stack.truncate(height);
        }
        state.made[word] = made;
    }

    /// Before that nothing lies on the stack: an output is stored there, or the block begins.
    fn store_next(&self, state: &mut State, turns: Turns, found: &mut Vec<State>) {
        if state.waiting.is_empty() && state.kept.is_empty() {
            if self.residents.is_empty() {
                let steps = self.ends.begin(&state.stack);
                state.waste +=
                    steps.iter().map(|step| self.weight(if *step == Step::Pop { (2, 1) } else { (3, 1) })).sum::<u64>();
                state.steps.extend(steps.into_iter().rev());
                state.taken.extend(state.stack.drain(..).rev());
            }
            while let Some(&item) = state.stack.last() {
                state.take(Step::Push(item));
            }
            found.push(state.found(state.rank));
            return;
        }
        let (waiting, kept) = (Rc::clone(&state.waiting), Rc::clone(&state.kept));
        for store in self.stores(&waiting, &kept) {
            let is_followed = |state: &State| !self.is_awaited(state, store.1) || !self.is_computed(store.1);
            self.stored(state, store, is_followed, turns, found);
        }
    }

    /// The stores that can come last before, with what is stored.
    fn stores(&self, waiting: &[usize], kept: &[Item]) -> impl Iterator<Item = (Step, Item)> {
        let outputs = waiting.iter().map(|&place| {
            let (slot, id) = self.terms.outputs[place];
            (Step::Store(slot), self.item(id))
        });
        outputs.chain(kept.iter().map(|&item| (Step::Keep(item), item)))
    }

    /// Goes on before a store if the state there is to be followed.
    fn stored(
        &self,
        state: &mut State,
        (step, item): (Step, Item),
        is_followed: impl Fn(&State) -> bool,
        turns: Turns,
        found: &mut Vec<State>,
    ) {
        let (waiting, kept) = (Rc::clone(&state.waiting), Rc::clone(&state.kept));
        match step {
            Step::Store(slot) => Rc::make_mut(&mut state.waiting).retain(|&place| self.terms.outputs[place].0 != slot),
            _ => Rc::make_mut(&mut state.kept).retain(|&other| other != item),
        }
        state.steps.push(step);
        state.stack.push(item);
        if is_followed(state) {
            self.expand(state, turns, found);
        }
        state.stack.pop();
        state.steps.pop();
        (state.waiting, state.kept) = (waiting, kept);
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
    fn blocked(&self, state: &mut State, turns: Turns, found: &mut Vec<State>) {
        let height = state.stack.len();
        let top = state.stack[height - 1];
        let (waiting, kept) = (Rc::clone(&state.waiting), Rc::clone(&state.kept));
        for store in self.stores(&waiting, &kept) {
            let (step, item) = store;
            if item == top {
                self.stored(state, store, |_| true, turns, found);
                continue;
            }
            let is_in_the_way = match (self.node(top), step) {
                (Some(&Node::Slot(slot)), Step::Store(other)) if slot == other => true,
                _ => self.is_computed(item) && self.is_made_of(item, top),
            };
            if turns.stores > 0 && is_in_the_way {
                let is_followed = |state: &State| !self.is_computed(item) || !self.is_awaited(state, item);
                self.stored(state, store, is_followed, Turns { stores: turns.stores - 1, ..turns }, found);
            }
        }
        if turns.swaps > 0 {
            for below in 1..=REACH.min(height - 1 - self.residents.len()) {
                let place = height - 1 - below;
                if self.is_free(state, place) {
                    let waste = state.waste;
                    state.stack.swap(height - 1, place);
                    state.steps.push(Step::Swap(below));
                    state.waste += self.weight((3, 1));
                    self.expand(state, Turns { swaps: turns.swaps - 1, ..turns }, found);
                    state.waste = waste;
                    state.steps.pop();
                    state.stack.swap(height - 1, place);
                }
            }
        }
        if turns.loads > 0 && self.is_computed(top) {
            let output = waiting.iter().map(|&place| self.terms.outputs[place]).find(|&(_, id)| id == usize::from(top));
            state.take(output.map_or(Step::Fetch(top), |(slot, _)| Step::Load(slot)));
            state.waste += self.weight((6, 4)) - self.weight((3, 1));
            if output.is_none() && !kept.contains(&top) {
                Rc::make_mut(&mut state.kept).push(top);
                state.waste += self.weight((9, 5));
            }
            self.expand(state, Turns { loads: turns.loads - 1, ..turns }, found);
            state.kept = kept;
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
            None | Some(Node::Constant(_)) if self.ends.entry.contains(&item) => is_elsewhere(),
            None | Some(Node::Constant(_) | Node::Modulus) => true,
            Some(&Node::Slot(slot)) => self.is_old(state, slot),
            Some(Node::Held(_)) => is_elsewhere(),
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
