//! Frames of words for Keccak-256: a seed, an address and nodes, each 16 bytes in the high half of a word or a whole one.
//!
//! The first frame is at 0 of scratch memory, with two nodes; from 0x100 on there is one with as many as are hashed together. A node of 16 bytes that was
//! hashed is masked before it is written, so low halves of words stay 0.
//!
//! An address ends with a height and an index, 8 bytes. They are written with a whole word that goes on into the nodes, which are written after it: so
//! the index is shifted where it stands, and bits that it loses do not matter.

use super::{N, Place, Sides, Turn};
use crate::words::Words;
use residue_ir::Machine;
use ruint::aliases::U256;

/// Places of the parts of a frame.
pub(crate) const ADDRESS: u64 = 0x20;
pub(crate) const LEFT: u64 = 0x40;
pub(crate) const RIGHT: u64 = 0x60;
/// The last bytes of an address: a height and an index, of 4 bytes each.
const HEIGHT_AND_INDEX: u64 = ADDRESS + 24;
/// The frame of nodes that are hashed together, and its first node.
pub(crate) const FRAME: u64 = 0x100;
const TOPS: u64 = FRAME + LEFT;
/// Place of the index of a node in the words that addresses are made of.
const INDEX_BIT: u64 = 192;

/// Chains as a scheme has them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chains {
    /// Places of the numbers of a chain and of a step, below 256, in a frame.
    pub chain_byte: u64,
    pub step_byte: u64,
    /// Steps of a whole chain.
    pub steps: u64,
}

/// The frames of a machine.
pub(crate) struct Frames<'m, M: Machine> {
    machine: &'m M,
    w: Words<'m, M>,
    /// Bytes of a node: 16, or 32 without a mask.
    node_bytes: u64,
    mask: Option<M::Word>,
}

impl<'m, M: Machine> Frames<'m, M> {
    /// Frames of nodes of 16 or 32 bytes, with room for so many that are hashed together.
    pub(crate) fn new(machine: &'m M, node_bytes: u64, nodes: u64) -> Self {
        machine.scratch(u32::try_from(TOPS + 32 * nodes).expect("a frame is short"));
        // Read from a variable, so that it lies on the stack: a constant would be pushed wherever it is read, in 33 bytes.
        let mask = || machine.get(machine.variable("mask", machine.word(U256::MAX << 128)));
        let mask = (node_bytes < 32).then(mask);
        Self { machine, w: Words(machine), node_bytes, mask }
    }

    /// A word cut to a node.
    fn cut(&self, word: M::Word) -> M::Word {
        self.mask.map_or(word, |mask| self.w.and(mask, word))
    }

    /// Copies a node of calldata to a place.
    pub(crate) fn copy(&self, from: u64, to: u64) {
        let w = &self.w;
        self.machine.copy_calldata(w.number(to), w.number(from), w.number(self.node_bytes));
    }

    /// Writes the seed, which calldata begins with, into both frames.
    pub(crate) fn set_seeds(&self) {
        [0, FRAME].into_iter().for_each(|to| self.copy(0, to));
    }

    /// Keccak-256 of seed, root, R, message and `tail`, of which the first ones are what calldata begins with. The seeds of both frames stay.
    pub(crate) fn digest(&self, tail: U256) -> M::Word {
        let Self { machine, ref w, .. } = *self;
        self.set_seeds();
        [(N, ADDRESS), (4 * N, LEFT)].into_iter().for_each(|(from, to)| self.copy(from, to));
        machine.set_scratch(w.number(RIGHT), machine.calldata_word(w.number(2 * N)));
        machine.set_scratch(w.number(RIGHT + 32), machine.word(tail));
        let digest = machine.keccak256_scratch(w.number(0), w.number(RIGHT + 64));
        self.clear_right();
        digest
    }

    /// The node in calldata from an offset on.
    pub(crate) fn given(&self, offset: u64) -> M::Word {
        self.cut(self.machine.calldata_word(self.w.number(offset)))
    }

