//! Contracts on BLS12-381. Points are encoded as in EIP-2537: 64 bytes for an element of Fp, big-endian with 16 zero bytes in
//! front; all zeros for the identity.

pub mod aggregate_g1;
pub(crate) mod by_precompiles;
pub mod compressed;
pub mod decompress_g1;
pub mod decompress_g2;
pub mod fast_aggregate_verify;
pub mod fp2_mul;
pub mod g1_mul;
pub mod g2_mul;
pub mod hash_to_g1;
pub mod hash_to_g2;
pub(crate) mod keys;
pub mod map_fp2_to_g2;
pub mod map_fp_to_g1;
mod msm;
pub mod pairing;
pub mod pairing_witness;
pub(crate) mod signature;
mod tagged;
pub mod verify;

use crate::encoding::Encoding;
use crate::points::{self, Points, operations};
use msm::Policy;
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::bls12_381::Fp2;
use residue_curves::bls12_381::constants::{constants, g1_generator, g2_generator, modulus};
use residue_curves::bls12_381::{G1, G2, Group, Layout, Window, invert};
use residue_ir::{Machine, WordOp};
use residue_isa::precompile::{BLS12_G1ADD, BLS12_G1MSM, BLS12_G2ADD, BLS12_G2MSM};
use std::marker::PhantomData;

/// Encoding of elements and points.
pub(crate) const ENCODING: Encoding = Encoding::EIP_2537;
/// Bytes of an encoded element of Fp.
pub(crate) const FP_BYTES: u32 = ENCODING.element_bytes;

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

/// Sums of points of such a group.
pub(crate) struct Sums<G>(PhantomData<G>);

impl<M: Machine, G: Encoded<M>> Points<M> for Sums<G> {
    type Coordinate = <G as Group<M>>::Coordinate;

    const ENCODING: Encoding = ENCODING;
    const POINT_BYTES: u32 = <G as Encoded<M>>::POINT_BYTES;

    fn parse(machine: &M, offset: M::Word) -> Affine<Self::Coordinate> {
        parse_point::<M, G>(machine, offset)
    }

    fn curve_defect(machine: &M, point: Affine<Self::Coordinate>) -> M::Fe {
        <G as Group<M>>::curve_defect(machine, point)
    }

    fn norm(value: Self::Coordinate) -> M::Fe {
        <G as Group<M>>::norm(value)
    }

    fn invert(machine: &M, a: M::Fe) -> M::Fe {
        invert(machine, a)
    }

    fn three_halves(machine: &M) -> M::Fe {
        machine.constant(&constants().pairing.three_halves)
    }
}

/// Parses the coordinates of a point; those of the identity are zero. What stands in front of elements is looked at one time, for all of them.
pub(crate) fn parse_point<M: Machine, G: Encoded<M>>(machine: &M, offset: M::Word) -> Affine<G::Coordinate> {
    ENCODING.padded(machine, offset, G::POINT_BYTES, ENCODING.words(machine, offset, 0..G::POINT_BYTES, 0))
}

/// The same, and a word that is 0 exactly if y is. No point of the curves has y = 0: they have an odd number of points.
pub(crate) fn parse_point_and_y<M: Machine, G: Encoded<M>>(
    machine: &M,
    offset: M::Word,
) -> (Affine<G::Coordinate>, M::Word) {
    let (x, y) = (0..G::POINT_BYTES / 2, G::POINT_BYTES / 2..G::POINT_BYTES);
    let of_y = machine.bind(ENCODING.words(machine, offset, y.clone(), 0));
    let all = machine.word_op(WordOp::Or, of_y, ENCODING.words(machine, offset, x, 0));
    let point = ENCODING.padded(machine, offset, G::POINT_BYTES, all);
    (point, machine.word_op(WordOp::Or, of_y, ENCODING.words(machine, offset, y, 32)))
}

/// A point of canonical values in bytes, for examples.
pub(crate) fn encoded_point<C: Elements>(point: &Affine<C>) -> Vec<u8> {
    let elements = point.x.elements().into_iter().chain(point.y.elements());
    elements.flat_map(|value| ENCODING.encoded(&value)).collect()
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

operations! {
    modulus;
    /// The addition of EIP-2537 in G1 (G1ADD, address 0x0b).
    G1_ADD = "bls12_381/g1_add", "the sum of two points of G1's curve (EIP-2537 G1ADD)",
        "256 bytes: two points of 128; returns 128: their sum",
        Some(BLS12_G1ADD), |machine| points::sum::<_, Sums<G1>>(machine), || encoded_point(&g1_generator()).repeat(2);
    /// The MSM of EIP-2537 in G1 (G1MSM, address 0x0c).
    G1_MSM = "bls12_381/g1_msm", "the sum of products of scalars and points of G1 (EIP-2537 G1MSM)",
        "160 bytes a product: a point (128), a scalar (32); returns 128: the sum of the products",
        Some(BLS12_G1MSM), |machine| msm::text::<_, G1>(machine, &Policy { layout: Layout::written_out(Window::Byte), many: 13 }), || [encoded_point(&g1_generator()), vec![0xff; 32]].concat();
    /// The addition of EIP-2537 in G2 (G2ADD, address 0x0d).
    G2_ADD = "bls12_381/g2_add", "the sum of two points of G2's curve (EIP-2537 G2ADD)",
        "512 bytes: two points of 256; returns 256: their sum",
        Some(BLS12_G2ADD), |machine| points::sum::<_, Sums<G2>>(machine), || encoded_point(&g2_generator()).repeat(2);
    /// The MSM of EIP-2537 in G2 (G2MSM, address 0x0e).
    G2_MSM = "bls12_381/g2_msm", "the sum of products of scalars and points of G2 (EIP-2537 G2MSM)",
        "288 bytes a product: a point (256), a scalar (32); returns 256: the sum of the products",
        Some(BLS12_G2MSM), |machine| msm::text::<_, G2>(machine, &Policy { layout: Layout::by_calls(Window::Byte, 64), many: 20 }), || [encoded_point(&g2_generator()), vec![0xff; 32]].concat();
}
