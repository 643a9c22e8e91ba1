//! Verification: FIPS 205, algorithms 8 and 11, with the changes that the parent names.

use super::{DIGIT_BITS, INDEX_BYTES, SUM_CHAINS, Set};
use crate::encoding::unless_return_zero;
use crate::hash_based::keccak::{ADDRESS, Chains, FRAME, Frames, LEFT, RIGHT};
use crate::hash_based::{Place, Sides, TREE, Turn, WOTS_PK, sum_of_digits};
use crate::words::Words;
use residue_ir::Machine;
use ruint::aliases::U256;

/// An address of a chain ends with its number and a step, of 4 bytes each.
const OF_CHAINS: Chains = Chains { chain_byte: ADDRESS + 27, step_byte: ADDRESS + 31, steps: (1 << DIGIT_BITS) - 1 };
/// Places of the type and of the key pair in an address.
const TYPE_BIT: usize = 96;
const KEY_PAIR_BIT: u64 = 64;
/// Words of a digest of XMSS.
const DIGEST_WORDS: u64 = 5;

/// The text.
pub(super) fn text<M: Machine>(machine: &M, set: Set) {
    let w = Words(machine);
    unless_return_zero(machine, w.is_equal(machine.calldata_size(), w.number(set.calldata_bytes())));
    let frames = Frames::new(machine, set.node_bytes, set.chains());
    let root = if set.height == 0 {
        frames.set_seeds();
        one_time_key(machine, (set, &frames), w.number(0), frames.given(2 * set.node_bytes))
    } else {
        let index = machine.bind(w.high(machine.calldata_word(w.number(set.head_bytes())), 256 - 8 * INDEX_BYTES));
        unless_return_zero(machine, w.is_below(index, w.number(1 << set.height)));
        let signed = digest(machine, (set, &frames), index);
        let leaf = one_time_key(machine, (set, &frames), w.shl(index, w.number(KEY_PAIR_BIT)), signed);
        frames.set_address(machine.word(U256::from(TREE) << TYPE_BIT));
        let whole = machine.bind(frames.index(index));
        let sides = Sides::new(machine, index, set.height, (LEFT, RIGHT - LEFT));
        frames.climb(leaf, (whole, &sides), Place::at(set.path_at()), set.height)
    };
    machine.return_word(w.is_equal(frames.given(set.node_bytes), root));
}

/// The node that XMSS signs for a message: of seed, root, R, index and message. The seeds of both frames are written.
fn digest<M: Machine>(machine: &M, (set, frames): (Set, &Frames<'_, M>), index: M::Word) -> M::Word {
    let w = Words(machine);
    frames.set_seeds();
    let n = set.node_bytes;
    frames.copy(n, FRAME + ADDRESS);
    frames.copy(set.head_bytes() + INDEX_BYTES, FRAME + LEFT);
    machine.set_scratch(w.number(FRAME + RIGHT), index);
    machine.set_scratch(w.number(FRAME + RIGHT + 32), machine.calldata_word(w.number(2 * n)));
    frames.node(FRAME, 32 * DIGEST_WORDS)
}

/// The public key of WOTS+ that the chains lead to for a node. FIPS 205, algorithm 8.
fn one_time_key<M: Machine>(
    machine: &M,
    (set, frames): (Set, &Frames<'_, M>),
    key_pair: M::Word,
    signed: M::Word,
) -> M::Word {
    let w = Words(machine);
    let key_pair = machine.bind(key_pair);
    // Steps that are left on each chain: 15 less the digits, and so of the digits of their sum.
    let left = machine.bind(w.xor(machine.word(U256::MAX << (256 - 8 * set.node_bytes) as usize), signed)); // 128 or 0
    let sum = sum_of_digits(machine, left, (DIGIT_BITS, 256 / DIGIT_BITS));
    let left_of_sum = machine.bind(w.xor(w.number((1 << (DIGIT_BITS * SUM_CHAINS)) - 1), sum));
    frames.set_address(key_pair);
    for number in 0..set.chains() {
        let chain = Turn::Known(number);
        let digit = match number.checked_sub(set.node_chains()) {
            None => chain.bits_below(machine, left, (256, DIGIT_BITS)),
            Some(of_sum) => Turn::Known(of_sum).bits_below(machine, left_of_sum, (DIGIT_BITS * SUM_CHAINS, DIGIT_BITS)),
        };
        frames.chain(OF_CHAINS, chain, chain.linear(machine, set.node_bytes, set.chains_at()), digit);
    }
    let address = w.or(machine.word(U256::from(WOTS_PK) << TYPE_BIT), key_pair);
    frames.hash_of_tops(address, set.chains())
}
