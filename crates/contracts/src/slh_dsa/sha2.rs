//! Verification with SHA-256: FIPS 205, algorithms 8, 11, 17 and 20, and §11.2.1 for the hashes.
//!
//! A frame in scratch memory is a seed at 10, zeros, an address of 22 bytes up to 0x60, and nodes from there on. A hash, of 32 bytes, goes where
//! the next one takes its node: the second half of it is overwritten by the sibling or by what comes next, so that no node is read or masked. Those that
//! are hashed together stand in a second frame.

use super::{
    CALLDATA_BYTES, CHAINS, CHAINS_AT, DIGEST_BYTES, DIGIT_BITS, FORS_AT, FORS_HEIGHT, FORS_TREES, HEAD_BYTES, HEIGHT,
    NODE_CHAINS, PATH_AT, SUM_CHAINS,
};
use crate::encoding::unless_return_zero;
use crate::hash_based::{FORS_ROOTS, FORS_TREE, Form, N, Place, Sides, TREE, Turn, WOTS_PK, sum_of_digits};
use crate::words::Words;
use residue_ir::Machine;
use ruint::aliases::U256;

/// Places of the parts of a frame: the seed, a word that ends with the address, and the nodes.
const SEED: u64 = 10;
const ADDRESS: u64 = 0x40;
const LEFT: u64 = 0x60;
/// The last bytes of an address that is one of a chain: its number, and the step.
const CHAIN_BYTE: u64 = LEFT - 5;
const STEP_BYTE: u64 = LEFT - 1;
/// The frame of nodes that are hashed together.
const FRAME: u64 = 0x110;
const TOPS: u64 = FRAME + LEFT;
/// Bytes that are hashed before the nodes.
const PREFIX_BYTES: u64 = LEFT - SEED;
/// The last step of a chain.
const STEPS: u64 = (1 << DIGIT_BITS) - 1;

/// The text.
pub(super) fn text<M: Machine>(machine: &M, form: Form) {
    let w = Words(machine);
    unless_return_zero(machine, w.is_equal(machine.calldata_size(), w.number(CALLDATA_BYTES)));
    // A hash goes on for half a word after the last node.
    machine.scratch(u32::try_from(TOPS + N * CHAINS + N).expect("a frame is short"));
    let verifier = Verifier { machine, w: Words(machine), form };
    let digest = verifier.digest();
    let leaf = w.and(w.number((1 << HEIGHT) - 1), w.high(digest, 256 - 8 * DIGEST_BYTES));
    let leaf = machine.bind(leaf);
    let key_pair = machine.bind(w.shl(leaf, w.number(64)));
    verifier.fors(digest, key_pair);
    verifier.chains(key_pair);
    machine.set_scratch(w.number(FRAME + ADDRESS), verifier.with_type(key_pair, WOTS_PK));
    let sides = Sides::new(machine, leaf, HEIGHT, (LEFT, N));
    let tree = machine.word(U256::from(TREE) << 96);
    let path = Place::at(PATH_AT);
    verifier.climb((FRAME + SEED, PREFIX_BYTES + N * CHAINS), (leaf, tree, &sides), path, HEIGHT, w.number(0));
    let node = w.high(machine.scratch_word(w.number(0)), 128);
    let root = w.high(machine.calldata_word(w.number(N)), 128);
    machine.return_word(w.is_equal(root, node));
}

struct Verifier<'m, M: Machine> {
    machine: &'m M,
    w: Words<'m, M>,
    form: Form,
}

