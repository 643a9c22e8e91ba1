//! Words by number: each operation on the same words has the same number, on the side of the program and on that of the code.

use super::Operator;
use foldhash::{HashMap, HashMapExt};
use residue_ir::WordOp;
use ruint::aliases::U256;

/// Nodes that bounds and conditions are looked up through.
const DEPTH: u32 = 8;
/// Bits of a key, as in Coq.
const KEY_MASK: u64 = (1 << 40) - 1;

/// A number, or the word of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Operand {
    Number(U256),
    Atom(u32),
}

/// A way to compute a word; states of scratch memory have numbers too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    Op(Operator, [Operand; 3]),
    Size,
    Calldata(Operand),
    Scratch(u32, Operand),
    Hash(u32, Operand, Operand),
}

/// Numbers that words are not above, where code is.
pub(crate) type Limits = HashMap<u32, U256>;

/// All nodes; the checker in Coq has the same keys, so that it finds the same ones.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    nodes: HashMap<u32, Node>,
    places: HashMap<u64, u32>,
    next: u32,
}

impl Operand {
    pub(crate) const ZERO: Self = Self::Number(U256::ZERO);

    fn part(self) -> u64 {
        let bits = |number: U256| number.as_limbs()[0] & ((1 << 22) - 1);
        match self {
            Self::Number(number) => 2 * bits(number) + bits(number >> 200),
            Self::Atom(atom) => 2 * u64::from(atom) + 1,
        }
    }
}

fn mixed(hash: u64, part: u64) -> u64 {
    (hash * 1_000_003 + part) & KEY_MASK
}

impl Node {
    fn key(&self) -> u64 {
        1 + match *self {
            Self::Op(operator, operands) => {
                operands.into_iter().fold(operator.number(), |hash, operand| mixed(hash, operand.part()))
            }
            Self::Size => 20,
            Self::Calldata(offset) => mixed(21, offset.part()),
            Self::Scratch(state, offset) => mixed(mixed(22, state.into()), offset.part()),
            Self::Hash(state, offset, size) => mixed(mixed(mixed(23, state.into()), offset.part()), size.part()),
        }
    }
}

impl Default for Table {
    fn default() -> Self {
        Self { nodes: HashMap::new(), places: HashMap::new(), next: 1 }
    }
}

impl Table {
    /// A number that has not been given.
    pub(crate) const fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// So many numbers in a row that have not been given: the first one.
    pub(crate) const fn reserve(&mut self, count: u32) -> u32 {
        self.next += count;
        self.next - count
    }

    /// The word of a node.
    pub(crate) fn word(&mut self, node: Node) -> Operand {
        let key = node.key();
        if let Some(atom) = self.places.get(&key).filter(|atom| self.nodes.get(*atom) == Some(&node)) {
            return Operand::Atom(*atom);
        }
        let atom = self.fresh();
        self.nodes.insert(atom, node);
        self.places.insert(key, atom);
        Operand::Atom(atom)
    }

    /// The word of an operation; operands that may be exchanged have numbers first, then the earlier word.
    pub(crate) fn operation(&mut self, operator: Operator, [a, b, c]: [Operand; 3]) -> Operand {
        use Operand::{Atom, Number};
        match (a, b, c) {
            (Number(a), Number(b), Number(c)) => Number(operator.apply(a, b, c)),
            _ => {
                let ordered = match (a, b) {
                    (Number(_), _) => true,
                    (Atom(a), Atom(b)) => a <= b,
                    (Atom(_), Number(_)) => false,
                };
                let (a, b) = if operator.commutes() && !ordered { (b, a) } else { (a, b) };
                self.word(Node::Op(operator, [a, b, c]))
            }
        }
    }

    fn node(&self, operand: Operand) -> Option<&Node> {
        match operand {
            Operand::Number(_) => None,
            Operand::Atom(atom) => self.nodes.get(&atom),
        }
    }

    /// No word is above this, where some are not above what is known of them.
    pub(crate) fn greatest(&self, limits: &Limits, operand: Operand) -> U256 {
        self.most(limits, DEPTH, operand)
    }

    fn most(&self, limits: &Limits, depth: u32, operand: Operand) -> U256 {
        match (operand, depth.checked_sub(1)) {
            (Operand::Number(number), _) => number,
            (Operand::Atom(_), None) => U256::MAX,
            (Operand::Atom(atom), Some(depth)) => {
                let limit = limits.get(&atom).copied().unwrap_or(U256::MAX);
                limit.min(self.most_of(limits, depth, operand))
            }
        }
    }

