//! Verification, FIPS 205, algorithm 20, with the changes that the parent names.

use super::{CHAINS, COUNT_BYTES, HEAD_BYTES, Set};
use crate::encoding::unless_return_zero;
use crate::hash_based::keccak::{ADDRESS, Chains, Frames, LEFT, RIGHT};
use crate::hash_based::{FORS_ROOTS, FORS_TREE, Form, N, Sides, TREE, Turn, WOTS_PK, sum_of_digits};
use crate::words::Words;
use residue_ir::{Machine, Variable};
use ruint::aliases::U256;

/// An address of a chain ends with its number and a step, of 4 bytes each.
const OF_CHAINS: Chains = Chains { chain_byte: ADDRESS + 27, step_byte: ADDRESS + 31, steps: 7 };
/// Bits of a digit.
const DIGIT_BITS: u64 = 3;

/// The text.
pub(super) fn text<M: Machine>(machine: &M, set: Set, form: Form) {
    let w = Words(machine);
    let size = w.number(HEAD_BYTES + set.signature_bytes());
    unless_return_zero(machine, w.is_equal(machine.calldata_size(), size));
    let frames = Frames::new(machine, N, CHAINS.max(set.fors_trees));
    let verifier = Verifier { machine, w: Words(machine), frames, set, form };
    let digest = verifier.frames.digest(U256::MAX);
    let bits = |from: u64, bits: u64| w.and(w.number((1 << bits) - 1), w.high(digest, from));
    // The last index has to be 0.
    unless_return_zero(machine, machine.not(bits((set.fors_trees - 1) * set.fors_height, set.fors_height)));
    let index = machine.variable("index", bits(set.fors_trees * set.fors_height, set.height));
    let node = machine.variable("node", verifier.fors(digest, machine.get(index)));
    form.each(machine, set.layers, |layer| verifier.layer(layer, (index, node)));
    machine.return_word(w.is_equal(verifier.frames.given(N), machine.get(node)));
}

struct Verifier<'m, M: Machine> {
    machine: &'m M,
    w: Words<'m, M>,
    frames: Frames<'m, M>,
    set: Set,
    form: Form,
}

impl<M: Machine> Verifier<'_, M> {
    fn with_type(&self, address: M::Word, kind: u64) -> M::Word {
        self.w.or(self.machine.word(U256::from(kind) << 96), address)
    }

    /// The tree in its 12 bytes, and the leaf, for an index of a layer.
    fn tree_and_leaf(&self, index: M::Word) -> (M::Word, M::Word) {
        let (w, height) = (&self.w, self.set.tree_height());
        let leaf = self.machine.bind(w.and(w.number((1 << height) - 1), index));
        (w.shl(w.high(index, height), w.number(128)), leaf)
    }

    /// The hash of all FORS roots. FIPS 205, algorithm 17.
    fn fors(&self, digest: M::Word, index: M::Word) -> M::Word {
        let Self { machine, ref w, ref frames, set, form } = *self;
        let Set { fors_height: height, fors_trees: trees, .. } = set;
        let (tree, leaf) = self.tree_and_leaf(index);
        let key_pair = machine.bind(w.or(w.shl(leaf, w.number(64)), tree));
        frames.set_address(self.with_type(key_pair, FORS_TREE));
        form.each(machine, trees - 1, |turn| {
            let first = turn.linear(machine, height, 0);
            let index = machine.bind(w.and(w.number((1 << height) - 1), w.shr(digest, first)));
            let whole = w.or(turn.linear(machine, 1 << height, 0), index);
            let whole = machine.bind(frames.index(whole));
            let node = frames.leaf(whole, turn.place(machine, N, HEAD_BYTES + N));
            let path = turn.place(machine, N * height, HEAD_BYTES + N + N * trees);
            let sides = Sides::new(machine, index, height, (LEFT, RIGHT - LEFT));
            frames.set_top(turn, frames.climb(node, (whole, &sides), path, height));
        });
        // Of the last tree there is leaf 0 alone.
        let last = Turn::Known(trees - 1);
        let whole = frames.index(w.number((trees - 1) << height));
        frames.set_top(last, frames.leaf(whole, last.place(machine, N, HEAD_BYTES + N)));
        frames.hash_of_tops(self.with_type(key_pair, FORS_ROOTS), trees)
    }

    /// From the node below a layer to its root. FIPS 205, algorithms 8 and 11.
    fn layer(&self, layer: Turn<M::Word>, (index_below, node_below): (Variable, Variable)) {
        let Self { machine, ref w, ref frames, set, form } = *self;
        let height = set.tree_height();
        let part = layer.place(machine, set.layer_bytes(), HEAD_BYTES + set.fors_bytes());
        let index = machine.bind(machine.get(index_below));
        machine.set(index_below, w.high(index, height));
        let (tree, leaf) = self.tree_and_leaf(index);
        let of_layer = w.shl(layer.linear(machine, 1, 0), w.number(224));
        let tree = machine.bind(w.or(of_layer, tree));
        let key_pair = machine.bind(w.or(w.shl(leaf, w.number(64)), tree));
        frames.set_address(key_pair);
        machine.set_scratch(w.number(LEFT), machine.get(node_below));
        let count = machine.calldata_word(part.after(N * CHAINS).offset(machine));
        machine.set_scratch(w.number(RIGHT), w.high(count, 224));
        let digest = machine.keccak256_scratch(w.number(0), w.number(RIGHT + 32));
        // Steps that are left on each chain: 7 less the digits.
        let steps = machine.bind(w.xor(machine.word(U256::MAX), digest));
        let sum = sum_of_digits(machine, steps, (DIGIT_BITS, CHAINS));
        unless_return_zero(machine, w.is_equal(w.number(OF_CHAINS.steps * CHAINS - set.digit_sum), sum));
        form.each(machine, CHAINS, |chain| {
            let start = match chain {
                Turn::Known(number) => part.after(N * number).offset(machine),
                Turn::Counted(_) => w.add(part.offset(machine), chain.linear(machine, N, 0)),
            };
            let left = w.and(w.number(OF_CHAINS.steps), w.shr(steps, chain.linear(machine, DIGIT_BITS, 0)));
            frames.chain(OF_CHAINS, chain, start, left);
        });
        let node = frames.hash_of_tops(self.with_type(key_pair, WOTS_PK), CHAINS);
        frames.set_address(self.with_type(tree, TREE));
        frames.clear_right();
        let whole = machine.bind(frames.index(leaf));
        let sides = Sides::new(machine, leaf, height, (LEFT, RIGHT - LEFT));
        let path = part.after(N * CHAINS + COUNT_BYTES);
        machine.set(node_below, frames.climb(node, (whole, &sides), path, height));
    }
}
