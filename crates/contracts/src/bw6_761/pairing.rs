//! The pairing check of EIP-3026 (BW6_PAIRING) as a contract.
//!
//! First every pair is parsed and checked, and those whose Q is not the identity are gathered: the others contribute a factor
//! one. The subgroup check of each Q is the end of the Miller loop; where P is the identity, another point takes its place in the loop.

use super::{ENCODING, POINT_BYTES, encoded_point};
use crate::Contract;
use residue_curves::bw6_761::fp6::Fp6;
use residue_curves::bw6_761::miller::{PAIRS_MAX, Pairs, miller_loop, stand_in};
use residue_curves::bw6_761::{
    final_exponentiation::multiply, g1_generator, g1_membership, g2_curve_defect, g2_generator,
    is_final_exponentiation_one, modulus,
};
use residue_curves::{Affine, Conditions};
use residue_ir::{Array, Capacity, Machine, Variable, WordOp};

/// `bw6_761/pairing`.
pub const CONTRACT: Contract = Contract {
    name: "bw6_761/pairing",
    summary: "is the product of the pairings of all given pairs one? (EIP-3026 BW6_PAIRING)",
    interface: "384 bytes a pair: a point of G1 (192 bytes), a point of G2 (192); returns 32 bytes, 1 or 0",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

const PAIR_BYTES: u32 = 2 * POINT_BYTES;

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let pair_bytes = machine.small(PAIR_BYTES.into());
    let size = machine.calldata_size();
    machine.require(size);
    machine.require(machine.not(machine.word_op(WordOp::Mod, size, pair_bytes)));
    let pairs_given = machine.bind(machine.word_op(WordOp::Div, size, pair_bytes));
    let room = machine.small(PAIRS_MAX as u64); // usize to u64 widens
    let has_product = machine.variable("has_product", machine.small(0));
    let loops = machine.word_op(WordOp::Add, pairs_given, machine.small(PAIRS_MAX as u64 - 1)); // widens too
    let loops = machine.word_op(WordOp::Div, loops, room);
    let product: Array<Fp6<M::Fe>> = machine.array("pairing_product", Capacity::Fixed(1));
    let here = machine.small(0);
    let conditions = machine.repeat(loops, Conditions::none(machine), |machine, number, conditions| {
        let first = machine.bind(machine.word_op(WordOp::Mul, number, room));
        let left = machine.bind(machine.word_op(WordOp::Sub, pairs_given, first));
        // The smaller one of what is left and the room: left ⊕ (left ⊕ room) or left ⊕ 0.
        let difference = machine.word_op(WordOp::Xor, left, room);
        let change = machine.word_op(WordOp::Mul, machine.word_op(WordOp::Lt, room, left), difference);
        let given = machine.bind(machine.word_op(WordOp::Xor, left, change));
        let pairs = Pairs::new(machine, given);
        let gathered = machine.variable("gathered", machine.small(0));
        let conditions = machine.repeat(given, conditions, |machine, pair, conditions| {
            let pair = machine.word_op(WordOp::Add, pair, first);
            let offset = machine.bind(machine.word_op(WordOp::Mul, pair, pair_bytes));
            gather(machine, &pairs, gathered, offset, conditions)
        });
        let count = machine.bind(machine.get(gathered));
        let with_those = |machine: &M| {
            let is_further = machine.bind(machine.get(has_product));
            let keep = |machine: &M, f| {
                let f = machine.branch(is_further, |machine| multiply(machine, machine.load(product, here), f), |_| f);
                machine.store(product, here, f);
                machine.set(has_product, machine.small(1));
            };
            miller_loop(machine, &pairs, count, conditions, keep)
        };
        machine.branch(count, with_those, |_| conditions)
    });
    machine.require(conditions.hold(machine));
    machine.branch(
        machine.get(has_product),
        |machine| machine.return_word(is_final_exponentiation_one(machine, machine.load(product, here))),
        |machine| machine.return_word(machine.small(1)),
    );
}

/// Parses the pair at `offset`, adds it to `pairs` if Q is not the identity, and adds what has to hold of it to `conditions`, but
/// what the loop finds.
fn gather<M: Machine>(
    machine: &M,
    pairs: &Pairs<M::Fe>,
    gathered: Variable,
    offset: M::Word,
    conditions: Conditions<M::Fe>,
) -> Conditions<M::Fe> {
    let q_offset = machine.bind(machine.word_op(WordOp::Add, offset, machine.small(POINT_BYTES.into())));
    let [p, q] = [offset, q_offset].map(|offset| ENCODING.point(machine, offset));
    let (p, conditions) = machine.branch(
        is_finite(machine, offset),
        |machine| (p, conditions.and(membership(machine, p))),
        |machine| {
            require_identity(machine, offset);
            (stand_in(machine), conditions)
        },
    );
    let with_q = |machine: &M| {
        let index = machine.bind(machine.get(gathered));
        pairs.store(machine, index, p, q);
        machine.set(gathered, machine.word_op(WordOp::Add, index, machine.small(1)));
        conditions.and_vanishes(g2_curve_defect(machine, q))
    };
    machine.branch(is_finite(machine, q_offset), with_q, |machine| {
        require_identity(machine, q_offset);
        conditions
    })
}

fn membership<M: Machine>(machine: &M, p: Affine<M::Fe>) -> Conditions<M::Fe> {
    machine.function("g1_membership", p, |machine, p| g1_membership(machine, p))
}

/// Not 0 if y of the point at `offset` is not 0. A point with y = 0 is of order two, and in no group of the odd order r: so this is what
/// sets those that may be given apart from the identity.
fn is_finite<M: Machine>(machine: &M, offset: M::Word) -> M::Word {
    ENCODING.any_nonzero(machine, offset, 1..2)
}

/// Requires that x of the point at `offset`, whose y is 0, is 0 too.
fn require_identity<M: Machine>(machine: &M, offset: M::Word) {
    machine.require(machine.not(ENCODING.any_nonzero(machine, offset, 0..1)));
}

/// e(G, H)·e(−G, H) = 1 for the generators.
fn example() -> Vec<u8> {
    let (g, h) = (g1_generator(), encoded_point(&g2_generator()));
    let opposite = Affine::new(g.x.clone(), modulus() - &g.y);
    [encoded_point(&g), h.clone(), encoded_point(&opposite), h].concat()
}
