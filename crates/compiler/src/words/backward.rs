//! Backward scheduling of a block: the words required on the stack are resolved from the top, so that no word lies
//! there without a reader.
//!
//! Read backwards, an operation takes its result from the stack and requires its operands there, DUP takes away a word
//! that lies further down too, and PUSH and MLOAD take away the words that they bring. A store requires a word. Each of
//! them costs the same in any order, so plans differ in waste: exchanges, reloads, and spills to memory. A word can
//! only be made when every later operation that reads it has required it already; otherwise another one has to come to
//! the top first. The search keeps the plans with the least waste for each number of operations (a beam: Lowerre, "The
//! HARPY speech recognition system", 1976), first those in which the fewest words wait for one below them.

mod ends;
mod instructions;
mod ranks;
mod state;
#[cfg(test)]
mod tests;

use super::block::Named;
use super::emit::{Emitted, Resident, number, residents};
use super::field::Field;
use super::held::{Around, Choice};
use super::prices::{EvmGas, Prices};
use super::terms::{Id, KnownSigns, Node, Terms};
use ends::Ends;
use foldhash::{HashMap, HashMapExt};
use instructions::instructions;
use num_bigint::BigUint;
use ranks::Ranked;
use residue_passes::Slot;
use state::{Found, Item, State, Step, member_waiting};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

/// p.
const MODULUS: Item = u16::MAX;
/// The words of the stack that DUP and SWAP reach.
const REACH: usize = 16;
/// Maximum exchanges between two operations, and stores and loads of blocked words.
const TURNS: Turns = Turns { swaps: 2, stores: 1, loads: 3 };
/// The same where nothing is found.
const MORE_TURNS: Turns = Turns { swaps: 2, stores: 2, loads: 24 };
/// Tolerance for a plan over the best one at the same place, in gas of copies.
const SLACK_COPIES: u64 = 20;
/// Ways from one state to the next operations that are followed.
const WAYS: u32 = 64;
/// Search effort for one block.
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

/// Steps still allowed until the next operation.
#[derive(Debug, Clone, Copy)]
struct Turns {
    swaps: u32,
    stores: u32,
    loads: u32,
}

struct Search<'a> {
    terms: &'a Terms,
    prices: &'a Prices,
    /// For each term, as bits, its operands, transitively: all lie before it.
    made_of: Vec<Vec<u64>>,
    /// For each term the operations that read it, ascending.
    readers: Vec<Vec<Item>>,
    /// The operations, as bits.
    computed: Vec<u64>,
    /// For each term the outputs that hold it, ascending.
    outputs_of: Vec<Vec<usize>>,
    /// For each slot the output that is stored there.
    output_in: Vec<Option<usize>>,
    /// Words below all words of the block.
    residents: Vec<Item>,
    /// Stack at the start and end of the block.
    ends: Ends,
    /// For each term, p last, whether it lies there where the block begins.
    is_entry: Vec<bool>,
    /// Upper bound of waste: states beyond it are not followed.
    limit: Cell<u64>,
    /// Number of paths from one state to the next operations that may still be followed.
    ways: Cell<u32>,
    /// Rank of the last candidate found, once the limit of kept ones is reached: candidates not below it are left out.
    last: Cell<u64>,
    /// Number of candidates left out since those found were compared.
    left_out: Cell<usize>,
    /// The stack that was ranked last, and its ranks.
    ranked: RefCell<Ranked>,
}

/// A block's nodes and outputs and the stack at its start and end, with the prices for which it is planned.
type Block = (Prices, Vec<Node>, Vec<(Slot, Id)>, [Vec<Id>; 2], Effort);

/// A sequence as far as the way in which its state is held depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Sequence {
    /// The field of its numbers.
    pub field: Field,
    /// The slots from which on there are constants, how many before these blocks may use for lack of room, and the constants.
    pub slots: (Slot, u32, Vec<BigUint>),
    /// Its parts, each with the values of the state in their order.
    pub parts: Vec<(Named, Around)>,
}

