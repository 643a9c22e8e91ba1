//! Verification with Keccak-256: FIPS 205, algorithms 8, 11, 17 and 20, with the changes that the parent names.

use super::{
    CALLDATA_BYTES, CHAINS, CHAINS_AT, DIGIT_BITS, FORS_AT, FORS_HEIGHT, FORS_TREES, HEIGHT, NODE_CHAINS, PATH_AT,
};
use crate::encoding::unless_return_zero;
use crate::hash_based::keccak::{ADDRESS, Chains, Frames, LEFT, RIGHT};
use crate::hash_based::{FORS_ROOTS, FORS_TREE, Form, N, Place, Sides, TREE, WOTS_PK, sum_of_digits};
use crate::words::Words;
use residue_ir::Machine;
use ruint::aliases::U256;

/// An address of a chain ends with its number, a step and a word that is 0.
const OF_CHAINS: Chains = Chains { chain_byte: ADDRESS + 23, step_byte: ADDRESS + 27, steps: (1 << DIGIT_BITS) - 1 };
/// Places of the type and of the key pair in an address.
const TYPE_BIT: usize = 128;
const KEY_PAIR_BIT: u64 = 96;

/// The text.
pub(super) fn text<M: Machine>(machine: &M) {
    let w = Words(machine);
    unless_return_zero(machine, w.is_equal(machine.calldata_size(), w.number(CALLDATA_BYTES)));
    let frames = Frames::new(machine, N, CHAINS);
    // The other schemes of the family have other tails.
    let digest = machine.bind(frames.digest(U256::MAX - U256::from(4)));
    let leaf = w.and(w.number((1 << HEIGHT) - 1), w.high(digest, FORS_TREES * FORS_HEIGHT));
    let leaf = machine.bind(leaf);
    let key_pair = machine.bind(w.shl(leaf, w.number(KEY_PAIR_BIT)));
    let with_type = |kind: u64, address| w.or(machine.word(U256::from(kind) << TYPE_BIT), address);
    frames.set_address(with_type(FORS_TREE, key_pair));
    // A loop, whose body has all levels of one tree.
    Form::Rolled.each(machine, FORS_TREES, |turn| {
        let index = w.and(w.number((1 << FORS_HEIGHT) - 1), w.shr(digest, turn.linear(machine, FORS_HEIGHT, 0)));
        let index = machine.bind(index);
        let whole = w.or(turn.linear(machine, 1 << FORS_HEIGHT, 0), index);
        let whole = machine.bind(frames.index(whole));
        let part = turn.place(machine, N * (1 + FORS_HEIGHT), FORS_AT);
        let node = frames.leaf(whole, part);
        let sides = Sides::new(machine, index, FORS_HEIGHT, (LEFT, RIGHT - LEFT));
        frames.set_top(turn, frames.climb(node, (whole, &sides), part.after(N), FORS_HEIGHT));
    });
    let signed = frames.hash_of_tops(with_type(FORS_ROOTS, key_pair), FORS_TREES);
    let steps = steps(machine, w.high(signed, 128));
    frames.set_address(key_pair);
    Form::Unrolled.each(machine, CHAINS, |chain| {
        let left = w.and(w.number(OF_CHAINS.steps), w.shr(steps, chain.linear(machine, DIGIT_BITS, 0)));
        frames.chain(OF_CHAINS, chain, chain.linear(machine, N, CHAINS_AT), left);
    });
    let node = frames.hash_of_tops(with_type(WOTS_PK, key_pair), CHAINS);
    frames.set_address(machine.word(U256::from(TREE) << TYPE_BIT));
    let whole = machine.bind(frames.index(leaf));
    let sides = Sides::new(machine, leaf, HEIGHT, (LEFT, RIGHT - LEFT));
    let root = frames.climb(node, (whole, &sides), Place::at(PATH_AT), HEIGHT);
    machine.return_word(w.is_equal(frames.given(N), root));
}

/// Steps that are left on each chain, two bits each, that of the first lowest: what the digits of a node lack, and then those of the sum of all that,
/// the first of which is its highest.
fn steps<M: Machine>(machine: &M, node: M::Word) -> M::Word {
    let w = Words(machine);
    let node = machine.bind(w.xor(machine.word(U256::MAX >> 128), node));
    let sum = machine.bind(w.xor(w.number(0xff), sum_of_digits(machine, node, (DIGIT_BITS, NODE_CHAINS))));
    let pairs = w.or(w.and(w.number(0x33), w.high(sum, 2)), w.shl(w.and(w.number(0x33), sum), w.number(2)));
    let pairs = machine.bind(pairs);
    let turned = w.or(w.high(pairs, 4), w.shl(w.and(w.number(0x0f), pairs), w.number(4)));
    machine.bind(w.or(w.shl(turned, w.number(DIGIT_BITS * NODE_CHAINS)), node))
}
