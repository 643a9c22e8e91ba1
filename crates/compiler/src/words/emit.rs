//! One way to make the words of a block: instructions that follow a plan, with what they cost.
//!
//! A plan says in which order the statements are made: words that are read more than once, or that slots hold afterwards. Each is made with
//! all that only it reads, as a tree, whose moduli are pushed first, so that nothing has to change places. Statements that are read
//! again stay on the stack; if more are live than a plan allows, the one that is read last goes to a slot that nobody needs.

use super::terms::{Id, Node, Terms};
use num_bigint::BigUint;
use residue_passes::Slot;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// An instruction of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instruction {
    /// Pushes a number.
    Push(Id),
    /// Pushes p.
    PushModulus,
    /// DUP of the word at this place, the top being 1.
    Dup(u8),
    /// SWAP of the top with the word so far below it.
    Swap(u8),
    /// POP.
    Pop,
    /// [] → [what the slot holds]
    Load(Slot),
    /// [word] → [], into the slot.
    Store(Slot),
    /// The opcode of a computed term.
    Operation(Operation),
}

/// What computed terms are made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// ADD.
    Add,
    /// SUB.
    Sub,
    /// MUL.
    Mul,
    /// ADDMOD.
    AddMod,
    /// MULMOD.
    MulMod,
    /// MOD.
    Mod,
}

/// What is free to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The statements, each after those that it is made of.
    pub order: Vec<Id>,
    /// For each term: whether its operands are made the other way around, where that is the same.
    pub turned: Vec<bool>,
    /// For each term: whether what a slot holds is loaded once and stays, and for others whether p is pushed below a statement for the one that
    /// reads it last.
    pub ahead: Vec<bool>,
    /// Words of the block on the stack between statements at most.
    pub height: usize,
}

/// What a block is beside its terms.
#[derive(Debug)]
pub struct Context<'a> {
    /// Its terms.
    pub terms: &'a Terms,
    /// The slots that it may write.
    pub own: &'a BTreeSet<Slot>,
    /// Gas of pushing p.
    pub modulus_gas: u64,
    /// For each term: whether it is a statement.
    pub statements: Vec<bool>,
    /// For each statement and slot: how many trees read it.
    pub reads: Vec<u32>,
}

impl<'a> Context<'a> {
    /// Finds the statements.
    pub fn new(terms: &'a Terms, own: &'a BTreeSet<Slot>, modulus_gas: u64) -> Self {
        let mut reads = vec![0; terms.nodes.len()];
        for node in &terms.nodes {
            node.operands().into_iter().for_each(|operand| reads[operand] += 1);
        }
        let mut statements: Vec<bool> =
            terms.nodes.iter().zip(&reads).map(|(node, &reads)| node.is_computed() && reads > 1).collect();
        for &(_, id) in &terms.outputs {
            if terms.nodes[id].is_computed() {
                statements[id] = true;
            } else {
                reads[id] += 1;
            }
        }
        Self { terms, own, modulus_gas, statements, reads }
    }

    /// The statements and slots that the tree of a statement reads.
    pub fn leaves(&self, id: Id) -> Vec<Id> {
        let mut leaves = Vec::new();
        let mut left = self.terms.nodes[id].operands();
        while let Some(id) = left.pop() {
            match &self.terms.nodes[id] {
                Node::Slot(_) => leaves.push(id),
                Node::Constant(_) | Node::Modulus => {}
                _ if self.statements[id] => leaves.push(id),
                node => left.extend(node.operands()),
            }
        }
        leaves
    }
}

/// What lies on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Term(Id),
    Modulus,
}

/// The instructions of a plan, and their gas.
#[derive(Debug, Clone, Default)]
pub struct Emitted {
    /// In order.
    pub instructions: Vec<Instruction>,
    /// What they cost; memory that grows is not counted.
    pub gas: u64,
}