/// Memoised plans of blocks, which often recur with other slots.
#[derive(Debug, Default)]
pub struct Plans {
    /// Prices by which blocks are planned.
    pub gas: EvmGas,
    known: HashMap<Block, Option<Vec<Step>>>,
    signs: HashMap<(Field, Slot, Vec<BigUint>), KnownSigns>,
    /// The ways in which states are held, by whether numbers lie below them and by prices.
    pub states: HashMap<(Sequence, bool, Prices), Option<Choice>>,
}

impl Plans {
    /// Memoised signs over a field, with constants from `first` on.
    pub fn signs_over(&mut self, field: &Field, (first, constants): (Slot, &[BigUint])) -> &mut KnownSigns {
        let known = self.signs.entry((field.clone(), first, constants.to_vec()));
        known.or_insert_with(|| KnownSigns::at(self.gas))
    }

    /// Instructions of the block; none if it asks for more words than the stack and `own` have room for.
    pub fn plan(&mut self, terms: &Terms, own: &BTreeSet<Slot>, prices: &Prices, effort: Effort) -> Option<Emitted> {
        if terms.nodes.len() >= usize::from(MODULUS) {
            return None;
        }
        let (named, slots) = named(terms);
        let ends = [named.entry.clone(), named.exit.clone()];
        let block = (prices.clone(), named.nodes.clone(), named.outputs.clone(), ends, effort);
        let steps = self.known.entry(block).or_insert_with(|| Search::new(&named, prices).best(effort)).as_ref()?;
        instructions(&named, prices, (steps, &slots), own)
    }
}

