//! Emission of the words of a block: instructions that follow a plan, with their cost.
//!
//! A plan says in which order the statements are made: words that are read more than once, or that slots hold afterwards. Each is made with
//! all that only it reads, as a tree, whose moduli are pushed first, so that nothing has to change places. Statements that are read
//! again stay on the stack; if more are live than a plan allows, the one that is read last goes to a free slot.

// style: S2: one way of making words, whose parts share what lies on the stack.

use super::prices::Prices;
use super::terms::{Id, Node, Terms};
use num_bigint::BigUint;
use residue_passes::Slot;
use std::collections::BTreeSet;

/// An instruction of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instruction {
    /// Pushes a number.
    Push(Id),
    /// Pushes p.
    PushModulus,
    /// DUP of the word at this place, the top being 1.
    Dup(u8),
    /// SWAP of the top with the word at this depth below it.
    Swap(u8),
    /// POP.
    Pop,
    /// [] → [content of the slot]
    Load(Slot),
    /// [word] → [], into the slot.
    Store(Slot),
    /// The opcode of a computed term.
    Operation(Operation),
}

/// Opcode of a computed term.
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

/// Free choices of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The statements, each after its operands.
    pub order: Vec<Id>,
    /// For each term: whether its operands are made the other way around, where that is the same.
    pub turned: Vec<bool>,
    /// For each term: true if a slot's content is loaded once and stays; for other terms, true if p is pushed below a
    /// statement for its last reader.
    pub ahead: Vec<bool>,
    /// Words of the block on the stack between statements at most.
    pub height: usize,
}

impl Operation {
    /// That of a computed term.
    pub fn of(node: &Node) -> Self {
        match node {
            Node::Add(..) => Self::Add,
            Node::Sub(..) => Self::Sub,
            Node::Times(..) => Self::Mul,
            Node::AddMod(..) => Self::AddMod,
            Node::MulMod(..) => Self::MulMod,
            Node::Mod(_) => Self::Mod,
            Node::Slot(_) | Node::Held(_) | Node::Constant(_) | Node::Modulus => unreachable!("these are not computed"),
        }
    }

    /// The words of the stack that the operation of a computed term takes.
    pub const fn words(node: &Node) -> usize {
        match node {
            Node::AddMod(..) | Node::MulMod(..) => 3,
            _ => 2,
        }
    }
}

/// Block of terms with its environment.
#[derive(Debug)]
pub struct Context<'a> {
    /// Its terms.
    pub terms: &'a Terms,
    /// The slots that it may write.
    pub own: &'a BTreeSet<Slot>,
    /// Prices of pushes.
    pub prices: &'a Prices,
    /// The long numbers that lie below the block's words, if short code is wanted.
    pub residents: Vec<Resident>,
    /// For each term: whether it is a statement.
    pub statements: Vec<bool>,
    /// For each statement and slot: how many trees read it.
    pub reads: Vec<u32>,
    /// For each statement: the statements and slots that its tree reads.
    pub leaves: Vec<Vec<Id>>,
    /// After all slots that are named.
    slot_end: usize,
    /// For each term: how many words its tree takes on the stack at most.
    needs: Vec<usize>,
}

impl<'a> Context<'a> {
    /// Finds the statements.
    pub fn new(terms: &'a Terms, own: &'a BTreeSet<Slot>, prices: &'a Prices, need_max: usize) -> Self {
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
        let read = terms.nodes.iter().filter_map(|node| if let Node::Slot(slot) = node { Some(*slot) } else { None });
        let written = terms.outputs.iter().map(|&(slot, _)| slot);
        let last = read.chain(written).chain(own.iter().copied()).max();
        let slot_end = last.map_or(0, |slot| slot as usize + 1); // u32 to usize widens
        let residents = if prices.is_short() { residents(terms) } else { Vec::new() };
        let mut context =
            Self { terms, own, prices, residents, statements, reads, leaves: vec![], needs: vec![], slot_end };
        context.limit_needs(need_max);
        context.leaves = (0..terms.nodes.len()).map(|id| context.leaves_of(id)).collect();
        context
    }

