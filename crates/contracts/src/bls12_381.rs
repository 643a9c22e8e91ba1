//! Contracts on BLS12-381. Points are encoded as in EIP-2537: 64 bytes for an element of Fp, big-endian with 16 zero bytes in
//! front; all zeros for the identity.

pub mod fp2_mul;
pub mod pairing;

use residue_curves::{Affine, Fp2};
use residue_ir::{Machine, WordOp};

/// Bytes of an encoded element of Fp. EIP-2537, “Fine points and encoding of base elements”.
pub(crate) const FP_BYTES: u32 = 64;

/// Parses the element of Fp that is `number` encoded elements behind `offset`.
pub(crate) fn parse_fp<M: Machine>(machine: &M, offset: M::Word, number: u32) -> M::Fe {
    machine.parse(machine.word_op(WordOp::Add, offset, machine.small(u64::from(number * FP_BYTES))), FP_BYTES)
}

/// Parses an element of Fp2: c0, then c1.
pub(crate) fn parse_fp2<M: Machine>(machine: &M, offset: M::Word, number: u32) -> Fp2<M::Fe> {
    let c0 = parse_fp(machine, offset, number);
    Fp2::new(c0, parse_fp(machine, offset, number + 1))
}

/// Parses the coordinates of a point of G1.
pub(crate) fn parse_g1<M: Machine>(machine: &M, offset: M::Word) -> Affine<M::Fe> {
    let x = parse_fp(machine, offset, 0);
    Affine::new(x, parse_fp(machine, offset, 1))
}

/// Parses the coordinates of a point of G2.
pub(crate) fn parse_g2<M: Machine>(machine: &M, offset: M::Word) -> Affine<Fp2<M::Fe>> {
    let x = parse_fp2(machine, offset, 0);
    Affine::new(x, parse_fp2(machine, offset, 2))
}

/// Not 0 if any of `elements` encoded elements at `offset` is not 0: whether a point is not the identity.
pub(crate) fn any_nonzero<M: Machine>(machine: &M, offset: M::Word, elements: u32) -> M::Word {
    let words = (0..elements * FP_BYTES / 32).map(|index| {
        let at = machine.word_op(WordOp::Add, offset, machine.small(u64::from(32 * index)));
        machine.calldata_word(at)
    });
    let any = words.reduce(|any, word| machine.word_op(WordOp::Or, any, word));
    machine.bind(any.expect("a point has coordinates"))
}