impl<M: Machine> Verifier<'_, M> {
    fn with_type(&self, address: M::Word, kind: u64) -> M::Word {
        self.w.or(self.machine.word(U256::from(kind) << 96), address)
    }

    fn copy(&self, to: u64, from: u64, bytes: u64) {
        self.machine.copy_calldata(self.w.number(to), self.w.number(from), self.w.number(bytes));
    }

    fn hash(&self, from: u64, bytes: u64, to: M::Word) {
        self.machine.sha256_scratch(self.w.number(from), self.w.number(bytes), to);
    }

    /// MGF1 of R, seed, and the hash of both, the root, two zeros and the message; then seeds stand in both frames, which are 0 else.
    fn digest(&self) -> M::Word {
        let Self { machine, ref w, .. } = *self;
        self.copy(0, HEAD_BYTES, N);
        self.copy(N, 0, 2 * N);
        self.copy(3 * N + 2, 2 * N, 32);
        self.hash(0, 5 * N + 2, w.number(2 * N));
        machine.set_scratch(w.number(4 * N), w.number(0));
        self.hash(0, 4 * N + 4, w.number(0));
        let digest = machine.bind(machine.scratch_word(w.number(0)));
        [0, 0x20, 0x40].into_iter().for_each(|at| machine.set_scratch(w.number(at), w.number(0)));
        [SEED, FRAME + SEED].into_iter().for_each(|at| self.copy(at, 0, N));
        digest
    }

    /// The node that FORS signs, to the first node of the frame.
    fn fors(&self, digest: M::Word, key_pair: M::Word) {
        let Self { machine, ref w, form } = *self;
        let base = machine.bind(self.with_type(key_pair, FORS_TREE));
        form.each(machine, FORS_TREES, |turn| {
            let index = turn.bits_below(machine, digest, (256, FORS_HEIGHT));
            let index = machine.bind(index);
            let whole = machine.bind(w.or(turn.linear(machine, 1 << FORS_HEIGHT, 0), index));
            machine.set_scratch(w.number(ADDRESS), w.or(base, whole));
            let part = turn.place(machine, N * (1 + FORS_HEIGHT), FORS_AT);
            machine.set_scratch(w.number(LEFT), machine.calldata_word(part.offset(machine)));
            let sides = Sides::new(machine, index, FORS_HEIGHT, (LEFT, N));
            let to = turn.linear(machine, N, TOPS);
            self.climb((SEED, PREFIX_BYTES + N), (whole, base, &sides), part.after(N), FORS_HEIGHT, to);
        });
        machine.set_scratch(w.number(FRAME + ADDRESS), self.with_type(key_pair, FORS_ROOTS));
        self.hash(FRAME + SEED, PREFIX_BYTES + N * FORS_TREES, w.number(LEFT));
    }

    /// The root above a node, of which what is hashed stands at `first`: `index` is the node's, `base` the address without height and index. The root
    /// goes to `to`.
    fn climb(
        &self,
        mut first: (u64, u64),
        (index, base, sides): (M::Word, M::Word, &Sides<M::Word>),
        path: Place<M::Word>,
        height: u64,
        to: M::Word,
    ) {
        let Self { machine, ref w, .. } = *self;
        for level in 0..height {
            let side = machine.bind(sides.side(machine, level));
            self.hash(first.0, first.1, side);
            let other = w.xor(w.number(N), side);
            machine.copy_calldata(other, path.after(N * level).offset(machine), w.number(N));
            let above = w.or(base, w.high(index, level + 1));
            machine.set_scratch(w.number(ADDRESS), w.or(w.number((level + 1) << 32), above));
            first = (SEED, PREFIX_BYTES + 2 * N);
        }
        self.hash(first.0, first.1, to);
    }

    /// The last nodes of all chains, for the node at the start of the frame. FIPS 205, algorithm 8.
    fn chains(&self, key_pair: M::Word) {
        let Self { machine, ref w, form } = *self;
        // Steps that are left are what digits lack, and their sum is the checksum.
        let ones = machine.word(U256::MAX >> 128);
        let node = machine.bind(w.xor(ones, w.high(machine.scratch_word(w.number(LEFT)), 128)));
        let sum = w.xor(
            w.number((1 << (DIGIT_BITS * SUM_CHAINS)) - 1),
            sum_of_digits(machine, node, (DIGIT_BITS, NODE_CHAINS)),
        );
        let steps = w.or(w.shl(node, w.number(DIGIT_BITS * SUM_CHAINS)), sum);
        let steps = machine.bind(steps);
        machine.set_scratch(w.number(ADDRESS), key_pair);
        form.each(machine, CHAINS, |chain| {
            let value = machine.bind(machine.calldata_word(chain.linear(machine, N, CHAINS_AT)));
            let top = match chain {
                Turn::Known(_) => chain.linear(machine, N, TOPS),
                Turn::Counted(_) => machine.bind(chain.linear(machine, N, TOPS)),
            };
            machine.set_scratch(top, value);
            machine.set_scratch(w.number(LEFT), value);
            if !matches!(chain, Turn::Known(0)) {
                machine.set_scratch_byte(w.number(CHAIN_BYTE), chain.linear(machine, 1, 0));
            }
            let left = chain.bits_below(machine, steps, (DIGIT_BITS * CHAINS, DIGIT_BITS));
            let turns = usize::try_from(STEPS).expect("there are three");
            machine.countdown(left, turns, (), |_, turn, ()| {
                machine.set_scratch_byte(w.number(STEP_BYTE), w.number(STEPS - 1 - turn as u64)); // at most 2
                self.hash(SEED, PREFIX_BYTES + N, if turn == 0 { top } else { w.number(LEFT) });
            });
        });
    }
}
