//! Words of a block: the translation of its field operations, with bounds that place the reductions.
//!
//! MULMOD and ADDMOD take any words, so a sum is reduced only if it would not fit a word, or if it leaves the block:
//! values in slots are canonical. A sum of several values with signs is made as one: the positive terms, and a multiple
//! of p minus the others. One that needs two words is reduced by one ADDMOD of them. Of short moduli products are words
//! too, and are reduced as late. Results that no slot holds may be held as their negatives, to save subtractions
//! ([`super::signs`]).

use super::block::{Block, Named, named, without_bounds};
use super::emit::Operation;
use super::field::{Field, GIVEN_LEAST, word_max};
use super::places::{Ends, Place};
use super::prices::EvmGas;
use super::signs::signs;
use foldhash::{HashMap, HashMapExt};
use num_bigint::BigUint;
use num_traits::{One, Zero};
use residue_ir::FieldOp;
use residue_passes::{Slot, SlotOp};
use std::collections::BTreeSet;

/// A term, by its place in [`Terms::nodes`]. Terms come after their operands.
pub type Id = usize;

/// Definition of a word.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Node {
    /// Content of a slot at the start of the block.
    Slot(Slot),
    /// Word of the stack at the start of the block, at this place from below.
    Held(usize),
    /// A number.
    Constant(BigUint),
    /// p.
    Modulus,
    /// a + b, which fits a word.
    Add(Id, Id),
    /// a − b, where a ≥ b.
    Sub(Id, Id),
    /// a · b, which fits a word.
    Times(Id, Id),
    /// (a + b) mod p.
    AddMod(Id, Id),
    /// (a · b) mod p.
    MulMod(Id, Id),
    /// a mod p.
    Mod(Id),
}

impl Node {
    /// Its operands; one that is read twice comes once.
    pub fn operands(&self) -> Vec<Id> {
        self.pair().map_or_else(Vec::new, |(a, b)| std::iter::once(a).chain(b).collect())
    }

    /// The same, without a list of them.
    pub const fn pair(&self) -> Option<(Id, Option<Id>)> {
        match *self {
            Node::Slot(_) | Node::Held(_) | Node::Constant(_) | Node::Modulus => None,
            Node::Mod(a) => Some((a, None)),
            Node::Add(a, b) | Node::Sub(a, b) | Node::Times(a, b) | Node::AddMod(a, b) | Node::MulMod(a, b) => {
                Some((a, if a == b { None } else { Some(b) }))
            }
        }
    }

    /// True if it is computed, rather than read or pushed.
    pub fn is_computed(&self) -> bool {
        !matches!(self, Node::Slot(_) | Node::Held(_) | Node::Constant(_) | Node::Modulus)
    }
}

/// The words of a block.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// Definition of each word.
    pub nodes: Vec<Node>,
    /// Contents of slots after the block; each slot once.
    pub outputs: Vec<(Slot, Id)>,
    /// Stack at the start of the block, lowest first.
    pub entry: Vec<Id>,
    /// The same when it ends.
    pub exit: Vec<Id>,
}

/// A sum with signs: Σ added − Σ taken + constant.
#[derive(Debug, Clone, Default)]
struct Sum {
    added: Vec<Id>,
    taken: Vec<Id>,
    constant: BigUint,
}

struct Making<'a> {
    field: &'a Field,
    p: BigUint,
    limit: BigUint,
    terms: Terms,
    known: HashMap<Node, Id>,
    /// The largest that each term may be.
    max: Vec<BigUint>,
    /// The multiples of p that lie on the stack when the block begins, as multiples.
    held: Vec<BigUint>,
}

/// The same with nothing known of signs.
#[cfg(test)]
pub fn terms(
    ops: &[SlotOp],
    kept: &BTreeSet<Slot>,
    field: &Field,
    constants: (Slot, &[BigUint]),
    ends: Option<&Ends>,
) -> Terms {
    terms_known(ops, kept, field, constants, ends, &mut KnownSigns::default())
}

