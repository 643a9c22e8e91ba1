//! Hash-based signatures as FIPS 205 builds them: what the verifiers share.
//!
//! A node is 16 bytes. Hash inputs lie in scratch memory in frames, each a seed, an address and then nodes, so that a hash takes what lies there and
//! a sibling is copied from calldata to exactly its place.

pub(crate) mod keccak;

use crate::words::Words;
use residue_ir::{Machine, WordOp};
use ruint::aliases::U256;

/// Bytes of a node, and of all that calldata has but the message and counts. FIPS 205, table 2: n.
pub(crate) const N: u64 = 16;

/// Types of addresses. FIPS 205, §4.2.
pub(crate) const WOTS_PK: u64 = 1;
pub(crate) const TREE: u64 = 2;
pub(crate) const FORS_TREE: u64 = 3;
pub(crate) const FORS_ROOTS: u64 = 4;

/// The Keccak-256 hash of all parts, one after the other.
pub(crate) fn keccak256(parts: &[&[u8]]) -> [u8; 32] {
    residue_ir::hash::keccak256_of(&parts.concat()).to_be_bytes()
}

/// Turns of a loop: written out one after the other, or a loop in code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// All code is written out.
    Unrolled,
    /// Trees, layers and chains are loops.
    Rolled,
}

/// The number of a turn.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Turn<W> {
    Known(u64),
    Counted(W),
}

impl Form {
    /// `body` for each of `count` turns. Nothing but scratch memory and variables goes from one to the next.
    pub(crate) fn each<M: Machine>(self, machine: &M, count: u64, mut body: impl FnMut(Turn<M::Word>)) {
        match self {
            Form::Unrolled => (0..count).for_each(|turn| body(Turn::Known(turn))),
            Form::Rolled => machine.repeat(machine.small(count), (), |_, turn, ()| body(Turn::Counted(turn))),
        }
    }
}

impl<W: Copy> Turn<W> {
    /// `factor` · the turn + `sum`.
    pub(crate) fn linear<M: Machine<Word = W>>(self, machine: &M, factor: u64, sum: u64) -> W {
        let w = Words(machine);
        match self {
            Turn::Known(turn) => w.number(factor * turn + sum),
            Turn::Counted(turn) if sum == 0 => w.mul(w.number(factor), turn),
            Turn::Counted(turn) => w.add(w.number(sum), w.mul(w.number(factor), turn)),
        }
    }

    /// `bits` bits of a word, which end `bits` · the turn below bit `top`.
    pub(crate) fn bits_below<M: Machine<Word = W>>(self, machine: &M, word: W, (top, bits): (u64, u64)) -> W {
        let w = Words(machine);
        let shift = match self {
            Turn::Known(turn) => w.number(top - bits * (turn + 1)),
            Turn::Counted(_) => w.sub(w.number(top - bits), self.linear(machine, bits, 0)),
        };
        w.and(w.number((1 << bits) - 1), w.shr(word, shift))
    }

    /// A place in calldata or scratch memory that others are counted from: `factor` · the turn + `sum`.
    pub(crate) fn place<M: Machine<Word = W>>(self, machine: &M, factor: u64, sum: u64) -> Place<W> {
        match self {
            Turn::Known(turn) => Place { from: None, sum: factor * turn + sum },
            Turn::Counted(_) => Place { from: Some(machine.bind(self.linear(machine, factor, sum))), sum: 0 },
        }
    }
}

/// A place in memory or calldata.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<W> {
    from: Option<W>,
    sum: u64,
}

impl<W: Copy> Place<W> {
    /// A place that is known.
    pub(crate) const fn at(sum: u64) -> Self {
        Self { from: None, sum }
    }

    /// The place so many bytes after it.
    pub(crate) fn after(self, bytes: u64) -> Self {
        Self { sum: self.sum + bytes, ..self }
    }

    /// Its offset.
    pub(crate) fn offset<M: Machine<Word = W>>(self, machine: &M) -> W {
        let w = Words(machine);
        match self.from {
            None => w.number(self.sum),
            Some(from) if self.sum == 0 => from,
            Some(from) => w.add(w.number(self.sum), from),
        }
    }
}

/// Bits of an index whose places one word holds.
const SPREAD: u64 = 15;

/// On which side nodes of a path stand: for each bit of an index, which is a node's number on its level, an offset that differs in one bit.
///
/// Bit i of fifteen goes to bit 16·i by a product with Σ 2^(15·i), whose terms do not overlap, so that BYTE takes what stands there.
#[derive(Debug, Clone)]
pub(crate) struct Sides<W>(Vec<W>);

impl<W: Copy> Sides<W> {
    /// Offsets for the lowest `levels` bits of `index`, which has no others: `left` for 0 and `left` + `distance`, a power of two that `left` lacks, for 1.
    pub(crate) fn new<M: Machine<Word = W>>(machine: &M, index: W, levels: u64, (left, distance): (u64, u64)) -> Self {
        let w = Words(machine);
        let each = |bits: u64, apart: u64, value: u64| {
            let sum = (0..bits).fold(U256::ZERO, |sum, bit| sum | U256::from(value) << (apart * bit) as usize); // below 256
            machine.word(sum)
        };
        let word = |first: u64| {
            let bits = SPREAD.min(levels - first);
            let rest = if first > 0 { w.high(index, first) } else { index };
            let low = if levels > first + bits { w.and(w.number((1 << bits) - 1), rest) } else { rest };
            let spread = w.mul(each(bits, SPREAD, distance), low);
            machine.bind(w.or(each(bits, SPREAD + 1, left), w.and(each(bits, SPREAD + 1, distance), spread)))
        };
        Self((0..levels).step_by(SPREAD as usize).map(word).collect()) // 15
    }

    /// The offset for bit `level`.
    pub(crate) fn side<M: Machine<Word = W>>(&self, machine: &M, level: u64) -> W {
        let word = self.0[(level / SPREAD) as usize]; // few
        machine.word_op(WordOp::Byte, word, machine.small(31 - 2 * (level % SPREAD)))
    }
}

/// Σ of the lowest `count` digits of so many bits: sums of two, of four, and all of them modulo 2 to the power of `4 · bits` less 1, which is more than
/// they can be.
pub(crate) fn sum_of_digits<M: Machine>(machine: &M, word: M::Word, (bits, count): (u64, u64)) -> M::Word {
    let w = Words(machine);
    // Every other field of a width.
    let every = |width: u64, fields: u64| {
        let field = (U256::ONE << width as usize) - U256::ONE; // below 256
        let places = (0..fields).map(|at| (2 * width * at) as usize); // below 256
        machine.word(places.fold(U256::ZERO, |sum, place| sum | field << place))
    };
    let sums = |word, width, count: u64| {
        let high = w.and(every(width, count / 2), w.high(word, width));
        w.add(high, w.and(every(width, count.div_ceil(2)), word))
    };
    let pairs = machine.bind(sums(word, bits, count));
    let fours = sums(pairs, 2 * bits, count.div_ceil(2));
    w.modulo(fours, w.number((1 << (4 * bits)) - 1))
}