struct Emission<'a> {
    context: &'a Context<'a>,
    plan: &'a Plan,
    out: Emitted,
    stack: Vec<Entry>,
    left: Vec<u32>,
    /// What own slots, and those that are read, hold.
    memory: HashMap<Slot, Option<Id>>,
    /// Slots by the output that they still wait for.
    waiting: BTreeMap<Slot, Id>,
    /// Whether the tree that is made has pushed nothing but moduli yet, and how many.
    spine: Option<usize>,
    /// For each term: the statements that read it, as places in the order, ascending.
    readers: &'a [Vec<usize>],
    at: usize,
}

/// The words of the stack that DUP reaches.
const REACH: usize = 16;

/// Emits a plan; none if something is out of reach.
pub fn emit(context: &Context<'_>, plan: &Plan) -> Option<Emitted> {
    let mut readers = vec![Vec::new(); context.terms.nodes.len()];
    for (place, &id) in plan.order.iter().enumerate() {
        for leaf in context.leaves(id) {
            readers[leaf].push(place);
        }
    }
    let mut memory: HashMap<Slot, Option<Id>> = context.own.iter().map(|&slot| (slot, None)).collect();
    for (id, node) in context.terms.nodes.iter().enumerate() {
        if let Node::Slot(slot) = node {
            memory.insert(*slot, Some(id));
        }
    }
    let mut emission = Emission {
        context,
        plan,
        out: Emitted::default(),
        stack: Vec::new(),
        left: context.reads.clone(),
        memory,
        waiting: context.terms.outputs.iter().copied().collect(),
        spine: None,
        readers: &readers,
        at: 0,
    };
    emission.all()?;
    Some(emission.out)
}