/// Known signs of blocks over one field with the same constants: blocks often come again with other slots.
#[derive(Debug, Default)]
pub struct KnownSigns {
    /// Prices by which words are compared.
    gas: EvmGas,
    /// Those whose words are cheapest.
    best: HashMap<Named, Vec<bool>>,
    /// Candidates that may save gas, for any bounds of words on the stack.
    found: HashMap<Named, Vec<Vec<bool>>>,
}

impl KnownSigns {
    /// Nothing known yet, at these prices.
    pub fn at(gas: EvmGas) -> Self {
        Self { gas, ..Self::default() }
    }

    /// Prices by which words are compared.
    pub const fn gas(&self) -> EvmGas {
        self.gas
    }
}

/// The words of `ops`, after which the slots `kept` are read; slots from the first of `constants` on are these. `ends`
/// is the stack before and after, if it is not empty.
pub fn terms_known(
    ops: &[SlotOp],
    kept: &BTreeSet<Slot>,
    field: &Field,
    constants: (Slot, &[BigUint]),
    ends: Option<&Ends>,
    known: &mut KnownSigns,
) -> Terms {
    let block = Block::new(ops, kept, constants, ends);
    let named = named(ops, kept, constants.0, ends);
    if let Some(signs) = known.best.get(&named) {
        return Making::of(&block, field, signs);
    }
    let found = known.found.entry(without_bounds(named.clone())).or_insert_with(|| signs(&block));
    let ways = std::iter::once(block.plain_signs()).chain(found.iter().cloned());
    let ways = ways.map(|signs| (Making::of(&block, field, &signs), signs));
    let (terms, signs) = ways.min_by_key(|(terms, _)| terms.gas(&known.gas)).expect("there is one without negatives");
    known.best.insert(named, signs);
    terms
}

/// The words where results are held as their negatives as `turns` says, for a test that all signs are right.
#[cfg(test)]
pub fn turned(
    ops: &[SlotOp],
    kept: &BTreeSet<Slot>,
    field: &Field,
    constants: (Slot, &[BigUint]),
    ends: Option<&Ends>,
    mut turns: impl FnMut() -> bool,
) -> Terms {
    let block = Block::new(ops, kept, constants, ends);
    let mut is_negative = block.plain_signs();
    super::signs::free(&block).into_iter().for_each(|number| is_negative[number] = turns());
    Making::of(&block, field, &is_negative)
}

impl Sum {
    fn of(id: Id) -> Self {
        Self { added: vec![id], ..Self::default() }
    }

    fn as_constant(&self) -> Option<&BigUint> {
        (self.added.is_empty() && self.taken.is_empty()).then_some(&self.constant)
    }
}

