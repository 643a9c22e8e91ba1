//! Is a leaf in a binary tree with Poseidon of two elements, t = 3?

use super::constants::InSlots;
use super::{ELEMENT_BYTES, called, encoded, hash_of};
use crate::Contract;
use residue_formula::Number;
use residue_ir::{Machine, Numbers, WordOp};
use residue_modular::fields::Bn254Fr;

/// `poseidon/merkle`.
pub const CONTRACT: Contract = Contract {
    name: "poseidon/merkle",
    summary: "does a leaf belong to the root of a binary tree with Poseidon, t = 3?",
    interface: INTERFACE,
    field: Bn254Fr::modulus,
    text: |machine| {
        let hash = hash_of(3);
        text(machine, |machine, left, right| called(machine, &hash, [left, right]));
    },
    precompile: None,
    example,
};

/// Calldata and output of contracts of this kind.
pub(crate) const INTERFACE: &str = "96 bytes and 32 a level, at most 256: root, leaf, index of the leaf, then the siblings from the \
                                    leaf upwards; returns 32 bytes, 1 or 0; takes the depth from the length of calldata, so that an inner node \
                                    is a leaf of a shorter path: the caller has to fix it";

/// Elements before the siblings.
const HEAD: u32 = 3;

/// The path that calldata has, with a function of two elements.
pub(crate) fn text<M: Machine>(machine: &M, hash: impl Fn(&M, M::Fe, M::Fe) -> M::Fe) {
    let head_bytes = HEAD * ELEMENT_BYTES;
    let element = machine.small(ELEMENT_BYTES.into());
    let size = machine.calldata_size();
    machine.require(machine.not(machine.word_op(WordOp::Mod, size, element)));
    machine.require(machine.word_op(WordOp::Lt, machine.small((head_bytes - 1).into()), size));
    machine.require(machine.word_op(WordOp::Lt, size, machine.small((head_bytes + 256 * ELEMENT_BYTES + 1).into())));
    let levels = machine.word_op(WordOp::Sub, machine.word_op(WordOp::Div, size, element), machine.small(HEAD.into()));
    let levels = machine.bind(levels);
    let index = machine.bind(machine.calldata_word(machine.small(u64::from(2 * ELEMENT_BYTES))));
    // An index has no more bits than there are levels; a shift by 256 gives 0.
    machine.require(machine.not(machine.word_op(WordOp::Shr, index, levels)));
    let root = machine.parse(machine.small(0), ELEMENT_BYTES);
    let leaf = machine.parse(element, ELEMENT_BYTES);
    let node = machine.repeat(levels, leaf, |machine, level, node| {
        let offset = machine.word_op(WordOp::Mul, level, element);
        let offset = machine.word_op(WordOp::Add, offset, machine.small(head_bytes.into()));
        let sibling = machine.parse(offset, ELEMENT_BYTES);
        let [left, right] = machine.branch(machine.bit(index, level), |_| [sibling, node], |_| [node, sibling]);
        hash(machine, left, right)
    });
    machine.return_word(machine.equal(node, root));
}

fn example() -> Vec<u8> {
    let machine = Numbers::<Bn254Fr>::new(Vec::new());
    let hash = hash_of(3);
    let values = example_with(|left, right| hash.hash(&machine, &[left, right], &mut InSlots));
    values.iter().flat_map(|value| encoded(&value.to_canonical())).collect()
}

/// The leaf 1 at index 2 beside 2, and 3 above, after the root of these.
pub(crate) fn example_with(node: impl Fn(Bn254Fr, Bn254Fr) -> Bn254Fr) -> [Bn254Fr; 5] {
    let [leaf, sibling, above] = [1, 2, 3].map(Bn254Fr::from_u64);
    [node(above, node(leaf, sibling)), leaf, Bn254Fr::from_u64(2), sibling, above]
}