    /// Makes more statements, so that no tree needs more words of the stack.
    fn limit_needs(&mut self, need_max: usize) {
        for node in &self.terms.nodes {
            let has_modulus = matches!(node, Node::AddMod(..) | Node::MulMod(..) | Node::Mod(_));
            let of = |needs: &[usize], statements: &[bool], id: Id| if statements[id] { 1 } else { needs[id] };
            let operands = node.operands();
            let need = loop {
                // In whichever order they are made.
                let inner: Vec<usize> = operands.iter().map(|&id| of(&self.needs, &self.statements, id)).collect();
                let most = inner.iter().copied().max().unwrap_or(0) + usize::from(operands.len() > 1);
                let need = usize::from(has_modulus) + most.max(usize::from(node.is_computed()) * 2).max(1);
                let largest = operands.iter().zip(&inner).max_by_key(|(_, need)| **need);
                match largest {
                    Some((&operand, &inner)) if need > need_max && inner > 1 => self.statements[operand] = true,
                    _ => break need,
                }
            };
            self.needs.push(need);
        }
    }

    /// The statements and slots that the tree of a term reads.
    fn leaves_of(&self, id: Id) -> Vec<Id> {
        let mut leaves = Vec::new();
        let mut left = self.terms.nodes[id].operands();
        while let Some(id) = left.pop() {
            match &self.terms.nodes[id] {
                Node::Slot(_) => leaves.push(id),
                Node::Held(_) | Node::Constant(_) | Node::Modulus => {}
                _ if self.statements[id] => leaves.push(id),
                node => left.extend(node.operands()),
            }
        }
        leaves
    }
}

/// Uses of a long number for which it is worth pushing below the block.
const RESIDENT_USES: usize = 3;
/// The most such numbers.
const RESIDENTS_MAX: usize = 3;

/// A long number that lies below a block's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resident {
    /// p.
    Modulus,
    /// A constant.
    Number(Id),
}

/// p, if it is used more than once, and the long numbers that are used most.
pub fn residents(terms: &Terms) -> Vec<Resident> {
    let mut uses = vec![0; terms.nodes.len()];
    let mut moduli = 0;
    for node in &terms.nodes {
        node.operands().into_iter().for_each(|operand| uses[operand] += 1);
        moduli += usize::from(matches!(node, Node::AddMod(..) | Node::MulMod(..) | Node::Mod(_)));
    }
    let is_long = |id: &Id| matches!(&terms.nodes[*id], Node::Constant(number) if number.bits() > 64);
    let mut long: Vec<Id> = (0..uses.len()).filter(is_long).filter(|&id| uses[id] >= RESIDENT_USES).collect();
    long.sort_by_key(|&id| std::cmp::Reverse(uses[id]));
    long.truncate(RESIDENTS_MAX);
    let modulus = (moduli > 1).then_some(Resident::Modulus);
    long.into_iter().map(Resident::Number).chain(modulus).collect()
}

/// Entry of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Term(Id),
    Modulus,
    /// A number that is copied.
    Number(Id),
}

/// The instructions of a plan, and their gas.
#[derive(Debug, Clone, Default)]
pub struct Emitted {
    /// In order.
    pub instructions: Vec<Instruction>,
    /// Gas of the instructions, without growth of memory.
    pub gas: u64,
    /// Approximate bytes of the instructions.
    pub bytes: u64,
}

impl Emitted {
    /// Adds an instruction at its price in gas and bytes.
    pub fn add(&mut self, instruction: Instruction, (gas, bytes): (u64, u64)) {
        self.instructions.push(instruction);
        self.gas += gas;
        self.bytes += bytes;
    }
}

