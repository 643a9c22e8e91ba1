//! The pairing check of EIP-197 (address 0x08) as a contract.
//!
//! First every pair is parsed and checked, and those whose Q is not the identity are gathered: the others contribute a factor
//! one. The subgroup check of each Q waits for the Miller loop, which computes (6x + 2)·Q + ψ(Q) − ψ²(Q) anyway; where P is the
//! identity, another point takes its place in the loop. G1 is all of its curve.

use super::{ENCODING, FP_BYTES, encoded_point};
use crate::Contract;
use crate::encoding::at_most;
use num_bigint::BigUint;
use residue_curves::bn254::{Bn254, g1_curve_defect, g1_generator, g2_curve_defect, g2_generator, modulus};
use residue_curves::conditions::Conditions;
use residue_curves::pairing::affine::positive_miller_loop;
use residue_curves::pairing::miller::{PAIRS_MAX, stand_in};
use residue_curves::pairing::powers::multiply;
use residue_curves::pairing::{Pairs, is_final_exponentiation_one};
use residue_ir::{Capacity, Machine, Variable, WordOp};
use residue_isa::precompile::BN254_PAIRING_CHECK;

/// `bn254/pairing`.
pub const CONTRACT: Contract = Contract {
    name: "bn254/pairing",
    summary: "is the product of the pairings of all given pairs one? (EIP-197)",
    interface: "192 bytes a pair, or none: a point of G1 (64 bytes), a point of G2 (128); returns 32 bytes, 1 or 0",
    field: modulus,
    text: |machine| text(machine),
    precompile: Some(BN254_PAIRING_CHECK),
    example,
};

/// Encoded elements of Fp in a point of G1, and in one of G2.
const G1_ELEMENTS: u32 = 2;
const G2_ELEMENTS: u32 = 4;
const PAIR_BYTES: u32 = (G1_ELEMENTS + G2_ELEMENTS) * FP_BYTES;

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let pair_bytes = machine.small(PAIR_BYTES.into());
    let size = machine.calldata_size();
    machine.require(machine.not(machine.word_op(WordOp::Mod, size, pair_bytes)));
    let pairs_given = machine.bind(machine.word_op(WordOp::Div, size, pair_bytes));
    let room = machine.small(PAIRS_MAX as u64); // usize to u64 widens
    let has_product = machine.variable("has_product", machine.small(0));
    let loops = machine.word_op(WordOp::Add, pairs_given, machine.small(PAIRS_MAX as u64 - 1)); // widens too
    let loops = machine.word_op(WordOp::Div, loops, room);
    let product = machine.array("pairing_product", Capacity::Fixed(1));
    let here = machine.small(0);
    let conditions = machine.repeat(loops, Conditions::none(machine), |machine, number, conditions| {
        let first = machine.bind(machine.word_op(WordOp::Mul, number, room));
        let given = machine.bind(at_most(machine, machine.word_op(WordOp::Sub, pairs_given, first), room));
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
            positive_miller_loop(machine, &pairs, count, conditions, keep)
        };
        machine.branch(count, with_those, |_| conditions)
    });
    machine.require(conditions.hold(machine));
    machine.branch(
        machine.get(has_product),
        |machine| machine.return_word(is_final_exponentiation_one::<M, Bn254>(machine, machine.load(product, here))),
        |machine| machine.return_word(machine.small(1)),
    );
}

/// Parses the pair at `offset`, adds it to `pairs` if Q is not the identity, and adds what has to hold of it to `conditions`, but
/// that Q is in G2.
fn gather<M: Machine>(
    machine: &M,
    pairs: &Pairs<M::Fe, Bn254>,
    gathered: Variable,
    offset: M::Word,
    conditions: Conditions<M::Fe>,
) -> Conditions<M::Fe> {
    let q_offset = machine.word_op(WordOp::Add, offset, machine.small((G1_ELEMENTS * FP_BYTES).into()));
    let p = ENCODING.point(machine, offset);
    let q = ENCODING.twist_point(machine, q_offset);
    let (p, conditions) = machine.branch(
        is_finite(machine, offset, G1_ELEMENTS),
        |machine| (p, conditions.and_vanishes(g1_curve_defect(machine, p))),
        |machine| {
            require_identity(machine, offset, G1_ELEMENTS);
            (stand_in(machine), conditions)
        },
    );
    let with_q = |machine: &M| {
        let index = machine.bind(machine.get(gathered));
        pairs.store(machine, index, p, q);
        machine.set(gathered, machine.word_op(WordOp::Add, index, machine.small(1)));
        conditions.and_vanishes(g2_curve_defect(machine, q))
    };
    machine.branch(is_finite(machine, q_offset, G2_ELEMENTS), with_q, |machine| {
        require_identity(machine, q_offset, G2_ELEMENTS);
        conditions
    })
}

/// Not 0 if y of the point at `offset` is not 0. No point of either curve has y = 0, as that would be of order two and both have
/// an odd number of points, r and r·(2p − r): so this is what sets points apart from the identity.
fn is_finite<M: Machine>(machine: &M, offset: M::Word, elements: u32) -> M::Word {
    let y = machine.word_op(WordOp::Add, offset, machine.small((elements / 2 * FP_BYTES).into()));
    ENCODING.any_nonzero(machine, y, 0..elements / 2)
}

/// Requires that x of the point at `offset`, whose y is 0, is 0 too.
fn require_identity<M: Machine>(machine: &M, offset: M::Word, elements: u32) {
    machine.require(machine.not(ENCODING.any_nonzero(machine, offset, 0..elements / 2)));
}

/// e(G, H)·e(−G, H) = 1 for the generators.
fn example() -> Vec<u8> {
    let (g, h) = (g1_generator(), g2_generator());
    let elements: [&BigUint; 4] = [&h.x.c1, &h.x.c0, &h.y.c1, &h.y.c0];
    let h: Vec<u8> = elements.into_iter().flat_map(|value| ENCODING.encoded(value)).collect();
    let opposite = residue_curves::Affine::new(g.x.clone(), modulus() - &g.y);
    [encoded_point(&g), h.clone(), encoded_point(&opposite), h].concat()
}