    /// Makes the second node 0, of which half is to be written.
    pub(crate) fn clear_right(&self) {
        self.machine.set_scratch(self.w.number(RIGHT), self.w.number(0));
    }

    /// Writes the whole address of the first frame.
    pub(crate) fn set_address(&self, address: M::Word) {
        self.machine.set_scratch(self.w.number(ADDRESS), address);
    }

    /// Writes one of the nodes that are hashed together.
    pub(crate) fn set_top(&self, number: Turn<M::Word>, node: M::Word) {
        self.machine.set_scratch(number.linear(self.machine, 32, TOPS), node);
    }

    /// The hash of so many nodes that are hashed together.
    pub(crate) fn hash_of_tops(&self, address: M::Word, nodes: u64) -> M::Word {
        self.machine.set_scratch(self.w.number(FRAME + ADDRESS), address);
        self.node(FRAME, LEFT + 32 * nodes)
    }

    /// A hash of so many bytes from an offset, cut to a node.
    pub(crate) fn node(&self, offset: u64, bytes: u64) -> M::Word {
        let hash = self.machine.keccak256_scratch(self.w.number(offset), self.w.number(bytes));
        self.machine.bind(self.cut(hash))
    }

    /// The index of a node for [`Frames::leaf`] and [`Frames::climb`].
    pub(crate) fn index(&self, index: M::Word) -> M::Word {
        self.w.shl(index, self.w.number(INDEX_BIT))
    }

    /// The leaf of a secret, whose index is as [`Frames::index`] has it.
    pub(crate) fn leaf(&self, index: M::Word, secret: Place<M::Word>) -> M::Word {
        let Self { machine, ref w, .. } = *self;
        machine.set_scratch(w.number(HEIGHT_AND_INDEX), index);
        machine.copy_calldata(w.number(LEFT), secret.offset(machine), w.number(self.node_bytes));
        self.node(0, RIGHT)
    }

    /// The root above a node, whose index `sides` has the bits of, with its siblings in calldata.
    pub(crate) fn climb(
        &self,
        mut node: M::Word,
        (index, sides): (M::Word, &Sides<M::Word>),
        path: Place<M::Word>,
        height: u64,
    ) -> M::Word {
        let Self { machine, ref w, .. } = *self;
        for level in 0..height {
            let of_height = machine.word(U256::from(level + 1) << (INDEX_BIT + 32) as usize); // 224
            let above = w.or(of_height, w.high(index, level + 1));
            machine.set_scratch(w.number(HEIGHT_AND_INDEX), above);
            let side = machine.bind(sides.side(machine, level));
            let other = w.xor(w.number(RIGHT - LEFT), side);
            let bytes = self.node_bytes;
            machine.copy_calldata(other, path.after(bytes * level).offset(machine), w.number(bytes));
            machine.set_scratch(side, node);
            node = self.node(0, RIGHT + 32);
        }
        node
    }

    /// The last node of a chain, of which so many steps are left, to the nodes that are hashed together; the address of chain 0 was written before.
    pub(crate) fn chain(&self, chains: Chains, number: Turn<M::Word>, start: M::Word, left: M::Word) {
        let Self { machine, ref w, .. } = *self;
        machine.copy_calldata(w.number(LEFT), start, w.number(self.node_bytes));
        if !matches!(number, Turn::Known(0)) {
            machine.set_scratch_byte(w.number(chains.chain_byte), number.linear(machine, 1, 0));
        }
        let turns = usize::try_from(chains.steps).expect("steps are few");
        machine.countdown(left, turns, (), |_, turn, ()| {
            machine.set_scratch_byte(w.number(chains.step_byte), w.number(chains.steps - 1 - turn as u64)); // few
            let hash = machine.keccak256_scratch(w.number(0), w.number(RIGHT));
            machine.set_scratch(w.number(LEFT), self.cut(hash));
        });
        self.set_top(number, machine.scratch_word(w.number(LEFT)));
    }
}
