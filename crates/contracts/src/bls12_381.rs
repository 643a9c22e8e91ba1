//! Contracts on BLS12-381. Points are encoded as in EIP-2537: 64 bytes for an element of Fp, big-endian with 16 zero bytes in
//! front; all zeros for the identity.

pub mod aggregate_g1;
pub mod compressed;
pub mod decompress_g1;
pub mod decompress_g2;
pub mod fp2_mul;
pub mod g1_add;
pub mod g1_msm;
pub mod g1_mul;
pub mod g2_add;
pub mod g2_msm;
pub mod g2_mul;
pub mod hash_to_g1;
pub mod hash_to_g2;
pub mod map_fp2_to_g2;
pub mod map_fp_to_g1;
mod msm;
pub mod pairing;
pub mod pairing_witness;
pub(crate) mod signature;
mod sum;
mod tagged;
pub mod verify;

use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::bls12_381::Fp2;
use residue_curves::bls12_381::{G1, G2, Group};
use residue_ir::{Bundle, Machine, WordOp};
use std::ops::Range;

/// Bytes of an encoded element of Fp. EIP-2537, “Fine points and encoding of base elements”.
pub(crate) const FP_BYTES: u32 = 64;
/// Bytes of them in front of the number, which are zero.
pub(crate) const PAD_BYTES: u32 = 16;

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

/// Not 0 if any of the encoded elements `elements` behind `offset` is not 0: whether a point is not the identity.
pub(crate) fn any_nonzero<M: Machine>(machine: &M, offset: M::Word, elements: Range<u32>) -> M::Word {
    let words = (elements.start * FP_BYTES / 32..elements.end * FP_BYTES / 32).map(|index| {
        let at = machine.word_op(WordOp::Add, offset, machine.small(u64::from(32 * index)));
        machine.calldata_word(at)
    });
    let any = words.reduce(|any, word| machine.word_op(WordOp::Or, any, word));
    machine.bind(any.expect("a point has coordinates"))
}

/// `value` as an encoded element of Fp.
pub(crate) fn encoded(value: &BigUint) -> Vec<u8> {
    let digits = value.to_bytes_be();
    let mut bytes = vec![0; FP_BYTES as usize - digits.len()];
    bytes.extend(digits);
    bytes
}

/// A group whose points are encoded as in EIP-2537.
pub(crate) trait Encoded<M: Machine>: Group<M> {
    /// Bytes of a point.
    const POINT_BYTES: u32;
}

impl<M: Machine> Encoded<M> for G1 {
    const POINT_BYTES: u32 = 2 * FP_BYTES;
}

impl<M: Machine> Encoded<M> for G2 {
    const POINT_BYTES: u32 = 4 * FP_BYTES;
}

/// Parses the coordinates of a point; those of the identity are zero. What stands in front of elements is looked at once for all.
pub(crate) fn parse_point<M: Machine, G: Encoded<M>>(machine: &M, offset: M::Word) -> Affine<G::Coordinate> {
    parse_padded::<M, G>(machine, offset, words(machine, offset, 0..G::POINT_BYTES, 0))
}

/// The same, and a word that is 0 exactly if y is. No point of the curves has y = 0: they have an odd number of points.
pub(crate) fn parse_point_and_y<M: Machine, G: Encoded<M>>(
    machine: &M,
    offset: M::Word,
) -> (Affine<G::Coordinate>, M::Word) {
    let (x, y) = (0..G::POINT_BYTES / 2, G::POINT_BYTES / 2..G::POINT_BYTES);
    let of_y = machine.bind(words(machine, offset, y.clone(), 0));
    let all = machine.word_op(WordOp::Or, of_y, words(machine, offset, x, 0));
    let point = parse_padded::<M, G>(machine, offset, all);
    (point, machine.word_op(WordOp::Or, of_y, words(machine, offset, y, 32)))
}

/// The elements of a point, given the first words of all of them in one.
fn parse_padded<M: Machine, G: Encoded<M>>(machine: &M, offset: M::Word, first: M::Word) -> Affine<G::Coordinate> {
    machine.require(machine.not(machine.word_op(WordOp::Shr, first, machine.small(u64::from(256 - 8 * PAD_BYTES)))));
    let element = |start| machine.parse(behind(machine, offset, start + PAD_BYTES), FP_BYTES - PAD_BYTES);
    Affine::from_list((0..G::POINT_BYTES).step_by(FP_BYTES as usize).map(element).collect()) // u32 to usize widens
}

/// Of each element in these bytes behind `offset` the word that begins after `skipped` bytes, all in one.
fn words<M: Machine>(machine: &M, offset: M::Word, bytes: Range<u32>, skipped: u32) -> M::Word {
    let words = bytes.step_by(FP_BYTES as usize).map(|at| machine.calldata_word(behind(machine, offset, at + skipped)));
    words.reduce(|all, word| machine.word_op(WordOp::Or, all, word)).expect("a point has coordinates")
}

/// `offset` + `bytes`.
fn behind<M: Machine>(machine: &M, offset: M::Word, bytes: u32) -> M::Word {
    if bytes == 0 { offset } else { machine.word_op(WordOp::Add, offset, machine.small(bytes.into())) }
}

/// 1 if the encoded point at `offset` is not the identity, else 0.
pub(crate) fn is_finite<M: Machine, G: Encoded<M>>(machine: &M, offset: M::Word) -> M::Word {
    let is_identity = machine.not(any_nonzero(machine, offset, 0..G::POINT_BYTES / FP_BYTES));
    machine.bind(machine.not(is_identity))
}

/// A point of canonical values in bytes, for examples.
pub(crate) fn encoded_point<C: Elements>(point: &Affine<C>) -> Vec<u8> {
    let elements = point.x.elements().into_iter().chain(point.y.elements());
    elements.flat_map(|value| encoded(&value)).collect()
}

/// Canonical values of a coordinate.
pub(crate) trait Elements {
    /// In the order of the encoding.
    fn elements(&self) -> Vec<BigUint>;
}

impl Elements for BigUint {
    fn elements(&self) -> Vec<BigUint> {
        vec![self.clone()]
    }
}

impl Elements for Fp2<BigUint> {
    fn elements(&self) -> Vec<BigUint> {
        vec![self.c0.clone(), self.c1.clone()]
    }
}