impl Making<'_> {
    /// Words of a block, with the given results held as their negatives.
    fn of(block: &Block, field: &Field, is_negative: &[bool]) -> Terms {
        let mut making = Making {
            field,
            p: field.most(),
            limit: word_max(),
            terms: Terms::default(),
            known: HashMap::new(),
            max: Vec::new(),
            held: Vec::new(),
        };
        making.begin(block);
        let mut sums: Vec<Sum> = Vec::new();
        for (number, op) in block.ops.iter().enumerate() {
            let [source_x, source_y] = block.sources[number];
            let mut operand = |slot, source: Option<usize>| match source {
                Some(from) => (sums[from].clone(), is_negative[from]),
                None => making.given(block, slot),
            };
            let ((x, x_is_negative), (y, y_is_negative)) = (operand(op.x, source_x), operand(op.y, source_y));
            let stays = block.stays(number) || block.left(number).is_some();
            let (x_turns, y_turns) = (x_is_negative ^ is_negative[number], y_is_negative ^ is_negative[number]);
            let sum = match op.operation {
                FieldOp::Mul => making.signed_product(x, y, x_turns ^ y_is_negative, stays),
                FieldOp::Add => making.signed_sum(&x, x_turns, &y, y_turns),
                FieldOp::Sub => making.signed_sum(&x, x_turns, &y, !y_turns),
            };
            let sum = if block.stays(number) {
                Sum::of(making.canonical(&sum))
            } else if let Some(form) = block.left(number) {
                let most = form.most(&making.p);
                Sum::of(making.bounded(&sum, &most))
            } else if block.reads[number] > 1 {
                making.settled(&sum, block.factors[number])
            } else {
                sum
            };
            sums.push(sum);
        }
        for (&slot, &number) in &block.writer {
            if block.stays(number) {
                let id = making.word(&sums[number]);
                making.terms.outputs.push((slot, id));
            }
        }
        making.terms.outputs.sort_unstable();
        making.end(block, |slot| block.writer.get(&slot).map(|&number| (sums[number].clone(), is_negative[number])));
        making.terms.without_unread()
    }

    /// Defines the terms of the stack at the start of the block.
    fn begin(&mut self, block: &Block) {
        for (at, place) in block.ends.into_iter().flat_map(|ends| &ends.entry).enumerate() {
            let (node, most) = match place {
                Place::Next => (Node::Held(at), word_max()),
                Place::Modulus => {
                    self.held.push(BigUint::one());
                    (Node::Modulus, self.p.clone())
                }
                Place::Number(number) => (Node::Constant(number.clone()), number.clone()),
                Place::Value(_, form) => (Node::Held(at), form.most(&self.p)),
            };
            if let Node::Constant(number) = &node
                && (number % &self.p).is_zero()
            {
                self.held.push(number / &self.p);
            }
            let id = match node {
                Node::Held(_) => self.bounded_node(node, most),
                node => self.node(node),
            };
            self.terms.entry.push(id);
        }
    }

    /// The same at its end, given the values that operations wrote to slots.
    fn end(&mut self, block: &Block, written: impl Fn(Slot) -> Option<(Sum, bool)>) {
        for place in block.ends.into_iter().flat_map(|ends| &ends.exit) {
            let id = match place {
                Place::Next => {
                    let at = block.ends.and_then(|ends| ends.entry.iter().position(|place| *place == Place::Next));
                    self.terms.entry[at.expect("what comes next lies on the stack")]
                }
                Place::Modulus => self.node(Node::Modulus),
                Place::Number(number) => self.node(Node::Constant(number.clone())),
                &Place::Value(slot, form) => {
                    let (sum, is_negative) = written(slot).unwrap_or_else(|| self.given(block, slot));
                    let sum = if is_negative == form.is_negative { sum } else { self.negated(&sum) };
                    let most = form.most(&self.p);
                    self.bounded(&sum, &most)
                }
            };
            self.terms.exit.push(id);
        }
    }

    /// Content of a slot at the start of the block, and true if that is the negative of its value.
    fn given(&mut self, block: &Block, slot: Slot) -> (Sum, bool) {
        match (block.constant(slot), block.held(slot)) {
            (Some(value), _) => (Sum { constant: value.clone(), ..Sum::default() }, false),
            (None, Some((at, form))) => (Sum::of(self.terms.entry[at]), form.is_negative),
            (None, None) => (Sum::of(self.node(Node::Slot(slot))), false),
        }
    }

    /// A sum as a word that is no larger than this, which p − 1 is not.
    fn bounded(&mut self, sum: &Sum, most: &BigUint) -> Id {
        let word = self.fits(sum).then(|| self.word(sum));
        word.filter(|&word| self.max[word] <= *most).unwrap_or_else(|| self.canonical(sum))
    }

    /// ±x ± y.
    fn signed_sum(&mut self, x: &Sum, x_is_taken: bool, y: &Sum, y_is_taken: bool) -> Sum {
        let x = if x_is_taken { self.negated(x) } else { x.clone() };
        let y = if y_is_taken { self.negated(y) } else { y.clone() };
        self.sum(&x, &y)
    }

    /// ±x·y: of the signs of both those with the fewest multiples of p.
    fn signed_product(&mut self, x: Sum, y: Sum, is_negative: bool, stays: bool) -> Sum {
        let turned = [self.negated(&x), self.negated(&y)];
        let [minus_x, minus_y] = turned;
        let ways = if is_negative { [(minus_x, y), (x, minus_y)] } else { [(x, y), (minus_x, minus_y)] };
        let takes = |(x, y): &(Sum, Sum)| usize::from(!x.taken.is_empty()) + usize::from(!y.taken.is_empty());
        let [first, second] = ways;
        let (x, y) = if takes(&second) < takes(&first) { second } else { first };
        self.product(&x, &y, stays)
    }

    fn node(&mut self, node: Node) -> Id {
        if let Some(&id) = self.known.get(&node) {
            return id;
        }
        let below_p = || &self.p - 1u8;
        let max = match &node {
            Node::Held(_) => unreachable!("their bounds are given"),
            Node::Slot(_) | Node::AddMod(..) | Node::MulMod(..) | Node::Mod(_) => below_p(),
            Node::Constant(value) => value.clone(),
            Node::Modulus => self.p.clone(),
            Node::Add(a, b) => &self.max[*a] + &self.max[*b],
            Node::Sub(a, _) => self.max[*a].clone(),
            Node::Times(a, b) => &self.max[*a] * &self.max[*b],
        };
        self.bounded_node(node, max)
    }

    /// A term that is new, with the largest that it may be.
    fn bounded_node(&mut self, node: Node, max: BigUint) -> Id {
        assert!(max <= self.limit, "bounds are looked at before");
        let id = self.terms.nodes.len();
        self.terms.nodes.push(node.clone());
        self.max.push(max);
        self.known.insert(node, id);
        id
    }

    /// Of the numbers that are taken away: the multiple of p that is no smaller. Of a given p each of them is at most p, and a sum of them
    /// may be more than the multiple that holds it for the greatest p.
    fn multiple(&self, sum: &Sum) -> BigUint {
        if *self.field == Field::Given {
            return sum.taken.len().into();
        }
        let taken: BigUint = sum.taken.iter().map(|&id| &self.max[id]).sum();
        (taken + &self.p - 1u8) / &self.p
    }

    /// The same, or the next one that lies on the stack, if there is room for that.
    fn multiple_at_hand(&self, sum: &Sum) -> BigUint {
        let least = self.multiple(sum);
        let has_room = |held: &&BigUint| self.most_with(sum, held) <= self.limit;
        let is_usable = sum.constant.is_zero() && !self.held.contains(&least);
        let next = self.held.iter().filter(|&held| is_usable && *held > least).min().filter(has_room);
        next.cloned().unwrap_or(least)
    }

    /// The largest that a sum may be.
    fn most(&self, sum: &Sum) -> BigUint {
        self.most_with(sum, &self.multiple(sum))
    }

    /// The same, if the subtracted summands are subtracted from this multiple of p.
    fn most_with(&self, sum: &Sum, multiple: &BigUint) -> BigUint {
        let added: BigUint = sum.added.iter().map(|&id| &self.max[id]).sum();
        added + &sum.constant + multiple * &self.p
    }

    /// True if a word holds it. Of a given p a word is at most p besides, so that p less the word is not below 0: constants that are added may be above the
    /// least p.
    fn fits(&self, sum: &Sum) -> bool {
        let most = self.most(sum);
        let is_above_least = most > BigUint::from(GIVEN_LEAST) && most < &self.p - 1u8;
        most <= self.limit && !(*self.field == Field::Given && is_above_least)
    }

    /// Two sums that fit words and add up to one.
    fn halves(&self, sum: &Sum) -> Option<[Sum; 2]> {
        let mut parts: Vec<Sum> = sum.added.iter().map(|&id| Sum::of(id)).collect();
        let rest = Sum { added: vec![], ..sum.clone() };
        if !sum.taken.is_empty() && (sum.constant.is_zero() || !self.fits(&rest)) {
            parts.push(Sum { taken: sum.taken.clone(), ..Sum::default() });
            parts.push(Sum { constant: sum.constant.clone(), ..Sum::default() });
        } else {
            parts.push(rest);
        }
        // The largest first, each to where there is most room.
        parts.retain(|part| !self.most(part).is_zero());
        parts.sort_by_key(|part| std::cmp::Reverse(self.most(part)));
        let mut halves = [Sum::default(), Sum::default()];
        for part in parts {
            let emptier = usize::from(self.most(&halves[1]) < self.most(&halves[0]));
            let half = &mut halves[emptier];
            half.added.extend(part.added);
            half.taken.extend(part.taken);
            half.constant += part.constant;
        }
        halves.iter().all(|half| self.fits(half)).then_some(halves)
    }

    /// −sum.
    fn negated(&mut self, sum: &Sum) -> Sum {
        let mut negated = Sum { added: sum.taken.clone(), taken: sum.added.clone(), constant: BigUint::zero() };
        if !sum.constant.is_zero() {
            match self.field {
                Field::Known(modulus) => negated.constant = modulus - (&sum.constant % modulus),
                Field::Given => {
                    let constant = self.node(Node::Constant(sum.constant.clone()));
                    negated.taken.push(constant);
                }
            }
        }
        if self.fits(&negated) || self.halves(&negated).is_some() {
            return negated;
        }
        // What would be taken is too large: it is reduced first.
        let reduced = self.reduced(sum);
        Sum { taken: vec![reduced], ..Sum::default() }
    }

    fn sum(&mut self, x: &Sum, y: &Sum) -> Sum {
        let mut constant = &x.constant + &y.constant;
        match self.field {
            Field::Known(modulus) => constant %= modulus,
            // It may be above a given modulus, so it is no constant.
            Field::Given if constant >= BigUint::from(GIVEN_LEAST) => {
                let (a, b) = (self.word(x), self.word(y));
                return Sum::of(self.node(Node::AddMod(a.min(b), a.max(b))));
            }
            Field::Given => {}
        }
        let sum = Sum {
            added: [&x.added[..], &y.added[..]].concat(),
            taken: [&x.taken[..], &y.taken[..]].concat(),
            constant,
        };
        if self.fits(&sum) || self.halves(&sum).is_some() {
            return sum;
        }
        let is_word = |sum: &Sum| sum.added.len() == 1 && sum.taken.is_empty() && sum.constant.is_zero();
        let (larger, other) = if self.most(x) < self.most(y) { (y, x) } else { (x, y) };
        for (one, other) in [(larger, other), (other, larger)] {
            if !is_word(one) {
                let word = Sum::of(self.word(one));
                return self.sum(&word, other);
            }
        }
        let (a, b) = (self.word(x), self.word(y));
        Sum::of(self.node(Node::AddMod(a.min(b), a.max(b))))
    }

    fn product(&mut self, x: &Sum, y: &Sum, stays: bool) -> Sum {
        let (constant, other) = match (x.as_constant(), y.as_constant()) {
            (Some(constant), _) => (Some(constant.clone()), y),
            (_, constant) => (constant.cloned(), x),
        };
        if let Some(constant) = &constant {
            if constant.is_zero() {
                return Sum::default();
            }
            if constant.is_one() {
                return other.clone();
            }
        }
        let (a, b) = (self.word(x), self.word(y));
        // A product of constants may be above a given modulus.
        let fits = *self.field != Field::Given && &self.max[a] * &self.max[b] <= self.limit;
        if !stays && fits && (self.is_short() || constant.is_some_and(|constant| constant < BigUint::from(256u32))) {
            return Sum::of(self.node(Node::Times(a, b)));
        }
        Sum::of(self.node(Node::MulMod(a.min(b), a.max(b))))
    }

    /// True if the product of two numbers below p fits a word.
    fn is_short(&self) -> bool {
        self.p.bits() <= 128
    }

    /// A sum as a word, reduced if it would not fit.
    fn word(&mut self, sum: &Sum) -> Id {
        if !self.fits(sum) {
            let halves = self.halves(sum).expect("sums are made so that they fit two words");
            let [a, b] = halves.map(|half| self.word(&half));
            return self.node(Node::AddMod(a.min(b), a.max(b)));
        }
        let mut added = sum.added.iter().copied();
        let mut word = if sum.taken.is_empty() {
            match added.next() {
                None => return self.node(Node::Constant(sum.constant.clone())),
                Some(first) if sum.constant.is_zero() => first,
                Some(first) => {
                    let constant = self.node(Node::Constant(sum.constant.clone()));
                    self.node(Node::Add(first, constant))
                }
            }
        } else {
            let multiple = self.multiple_at_hand(sum);
            let mut word = if multiple.is_one() && sum.constant.is_zero() {
                self.node(Node::Modulus)
            } else {
                self.node(Node::Constant(multiple * &self.p + &sum.constant))
            };
            for &taken in &sum.taken {
                word = self.node(Node::Sub(word, taken));
            }
            word
        };
        for id in added {
            word = self.node(Node::Add(word, id));
        }
        word
    }

    /// As one word, so that it is made once; below p if as many products read it as would need a reduction otherwise.
    fn settled(&mut self, sum: &Sum, factors: usize) -> Sum {
        if sum.as_constant().is_some() {
            return sum.clone();
        }
        let word = self.word(sum);
        if self.is_short() && factors > 1 && self.max[word].bits() > 128 {
            return Sum::of(self.reduced(sum));
        }
        Sum::of(word)
    }

    /// Its value below p, as a word.
    fn reduced(&mut self, sum: &Sum) -> Id {
        let word = self.word(sum);
        if self.max[word] < self.p { word } else { self.node(Node::Mod(word)) }
    }

    /// The same, if there are two parts by one ADDMOD.
    fn canonical(&mut self, sum: &Sum) -> Id {
        if !self.fits(sum) {
            return self.word(sum);
        }
        if let (None, false, [first, others @ ..]) = (sum.as_constant(), sum.taken.is_empty(), &sum.added[..])
            && others.is_empty()
        {
            let rest = Sum { added: vec![], ..sum.clone() };
            let (first, rest) = (*first, self.word(&rest));
            return self.node(Node::AddMod(first, rest));
        }
        if let ([first, rest @ ..], true) = (&sum.added[..], sum.taken.is_empty())
            && (!rest.is_empty() || !sum.constant.is_zero())
        {
            let rest = Sum { added: rest.to_vec(), ..sum.clone() };
            let (first, rest) = (*first, self.word(&rest));
            return self.node(Node::AddMod(first, rest));
        }
        self.reduced(sum)
    }
}