    fn most_of(&self, limits: &Limits, depth: u32, operand: Operand) -> U256 {
        let Some(Node::Op(Operator::Word(op), [a, b, _])) = self.node(operand) else { return U256::MAX };
        let most = |operand: Operand| self.most(limits, depth, operand);
        match (op, *a, *b) {
            (WordOp::And, a, b) => most(a).min(most(b)),
            (WordOp::Mod, _, Operand::Number(modulus)) if !modulus.is_zero() => modulus - U256::ONE,
            (WordOp::Mul, a, b) => most(a).checked_mul(most(b)).unwrap_or(U256::MAX),
            (WordOp::Add, a, b) => most(a).checked_add(most(b)).unwrap_or(U256::MAX),
            (WordOp::Shr, Operand::Number(bits), b) => WordOp::Shr.apply(most(b), bits),
            (WordOp::Shl, Operand::Number(bits), b) if bits < U256::from(256) => {
                most(b).checked_mul(U256::ONE << bits).unwrap_or(U256::MAX)
            }
            (WordOp::Or | WordOp::Xor, a, b) => {
                let bits = most(a).max(most(b)).bit_len().max(1);
                U256::MAX >> (256 - bits)
            }
            (WordOp::Byte, ..) => U256::from(255),
            (WordOp::Lt | WordOp::Eq, ..) => U256::ONE,
            _ => U256::MAX,
        }
    }

    /// Bounds of words where this one is not zero, added to those that are known.
    pub(crate) fn limit(&self, limits: &mut Limits, condition: Operand) {
        self.limit_in(DEPTH, limits, condition);
    }

    fn limit_in(&self, depth: u32, limits: &mut Limits, condition: Operand) {
        let Some(depth) = depth.checked_sub(1) else { return };
        match self.node(condition) {
            Some(&Node::Op(Operator::Word(WordOp::And), [a, b, _])) => {
                self.limit_in(depth, limits, a);
                self.limit_in(depth, limits, b);
            }
            Some(&Node::Op(Operator::Word(WordOp::Lt), [Operand::Atom(atom), Operand::Number(number), _])) => {
                if let Some(most) = number.checked_sub(U256::ONE) {
                    let limit = limits.entry(atom).or_insert(U256::MAX);
                    *limit = most.min(*limit);
                }
            }
            _ => (),
        }
    }

    /// The end of so many bytes from a place on, which is known if the place is the end less their number.
    pub(crate) fn end(&self, limits: &Limits, place: Operand, size: Operand) -> Option<U256> {
        match self.node(place)? {
            &Node::Op(Operator::Word(WordOp::Sub), [Operand::Number(end), taken, _]) => {
                (taken == size && self.greatest(limits, size) <= end).then_some(end)
            }
            _ => None,
        }
    }

    /// The word that is zero where this one is, or with false where it is not.
    pub(crate) fn truth(&self, operand: Operand) -> (bool, Operand) {
        let (mut truth, mut operand) = (true, operand);
        for _ in 0..DEPTH {
            match self.node(operand) {
                Some(Node::Op(Operator::Word(WordOp::Eq), [Operand::ZERO, inner, _])) => {
                    (truth, operand) = (!truth, *inner);
                }
                _ => break,
            }
        }
        (truth, operand)
    }

    /// The number that a word is if another one is `number`: sums, products and masks of it.
    pub(crate) fn given(&self, other: Operand, number: U256, operand: Operand) -> Option<U256> {
        self.given_in(DEPTH, other, number, operand)
    }

    fn given_in(&self, depth: u32, other: Operand, number: U256, operand: Operand) -> Option<U256> {
        if operand == other {
            return Some(number);
        }
        if let Operand::Number(number) = operand {
            return Some(number);
        }
        let depth = depth.checked_sub(1)?;
        let Some(&Node::Op(operator, operands)) = self.node(operand) else { return None };
        if let (Operator::Word(WordOp::And), [Operand::Number(_), Operand::Atom(_), _]) = (operator, operands) {
            // The same bits, not shifted so far.
            let (mask, bits, word) = self.masked(operand)?;
            let (low_mask, more_bits, same) = self.masked(other)?;
            let shift = more_bits.checked_sub(bits).filter(|_| word == same && more_bits < U256::from(256))?;
            let is_it = low_mask.leading_zeros() >= shift.to::<usize>() && mask == low_mask << shift;
            return is_it.then(|| number.wrapping_mul(U256::ONE << shift));
        }
        let [a, b, c] = operands.map(|operand| self.given_in(depth, other, number, operand));
        Some(operator.apply(a?, b?, c?))
    }

    /// Mask, number of bits and word of a word that is shifted to the right and masked.
    fn masked(&self, operand: Operand) -> Option<(U256, U256, Operand)> {
        match self.node(operand)? {
            &Node::Op(Operator::Word(WordOp::And), [Operand::Number(mask), inner, _]) => match self.node(inner)? {
                &Node::Op(Operator::Word(WordOp::Shr), [Operand::Number(bits), word, _]) => Some((mask, bits, word)),
                _ => None,
            },
            _ => None,
        }
    }
}
