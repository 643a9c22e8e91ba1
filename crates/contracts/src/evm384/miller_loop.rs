//! The Miller loop of one pair, with the value of `blst_miller_loop` for every input.

use super::{VALUE_BYTES, calldata, parse};
use crate::Contract;
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::bls12_381::Fp2;
use residue_curves::bls12_381::constants::{g1_generator, g2_generator, modulus};
use residue_curves::published::{self, Fp12};
use residue_ir::{Machine, WordOp};

/// `evm384/miller_loop`.
pub const CONTRACT: Contract = Contract {
    name: "evm384/miller_loop",
    summary: "the Miller loop of one pair on BLS12-381, bit for bit that of blst, as in EVM384's update 5",
    interface: "288 bytes: P.x P.y Q.x0 Q.x1 Q.y0 Q.y1 of 48 bytes each, little-endian in Montgomery form; \
                returns 576 bytes: 12 values, Fp2 within Fp6 within Fp12",
    field: modulus,
    text: |machine| text(machine),
    precompile: None,
    example,
};

/// Values of P, and of P and Q.
const P_VALUES: u32 = 2;
const PAIR_VALUES: u32 = 6;
/// Bytes of P and Q.
pub(super) const PAIR_BYTES: u32 = PAIR_VALUES * VALUE_BYTES;

/// The text.
pub fn text<M: Machine>(machine: &M) {
    let size = machine.calldata_size();
    machine.require(machine.word_op(WordOp::Eq, size, machine.small(PAIR_BYTES.into())));
    machine.return_mont_le(pair_value(machine, machine.small(0)));
}

/// The value of the pair at `offset`; one if a point of it is the identity.
pub(super) fn pair_value<M: Machine>(machine: &M, offset: M::Word) -> Fp12<M::Fe> {
    let any_nonzero = |values: std::ops::Range<u32>| {
        let words = (values.start * VALUE_BYTES..values.end * VALUE_BYTES)
            .step_by(32)
            .map(|start| machine.calldata_word(machine.word_op(WordOp::Add, offset, machine.small(start.into()))));
        let any = words.reduce(|any, word| machine.word_op(WordOp::Or, any, word)).expect("a point has values");
        machine.not(machine.not(any))
    };
    let finite = machine.word_op(WordOp::And, any_nonzero(0..P_VALUES), any_nonzero(P_VALUES..PAIR_VALUES));
    machine.branch(
        finite,
        |machine| {
            let pair: (Affine<M::Fe>, Affine<Fp2<M::Fe>>) = parse(machine, offset);
            published::miller_loop(machine, pair.0, pair.1)
        },
        |machine| Fp12::one(machine),
    )
}

/// The generators.
fn example() -> Vec<u8> {
    let Affine { x, y } = g1_generator();
    pair(&x, &y)
}

/// (x, y) with the generator of G2.
pub(super) fn pair(x: &BigUint, y: &BigUint) -> Vec<u8> {
    let q = g2_generator();
    calldata([x, y, &q.x.c0, &q.x.c1, &q.y.c0, &q.y.c1])
}