impl Terms {
    /// The least that the words may cost: their operations, and a push, a copy or a load for each operand that is not there already.
    pub fn gas(&self, gas: &EvmGas) -> u64 {
        let of = |node: &Node| {
            gas.operation(Operation::of(node)) + gas.dup * (Operation::words(node) - 1) as u64 // usize to u64 widens
        };
        self.nodes.iter().filter(|node| node.is_computed()).map(of).sum()
    }

    /// Without terms that no output depends on.
    fn without_unread(self) -> Self {
        let mut read = vec![false; self.nodes.len()];
        self.outputs.iter().for_each(|&(_, id)| read[id] = true);
        self.entry.iter().chain(&self.exit).for_each(|&id| read[id] = true);
        for id in (0..self.nodes.len()).rev() {
            if read[id] {
                self.nodes[id].operands().into_iter().for_each(|operand| read[operand] = true);
            }
        }
        let mut to = vec![0; self.nodes.len()];
        let mut nodes = Vec::new();
        for (id, node) in self.nodes.into_iter().enumerate().filter(|&(id, _)| read[id]) {
            to[id] = nodes.len();
            nodes.push(match node {
                Node::Add(a, b) => Node::Add(to[a], to[b]),
                Node::Sub(a, b) => Node::Sub(to[a], to[b]),
                Node::Times(a, b) => Node::Times(to[a], to[b]),
                Node::AddMod(a, b) => Node::AddMod(to[a], to[b]),
                Node::MulMod(a, b) => Node::MulMod(to[a], to[b]),
                Node::Mod(a) => Node::Mod(to[a]),
                leaf => leaf,
            });
        }
        let outputs = self.outputs.into_iter().map(|(slot, id)| (slot, to[id])).collect();
        let [entry, exit] = [self.entry, self.exit].map(|ids| ids.into_iter().map(|id| to[id]).collect());
        Self { nodes, outputs, entry, exit }
    }
}