/// The block with slots numbered in order of first use, and their original numbers.
fn named(terms: &Terms) -> (Terms, Vec<Slot>) {
    let mut slots = Vec::new();
    let mut names = HashMap::new();
    let mut name = |slot: Slot| {
        *names.entry(slot).or_insert_with(|| {
            slots.push(slot);
            Slot::try_from(slots.len() - 1).expect("there are no more than slots")
        })
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
    fn new(terms: &'a Terms, prices: &'a Prices) -> Self {
        let count = terms.nodes.len();
        let mut made_of: Vec<Vec<u64>> = Vec::with_capacity(count);
        let mut readers = vec![Vec::new(); count];
        let mut computed = vec![0; count.div_ceil(64)];
        for (id, node) in terms.nodes.iter().enumerate() {
            let mut bits = vec![0; id / 64 + 1];
            for operand in node.operands() {
                bits.iter_mut().zip(&made_of[operand]).for_each(|(bits, more)| *bits |= more);
                bits[operand / 64] |= 1 << (operand % 64);
                readers[operand].push(Item::try_from(id).expect("it was counted"));
            }
            made_of.push(bits);
            computed[id / 64] |= u64::from(node.is_computed()) << (id % 64);
        }
        let has_residents = prices.is_short() && terms.entry.is_empty() && terms.exit.is_empty();
        let residents = if has_residents { residents(terms) } else { Vec::new() };
        let mut outputs_of = vec![Vec::new(); count];
        let slots = terms.outputs.iter().map(|&(slot, _)| slot as usize + 1).max().unwrap_or(0); // u32 to usize widens
        let mut output_in = vec![None; slots];
        for (place, &(slot, id)) in terms.outputs.iter().enumerate() {
            outputs_of[id].push(place);
            output_in[slot as usize] = Some(place); // u32 to usize widens
        }
        let mut search = Self {
            terms,
            prices,
            made_of,
            readers,
            computed,
            outputs_of,
            output_in,
            residents: Vec::new(),
            ends: Ends::default(),
            is_entry: vec![false; count + 1],
            limit: Cell::new(u64::MAX),
            ways: Cell::new(0),
            last: Cell::new(u64::MAX),
            left_out: Cell::new(0),
            ranked: RefCell::new(Ranked::of(count)),
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
        for &item in &search.ends.entry {
            let place = search.place(item);
            search.is_entry[place] = true;
        }
        search
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
        self.made_of[usize::from(item)].get(of / 64).is_some_and(|word| word >> (of % 64) & 1 == 1)
    }

    /// Weight that an exchange takes away at least, as one may bring two words to where they are asked for.
    const fn exchange_estimate(&self) -> u64 {
        let (gas, bytes) = self.prices.exchange();
        self.prices.weight((gas * 2 / 3, bytes))
    }

    /// Extra weight of a push over a copy.
    fn push_waste(&self, item: Item) -> u64 {
        let price = match self.node(item) {
            None => self.prices.modulus(),
            Some(_) => self.prices.number(number(self.terms, usize::from(item))),
        };
        self.prices.beyond_copy(price)
    }

    fn best(&self, effort: Effort) -> Option<Vec<Step>> {
        let start = State::end(&self.residents, &self.ends.exit, self.terms.nodes.len(), self.terms.outputs.len());
        let operations = self.terms.nodes.iter().filter(|node| node.is_computed()).count();
        let width = (effort.tries() / operations.max(1)).clamp(WIDTHS.0, WIDTHS.1);
        // For each state that was followed the one before, and where its own steps end among those of all.
        let mut before: Vec<(usize, usize)> = Vec::new();
        let mut steps: Vec<Step> = Vec::new();
        let mut level = vec![start];
        let mut found = Found::default();
        loop {
            for state in &mut level {
                steps.append(&mut state.steps);
                before.push((state.parent, steps.len()));
                state.parent = before.len() - 1;
                if let Some(item) = state.made_last.take() {
                    Rc::make_mut(&mut state.made).insert(item, &self.computed);
                }
            }
            let limit = level.first().map_or(0, |state| state.rank)
                + self.prices.weight((SLACK_COPIES * self.prices.gas.dup, 0));
            self.next(&mut level, (limit, TURNS, WAYS), width, &mut found);
            if found.len() == 0 {
                self.next(&mut level, (u64::MAX, MORE_TURNS, 16 * WAYS), width, &mut found);
            }
            if let Some((last, mut at)) = found.done() {
                let mut done: Vec<Step> = last.iter().rev().copied().collect();
                while let Some(&(parent, end)) = before.get(at) {
                    let begin = at.checked_sub(1).map_or(0, |at| before[at].1);
                    done.extend(steps[begin..end].iter().rev());
                    at = parent;
                }
                return Some(done);
            }
            if found.len() == 0 {
                return None;
            }
            found.leave_best(width);
            found.follow(&mut level);
        }
    }

    /// Finds the predecessors of the states of a level, given the steps allowed for each.
    fn next(&self, level: &mut [State], (limit, turns, ways): (u64, Turns, u32), width: usize, found: &mut Found) {
        self.limit.set(limit);
        self.last.set(u64::MAX);
        self.left_out.set(0);
        for state in level {
            self.ways.set(ways);
            let before = cfg!(debug_assertions).then(|| state.clone());
            self.expand(state, turns, found);
            debug_assert!(before.is_none_or(|before| before.is_as(state)), "a way back changed the state");
            if found.len() + self.left_out.get() > 2 * width {
                self.left_out.set(0);
                if let Some(last) = found.leave_best(width) {
                    self.limit.set(last.min(self.limit.get()));
                    self.last.set(last);
                }
            }
        }
    }

    /// Requires the operands of an operation, the lowest first.
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

    /// The output that is stored in a slot.
    fn output_in(&self, slot: Slot) -> Option<usize> {
        self.output_in.get(slot as usize).copied().flatten() // u32 to usize widens
    }

    /// True if the slot holds its content from before the block.
    fn is_old(&self, state: &State, slot: Slot) -> bool {
        self.output_in(slot).is_none_or(|place| state.waiting.binary_search(&place).is_err())
    }

    /// Goes back to the next operations, with the steps between. The state is left unchanged.
    fn expand(&self, state: &mut State, turns: Turns, found: &mut Found) {
        let Some(ways) = self.ways.get().checked_sub(1) else { return };
        self.ways.set(ways);
        let (steps, taken, waste) = (state.steps.len(), state.taken.len(), state.waste);
        self.resolve(state, turns, found);
        state.steps.truncate(steps);
        state.stack.extend(state.taken.drain(taken..).rev());
        state.waste = waste;
    }

    /// Removes words that need no operation, and goes on at those that do. [`Search::expand`] undoes its changes.
    fn resolve(&self, state: &mut State, turns: Turns, found: &mut Found) {
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
            let (far, near) = below.split_at(below.len().saturating_sub(REACH));
            if let Some(above) = near.iter().rev().position(|&other| other == item) {
                state.take(Step::Dup(above as u32 + 1)); // within reach
                continue;
            }
            let is_far = far.contains(&item);
            match self.node(item) {
                None | Some(Node::Constant(_) | Node::Modulus) => {
                    state.take(Step::Push(item));
                    state.waste += self.push_waste(item);
                }
                Some(&Node::Slot(slot)) if self.is_old(state, slot) => {
                    state.take(Step::Load(slot));
                    if is_far || self.is_awaited(state, item) {
                        state.waste += self.prices.beyond_copy(self.prices.load());
                    }
                }
                Some(Node::Slot(_) | Node::Held(_)) => return self.blocked(state, turns, found),
                Some(_) if is_far || self.is_awaited(state, item) => {
                    return self.blocked(state, turns, found);
                }
                Some(node) => return self.unmake(state, item, node, found),
            }
        }
    }

    fn unmake(&self, state: &mut State, item: Item, node: &Node, found: &mut Found) {
        let is_symmetric =
            !matches!(node, Node::Sub(..) | Node::Mod(_)) && node.pair().is_some_and(|(_, other)| other.is_some());
        state.take(Step::Make(item));
        let height = state.stack.len();
        for is_turned in [false, true].into_iter().take(1 + usize::from(is_symmetric)) {
            self.ask(&mut state.stack, node, is_turned);
            match self.rank(state) {
                Some(rank) => found.push(state, rank, Some(item)),
                None => self.left_out.set(self.left_out.get() + 1),
            }
            state.stack.truncate(height);
        }
    }

    /// Before that nothing lies on the stack: an output is stored there, or the block begins.
    fn store_next(&self, state: &mut State, turns: Turns, found: &mut Found) {
        if state.waiting.is_empty() && state.kept.is_empty() {
            if self.residents.is_empty() {
                let steps = self.ends.begin(&state.stack);
                let price = |step: &Step| match step {
                    Step::Pop => self.prices.drop(),
                    _ => self.prices.exchange(),
                };
                state.waste += steps.iter().map(|step| self.prices.weight(price(step))).sum::<u64>();
                state.steps.extend(steps.into_iter().rev());
                state.taken.extend(state.stack.drain(..).rev());
            }
            while let Some(&item) = state.stack.last() {
                state.take(Step::Push(item));
            }
            found.push(state, state.rank, None);
            return;
        }
        let (waiting, kept) = (Rc::clone(&state.waiting), Rc::clone(&state.kept));
        for store in self.stores(&waiting, &kept) {
            self.stored(state, store, false, turns, found);
        }
    }

    /// Stores that can come last before the state, with the stored words.
    fn stores(&self, waiting: &[usize], kept: &[Item]) -> impl Iterator<Item = (Step, Item)> {
        let outputs = waiting.iter().map(|&place| {
            let (slot, id) = self.terms.outputs[place];
            (Step::Store(slot), self.item(id))
        });
        outputs.chain(kept.iter().map(|&item| (Step::Keep(item), item)))
    }

    /// Goes on before a store, unless the stored word is computed and an earlier instruction waits for it,
    /// `even_if_awaited` apart.
    fn stored(
        &self,
        state: &mut State,
        (step, item): (Step, Item),
        even_if_awaited: bool,
        turns: Turns,
        found: &mut Found,
    ) {
        let is_free = even_if_awaited || !self.is_computed(item);
        // Nothing more is followed from here, or not before this store, whatever else waits.
        if self.ways.get() == 0 || !is_free && self.is_read(state, item) {
            return;
        }
        let (waiting, kept, sets_key) = (Rc::clone(&state.waiting), Rc::clone(&state.kept), state.sets_key);
        match step {
            Step::Store(slot) => {
                let stored = self.output_in(slot).expect("outputs are stored");
                Rc::make_mut(&mut state.waiting).retain(|&place| place != stored);
                state.sets_key ^= member_waiting(stored);
            }
            _ => Rc::make_mut(&mut state.kept).retain(|&other| other != item),
        }
        state.steps.push(step);
        state.stack.push(item);
        if is_free || !self.is_awaited(state, item) {
            self.expand(state, turns, found);
        }
        state.stack.pop();
        state.steps.pop();
        (state.waiting, state.kept, state.sets_key) = (waiting, kept, sets_key);
    }

    fn is_computed(&self, item: Item) -> bool {
        self.node(item).is_some_and(Node::is_computed)
    }

    /// True if an earlier instruction reads it.
    fn is_read(&self, state: &State, item: Item) -> bool {
        self.readers[usize::from(item)].iter().any(|&reader| !state.made.contains(reader))
    }

    /// True if an earlier instruction reads or stores it.
    fn is_awaited(&self, state: &State, item: Item) -> bool {
        let id = usize::from(item);
        self.is_read(state, item)
            || self.outputs_of[id].iter().any(|place| state.waiting.binary_search(place).is_ok())
            || state.kept.contains(&item)
    }

    /// The word on top cannot be made here.
    fn blocked(&self, state: &mut State, turns: Turns, found: &mut Found) {
        let height = state.stack.len();
        let top = state.stack[height - 1];
        let (waiting, kept) = (Rc::clone(&state.waiting), Rc::clone(&state.kept));
        for store in self.stores(&waiting, &kept) {
            let (step, item) = store;
            if item == top {
                self.stored(state, store, true, turns, found);
                continue;
            }
            let is_in_the_way = match (self.node(top), step) {
                (Some(&Node::Slot(slot)), Step::Store(other)) if slot == other => true,
                _ => self.is_computed(item) && self.is_made_of(item, top),
            };
            if turns.stores > 0 && is_in_the_way {
                self.stored(state, store, false, Turns { stores: turns.stores - 1, ..turns }, found);
            }
        }
        if turns.swaps > 0 {
            for below in 1..=REACH.min(height - 1 - self.residents.len()) {
                let place = height - 1 - below;
                if self.ways.get() > 0 && self.is_free(state, place) {
                    let waste = state.waste;
                    state.stack.swap(height - 1, place);
                    state.steps.push(Step::Swap(below as u32)); // within reach
                    state.waste += self.prices.weight(self.prices.exchange());
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
            state.waste += self.prices.beyond_copy(self.prices.load());
            if output.is_none() && !kept.contains(&top) {
                Rc::make_mut(&mut state.kept).push(top);
                let [(gas, bytes), (copy_gas, copy_bytes)] = [self.prices.store(), self.prices.copy()];
                state.waste += self.prices.weight((gas + copy_gas, bytes + copy_bytes));
            }
            self.expand(state, Turns { loads: turns.loads - 1, ..turns }, found);
            state.kept = kept;
        }
    }

    /// True if the word at this place could be resolved on top of the stack.
    fn is_free(&self, state: &State, place: usize) -> bool {
        let (item, top) = (state.stack[place], state.stack[state.stack.len() - 1]);
        if item == top {
            return false;
        }
        let is_elsewhere = || state.stack[..place].contains(&item) || state.stack[place + 1..].contains(&item);
        match self.node(item) {
            None | Some(Node::Constant(_)) if self.ends.entry.contains(&item) => is_elsewhere(),
            None | Some(Node::Constant(_) | Node::Modulus) => true,
            Some(&Node::Slot(slot)) => self.is_old(state, slot),
            Some(Node::Held(_)) => is_elsewhere(),
            Some(_) => !self.is_awaited(state, item) || is_elsewhere(),
        }
    }
}