impl Emission<'_> {
    fn node(&self, id: Id) -> &Node {
        &self.context.terms.nodes[id]
    }

    fn add(&mut self, instruction: Instruction, gas: u64) {
        self.out.instructions.push(instruction);
        self.out.gas += gas;
    }

    fn all(&mut self) -> Option<()> {
        // Outputs that are slots or constants come first, while they are there.
        for place in 0..self.context.terms.outputs.len() {
            let (slot, id) = self.context.terms.outputs[place];
            if !self.node(id).is_computed() {
                if self.holds(slot, id) {
                    self.left[id] -= 1;
                    self.waiting.remove(&slot);
                    continue;
                }
                self.leaf(id)?;
                self.stack.push(Entry::Term(id));
                self.store_if_possible();
            }
        }
        for place in 0..self.plan.order.len() {
            self.at = place;
            let id = self.plan.order[place];
            self.load_ahead(id)?;
            self.tidy()?;
            self.statement(id)?;
        }
        self.at = self.plan.order.len();
        self.finish()
    }

    fn holds(&self, slot: Slot, id: Id) -> bool {
        self.memory.get(&slot) == Some(&Some(id))
    }

    /// Loads the slots that the statement's tree reads and that are to stay.
    fn load_ahead(&mut self, id: Id) -> Option<()> {
        for leaf in self.context.leaves(id) {
            if let Node::Slot(slot) = *self.node(leaf)
                && self.plan.ahead[leaf]
                && self.left[leaf] > 1
                && !self.stack.contains(&Entry::Term(leaf))
                && self.holds(slot, leaf)
            {
                self.add(Instruction::Load(slot), 6);
                self.stack.push(Entry::Term(leaf));
            }
        }
        Some(())
    }

    fn statement(&mut self, id: Id) -> Option<()> {
        let is_computed = self.node(id).is_computed();
        if is_computed && self.plan.ahead[id] && self.left[id] > 0 {
            self.push_modulus();
        }
        if self.both_on_top(id)? {
            self.stack.push(Entry::Term(id));
            self.store_if_possible();
            return Some(());
        }
        let moduli = self.spine_moduli(id);
        self.spine = Some(0);
        // What the tree begins with may lie on top, and be read for the last time.
        if moduli > 0
            && let Some(first) = self.first_leaf(id)
            && self.left[first] == 1
            && !self.is_awaited(first)
            && self.stack.last() == Some(&Entry::Term(first))
        {
            let below = self.stack.len() >= 2 && self.stack[self.stack.len() - 2] == Entry::Modulus;
            let missing = moduli - usize::from(below);
            for _ in 0..missing {
                self.push_modulus();
            }
            if missing > 0 {
                self.swap(missing)?;
            }
            self.spine = None;
            let depth = moduli;
            self.tree(id, true, Some((first, depth)))?;
        } else {
            self.tree(id, true, None)?;
        }
        self.spine = None;
        self.stack.push(Entry::Term(id));
        self.store_if_possible();
        Some(())
    }

    /// Makes a statement of two words that lie on top and are read for the last time; whether it is one.
    fn both_on_top(&mut self, id: Id) -> Option<bool> {
        let operands = self.node(id).operands();
        let [.., Entry::Term(below), Entry::Term(top)] = self.stack[..] else { return Some(false) };
        let is_last = |id: Id| self.left[id] == 1 && !self.is_awaited(id);
        let is_pair = operands == [below, top] || operands == [top, below];
        if !is_pair || !is_last(below) || !is_last(top) {
            return Some(false);
        }
        let has_modulus = matches!(self.node(id), Node::AddMod(..) | Node::MulMod(..));
        if has_modulus && self.stack.len().checked_sub(3).map(|place| self.stack[place]) != Some(Entry::Modulus) {
            self.push_modulus();
            self.swap(2)?;
        }
        let (operation, gas) = match *self.node(id) {
            Node::Sub(a, _) => {
                if a != top {
                    self.swap(1)?;
                }
                (Operation::Sub, 3)
            }
            Node::Add(..) => (Operation::Add, 3),
            Node::Times(..) => (Operation::Mul, 5),
            Node::AddMod(..) => (Operation::AddMod, 8),
            _ => (Operation::MulMod, 8),
        };
        self.add(Instruction::Operation(operation), gas);
        self.stack.truncate(self.stack.len() - 2 - usize::from(has_modulus));
        self.left[below] -= 1;
        self.left[top] -= 1;
        Some(true)
    }

    /// How many moduli the tree pushes before its first leaf.
    fn spine_moduli(&self, id: Id) -> usize {
        let (mut id, mut moduli, mut is_root) = (id, 0, true);
        loop {
            if !is_root && (self.context.statements[id] || !self.node(id).is_computed()) {
                return moduli;
            }
            moduli += usize::from(matches!(self.node(id), Node::AddMod(..) | Node::MulMod(..) | Node::Mod(_)));
            id = self.first_operand(id);
            is_root = false;
        }
    }

    /// The leaf that the tree begins with, if it is a statement or a slot.
    fn first_leaf(&self, id: Id) -> Option<Id> {
        let mut id = self.first_operand(id);
        while self.node(id).is_computed() && !self.context.statements[id] {
            id = self.first_operand(id);
        }
        (!matches!(self.node(id), Node::Constant(_) | Node::Modulus)).then_some(id)
    }

    /// The operand that is made first: the deeper one.
    fn first_operand(&self, id: Id) -> Id {
        match *self.node(id) {
            Node::Mod(a) => a,
            Node::Sub(_, b) => b,
            Node::Add(a, b) | Node::Times(a, b) | Node::AddMod(a, b) | Node::MulMod(a, b) => {
                if self.plan.turned[id] {
                    a
                } else {
                    b
                }
            }
            _ => id,
        }
    }

    fn push_modulus(&mut self) {
        self.add(Instruction::PushModulus, self.context.modulus_gas);
        self.stack.push(Entry::Modulus);
    }

    fn swap(&mut self, below: usize) -> Option<()> {
        if below > REACH || below >= self.stack.len() {
            return None;
        }
        self.add(Instruction::Swap(u8::try_from(below).ok()?), 3);
        let top = self.stack.len() - 1;
        self.stack.swap(top, top - below);
        Some(())
    }

    /// Makes a tree; the model of the stack has all but its result. `begun` says which leaf lies on the stack already, with as many moduli
    /// below it.
    fn tree(&mut self, id: Id, is_root: bool, begun: Option<(Id, usize)>) -> Option<()> {
        if !is_root && (self.context.statements[id] || !self.node(id).is_computed()) {
            return match begun {
                Some((leaf, _)) => {
                    self.left[leaf] -= 1;
                    self.stack.pop();
                    Some(())
                }
                None => self.leaf(id),
            };
        }
        let node = self.node(id).clone();
        let (operation, gas, has_modulus) = match node {
            Node::Add(..) => (Operation::Add, 3, false),
            Node::Sub(..) => (Operation::Sub, 3, false),
            Node::Times(..) => (Operation::Mul, 5, false),
            Node::AddMod(..) => (Operation::AddMod, 8, true),
            Node::MulMod(..) => (Operation::MulMod, 8, true),
            Node::Mod(_) => (Operation::Mod, 5, true),
            Node::Slot(_) | Node::Constant(_) | Node::Modulus => unreachable!("leaves are made above"),
        };
        if has_modulus && begun.is_none() {
            self.push_modulus();
            if let Some(pushed) = &mut self.spine {
                *pushed += 1;
            }
        }
        let inner = begun.map(|(leaf, moduli)| (leaf, moduli - usize::from(has_modulus)));
        let first = self.first_operand(id);
        self.tree(first, false, inner)?;
        let base = self.stack.len() - usize::from(has_modulus);
        self.stack.push(Entry::Term(first));
        let operands = node.operands();
        match node {
            Node::Mod(_) => {}
            _ if operands.len() == 1 => {
                self.add(Instruction::Dup(1), 3);
            }
            _ => {
                let second = if operands[0] == first { operands[1] } else { operands[0] };
                self.tree(second, false, None)?;
            }
        }
        self.add(Instruction::Operation(operation), gas);
        self.stack.truncate(base);
        Some(())
    }

    /// Brings a leaf to the top; the model of the stack has it not yet.
    fn leaf(&mut self, id: Id) -> Option<()> {
        let spine = self.spine.take();
        match *self.node(id) {
            Node::Constant(_) => {
                self.add(Instruction::Push(id), 3);
                return Some(());
            }
            Node::Modulus => {
                self.add(Instruction::PushModulus, self.context.modulus_gas);
                return Some(());
            }
            _ => {}
        }
        self.left[id] -= 1;
        if let Some(place) = self.stack.iter().rposition(|&entry| entry == Entry::Term(id)) {
            let depth = self.stack.len() - place;
            if self.left[id] == 0 && spine == Some(0) && !self.is_awaited(id) {
                // Nothing of the tree lies above: it need not be copied.
                if depth > 1 {
                    self.swap(depth - 1)?;
                }
                self.stack.pop();
                return Some(());
            }
            if depth <= REACH {
                self.add(Instruction::Dup(u8::try_from(depth).ok()?), 3);
                return Some(());
            }
        }
        let slot = self.memory.iter().filter(|(_, held)| **held == Some(id)).map(|(&slot, _)| slot).min()?;
        self.add(Instruction::Load(slot), 6);
        Some(())
    }

    fn is_awaited(&self, id: Id) -> bool {
        self.waiting.values().any(|&awaited| awaited == id)
    }

    /// Whether what the slot holds is needed from there.
    fn is_needed(&self, slot: Slot) -> bool {
        match self.memory.get(&slot) {
            Some(&Some(held)) => {
                let is_output = self.context.terms.outputs.contains(&(slot, held)) && !self.waiting.contains_key(&slot);
                is_output || self.left[held] > 0 && !self.is_elsewhere(held, slot)
            }
            _ => false,
        }
    }

    /// Whether it lies on the stack, or another slot holds it.
    fn is_elsewhere(&self, id: Id, but: Slot) -> bool {
        self.stack.contains(&Entry::Term(id))
            || self.memory.iter().any(|(&slot, held)| slot != but && *held == Some(id))
    }

    /// Stores the top of the stack where it belongs, if what is there is needed no longer; it goes if nobody reads it again.
    fn store_if_possible(&mut self) {
        let Some(&Entry::Term(id)) = self.stack.last() else { return };
        let slots: Vec<Slot> =
            self.waiting.iter().filter(|(_, awaited)| **awaited == id).map(|(&slot, _)| slot).collect();
        for slot in slots {
            if self.is_needed(slot) {
                continue;
            }
            self.waiting.remove(&slot);
            if self.left[id] > 0 || self.is_awaited(id) {
                self.add(Instruction::Dup(1), 3);
            } else {
                self.stack.pop();
            }
            self.add(Instruction::Store(slot), 6);
            self.memory.insert(slot, Some(id));
        }
    }

    /// Takes from the top what nobody needs, and spills if too much lies there.
    fn tidy(&mut self) -> Option<()> {
        loop {
            match self.stack.last() {
                // It is for the statement below which it was pushed.
                Some(Entry::Modulus) => {}
                Some(&Entry::Term(id)) if self.left[id] == 0 && !self.is_awaited(id) => {}
                Some(&Entry::Term(id)) if self.is_awaited(id) => {
                    let height = self.stack.len();
                    self.store_if_possible();
                    if self.stack.len() == height {
                        break;
                    }
                    continue;
                }
                _ => break,
            }
            self.add(Instruction::Pop, 2);
            self.stack.pop();
        }
        while self.stack.len() > self.plan.height {
            self.spill()?;
        }
        Some(())
    }

    /// Takes from the stack what is read last.
    fn spill(&mut self) -> Option<()> {
        let next = |id: Id| self.readers[id].iter().copied().find(|&place| place >= self.at).unwrap_or(usize::MAX);
        let top = self.stack.len() - 1;
        let farthest = (self.stack.len().saturating_sub(REACH)..self.stack.len())
            .filter_map(|place| match self.stack[place] {
                Entry::Term(id) => Some((next(id), place, id)),
                Entry::Modulus => None,
            })
            .max()?;
        let (_, place, id) = farthest;
        if place < top {
            self.swap(top - place)?;
        }
        if self.left[id] == 0 && !self.is_awaited(id) || self.memory.values().any(|held| *held == Some(id)) {
            self.add(Instruction::Pop, 2);
            self.stack.pop();
            return Some(());
        }
        self.store_if_possible();
        if self.stack.len() <= top {
            return Some(());
        }
        if self.memory.values().any(|held| *held == Some(id)) {
            self.add(Instruction::Pop, 2);
            self.stack.pop();
            return Some(());
        }
        let free = self.context.own.iter().copied().find(|slot| !self.is_needed(*slot) && !self.is_left(*slot))?;
        self.add(Instruction::Store(free), 6);
        self.memory.insert(free, Some(id));
        self.stack.pop();
        Some(())
    }

    /// Whether somebody reads what the slot holds, even if it lies elsewhere too.
    fn is_left(&self, slot: Slot) -> bool {
        matches!(self.memory.get(&slot), Some(&Some(held)) if self.left[held] > 0)
    }

    /// Stores what still waits, and leaves nothing on the stack.
    fn finish(&mut self) -> Option<()> {
        while !self.stack.is_empty() {
            self.tidy()?;
            let top = self.stack.len();
            if top > 0
                && self
                    .stack
                    .last()
                    .is_some_and(|entry| matches!(entry, Entry::Term(id) if self.is_awaited(*id) || self.left[*id] > 0))
            {
                // Slots that wait for each other.
                return None;
            }
        }
        self.waiting.is_empty().then_some(())
    }
}

/// The number of a push.
pub fn number(terms: &Terms, id: Id) -> &BigUint {
    match &terms.nodes[id] {
        Node::Constant(number) => number,
        _ => unreachable!("only constants are pushed"),
    }
}