struct Emission<'a> {
    context: &'a Context<'a>,
    plan: &'a Plan,
    out: Emitted,
    stack: Vec<Entry>,
    left: Vec<u32>,
    /// Terms held by slots.
    memory: Vec<Option<Id>>,
    /// For each term: the last slot that was given it.
    held_by: Vec<Option<Slot>>,
    /// Slots that still wait for an output.
    waiting: Vec<(Slot, Id)>,
    /// For each term: how many slots wait for it.
    awaited: Vec<u32>,
    /// Upper bound of the cost: emission stops beyond it.
    limit: u64,
    /// Number of moduli that the tree has pushed, while it has pushed nothing else; then `None`.
    spine: Option<usize>,
    /// For each term: the statements that read it, as places in the order, ascending.
    readers: &'a [Vec<usize>],
    at: usize,
}

/// The words of the stack that DUP reaches.
const REACH: usize = 16;

/// Emits a plan; none if something is out of reach, or more than `limit` gas is needed.
pub fn emit(context: &Context<'_>, plan: &Plan, limit: u64) -> Option<Emitted> {
    let mut readers = vec![Vec::new(); context.terms.nodes.len()];
    for (place, &id) in plan.order.iter().enumerate() {
        for &leaf in &context.leaves[id] {
            readers[leaf].push(place);
        }
    }
    let nodes = context.terms.nodes.len();
    let (mut memory, mut held_by, mut awaited) = (vec![None; context.slot_end], vec![None; nodes], vec![0; nodes]);
    for (id, node) in context.terms.nodes.iter().enumerate() {
        if let Node::Slot(slot) = *node {
            memory[slot as usize] = Some(id); // u32 to usize widens
            held_by[id] = Some(slot);
        }
    }
    context.terms.outputs.iter().for_each(|&(_, id)| awaited[id] += 1);
    let mut emission = Emission {
        context,
        plan,
        out: Emitted::default(),
        stack: Vec::new(),
        left: context.reads.clone(),
        memory,
        held_by,
        waiting: context.terms.outputs.clone(),
        awaited,
        limit,
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

    fn add(&mut self, instruction: Instruction) {
        self.out.add(instruction, self.context.prices.instruction(self.context.terms, &instruction));
    }

    fn all(&mut self) -> Option<()> {
        for &resident in &self.context.residents {
            match resident {
                Resident::Modulus => self.push_modulus(),
                Resident::Number(id) => {
                    self.add(Instruction::Push(id));
                    self.stack.push(Entry::Number(id));
                }
            }
        }
        // Outputs that are slots or constants come first, while they are there.
        for place in 0..self.context.terms.outputs.len() {
            let (slot, id) = self.context.terms.outputs[place];
            if !self.node(id).is_computed() {
                if self.holds(slot, id) {
                    self.left[id] -= 1;
                    self.stored(slot);
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
            self.tidy(self.context.needs[id])?;
            self.statement(id)?;
            if self.out.gas > self.limit {
                return None;
            }
        }
        self.at = self.plan.order.len();
        self.finish()
    }

    fn holds(&self, slot: Slot, id: Id) -> bool {
        self.memory[slot as usize] == Some(id) // u32 to usize widens
    }

    /// Loads the slots that the statement's tree reads and that are to stay.
    fn load_ahead(&mut self, id: Id) -> Option<()> {
        let context = self.context;
        for &leaf in &context.leaves[id] {
            if let Node::Slot(slot) = *self.node(leaf)
                && self.plan.ahead[leaf]
                && self.left[leaf] > 1
                && !self.stack.contains(&Entry::Term(leaf))
                && self.holds(slot, leaf)
            {
                self.add(Instruction::Load(slot));
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
            let below = self.is_free_modulus(2);
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
        if has_modulus && !self.is_free_modulus(3) {
            self.push_modulus();
            self.swap(2)?;
        }
        if let Node::Sub(a, _) = *self.node(id)
            && a != top
        {
            self.swap(1)?;
        }
        self.add(Instruction::Operation(Operation::of(self.node(id))));
        self.stack.truncate(self.stack.len() - 2 - usize::from(has_modulus));
        self.left[below] -= 1;
        self.left[top] -= 1;
        Some(true)
    }

    /// True if the word at this depth is p, other than the shared resident one.
    fn is_free_modulus(&self, depth: usize) -> bool {
        let place = self.stack.len().checked_sub(depth).filter(|&place| place >= self.context.residents.len());
        place.is_some_and(|place| self.stack[place] == Entry::Modulus)
    }

    /// Number of moduli that the tree pushes before its first leaf.
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
        self.modulus_to_top();
        self.stack.push(Entry::Modulus);
    }

    /// Pushes or copies p; the model of the stack has it not yet.
    fn modulus_to_top(&mut self) {
        match self.depth(|entry| entry == Entry::Modulus) {
            Some(depth) => self.add(Instruction::Dup(depth)),
            None => self.add(Instruction::PushModulus),
        }
    }

    /// The place of the nearest such word that DUP reaches.
    fn depth(&self, is_wanted: impl Fn(Entry) -> bool) -> Option<u8> {
        let depth = self.stack.iter().rev().position(|&entry| is_wanted(entry))? + 1;
        u8::try_from(depth).ok().filter(|_| depth <= REACH)
    }

    fn swap(&mut self, below: usize) -> Option<()> {
        if below > REACH || below >= self.stack.len() {
            return None;
        }
        self.add(Instruction::Swap(u8::try_from(below).ok()?));
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
        let context = self.context;
        let node = &context.terms.nodes[id];
        let has_modulus = matches!(node, Node::AddMod(..) | Node::MulMod(..) | Node::Mod(_));
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
        match (node, node.pair()) {
            (Node::Mod(_), _) | (_, None) => {}
            (_, Some((_, None))) => self.add(Instruction::Dup(1)),
            (_, Some((a, Some(b)))) => self.tree(if a == first { b } else { a }, false, None)?,
        }
        self.add(Instruction::Operation(Operation::of(node)));
        self.stack.truncate(base);
        Some(())
    }

    /// Brings a leaf to the top; the model of the stack has it not yet.
    fn leaf(&mut self, id: Id) -> Option<()> {
        let spine = self.spine.take();
        match *self.node(id) {
            Node::Constant(_) => {
                match self.depth(|entry| entry == Entry::Number(id)) {
                    Some(depth) => self.add(Instruction::Dup(depth)),
                    None => self.add(Instruction::Push(id)),
                }
                return Some(());
            }
            Node::Modulus => {
                self.modulus_to_top();
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
                self.add(Instruction::Dup(u8::try_from(depth).ok()?));
                return Some(());
            }
        }
        let slot = self.held_by[id].filter(|&slot| self.holds(slot, id))?;
        self.add(Instruction::Load(slot));
        Some(())
    }

    fn is_awaited(&self, id: Id) -> bool {
        self.awaited[id] > 0
    }

    /// True if the slot's content is needed in this slot.
    fn is_needed(&self, slot: Slot) -> bool {
        match self.memory[slot as usize] {
            Some(held) => {
                let waits = || self.waiting.iter().any(|&(waiting, _)| waiting == slot);
                let is_output = || self.context.terms.outputs.contains(&(slot, held)) && !waits();
                is_output() || (self.left[held] > 0 || self.is_awaited(held)) && !self.is_elsewhere(held, slot)
            }
            _ => false,
        }
    }

    /// True if a copy lies on the stack or in a slot other than `but`.
    fn is_elsewhere(&self, id: Id, but: Slot) -> bool {
        self.stack.contains(&Entry::Term(id))
            || self.held_by[id].is_some_and(|slot| slot != but && self.holds(slot, id))
    }

    /// True if a slot holds it.
    fn is_held(&self, id: Id) -> bool {
        self.held_by[id].is_some_and(|slot| self.holds(slot, id))
    }

    /// The slot has its output.
    fn stored(&mut self, slot: Slot) {
        if let Some(place) = self.waiting.iter().position(|&(waiting, _)| waiting == slot) {
            let (_, id) = self.waiting.swap_remove(place);
            self.awaited[id] -= 1;
        }
    }

    /// Stores the top of the stack, whose place in the model the caller sees to.
    fn store(&mut self, slot: Slot, id: Id) {
        self.add(Instruction::Store(slot));
        self.memory[slot as usize] = Some(id); // u32 to usize widens
        self.held_by[id] = Some(slot);
    }

    /// Stores the top of the stack in its slot, if the slot's content is dead; pops it if it is not read again.
    fn store_if_possible(&mut self) {
        let Some(&Entry::Term(id)) = self.stack.last() else { return };
        if !self.is_awaited(id) {
            return;
        }
        let slots: Vec<Slot> =
            self.waiting.iter().filter(|&&(_, awaited)| awaited == id).map(|&(slot, _)| slot).collect();
        for slot in slots {
            if self.is_needed(slot) {
                continue;
            }
            self.stored(slot);
            if self.left[id] > 0 || self.is_awaited(id) {
                self.add(Instruction::Dup(1));
            } else {
                self.stack.pop();
            }
            self.store(slot, id);
        }
    }

    /// Drops dead words from the top, and spills if the stack is too high.
    fn tidy(&mut self, need: usize) -> Option<()> {
        let floor = if self.at < self.plan.order.len() { self.context.residents.len() } else { 0 };
        while self.stack.len() > floor {
            match self.stack.last() {
                // It is for the statement below which it was pushed.
                Some(Entry::Modulus | Entry::Number(_)) => {}
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
            self.add(Instruction::Pop);
            self.stack.pop();
        }
        let height = self.plan.height.min((REACH + 1).saturating_sub(need)).max(floor + 1);
        while self.stack.len() > height {
            self.spill()?;
        }
        Some(())
    }

    /// Spills the word whose next use is last.
    fn spill(&mut self) -> Option<()> {
        let next = |id: Id| self.readers[id].iter().copied().find(|&place| place >= self.at).unwrap_or(usize::MAX);
        let top = self.stack.len() - 1;
        let lowest = self.stack.len().saturating_sub(REACH).max(self.context.residents.len());
        let farthest = (lowest..self.stack.len())
            .filter_map(|place| match self.stack[place] {
                Entry::Term(id) => Some((next(id), place, id)),
                Entry::Modulus | Entry::Number(_) => None,
            })
            .max()?;
        let (_, place, id) = farthest;
        if place < top {
            self.swap(top - place)?;
        }
        if self.left[id] == 0 && !self.is_awaited(id) || self.is_held(id) {
            self.add(Instruction::Pop);
            self.stack.pop();
            return Some(());
        }
        self.store_if_possible();
        if self.stack.len() <= top {
            return Some(());
        }
        if self.is_held(id) {
            self.add(Instruction::Pop);
            self.stack.pop();
            return Some(());
        }
        let free = self.context.own.iter().copied().find(|slot| !self.is_needed(*slot) && !self.is_left(*slot))?;
        self.store(free, id);
        self.stack.pop();
        Some(())
    }

    /// True if the slot's content is still read, even if there is a copy elsewhere.
    fn is_left(&self, slot: Slot) -> bool {
        self.memory[slot as usize].is_some_and(|held| self.left[held] > 0 || self.is_awaited(held)) // u32 to usize widens
    }

    /// Stores the remaining outputs, and empties the stack.
    fn finish(&mut self) -> Option<()> {
        while !self.stack.is_empty() {
            self.tidy(0)?;
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
        // What a slot waits for may lie in another one.
        while let Some(place) = (0..self.waiting.len()).find(|&place| !self.is_needed(self.waiting[place].0)) {
            let (slot, id) = self.waiting[place];
            let from = self.held_by[id].filter(|&from| self.holds(from, id))?;
            self.add(Instruction::Load(from));
            self.stored(slot);
            self.store(slot, id);
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
