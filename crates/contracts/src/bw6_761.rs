//! Contracts on BW6-761. An element of Fp has 96 bytes, big-endian; points of both groups have coordinates in Fp; all zeros are the identity:
//! EIP-3026, “Encoding”.

pub mod pairing;

use crate::encoding::Encoding;
use crate::points::{self, Generated, Points, operations};
use num_bigint::BigUint;
use residue_curves::Affine;
use residue_curves::bw6_761::{
    constants, g1_curve_defect, g1_generator, g1_multiple, g2_curve_defect, g2_generator, g2_multiple, invert, modulus,
    order,
};
use residue_ir::Machine;

/// Encoding of elements and points.
pub(crate) const ENCODING: Encoding = Encoding::EIP_3026;
/// Bytes of a point of either group.
pub(crate) const POINT_BYTES: u32 = 2 * ENCODING.element_bytes;

/// A point of canonical values in bytes, for examples.
pub(crate) fn encoded_point(point: &Affine<BigUint>) -> Vec<u8> {
    [&point.x, &point.y].into_iter().flat_map(|value| ENCODING.encoded(value)).collect()
}

/// Points of y² = x³ − 1.
pub(crate) struct G1;

impl<M: Machine> Points<M> for G1 {
    type Coordinate = M::Fe;

    const ENCODING: Encoding = ENCODING;
    const POINT_BYTES: u32 = POINT_BYTES;
    const SCALAR_BYTES: u32 = 64;

    fn parse(machine: &M, offset: M::Word) -> Affine<M::Fe> {
        ENCODING.point(machine, offset)
    }

    fn curve_defect(machine: &M, point: Affine<M::Fe>) -> M::Fe {
        g1_curve_defect(machine, point)
    }

    fn norm(value: M::Fe) -> M::Fe {
        value
    }

    fn invert(machine: &M, a: M::Fe) -> M::Fe {
        invert(machine, a)
    }

    fn three_halves(machine: &M) -> M::Fe {
        machine.constant(&constants().three_halves)
    }
}

/// Points of the twist, y² = x³ + 4.
pub(crate) struct G2;

impl<M: Machine> Points<M> for G2 {
    type Coordinate = M::Fe;

    const ENCODING: Encoding = ENCODING;
    const POINT_BYTES: u32 = POINT_BYTES;
    const SCALAR_BYTES: u32 = 64;

    fn parse(machine: &M, offset: M::Word) -> Affine<M::Fe> {
        ENCODING.point(machine, offset)
    }

    fn curve_defect(machine: &M, point: Affine<M::Fe>) -> M::Fe {
        g2_curve_defect(machine, point)
    }

    fn norm(value: M::Fe) -> M::Fe {
        value
    }

    fn invert(machine: &M, a: M::Fe) -> M::Fe {
        invert(machine, a)
    }

    fn three_halves(machine: &M) -> M::Fe {
        machine.constant(&constants().three_halves)
    }
}

impl<M: Machine> Generated<M> for G1 {
    fn order() -> BigUint {
        order()
    }

    fn constant(machine: &M, k: &BigUint) -> Affine<Self::Coordinate> {
        g1_multiple(machine, k)
    }
}

impl<M: Machine> Generated<M> for G2 {
    fn order() -> BigUint {
        order()
    }

    fn constant(machine: &M, k: &BigUint) -> Affine<Self::Coordinate> {
        g2_multiple(machine, k)
    }
}

operations! {
    modulus;
    /// The addition of EIP-3026 in G1 (G1ADD).
    G1_ADD = "bw6_761/g1_add", "the sum of two points of BW6-761's G1 curve (EIP-3026 G1ADD)",
        "384 bytes: two points of 192; returns 192: their sum",
        None, |machine| points::sum::<_, G1>(machine), || encoded_point(&g1_generator()).repeat(2);
    /// The multiplication of EIP-3026 in G1 (G1MUL).
    G1_MUL = "bw6_761/g1_mul", "a multiple of a point of BW6-761's G1 curve (EIP-3026 G1MUL)",
        "256 bytes: a point (192), a scalar (64); returns 192: the product",
        None, |machine| points::product::<_, G1>(machine), || [encoded_point(&g1_generator()), vec![0xff; 64]].concat();
    /// The sum of products of EIP-3026 in G1 (G1MULTIEXP).
    G1_MSM = "bw6_761/g1_msm", "the sum of products of scalars and points of BW6-761's G1 curve (EIP-3026 G1MULTIEXP)",
        "256 bytes a product: a point (192), a scalar (64); returns 192: the sum of the products",
        None, |machine| points::sum_of_products::<_, G1>(machine), || points::example(&encoded_point(&g1_generator()), 64);
    /// The addition of EIP-3026 in G2 (G2ADD).
    G2_ADD = "bw6_761/g2_add", "the sum of two points of BW6-761's G2 curve (EIP-3026 G2ADD)",
        "384 bytes: two points of 192; returns 192: their sum",
        None, |machine| points::sum::<_, G2>(machine), || encoded_point(&g2_generator()).repeat(2);
    /// The multiplication of EIP-3026 in G2 (G2MUL).
    G2_MUL = "bw6_761/g2_mul", "a multiple of a point of BW6-761's G2 curve (EIP-3026 G2MUL)",
        "256 bytes: a point (192), a scalar (64); returns 192: the product",
        None, |machine| points::product::<_, G2>(machine), || [encoded_point(&g2_generator()), vec![0xff; 64]].concat();
    /// The sum of products of EIP-3026 in G2 (G2MULTIEXP). Scalars have 64 bytes, as its section on scalars has it for all multiplications and
    /// multiexponentiations and as G1MULTIEXP has them; the section on G2MULTIEXP says 48.
    G2_MSM = "bw6_761/g2_msm", "the sum of products of scalars and points of BW6-761's G2 curve (EIP-3026 G2MULTIEXP)",
        "256 bytes a product: a point (192), a scalar (64); returns 192: the sum of the products",
        None, |machine| points::sum_of_products::<_, G2>(machine), || points::example(&encoded_point(&g2_generator()), 64);
}
